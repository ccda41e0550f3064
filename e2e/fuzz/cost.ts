/**
 * What a target costs as the text grows. Judged by how the time grows and not by how long it takes, so that a slow or busy machine
 * says the same: the thread's own processor time, the least of several runs, and a scan of the same text to compare it with.
 */
import { threadCpuUsage } from 'node:process';

/** Twice the text costs twice the time, and four times it where it is quadratic. Between the two sizes compared lie two doublings. */
const QUADRATIC = 9;
/** Shorter times say nothing of how they grow, in milliseconds. */
const LEAST_MS = 40;
/** How many times a scan of the same text a target may take, unless it says otherwise. */
const SCANS = 3_000;
/** Below this time nothing is too long, in milliseconds. */
const NEVER_TOO_LONG_MS = 400;

export interface Step {
  readonly size: number;
  readonly ms: number;
}

/** Why these steps, of sizes that double, cost more than their size; `undefined` when they do not. */
export function whyTooMuch(steps: readonly Step[], scanMs: number, scans: number = SCANS): string | undefined {
  const last = steps.at(-1);
  const before = steps.at(-3);
  if (!last || last.ms < LEAST_MS) return undefined;
  const { size, ms } = last;
  if (ms > NEVER_TOO_LONG_MS && ms > scanMs * scans) {
    return `${Math.round(ms)} ms for ${size} characters, which a scan takes ${scanMs.toFixed(2)} ms for`;
  }
  if (!before || before.ms < LEAST_MS / 16 || ms / before.ms < QUADRATIC) return undefined;
  return `${before.ms.toFixed(1)} ms for ${before.size} characters, ${Math.round(ms)} ms for ${size}`;
}

/** The least processor time of these runs, in milliseconds. A run that takes long is not repeated. */
export function timeOf(run: () => void, repeats: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (let n = 0; n < repeats && (n === 0 || least < 250); n++) {
    const before = threadCpuUsage();
    run();
    const { user, system } = threadCpuUsage(before);
    least = Math.min(least, (user + system) / 1_000);
  }
  return least;
}

/** Passes at a time: one alone is shorter than the clock shows. */
const PASSES = 32;

/** What a plain pass over the text costs here and now, in milliseconds; at least 1 µs. */
export function scanTime(text: string): number {
  let sum = 0;
  const scan = (): void => {
    for (let n = 0; n < PASSES; n++) for (let at = 0; at < text.length; at++) sum = (sum + text.charCodeAt(at)) | 0;
  };
  const ms = timeOf(scan, 3) / PASSES;
  // Used, so that the loop is not optimised away.
  return Math.max(0.001, ms + (sum === 0.5 ? 1 : 0));
}
