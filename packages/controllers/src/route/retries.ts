/** When what has failed may be tried again, by key. */
import { isCloudError } from '@outrigger/cloud-provider';
import { retryAfterMsOf } from '@outrigger/cloud-runtime';
import type { Clock } from '@outrigger/kube';

/** After the first failure; doubled with each further one. */
const BASE_MS = 1_000;
/** At most, and at once for what only a person can mend. */
const MAX_MS = 300_000;

interface Failure {
  readonly attempts: number;
  /** Monotonic. */
  readonly notBefore: number;
}

export class Retries {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #failures = new Map<string, Failure>();

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Notes a failure. Returns how often the key has failed in a row, and in how many milliseconds it may be tried again. */
  failed(key: string, error: Error): { readonly attempts: number; readonly delayMs: number } {
    const attempts = (this.#failures.get(key)?.attempts ?? 0) + 1;
    const backoff = needsPerson(error) ? MAX_MS : Math.min(MAX_MS, BASE_MS * 2 ** (attempts - 1));
    // A tenth is left to chance, so that what failed together does not come back together.
    const delayMs = Math.max(retryAfterMsOf(error) ?? 0, backoff * (1 - this.#random() / 10));
    this.#failures.set(key, { attempts, notBefore: this.#clock.monotonic() + delayMs });
    return { attempts, delayMs };
  }

  succeeded(key: string): void {
    this.#failures.delete(key);
  }

  hasFailed(key: string): boolean {
    return this.#failures.has(key);
  }

  /** Milliseconds until the key may be tried; 0 when it may be now. */
  waitMs(key: string): number {
    const failure = this.#failures.get(key);
    return failure ? Math.max(0, failure.notBefore - this.#clock.monotonic()) : 0;
  }

  /** Forgets the keys that nobody wants any more. */
  keepOnly(keys: ReadonlySet<string>): void {
    for (const key of this.#failures.keys()) if (!keys.has(key)) this.#failures.delete(key);
  }
}

function needsPerson(error: Error): boolean {
  return (['quota', 'forbidden', 'unauthenticated', 'invalid', 'unsupported', 'not-owned'] as const).some((code) =>
    isCloudError(error, code),
  );
}
