/** Time that passes many times faster: back-offs and time-outs of a whole program within a test's seconds, over real sockets. */
import { sleepOn, systemClock, type Clock } from '@outrigger/kube';

/** `factor` seconds pass in one. */
export function quickClock(factor: number): Clock {
  const began = { now: systemClock.now(), monotonic: systemClock.monotonic() };
  const passed = (): number => (systemClock.monotonic() - began.monotonic) * factor;
  const clock: Clock = {
    now: () => began.now + passed(),
    monotonic: () => began.monotonic + passed(),
    setTimer: (delayMs, fire, options) => systemClock.setTimer(delayMs / factor, fire, options),
    sleep: (delayMs, signal) => sleepOn(clock, delayMs, signal),
  };
  return clock;
}
