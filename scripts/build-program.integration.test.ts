import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { buildProgram } from './build-program.ts';

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

let directory = '';
let elsewhere = '';
let launcher = '';
let outrigger = '';
let bundle = '';

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'outrigger-build-'));
  elsewhere = join(directory, 'elsewhere');
  await mkdir(elsewhere);
  ({ bundle, launcher, outrigger } = await buildProgram(directory));
  // As in an image: Node beside the launcher.
  await symlink(process.execPath, join(directory, 'bin', 'node'));
});

after(() => rm(directory, { recursive: true }));

function run(file: string, args: readonly string[], cwd: string): Promise<Outcome> {
  return new Promise((resolve) => {
    const env = { PATH: '/usr/bin:/bin', HOME: cwd };
    execFile(file, [...args], { cwd, env, timeout: 30_000 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 255), stdout, stderr });
    });
  });
}

test('the launcher runs from any working directory, also through a symbolic link', async () => {
  const link = join(elsewhere, 'ccm');
  await symlink('../bin/cloud-controller-manager', link);
  for (const file of [launcher, link]) {
    const { code, stdout, stderr } = await run(file, ['--version'], elsewhere);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^Outrigger v\d+\.\d+\.\d+\n$/u);
  }
});

test('bin/outrigger runs the commands, and lists them when it is given none', async () => {
  const link = join(elsewhere, 'or');
  await symlink('../bin/outrigger', link);
  for (const file of [outrigger, link]) {
    const listed = await run(file, [], elsewhere);
    assert.deepEqual([listed.code, listed.stderr], [0, '']);
    assert.match(listed.stdout, /^ {2}version +Prints the version\.$/mu);
    assert.match((await run(file, ['version'], elsewhere)).stdout, /^Outrigger v\d+\.\d+\.\d+\n$/u);
  }
  assert.equal((await run(launcher, ['version'], elsewhere)).code, 0);
});

test('a bad command line is one line on stderr and exit code 1', async () => {
  const { code, stdout, stderr } = await run(launcher, ['--cloud-provder=memory'], elsewhere);
  assert.deepEqual([code, stdout], [1, '']);
  assert.equal(stderr, 'cloud-controller-manager: unknown flag --cloud-provder; did you mean --cloud-provider?\n');
});

test("a third party's provider is loaded from the bundle: a path to .ts or .mjs, and a package", async () => {
  const source = (mark: string): string =>
    `export default () => { process.stderr.write('loaded ${mark}\\n'); return { name: 'third', open: async () => ({}), close: async () => {} }; };\n`;
  await writeFile(join(elsewhere, 'provider.mjs'), source('mjs'));
  await writeFile(join(elsewhere, 'provider.ts'), `type Mark = string;\n${source('ts')}`);
  const root = join(elsewhere, 'node_modules', '@acme', 'cloud');
  await mkdir(root, { recursive: true });
  await writeFile(join(root, 'package.json'), '{"name":"@acme/cloud","type":"module","exports":"./main.js"}');
  await writeFile(join(root, 'main.js'), source('package'));
  for (const [provider, mark] of [
    ['./provider.mjs', 'mjs'],
    ['./provider.ts', 'ts'],
    ['@acme/cloud', 'package'],
  ] as const) {
    const { code, stderr } = await run(
      launcher,
      [`--cloud-provider=${provider}`, '--kubeconfig=/does/not/exist', '--secure-port=0'],
      elsewhere,
    );
    assert.match(stderr, new RegExp(`^loaded ${mark}\n`, 'u'));
    assert.match(stderr, /\/does\/not\/exist/u);
    assert.equal(code, 1);
  }
});

test('a built-in provider is in the bundle, and an unknown one is refused with the list of them', async () => {
  const known = await run(launcher, ['--cloud-provider=memory', '--kubeconfig=/does/not/exist'], elsewhere);
  assert.match(known.stderr, /\/does\/not\/exist/u);
  const unknown = await run(launcher, ['--cloud-provider=memry'], elsewhere);
  assert.equal(unknown.code, 1);
  assert.match(unknown.stderr, /--cloud-provider=memry: .*\bmemory\b/u);
});

test('what the program always reads is small; no file has a character beyond Latin-1', async () => {
  const names = (await readdir(dirname(bundle), { recursive: true })).filter((name) => name.endsWith('.js'));
  const texts = new Map<string, string>();
  for (const name of names) texts.set(name, await readFile(join(dirname(bundle), name), 'utf8'));
  for (const [name, text] of texts) {
    const beyond = text.match(/[\u0100-\u{10ffff}]/gu) ?? [];
    assert.deepEqual(beyond, [], `${name}: V8 would hold the whole text in two bytes a character`);
  }
  const main = texts.get('cloud-controller-manager.js') ?? '';
  assert.ok(main.length > 0 && main.length < 1_200_000, `${main.length} bytes`);
  const all = [...texts.values()].reduce((sum, { length }) => sum + length, 0);
  assert.ok(all < 3_000_000, `${all} bytes`);
});

test('a second build leaves no part of the first behind', async () => {
  const stale = join(dirname(bundle), 'parts', 'h1-client-OLD.js');
  await writeFile(stale, '');
  await buildProgram(directory);
  await assert.rejects(stat(stale), { code: 'ENOENT' });
});
