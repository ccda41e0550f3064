/** The periodic look at all nodes: once a period each, in full batches, spread over the period. */
import type { Clock } from '@outrigger/kube';

export interface RefreshScheduleOptions {
  readonly clock: Clock;
  /** Ends the schedule. */
  readonly signal: AbortSignal;
  /** From 0 to 1: where in the first interval it begins, so that several clusters do not call together. */
  readonly random: () => number;
  readonly periodMs: number;
  /** Most nodes in one batch: the provider's batch size. */
  readonly batchSize: number;
  /** Keys of the nodes that are due in the pass that begins. */
  readonly due: () => readonly string[];
  /** Asks about one node. Called for a whole batch in one turn. */
  readonly ask: (key: string) => void;
}

/** Runs until the signal aborts. N nodes make ⌈N / batchSize⌉ batches a period, evenly apart. */
export async function runRefreshSchedule(options: RefreshScheduleOptions): Promise<void> {
  const { clock, signal, random, periodMs, batchSize, due, ask } = options;
  let pause = (count: number): number => (random() * periodMs) / count;
  try {
    for (;;) {
      const batches = inBatches(due(), batchSize);
      const interval = periodMs / Math.max(1, batches.length);
      await clock.sleep(pause(Math.max(1, batches.length)), signal);
      for (const [i, batch] of batches.entries()) {
        if (i > 0) await clock.sleep(interval, signal);
        for (const key of batch) ask(key);
      }
      pause = (): number => interval;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function inBatches(keys: readonly string[], size: number): readonly (readonly string[])[] {
  return Array.from({ length: Math.ceil(keys.length / size) }, (_, i) => keys.slice(i * size, (i + 1) * size));
}
