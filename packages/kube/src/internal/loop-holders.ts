/** Who holds the event loop, a reconcile or what a controller does beside: what runs between two of its awaits for so long that nothing else does. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { threadCpuUsage } from 'node:process';
import { promiseHooks } from 'node:v8';
import type { Clock } from '../clock.ts';
import type { LogFields } from '../logger.ts';

/** From here on the event loop counts as held: answers, probes and the renewal of the Lease wait so long. */
export const HELD_MS = 1_000;
/** Of it the thread has to have computed: a process that gets no processor is held by others, and no object is to blame. */
export const COMPUTED_MS: number = HELD_MS / 2;
/** The processor time is asked for so often: for each await it would cost more than all else here. */
const SAMPLED_MS = 100;

/** What is told that it has held the event loop, for so many milliseconds. `about`: the object that it was at, if that is known. */
export type OnHeld = (heldMs: number, about?: LogFields) => void;

interface Holder {
  readonly onHeld: OnHeld;
  readonly timing: Timing;
}

interface Timing {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly processor: ProcessorTime;
}

/** Follows a reconcile, or a controller, through all that it awaits. */
const holder = new AsyncLocalStorage<Holder | undefined>();
/** How often a holder was found. */
let found = 0;

/** Processor time of this thread, in milliseconds. */
export type ProcessorTime = () => number;

export const processorTime: ProcessorTime = () => {
  const { user, system } = threadCpuUsage();
  return (user + system) / 1_000;
};

/**
 * Runs it; `onHeld` is told when what it does before its first await holds the event loop, and, while `followAwaits` is on, after it. `about`
 * is asked only then.
 */
export function runHeld<T>(run: () => T, onHeld: OnHeld, timing: Timing, about?: () => LogFields): T {
  const { clock, processor } = timing;
  const from = clock.monotonic();
  const computedFrom = processor();
  try {
    return holder.run({ onHeld, timing }, run);
  } finally {
    const heldMs = clock.monotonic() - from;
    if (heldMs >= HELD_MS && processor() - computedFrom >= COMPUTED_MS) note(onHeld, heldMs, about?.());
  }
}

/** `about`: the object that it is at, for the log. `onHeld` is told too. */
export type AsHolder = <T>(run: () => T, about?: () => LogFields, onHeld?: () => void) => T;

/** Runs what others call later, such as a handler, as what whoever asks for it now does: `runHeld`. Where that is nobody's, it is not theirs either. */
export function sameHolder(): AsHolder {
  const now = holder.getStore();
  if (!now) return (run) => holder.run(undefined, run);
  return (run, about, onHeld) => {
    const tell: OnHeld = (heldMs, at) => {
      now.onHeld(heldMs, at);
      onHeld?.();
    };
    return runHeld(run, onHeld ? tell : now.onHeld, now.timing, about);
  };
}

/** How many holds were laid to somebody until now. */
export function holdersFound(): number {
  return found;
}

/**
 * From now on also what is done behind an await is timed. Each await of the process costs a little more for it
 * (0.4 µs), so that it is on only after the event loop was held by nobody knows whom. Returns what ends it.
 */
export function followAwaits(clock: Pick<Clock, 'monotonic'>, processor: ProcessorTime): () => void {
  let from = 0;
  let sampledAt = -Infinity;
  let computedUntil = 0;
  let foundBefore = 0;
  const stop = promiseHooks.createHook({
    before: () => {
      from = clock.monotonic();
      foundBefore = found;
      if (from - sampledAt < SAMPLED_MS) return;
      sampledAt = from;
      computedUntil = processor();
    },
    after: () => {
      const heldMs = clock.monotonic() - from;
      // What was begun here and has a holder of its own is laid to that one alone.
      if (heldMs < HELD_MS || found > foundBefore || processor() - computedUntil < COMPUTED_MS) return;
      const held = holder.getStore();
      if (held) note(held.onHeld, heldMs);
    },
  }) as () => void;
  return stop;
}

function note(onHeld: OnHeld, heldMs: number, about?: LogFields): void {
  found++;
  onHeld(heldMs, about);
}
