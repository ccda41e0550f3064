/** Waiting for what programs under test do: what does not come in time, or cannot come any more, is told with the ends of their logs. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { systemClock } from '@outrigger/kube';

const MOST_OF_A_LOG = 8_000;

export interface WaitOptions {
  readonly patienceMs: number;
  /** Between one look and the next. */
  readonly pollMs: number;
  /** Files with what the programs have said; one that is not there has nothing in it. */
  readonly logs: readonly string[];
  /** Whether it can come still: once it is false, nothing is waited for. Default: it can. */
  readonly mayCome?: () => boolean;
}

/** Resolves with the milliseconds that it took; fails otherwise. */
export async function waitUntil(
  what: string,
  holds: () => boolean | Promise<boolean>,
  { logs, mayCome = () => true, patienceMs, pollMs }: WaitOptions,
): Promise<number> {
  const began = systemClock.monotonic();
  while (!(await holds())) {
    const hasEnded = !mayCome();
    if (hasEnded || systemClock.monotonic() - began > patienceMs) {
      const why = hasEnded ? 'a program has ended' : `not within ${patienceMs / 1_000} s`;
      assert.fail([`${why}: ${what}`, ...(await Promise.all(logs.map(endOf)))].join('\n\n'));
    }
    await systemClock.sleep(pollMs);
  }
  return systemClock.monotonic() - began;
}

async function endOf(log: string): Promise<string> {
  return (await readFile(log, 'utf8').catch(() => '')).slice(-MOST_OF_A_LOG);
}
