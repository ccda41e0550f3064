import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

const STAGE = JSON.stringify(pathToFileURL(join(import.meta.dirname, 'stage.ts')).href);

interface Ended {
  readonly directory: string;
  readonly stdout: string;
}

/** A program that has what stages are made of. `beside`: what a shell does with what it prints. */
function run(t: TestContext, program: string, beside = 'cat'): Ended {
  const directory = mkdtempSync(join(tmpdir(), 'outrigger-stage-test-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const script = `import { check, say, SCREEN } from ${STAGE};\n${program}`;
  const { stdout } = spawnSync(
    'sh',
    ['-c', `"$0" --input-type=module --eval "$1" | ${beside}`, process.execPath, script],
    {
      cwd: directory,
      encoding: 'utf8',
    },
  );
  return { directory, stdout };
}

/** Whether the process whose ID is in the file ends, of itself in ten minutes. What is killed ends when it gets its next turn: on a busy machine not at once. */
async function ends(file: string): Promise<boolean> {
  const pid = Number(readFileSync(file, 'utf8'));
  assert.ok(pid > 1, file);
  const status = `/proc/${pid}/status`;
  for (let n = 0; n < 300; n++) {
    try {
      // A zombie has ended, and waits for whoever has inherited it.
      if (/^State:\tZ/mu.test(readFileSync(status, 'utf8'))) return true;
    } catch {
      return true;
    }
    await setTimeout(100);
  }
  return false;
}

/** As a build is, which a program that waits for it would leave behind. */
const WORKS = 'sleep 600 >/dev/null 2>&1 & echo $! >part; mv part works';

const LINUX = { skip: process.platform !== 'linux' && 'it needs /proc' };

test('what a stage has started, and what that has started, ends with the run', LINUX, async (t) => {
  const { directory } = run(
    t,
    `import { existsSync, openSync } from 'node:fs';
     import { setTimeout } from 'node:timers/promises';
     void check('builds', 'sh', ['-c', ${JSON.stringify(`${WORKS}; wait`)}]).run(openSync('output', 'a'));
     while (!existsSync('works')) await setTimeout(20);
     process.exit(1);`,
  );
  assert.ok(await ends(join(directory, 'works')));
});

test('what a stage leaves behind ends with it', LINUX, async (t) => {
  const { directory, stdout } = run(
    t,
    `console.log(await check('leaves', 'sh', ['-c', ${JSON.stringify(WORKS)}]).run(SCREEN));`,
  );
  assert.match(stdout, /passed: 1, failed: 0/u);
  assert.ok(await ends(join(directory, 'works')));
});

test('a reader that is slow misses nothing of a run that ends', (t) => {
  const { stdout } = run(
    t,
    "say(SCREEN, 'x'.repeat(3_000_000)); say(SCREEN, 'sum'); process.exit(0);",
    '(sleep 1; tail -c 6)',
  );
  assert.equal(stdout, 'x\nsum\n');
});
