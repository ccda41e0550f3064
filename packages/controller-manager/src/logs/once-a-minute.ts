/** For lines of the log that callers bring about: whoever can reach a port could fill the disk with them. */
import type { Clock } from '@outrigger/kube';

const QUIET_MS = 60_000;

/** Whether a line of this cause is due: one a minute. There are as many causes as the code names, and not as callers think of. */
export function onceAMinute(clock: Pick<Clock, 'monotonic'>): (cause: string) => boolean {
  const quietUntil = new Map<string, number>();
  return (cause) => {
    const now = clock.monotonic();
    if (now < (quietUntil.get(cause) ?? -Infinity)) return false;
    quietUntil.set(cause, now + QUIET_MS);
    return true;
  };
}
