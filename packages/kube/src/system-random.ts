import { randomInt } from 'node:crypto';

/** Numbers in [0, 1) from the system, for jitter. What takes `random` takes another one in tests. */
export function systemRandom(): number {
  return randomInt(2 ** 32) / 2 ** 32;
}
