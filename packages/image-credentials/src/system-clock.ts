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
