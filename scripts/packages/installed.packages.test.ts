/** The tarballs of `make packages`, judged, installed alone into an empty folder, and used there as somebody would who has no checkout. */
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { readGuide } from '../../e2e/guide-page.ts';
import { makePackages, type Tarball } from './make-packages.ts';
import { repository, workspacePackages } from './workspace-packages.ts';

const run = promisify(execFile);
const bin = (name: string): string => path.join(repository, 'node_modules/.bin', name);
const directory = mkdtempSync(path.join(tmpdir(), 'outrigger-packages-'));
const consumer = path.join(directory, 'consumer');
/** By the name of a package, the major version of Node from which on it runs. */
const floors = new Map(workspacePackages().map(({ manifest }) => [manifest.name, floorOf(manifest.engines?.node)]));
let tarballs: readonly Tarball[] = [];
let nodes: ReadonlyMap<number, string> = new Map();

after(() => rmSync(directory, { recursive: true }));

before(async () => {
  tarballs = makePackages({ output: path.join(directory, 'packages') });
  nodes = await findNodes();
  // By the oldest first: what runs there is installed there, and the others on top of it by theirs.
  for (const [major, node] of [...nodes].toSorted(([a], [b]) => a - b)) {
    await install(folderOf(major), node, fit(major));
  }
});

/** What is for Node 20 is another tree: the others have dependencies that it refuses. */
function folderOf(major: number): string {
  return major < 22 ? path.join(directory, `consumer-${major}`) : consumer;
}

function fit(major: number): readonly Tarball[] {
  return tarballs.filter(({ name }) => (floors.get(name) ?? 0) <= major);
}

function floorOf(range = ''): number {
  const major = /^>=(\d+)(?:\.\d+)*$/u.exec(range)?.[1];
  assert.ok(major, `engines.node must be >= and a version, not ${JSON.stringify(range)}`);
  return Number(major);
}

/** `--engine-strict`: a package whose dependency does not run on this Node is refused. */
async function install(folder: string, node: string, files: readonly Tarball[]): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const manifest = path.join(folder, 'package.json');
  if (!existsSync(manifest)) writeFileSync(manifest, '{ "private": true, "type": "module" }\n');
  const { '@types/node': types } = (
    JSON.parse(readFileSync(path.join(repository, 'package.json'), 'utf8')) as {
      devDependencies: Record<string, string>;
    }
  ).devDependencies;
  const args = ['install', '--engine-strict', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
  await npm([...args, ...files.map(({ file }) => file), `@types/node@${types}`], folder, node);
}

async function npm(args: readonly string[], cwd: string, node: string): Promise<void> {
  await run('npm', args, { cwd, env: environmentOf(node) });
}

function environmentOf(node: string): NodeJS.ProcessEnv {
  return { ...process.env, PATH: `${path.dirname(node)}${path.delimiter}${process.env['PATH']}` };
}

/** Every Node on the path, and Node 22, by their major versions. */
async function findNodes(): Promise<ReadonlyMap<number, string>> {
  const found = new Map<number, string>();
  const places = (process.env['PATH'] ?? '').split(path.delimiter).map((place) => path.join(place, 'node'));
  for (const file of [process.execPath, ...places, await node22()]) {
    if (file === undefined || !existsSync(file)) continue;
    const major = Number.parseInt(execFileSync(file, ['-p', 'process.versions.node'], { encoding: 'utf8' }), 10);
    if (!found.has(major)) found.set(major, file);
  }
  return found;
}

/** By a lock file of its own: in that of the repository, its `bin` would stand in the way of the pinned Node's. */
async function node22(): Promise<string | undefined> {
  if (process.platform !== 'linux') return undefined;
  const folder = path.join(directory, 'node-22');
  mkdirSync(folder);
  for (const file of ['package.json', 'package-lock.json']) {
    copyFileSync(path.join(repository, 'scripts/packages/node-22', file), path.join(folder, file));
  }
  await npm(['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error'], folder, process.execPath);
  return path.join(folder, `node_modules/node-linux-${process.arch}/bin/node`);
}

/** As attw's profile `esm-only`: how the resolution of old TypeScript, and `require`, would find the types is nobody's. */
const RESOLUTIONS: readonly string[] = ['node16-esm', 'bundler'];

test('each package is right for publint and attw', async () => {
  for (const { file, name } of tarballs) {
    const bytes = readFileSync(file);
    const { messages } = await publint({ pack: { tarball: Uint8Array.from(bytes).buffer }, strict: true });
    assert.deepEqual(messages, [], name);
    const result = await checkPackage(createPackageFromTarballData(bytes));
    assert.ok(result.types, `${name} has no types`);
    const problems = result.problems.filter(
      (problem) => !('resolutionKind' in problem) || RESOLUTIONS.includes(problem.resolutionKind),
    );
    assert.deepEqual(problems, [], name);
  }
});

test('a tarball has what was built, its licence and its README, and neither sources nor tests', () => {
  assert.equal(tarballs.length, workspacePackages().length);
  const folders = new Map(workspacePackages().map(({ manifest }) => [manifest.name, manifest.files ?? []]));
  for (const { files: all, name } of tarballs) {
    // A template is sources, which are copied and not run.
    const files = all.filter((file) => !folders.get(name)?.some((folder) => file.startsWith(`${folder}/`)));
    assert.deepEqual(
      files.filter((file) => !/^dist\/.+\.(?:js|d\.ts)$/u.test(file)).toSorted(),
      ['LICENSE', 'README.md', 'package.json'],
      name,
    );
    // What a fake is made with is public; fakes are not.
    const own = files.filter((file) => name !== '@outrigger/provider-kit' || !file.startsWith('dist/fake/'));
    assert.deepEqual(
      own.filter((file) => /\.(?:test|suite)\.|\/(?:fake|golden)\//u.test(file)),
      [],
      name,
    );
  }
});

test('each entry point is imported on each Node that its package names, and npm installs it there', async () => {
  for (const [major, node] of nodes) {
    const folder = folderOf(major);
    const specifiers = fit(major).flatMap(({ name }) => entryPoints(folder, name));
    const text = `for (const name of ${JSON.stringify(specifiers)}) if (!Object.keys(await import(name)).length) throw new Error(name);`;
    writeFileSync(path.join(folder, 'entry-points.mjs'), text);
    const { stderr } = await run(node, ['entry-points.mjs'], { cwd: folder });
    assert.equal(stderr, '', `Node ${major}`);
  }
  // The machine's own may be any.
  if (process.platform === 'linux') assert.ok(nodes.has(22) && nodes.has(24));
});

function entryPoints(folder: string, name: string): readonly string[] {
  const manifest = createRequire(path.join(folder, 'x.js')).resolve(`${name}/package.json`);
  const { exports } = JSON.parse(readFileSync(manifest, 'utf8')) as { exports: object };
  return Object.keys(exports)
    .filter((subpath) => subpath !== './package.json')
    .map((subpath) => path.posix.join(name, subpath));
}

/** The files that a reader of the guide for providers has after each chapter: `guide/1-nodes/my-cloud.ts`. */
function guideFiles(): Readonly<Record<string, string>> {
  const pages = path.join(repository, 'docs/guides/write-a-provider');
  const folder = new Map<string, string>();
  const chapters = ['README.md', ...globSync('[1-9]-*.md', { cwd: pages }).toSorted()];
  return Object.fromEntries(
    chapters.flatMap((page) => {
      for (const step of readGuide(readFileSync(path.join(pages, page), 'utf8'))) {
        if (step.kind === 'file') folder.set(step.name, step.text);
      }
      return [...folder].map(([name, text]) => [path.join('guide', path.basename(page, '.md'), name), text]);
    }),
  );
}

test('the providers and the manager of the guides are checked against the declarations, and a node is initialised', async () => {
  const page = readFileSync(path.join(repository, 'docs/guides/build-your-own.md'), 'utf8');
  const [fork = '', controller = ''] = [...page.matchAll(/^```ts\n([\s\S]*?)^```/gmu)].map(([, block = '']) => block);
  const files = {
    ...guideFiles(),
    'fork.ts': fork,
    'zone-label-controller.ts': controller,
    'initialise-node.ts': readFileSync(path.join(repository, 'scripts/packages/consumer/initialise-node.ts'), 'utf8'),
    'tsconfig.json': JSON.stringify({
      compilerOptions: {
        target: 'es2023',
        lib: ['es2023', 'esnext.disposable'],
        module: 'nodenext',
        types: ['node'],
        strict: true,
        verbatimModuleSyntax: true,
        erasableSyntaxOnly: true,
        rewriteRelativeImportExtensions: true,
        outDir: 'built',
      },
      include: ['*.ts', 'guide'],
    }),
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(consumer, name)), { recursive: true });
    writeFileSync(path.join(consumer, name), text);
  }
  await run(bin('tsc'), ['-p', '.'], { cwd: consumer }).catch(({ stdout }: { stdout: string }) => assert.fail(stdout));
  for (const provider of ['1-nodes/my-cloud.ts', '4-routes/my-cloud.ts', '../built/guide/4-routes/my-cloud.js']) {
    const { stdout } = await run(
      process.execPath,
      ['../built/initialise-node.js', '../built/fork.js', `./${provider}`],
      {
        cwd: path.join(consumer, 'guide'),
      },
    ).catch((error: { stdout: string; stderr: string }) => assert.fail(`${error.stdout}${error.stderr}`));
    assert.match(stdout, /^initialised my-cloud:\/\/srv-1$/mu, provider);
  }
});

test('the tests of the guide’s provider, all of conformance, pass with what is installed', async () => {
  // The runner of this test must not take the other for a file of its own.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const cwd = path.join(consumer, 'guide/5-test-and-ship');
  const { stdout } = await run(process.execPath, ['--test', '--test-reporter=tap'], { cwd, env }).catch(
    (error: { stdout: string; stderr: string }) => assert.fail(`${error.stdout}${error.stderr}`),
  );
  assert.match(stdout, /^# pass [1-9]\d+$/mu);
  assert.match(stdout, /^# fail 0$/mu);
});

test('a program of the testing package that is a file of its own starts from where it is installed', async () => {
  writeFileSync(
    path.join(consumer, 'group.mjs'),
    `import { ProcessGroup } from '@outrigger/testing';
const group = new ProcessGroup();
const program = await group.start({ name: 'true', command: 'true', args: [], log: 'true.log' });
console.log((await program.exited()).code);
await group[Symbol.asyncDispose]();
`,
  );
  const { stdout } = await run(process.execPath, ['group.mjs'], { cwd: consumer });
  assert.equal(stdout, '0\n');
});
