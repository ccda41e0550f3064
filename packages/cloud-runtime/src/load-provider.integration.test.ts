import { strict as assert } from 'node:assert';
import { execFile } from 'node:child_process';
import { chmod, mkdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { test } from 'node:test';
import { isCloudError } from '@outrigger/cloud-provider';
import { loadProvider } from './load-provider.ts';
import { withFiles } from './with-files.suite.ts';

const run = promisify(execFile);
const GOOD = `export default () => ({ name: 'third-party', open: async () => ({}), close: async () => {} });`;

test('built-in, .js, .mjs, .ts, package in the provider path', async () => {
  const manifest = (exports: unknown): string => JSON.stringify({ type: 'module', exports });
  const files = {
    'package.json': '{"type":"module"}',
    'a.js': GOOD,
    'b.mjs': GOOD,
    'c.ts': `const name: string = 'third-party';\n${GOOD.replace("'third-party'", 'name')}`,
    'elsewhere/node_modules/@cloud/provider/package.json': manifest({ '.': { types: './x.d.ts', import: './lib.js' } }),
    'elsewhere/node_modules/@cloud/provider/lib.js': GOOD,
    'elsewhere/node_modules/plain/package.json': '{"main":"./main.mjs"}',
    'elsewhere/node_modules/plain/main.mjs': GOOD,
    'elsewhere/node_modules/legacy/package.json': '{"main":"lib"}',
    'elsewhere/node_modules/legacy/lib/index.js': GOOD,
    'elsewhere/node_modules/far/package.json': manifest('./far.js'),
    'elsewhere/node_modules/far/far.js': GOOD,
    'elsewhere/flat/package.json': manifest({ default: './flat.js' }),
    'elsewhere/flat/flat.js': GOOD,
  };
  await withFiles(files, async (workingDirectory) => {
    const builtIn = { memory: () => import(path.join(workingDirectory, 'a.js')) as Promise<unknown> };
    const options = { builtIn, workingDirectory, providerPath: 'elsewhere' };
    for (const spec of [
      'memory',
      './a.js',
      'b.mjs',
      path.join(workingDirectory, 'c.ts'),
      '@cloud/provider',
      'plain',
      'legacy',
      'legacy/lib',
      'far',
      'flat',
    ]) {
      assert.equal((await loadProvider(spec, options)).name, 'third-party', spec);
    }
  });
});

test('an npm package is looked for where --provider-path says, and nowhere else', async () => {
  const files: Record<string, string> = {};
  for (const [place, name] of [
    ['.', 'working-directory'],
    ['inner', 'parent'],
    ['inner/providers', 'provider-path'],
  ] as const) {
    for (const spec of ['here', `only-${name}`]) {
      files[`${place}/node_modules/${spec}/package.json`] = '{"type":"module","exports":"./x.js"}';
      files[`${place}/node_modules/${spec}/x.js`] = GOOD.replace('third-party', name);
    }
  }
  await withFiles(files, async (workingDirectory) => {
    const options = { builtIn: {}, workingDirectory };
    const inPath = { ...options, providerPath: 'inner/providers' };
    assert.equal((await loadProvider('here', inPath)).name, 'provider-path');
    for (const spec of ['only-working-directory', 'only-parent']) {
      await assert.rejects(loadProvider(spec, inPath), /nor an npm package installed in inner\/providers$/u, spec);
    }
    // The working directory is a place as any other, when it is named.
    await assert.rejects(loadProvider('here', options), /--provider-path says where those are/u);
    assert.equal((await loadProvider('here', { ...options, providerPath: '.' })).name, 'working-directory');
  });
});

test('what a package imports comes from the provider path too, and not from above it', async () => {
  const importing = (...names: readonly string[]): string =>
    [...names.map((name) => `import '${name}';`), `import { CloudError } from '@outrigger/cloud-provider';`, GOOD].join(
      '\n',
    );
  const files: Record<string, string> = {
    'node_modules/above/index.js': '',
    'node_modules/@outrigger/cloud-provider/package.json': '{"type":"module","exports":"./x.js"}',
    'node_modules/@outrigger/cloud-provider/x.js': 'throw new Error("from above");',
    'inner/node_modules/beside/index.js': '',
    'inner/node_modules/good/node_modules/nested/index.js': '',
  };
  for (const [name, text] of [
    ['good', importing('beside', 'nested')],
    ['bad', importing('above')],
    ['required', `import { createRequire } from 'node:module'; createRequire(import.meta.url)('above'); ${GOOD}`],
  ] as const) {
    files[`inner/node_modules/${name}/package.json`] = '{"type":"module","exports":"./x.js"}';
    files[`inner/node_modules/${name}/x.js`] = text;
  }
  await withFiles(files, async (workingDirectory) => {
    for (const providerPath of ['inner', 'inner/node_modules']) {
      const options = { builtIn: {}, workingDirectory, providerPath };
      assert.equal((await loadProvider('good', options)).name, 'third-party');
      for (const spec of ['bad', 'required']) {
        const said = new RegExp(
          `Cannot find package 'above' imported from .*x\\.js; .*node_modules is not searched`,
          'u',
        );
        await assert.rejects(loadProvider(spec, options), said, spec);
      }
    }
  });
});

test('nor by a link above it that leads elsewhere; a link of its own leads where it likes', async () => {
  const importing = (name: string): string => [`import '${name}';`, GOOD].join('\n');
  const requiring = (name: string): string =>
    `import { createRequire } from 'node:module'; createRequire(import.meta.url)('${name}'); ${GOOD}`;
  const files: Record<string, string> = {
    'elsewhere/index.js': '',
    'elsewhere/package.json': '{}',
    'linked/index.js': '',
    'inner/package.json': '{"imports":{"#above":"above","#linked":"own","#file":"./own.mjs"}}',
    'inner/own.mjs': '',
    'inner/node_modules/empty/readme.md': '',
    'inner/good.mjs':
      ['own', '#linked', '#file', './own.mjs', 'node:fs'].map((name) => `import '${name}';`).join('\n') + GOOD,
    'inner/bad.mjs': importing('above'),
    'inner/scoped.mjs': importing('@cloud/above'),
    'inner/mapped.mjs': importing('#above'),
    'inner/required.mjs': requiring('above'),
    'inner/file.mjs': requiring('file'),
    'inner/empty.mjs': requiring('empty'),
  };
  await withFiles(files, async (workingDirectory) => {
    const link = async (at: string, to = 'elsewhere'): Promise<void> => {
      await mkdir(path.join(workingDirectory, path.dirname(at)), { recursive: true });
      await symlink(path.join(workingDirectory, to), path.join(workingDirectory, at));
    };
    for (const at of ['above', '@cloud/above', 'empty']) await link(`node_modules/${at}`);
    await link('node_modules/file.js', 'elsewhere/index.js');
    await link('inner/node_modules/own', 'linked');
    const options = { builtIn: {}, workingDirectory, providerPath: 'inner' };
    assert.equal((await loadProvider('./inner/good.mjs', options)).name, 'third-party');
    for (const spec of ['bad', 'scoped', 'mapped', 'required', 'file', 'empty']) {
      const said = /Cannot find package '.*' imported from .*mjs; .*node_modules is not searched/u;
      await assert.rejects(loadProvider(`./inner/${spec}.mjs`, options), said, spec);
    }
  });
});

test('what a module that is given by its path imports comes from above it too, but for what everybody may put there', async () => {
  const importing = (...names: readonly string[]): string =>
    [...names.map((name) => `import '${name}';`), `import { CloudError } from '@outrigger/cloud-provider';`, GOOD].join(
      '\n',
    );
  const planted = 'throw new Error("planted");';
  const files = {
    // As of a workspace.
    'node_modules/hoisted/index.js': '',
    'providers/one/package.json': '{}',
    'providers/one/src/provider.mjs': importing('hoisted'),
    // As `/tmp`.
    'shared/package.json': '{"name":"itself","exports":"./planted.cjs","imports":{"#mapped":"./planted.cjs"}}',
    'shared/planted.cjs': planted,
    'shared/node_modules/planted/index.js': planted,
    'shared/node_modules/@outrigger/cloud-provider/index.js': planted,
    'shared/work/node_modules/own/index.js': '',
    'shared/work/good.mjs': importing('own', './beside.mjs'),
    'shared/work/beside.mjs': '',
    'shared/alone.mjs': importing('./sibling.mjs'),
    'shared/sibling.mjs': '',
    'shared/sibling-bad.mjs': importing('planted'),
    'shared/by-sibling.mjs': importing('./sibling-bad.mjs'),
  } as Record<string, string>;
  const bad = ['planted', 'hoisted', 'itself', '#mapped'];
  for (const [at, name] of bad.entries()) {
    files[`shared/work/bad-${at}.mjs`] = importing(name);
    files[`shared/bad-${at}.mjs`] = importing(name);
  }
  await withFiles(files, async (workingDirectory) => {
    await chmod(path.join(workingDirectory, 'shared'), 0o1777);
    const options = { builtIn: {}, workingDirectory };
    for (const spec of ['providers/one/src/provider.mjs', 'shared/work/good.mjs', 'shared/alone.mjs']) {
      assert.equal((await loadProvider(spec, options)).name, 'third-party', spec);
    }
    const said = /Cannot find package '.*' imported from .*mjs; .*node_modules is not searched/u;
    for (const spec of ['shared/work/bad', 'shared/bad'].flatMap((one) => bad.map((_, at) => `${one}-${at}.mjs`))) {
      await assert.rejects(loadProvider(spec, options), said, spec);
    }
    await assert.rejects(loadProvider('shared/by-sibling.mjs', options), said);
  });
});

test('nothing comes from the home directory, where require looks too', async () => {
  const module = new URL('load-provider.ts', import.meta.url).href;
  const files = {
    'home/.node_modules/of-home/index.js': '',
    'provider.mjs': `import { createRequire } from 'node:module'; createRequire(import.meta.url)('of-home'); ${GOOD}`,
    'load.mjs': `import { loadProvider } from ${JSON.stringify(module)};
const load = loadProvider('./provider.mjs', { builtIn: {}, workingDirectory: import.meta.dirname });
console.log(await load.then(({ name }) => name, ({ message }) => message));`,
  };
  await withFiles(files, async (directory) => {
    const env = { ...process.env, HOME: path.join(directory, 'home') };
    const { stdout } = await run(process.execPath, [path.join(directory, 'load.mjs')], { env });
    assert.match(
      stdout,
      /Cannot find package 'of-home' imported from .*provider\.mjs; .*\.node_modules is not searched/u,
    );
  });
});

test('the provider is handed what it is to be called, and what goes into its User-Agent; else nothing', async () => {
  const given: unknown[] = [];
  const factory = (options: { name?: string }): unknown => {
    given.push(options);
    return { name: options.name ?? 'own', open: async () => ({}), close: async () => {} };
  };
  const options = { builtIn: { own: async () => ({ default: factory }) }, workingDirectory: '/' };
  await loadProvider('own', options);
  await loadProvider('own', { ...options, userAgent: [] });
  await loadProvider('own', { ...options, name: 'north', userAgent: ['a/1'] });
  assert.deepEqual(given, [{}, {}, { name: 'north', userAgent: ['a/1'] }]);
});

test('what cannot be loaded is one clear line', async () => {
  const files = {
    'none.mjs': 'export const x = 1;',
    'object.mjs': 'export default {};',
    'promise.mjs': 'export default async () => ({});',
    'throws.mjs': `export default () => { throw new Error('no\\nway'); };`,
    'name.mjs': `export default () => ({ name: 'Not Good' });`,
    'open.mjs': `export default () => ({ name: 'x' });`,
    'close.mjs': `export default () => ({ name: 'x', open() {} });`,
    'reconfigure.mjs': `export default () => ({ name: 'x', open() {}, close() {}, reconfigure: 1 });`,
    'check.mjs': `export default () => ({ name: 'x', open() {}, close() {}, checkConfig: {} });`,
    'watched.mjs': `export default () => ({ name: 'x', open() {}, close() {}, watchedFiles: ['ca.pem'] });`,
    'buckets.mjs': `export default () => ({ name: 'x', open() {}, close() {}, buckets: 'compute' });`,
    'limits.mjs': `export default () => ({ name: 'x', open() {}, close() {}, callLimits: { compute: { qps: 0, burst: 5 } } });`,
    'limit.mjs': `export default () => ({ name: 'x', open() {}, close() {}, callLimits: { compute: 5 } });`,
    'permissions.mjs': `export default () => ({ name: 'x', open() {}, close() {}, permissions: { routes: 'all' } });`,
    'syntax.mjs': 'export default (;',
    'typed.ts': 'export default () => {\n  const a: = 3;\n};',
    'top.mjs': 'function late(x) { return x.y; }\nlate();',
    'imports.mjs': `import './syntax.mjs';`,
    'old.cjs': '',
    'node_modules/broken/package.json': '{',
    'node_modules/hollow/package.json': '{"main":"gone.js"}',
    'node_modules/closed/package.json': '{"exports":{"./other":"./other.js"}}',
  };
  const expected: Record<string, RegExp> = {
    'nobody-has-this': /neither a built-in provider \(memory, openstack\), nor .* installed in \.$/,
    './gone.js': /there is no file .*gone\.js/,
    './old.cjs': /ends in \.js, \.mjs, \.ts/,
    './none.mjs': /no default export/,
    './object.mjs': /default export must be a function .* not a value of type object/,
    './promise.mjs': /must return a provider, not a promise/,
    './throws.mjs': /its factory failed: no \(at default \(\/.*\/throws\.mjs:1:\d+\)\)$/,
    './typed.ts': /could not be loaded: .* \(at \/.*\/typed\.ts:2:12\)$/,
    './top.mjs': /could not be loaded: Cannot read .* \(at late \(\/.*\/top\.mjs:1:\d+\), \/.*\/top\.mjs:2:1\)$/,
    './imports.mjs': /could not be loaded: .* \(at \/.*\/syntax\.mjs:1:17\)$/,
    './name.mjs': /lower-case letters, digits and dashes, not "Not Good"/,
    './open.mjs': /no method open\(host\)/,
    './close.mjs': /no method close\(\)/,
    './reconfigure.mjs': /reconfigure of the provider x is not a method/,
    './check.mjs': /checkConfig of the provider x is not a method/,
    './watched.mjs': /watchedFiles of the provider x is not a method/,
    './buckets.mjs': /buckets of the provider x must be a list of strings/,
    './limits.mjs': /callLimits of the provider x must be a qps above 0 and a burst of at least 1 for each bucket/,
    './limit.mjs': /callLimits of the provider x must be a qps above 0/,
    './permissions.mjs': /permissions of the provider x must be lists of strings, by capability/,
    './syntax.mjs': /could not be loaded: Unexpected token ';' \(at \/.*\/syntax\.mjs:1:17\)$/,
    broken: /package\.json is not JSON/,
    hollow: /hollow has no module at gone\.js/,
    closed: /has no export \. for import/,
  };
  await withFiles(files, async (workingDirectory) => {
    const builtIn = { openstack: async () => ({}), memory: async () => ({}) };
    const options = { builtIn, workingDirectory, providerPath: '.' };
    for (const [spec, message] of Object.entries(expected)) {
      await assert.rejects(loadProvider(spec, options), (error: Error) => {
        assert.ok(isCloudError(error, 'configuration'));
        assert.match(error.message, message);
        assert.ok(error.message.startsWith(`--cloud-provider=${spec}: `) && !error.message.includes('\n'));
        return true;
      });
    }
  });
});
