import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ProcessGroup, tailOf } from './process-group.ts';

async function temporary(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'outrigger-test-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function gone(...pids: number[]): Promise<boolean> {
  for (let attempt = 0; attempt < 12_000 && pids.some(isAlive); attempt++) {
    await new Promise<void>((resolve) => void setTimeout(resolve, 10));
  }
  return !pids.some(isAlive);
}

/** A shell that has a child of its own and says its pid. */
const PARENT = ['-c', 'sleep 300 & echo $!; wait'];

test('programs start, say their exit, are signalled, and write to their logs', async (t) => {
  const directory = await temporary(t);
  await using group = new ProcessGroup();
  const log = join(directory, 'log');
  const short = await group.start({
    name: 'short',
    command: '/bin/sh',
    args: ['-c', 'echo out; echo err >&2; exit 3'],
    log,
  });
  assert.deepEqual(await short.exited(), { code: 3, signal: null });
  assert.deepEqual((await tailOf(log)).split('\n').sort(), ['err', 'out']);
  const long = await group.start({ name: 'long', command: '/bin/sleep', args: ['300'], log });
  assert.equal(long.exit, undefined);
  long.signal('SIGKILL');
  assert.deepEqual(await long.exited(), { code: null, signal: 'SIGKILL' });
  const again = await group.start({ name: 'long', command: '/bin/sleep', args: ['300'], log });
  assert.notEqual(again.pid, long.pid);
  await assert.rejects(
    group.start({ name: 'none', command: '/nonexistent', args: [], log }),
    /cannot run \/nonexistent/,
  );
});

test('disposal ends children of children and removes the directory', async (t) => {
  const directory = await temporary(t);
  const data = join(directory, 'data');
  await mkdir(data);
  const log = join(directory, 'log');
  const group = new ProcessGroup({ removeOnEnd: [data] });
  const program = await group.start({ name: 'parent', command: '/bin/sh', args: PARENT, log });
  while (!(await readFile(log, 'utf8')).includes('\n'))
    await new Promise<void>((resolve) => void setImmediate(resolve));
  const grandchild = Number(await readFile(log, 'utf8'));
  await group[Symbol.asyncDispose]();
  assert.ok(await gone(program.pid, grandchild, group.pid!));
  assert.ok(!existsSync(data));
  assert.ok(program.exit);
  await assert.rejects(group.start({ name: 'late', command: '/bin/true', args: [], log }), /has ended/);
});

/** Another test process, which starts a group and prints its pids. */
const OWNER = `
  const { ProcessGroup } = await import(process.argv[1]);
  const group = new ProcessGroup({ removeOnEnd: [process.argv[2] + '/data'] });
  const program = await group.start({ name: 'p', command: '/bin/sh', args: ['-c', 'trap "" TERM; sleep 300'], log: process.argv[2] + '/log' });
  console.log(JSON.stringify([group.pid, program.pid]));
  process.stdin.resume();
`;

for (const victim of ['test process', 'supervisor'] as const) {
  test(`kill -9 of the ${victim} leaves no process and no data behind`, async (t) => {
    const directory = await temporary(t);
    await mkdir(join(directory, 'data'));
    const module = fileURLToPath(new URL('./process-group.ts', import.meta.url));
    const owner = spawn(process.execPath, ['--input-type=module', '-e', OWNER, module, directory], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    t.after(() => owner.kill('SIGKILL'));
    const [line] = (await once(createInterface({ input: owner.stdout }), 'line')) as [string];
    const [supervisor, program] = JSON.parse(line) as [number, number];
    assert.ok(isAlive(supervisor) && isAlive(program));
    process.kill(victim === 'supervisor' ? supervisor : owner.pid!, 'SIGKILL');
    assert.ok(await gone(supervisor, program));
    if (victim === 'test process') assert.ok(!existsSync(join(directory, 'data')));
  });
}

test('a process that forgets to dispose still ends, and its programs with it', async (t) => {
  const directory = await temporary(t);
  await mkdir(join(directory, 'data'));
  const module = fileURLToPath(new URL('./process-group.ts', import.meta.url));
  const owner = spawn(
    process.execPath,
    ['--input-type=module', '-e', OWNER.replace('process.stdin.resume();', ''), module, directory],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  const lines = createInterface({ input: owner.stdout });
  const [[line], [code]] = (await Promise.all([once(lines, 'line'), once(owner, 'exit')])) as [[string], [number]];
  assert.equal(code, 0);
  assert.ok(await gone(...(JSON.parse(line) as number[])));
});
