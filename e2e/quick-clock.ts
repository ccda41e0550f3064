/**
 * Time that passes many times faster: back-offs and time-outs of a whole program within a test's seconds, over real sockets. It
 * passes only while this process runs and waits for something: one that a busy machine keeps waiting would else find every answer out of time.
 */
import { sleepOn, systemClock, type Clock } from '@outrigger/kube';

const TICK_MS = 2;
/** A tick that comes later than this counts for no more. */
const LONGEST_TICK_MS = 20;

interface Pending {
  readonly at: number;
  readonly unref: boolean;
  readonly fire: () => void;
}

/** `factor` seconds pass in one. */
export function quickClock(factor: number): Clock {
  const beganNow = systemClock.now();
  const beganMonotonic = systemClock.monotonic();
  const pending = new Set<Pending>();
  let passed = 0;
  let last = beganMonotonic;
  const look = (): number => {
    const now = systemClock.monotonic();
    passed += Math.min(now - last, LONGEST_TICK_MS) * factor;
    last = now;
    return passed;
  };
  const tick = (): void => {
    const now = look();
    for (const timer of [...pending].filter(({ at }) => at <= now).toSorted((a, b) => a.at - b.at)) {
      if (!pending.delete(timer)) continue;
      keepTicking();
      timer.fire();
    }
  };
  let ticks: NodeJS.Timeout | undefined;
  const keepTicking = (): void => {
    if (pending.size === 0) {
      clearInterval(ticks);
      ticks = undefined;
      return;
    }
    ticks ??= setInterval(tick, TICK_MS);
    if ([...pending].some(({ unref }) => !unref)) ticks.ref();
    else ticks.unref();
  };
  const clock: Clock = {
    now: () => beganNow + look(),
    monotonic: () => beganMonotonic + look(),
    setTimer: (delayMs, fire, { unref = false } = {}) => {
      const timer = { at: look() + Math.max(0, delayMs), unref, fire };
      pending.add(timer);
      keepTicking();
      return {
        cancel: () => {
          if (pending.delete(timer)) keepTicking();
        },
      };
    },
    sleep: (delayMs, signal) => sleepOn(clock, delayMs, signal),
  };
  return clock;
}
