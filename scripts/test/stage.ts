/** What a stage of `make test` is, and how it runs a program: a check, or tests that are counted. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { giveWay } from './give-way.ts';

export interface Totals {
  passed: number;
  failed: number;
  skipped: number;
  /** What each failed test has printed, where the stage has tests. */
  failures?: readonly string[];
}

/** File descriptor of what a stage and its programs print: a file of its own while other stages run beside it. */
export type Output = number;

/** Stages of one lane follow each other, and the lanes run beside each other. */
export type Lane = 'checks' | 'builds' | 'tests' | 'labs' | 'long';

export interface Stage {
  readonly name: string;
  readonly lane: Lane;
  /** Part of a run without arguments. */
  readonly always: boolean;
  /** Stages of other lanes that end before it begins, where they are part of the run. Default: none. */
  readonly after?: readonly string[];
  readonly run: (output: Output) => Promise<Totals>;
}

/** No stage may hang CI: each is ended after this many minutes. The longest is begun early and shares the machine with all others: it takes most of a run. */
const STAGE_LIMIT_MINUTES = 90;

/**
 * Where Node keeps what it compiled of the sources: each test file, and each program that one starts, loads hundreds of them. V8 reports what
 * it takes from there less precisely, and the coverage is then a lower bound, about a percent below.
 */
const COMPILE_CACHE = join(process.cwd(), 'node_modules', '.cache', 'node-compile-cache');

/** In CI nothing is skipped. */
export const ci: boolean = process.env['CI'] === 'true';

/** Standard output: of a stage that runs by itself, and so prints as it goes. */
export const SCREEN: Output = 1;

/** Returns when all of it is written: what the stream of a pipe holds for a slow reader is lost when the process exits. */
export function say(output: Output, line: string): void {
  let rest = Buffer.from(`${line}\n`);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(output, rest));
    } catch (error) {
      // A pipe that does not block, as Node makes it for its programs, is full.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}

/** What the programs of a stage have started ends with them, and they with this process. */
const running = new Set<ChildProcess>();
process.on('exit', () => running.forEach((child) => signalGroup(child, 'SIGTERM')));

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // ESRCH: nobody is left.
  }
}

/** Resolves with the exit code. */
async function execute(
  output: Output,
  command: string,
  args: readonly string[],
  { env = {}, givesWay = false }: { readonly env?: NodeJS.ProcessEnv | undefined; readonly givesWay?: boolean } = {},
): Promise<number> {
  const child = spawn(command, args, {
    stdio: ['ignore', output, output],
    // A group of its own, which Ctrl-C does not reach: this process ends it.
    detached: true,
    env: { ...process.env, NODE_COMPILE_CACHE: COMPILE_CACHE, ...env },
  });
  running.add(child);
  if (givesWay) giveWay(child);
  const limit = setTimeout(() => {
    say(output, `${command} took longer than ${STAGE_LIMIT_MINUTES} minutes and was ended`);
    signalGroup(child, 'SIGKILL');
  }, STAGE_LIMIT_MINUTES * 60_000);
  try {
    return await new Promise<number>((resolve, reject) => {
      child.on('error', reject);
      child.on('exit', (code) => resolve(code ?? 1));
    });
  } finally {
    clearTimeout(limit);
    running.delete(child);
    signalGroup(child, 'SIGKILL');
  }
}

interface CheckOptions {
  readonly always?: boolean;
  readonly lane?: Lane;
  readonly after?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

/** A program whose result does not depend on how long it takes: it gives way to the tests that run beside it. */
export function check(
  name: string,
  command: string,
  args: readonly string[],
  { after = [], always = true, lane = 'checks', env }: CheckOptions = {},
): Stage {
  return {
    name,
    lane,
    always,
    after,
    run: async (output) => {
      const ok = (await execute(output, command, args, { env, givesWay: true })) === 0;
      return { passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: 0 };
    },
  };
}

/** Tests that only some machines can run, each for a reason that is said elsewhere: nothing fails for it. */
export function unless(why: () => string | undefined | Promise<string | undefined>, stage: Stage): Stage {
  return {
    ...stage,
    run: async (output) => {
      const reason = await why();
      if (reason === undefined) return stage.run(output);
      say(output, `${stage.name}: left out: ${reason}`);
      return { passed: 0, failed: 0, skipped: 0 };
    },
  };
}

/** Runs tests that are reported by scripts/test-reporter.ts. */
export async function counted(
  name: string,
  output: Output,
  args: readonly string[],
  env?: NodeJS.ProcessEnv,
): Promise<Totals> {
  const directory = mkdtempSync(join(tmpdir(), 'outrigger-test-'));
  const counts = join(directory, 'counts');
  const code = await execute(output, 'node', args, { env: { OUTRIGGER_TEST_COUNTS: counts, ...env } });
  const totals = readTotals(counts);
  rmSync(directory, { recursive: true, force: true });
  // A run that fails without a failed test: the coverage floor, a crash, the time limit.
  if (code !== 0 && totals.failed === 0) totals.failed = 1;
  if (ci && totals.skipped > 0) {
    say(output, `${name}: ${totals.skipped} tests were skipped, and CI skips none`);
    totals.failed += totals.skipped;
  }
  return totals;
}

export function add(sum: Totals, more: Totals): void {
  sum.passed += more.passed;
  sum.failed += more.failed;
  sum.skipped += more.skipped;
}

function readTotals(file: string): Totals {
  try {
    const counts = JSON.parse(readFileSync(file, 'utf8').trim().split('\n').at(-1) ?? '') as Totals & {
      cancelled: number;
    };
    const { cancelled, failed, failures = [], passed, skipped } = counts;
    return { passed, failed: failed + cancelled, skipped, failures };
  } catch {
    return { passed: 0, failed: 1, skipped: 0 };
  }
}
