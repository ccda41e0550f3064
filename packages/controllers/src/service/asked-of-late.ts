/** How much each tenant has asked of late: a count that fades, half of it in five seconds. */
import type { Clock } from '@outrigger/kube';

const HALF_LIFE_MS = 5_000;
/** More tenants than this are looked through for those of whom next to nothing is left. */
const MOST_REMEMBERED = 1_000;

interface Count {
  /** At `at`, which is monotonic. */
  readonly count: number;
  readonly at: number;
}

export class AskedOfLate {
  readonly #clock: Clock;
  readonly #counts = new Map<string, Count>();
  #look = MOST_REMEMBERED;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note(tenant: string, count: number): void {
    this.#counts.set(tenant, { count: this.of(tenant) + count, at: this.#clock.monotonic() });
    if (this.#counts.size <= this.#look) return;
    for (const known of this.#counts.keys()) if (this.of(known) < 1) this.#counts.delete(known);
    this.#look = Math.max(MOST_REMEMBERED, 2 * this.#counts.size);
  }

  of(tenant: string): number {
    const known = this.#counts.get(tenant);
    return known ? known.count * 0.5 ** ((this.#clock.monotonic() - known.at) / HALF_LIFE_MS) : 0;
  }
}
