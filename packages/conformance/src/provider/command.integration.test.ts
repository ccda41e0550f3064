import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { conformanceCommand } from '../command.ts';

const memory = fileURLToPath(new URL('../../../../providers/memory/src/', import.meta.url));
const toMemoryFixture = pathToFileURL(path.join(memory, 'memory-fixture.suite.ts')).href;

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function run(cwd: string, ...args: readonly string[]): Promise<Ran> {
  let [stdout, stderr] = ['', ''];
  const io = {
    stdout: { write: (text: string) => void (stdout += text) },
    stderr: { write: (text: string) => void (stderr += text) },
    env: {},
    cwd,
  };
  const code = await conformanceCommand(args, io);
  return { code, stdout, stderr };
}

async function inFolder(
  files: Readonly<Record<string, string>>,
  work: (folder: string) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'conformance-'));
  try {
    for (const [name, text] of Object.entries(files)) await writeFile(path.join(folder, name), text);
    await work(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

const fixture = `import { memoryFixture } from '${toMemoryFixture}';
export const createProviderFixture = () => memoryFixture('http');
`;
const provider = `--cloud-provider=${path.join(memory, 'index.ts')}`;

test('a provider is judged by its path, and the reports are written', async () => {
  await inFolder({ 'fixture.ts': fixture }, async (folder) => {
    const only = '--only=instances / a stopped,routes / removing,features';
    const missed = await run(folder, 'provider', provider, '--fixture=fixture.ts', only);
    assert.deepEqual(
      [missed.code, missed.stderr],
      [1, 'conformance provider: --only=features: no test has this in its name; see --list\n'],
    );
    const args = [
      provider,
      '--fixture=./fixture.ts',
      '--only=instances / a stopped,session affinity',
      '--report-dir=out',
    ];
    const { code, stderr, stdout } = await run(folder, 'provider', ...args);
    assert.equal(code, 0, stderr);
    assert.match(stderr, /^passed instances \/ a stopped machine is there, and shut down$/mu);
    assert.match(stderr, /^skipped load-balancers \/ serves what it declares: session affinity$/mu);
    assert.match(stdout, /memory/u);
    const files = await readdir(path.join(folder, 'out'));
    for (const name of ['report.html', 'junit.xml', 'report.json', 'latest-build.txt'])
      assert.ok(files.includes(name), name);
  });
});

test('a provider that is wrong fails the run, and its reason is told', async () => {
  const wrong = `import make from '${pathToFileURL(path.join(memory, 'index.ts')).href}';
export default (options) => {
  const own = make(options);
  return { ...own, open: async (host) => {
    const { instances } = await own.open(host);
    const read = (node, need, call) => instances.read(node, need, call).catch(() => ({ result: { kind: 'absent', proof: 'no' } }));
    return { instances: { lookUp: (nodes, need, call) => instances.lookUp(nodes, need, call), read } };
  } };
};
`;
  await inFolder({ 'fixture.ts': fixture, 'wrong.mjs': wrong }, async (folder) => {
    const only = '--only=instances / a request that fails';
    const { code, stdout } = await run(
      folder,
      'provider',
      '--cloud-provider=./wrong.mjs',
      '--fixture=fixture.ts',
      only,
    );
    assert.equal(code, 1);
    assert.match(stdout, /while requests end as unavailable/u);
  });
});

test('what is missing or wrong on the command line is one line', async () => {
  await inFolder(
    { 'empty.ts': 'export const nothing = 1;\n', 'half.ts': 'export default () => ({});\n' },
    async (folder) => {
      const lines = await Promise.all([
        run(folder),
        run(folder, 'provder'),
        run(folder, 'provider'),
        run(folder, 'provider', '--cloud-provider=./none.ts', '--fixture=empty.ts'),
        run(folder, 'provider', provider, '--fixture=none.ts'),
        run(folder, 'provider', provider, '--fixture=empty.ts'),
        run(folder, 'provider', '--wrong'),
      ]);
      assert.ok(lines.every(({ code, stderr }) => code === 1 && stderr.trimEnd().split('\n').length === 1));
      assert.match(lines[2]?.stderr ?? '', /--cloud-provider and --fixture have to be given/u);
      assert.match(lines[3]?.stderr ?? '', /there is no file/u);
      assert.match(lines[5]?.stderr ?? '', /neither createProviderFixture\(\) nor a function/u);
      const half = await run(folder, 'provider', provider, '--fixture=half.ts', '--only=a stopped machine');
      assert.match(half.stderr, /the fixture has no createMachine\(\)/u);
      for (const word of ['cluster', 'provider'])
        assert.match((await run(folder, '--help')).stdout, new RegExp(word, 'u'));
      assert.match((await run(folder, 'cluster', '--list')).stdout, /service/u);
      const help = await run(folder, 'provider', '--help');
      assert.equal(help.code, 0);
      assert.match(help.stdout, /--report-dir/u);
      const list = await run(folder, 'provider', '--list');
      assert.match(list.stdout, /instances \/ a stopped machine is there, and shut down\n {2}docs\//u);
    },
  );
});
