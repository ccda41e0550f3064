import { strict as assert } from 'node:assert';
import { execFile } from 'node:child_process';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { importProvider } from './import-provider.ts';
import { withFiles } from './with-files.suite.ts';

const run = promisify(execFile);

const FILES = {
  'package.json': '{"type":"module"}',
  'provider.ts': `import { name, type Name } from './parts/name.ts';
interface Made {
  readonly name: Name;
}
export default async (): Promise<Made> => {
  // The file is not looked at before it is needed.
  const { fail } = await import('./parts/' + 'late.ts');
  return { name, fail };
};`,
  // More than a pipe holds at once.
  'parts/name.ts': `export type Name = string;
export const name: Name = 'from TypeScript';
// ${'-'.repeat(1_000_000)}`,
  'parts/late.ts': `interface Left {
  out: true;
}

export function fail<T extends Left>(): T { throw new Error('as asked'); }`,
  'plain.mjs': `export { name } from './parts/name.ts';`,
  'untyped/package.json': '{}',
  'untyped/module.ts': `export const name: string = 'a module';`,
  'untyped/commonjs.ts': `const { name }: { name: string } = require('./other.ts');
module.exports = { name };`,
  'untyped/other.ts': `exports.name = 'CommonJS' as string;`,
  'node_modules/installed/index.ts': 'export const name: string = "installed";',
  'enum.ts': 'enum Color { Red }\nexport default () => Color.Red;',
};

type Made = { readonly name: string; readonly fail: () => never };

test('TypeScript: what it imports at once and later, with the lines and columns of the files', async () => {
  await withFiles(FILES, async (directory) => {
    const before = await readdir(directory, { recursive: true });
    const file = path.join(directory, 'provider.ts');
    const { default: make } = (await importProvider(file)) as { default: () => Promise<Made> };
    const { fail, name } = await make();
    assert.equal(name, 'from TypeScript');
    assert.throws(fail, ({ stack = '' }: Error) => {
      const line = FILES['parts/late.ts'].split('\n').findIndex((text) => text.includes('throw')) + 1;
      const column = (FILES['parts/late.ts'].split('\n')[line - 1] ?? '').indexOf('new Error') + 1;
      assert.match(stack.split('\n')[1] ?? '', new RegExp(`${directory}/parts/late\\.ts:${line}:${column}\\)?$`, 'u'));
      return true;
    });
    assert.deepEqual(await readdir(directory, { recursive: true }), before, 'nothing is written beside it');
  });
});

test('a module of JavaScript may import TypeScript; without a type in package.json the code says what it is', async () => {
  await withFiles(FILES, async (directory) => {
    const nameOf = async (file: string): Promise<unknown> => {
      const module = (await importProvider(path.join(directory, file))) as { name?: string; default?: Made };
      return module.name ?? module.default?.name;
    };
    assert.equal(await nameOf('plain.mjs'), 'from TypeScript');
    assert.equal(await nameOf('untyped/module.ts'), 'a module');
    assert.equal(await nameOf('untyped/commonjs.ts'), 'CommonJS');
  });
});

test('what cannot be stripped, or is installed, is refused in the words of Node', async () => {
  await withFiles(FILES, async (directory) => {
    await assert.rejects(importProvider(path.join(directory, 'enum.ts')), {
      name: 'SyntaxError',
      message: /enum is not supported in strip-only mode/u,
    });
    await assert.rejects(importProvider(path.join(directory, 'node_modules/installed/index.ts')), {
      code: 'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING',
    });
  });
});

test('this process never loads the stripper', async () => {
  await withFiles(FILES, async (directory) => {
    // As in the program that is shipped, which is JavaScript: here, types are stripped all the time.
    const source = await readFile(new URL('import-provider.ts', import.meta.url), 'utf8');
    await writeFile(path.join(directory, 'import-provider.mjs'), stripTypeScriptTypes(source));
    const script = `
      const [directory, how] = process.argv.slice(1);
      const { importProvider } = await import(directory + '/import-provider.mjs');
      const load = how === 'ours' ? importProvider : (file) => import(file);
      const module = await load(directory + '/provider.ts');
      const { name } = await module.default();
      const hasStripper = process.moduleLoadList.some((loaded) => loaded.includes('amaro'));
      console.log(JSON.stringify({ name, hasStripper }));`;
    const outcome = async (how: string): Promise<unknown> => {
      const args = ['--no-warnings', '--input-type=module', '--eval', script, '--', directory, how];
      return JSON.parse((await run(process.execPath, args)).stdout) as unknown;
    };
    assert.deepEqual(await outcome('ours'), { name: 'from TypeScript', hasStripper: false });
    // Else this test would not notice that Node calls it something else.
    assert.deepEqual(await outcome('plain import'), { name: 'from TypeScript', hasStripper: true });
  });
});
