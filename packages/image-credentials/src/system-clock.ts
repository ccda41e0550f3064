/** The machine's time: the only file here that touches it. */
import type { Clock } from '@outrigger/cloud-provider';

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (delayMs, signal) =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const end = (): void => {
        clearTimeout(timer);
        reject(signal?.reason as Error);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', end);
        resolve();
      }, delayMs);
      signal?.addEventListener('abort', end, { once: true });
    }),
};

/** Resolves at SIGTERM or SIGINT. */
export function untilAskedToEnd(): Promise<void> {
  return new Promise((resolve) => {
    // A handler of a signal alone keeps no process, and the stdin of a pod is empty.
    const stay = setInterval(() => {}, 1 << 30);
    const end = (): void => {
      clearInterval(stay);
      resolve();
    };
    process.once('SIGTERM', end).once('SIGINT', end);
  });
}
