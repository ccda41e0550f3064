/** Since when this process knows of instances: EC2 may say of a new one for minutes that there is none. */
import type { Clock, NodeRef } from '@outrigger/cloud-provider';

/** As long as AWS says that it may take. */
const YOUNG_MS = 5 * 60_000;
/** More than any cluster has; the oldest are forgotten. */
const MOST = 20_000;

export class KnownInstances {
  readonly #clock: Clock;
  /** When it was first asked for; `found`: EC2 had it once. */
  readonly #known = new Map<string, number | 'found'>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  found(id: string): void {
    this.#keep(id, 'found');
  }

  forget(id: string): void {
    this.#known.delete(id);
  }

  /** "Not found" proves nothing yet: the node has come within minutes, and EC2 never had its instance. */
  isYoung(id: string, { createdAt }: NodeRef): boolean {
    const known = this.#known.get(id);
    if (known === 'found') return false;
    const since = known ?? this.#clock.monotonic();
    if (known === undefined) this.#keep(id, since);
    const age = createdAt === undefined ? this.#clock.monotonic() - since : this.#clock.now() - createdAt;
    return age < YOUNG_MS;
  }

  #keep(id: string, value: number | 'found'): void {
    this.#known.set(id, value);
    if (this.#known.size <= MOST) return;
    const [oldest] = this.#known.keys();
    if (oldest !== undefined) this.#known.delete(oldest);
  }
}
