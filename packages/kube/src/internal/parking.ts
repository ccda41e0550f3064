/** Reconciles that wait for something slow without a worker: how many, and whose. */

export interface ParkingOptions<K> {
  /** So many at a time: each keeps in memory what it was about to do. */
  readonly places: number;
  /** Whose key it is, such as its namespace. */
  readonly groupOf: (key: K) => string;
}

/** A group has fewer places than it leaves free: half of them if it is alone, and another that comes finds one. */
export class Parking<K> {
  readonly #options: ParkingOptions<K>;
  readonly #byGroup = new Map<string, number>();
  #taken = 0;

  constructor(options: ParkingOptions<K> = { places: 0, groupOf: () => '' }) {
    this.#options = options;
  }

  get taken(): number {
    return this.#taken;
  }

  /** Takes a place. Returns what gives it back; `undefined`: there is none for it. */
  enter(key: K): (() => void) | undefined {
    const group = this.#options.groupOf(key);
    const own = this.#byGroup.get(group) ?? 0;
    if (own >= this.#options.places - this.#taken) return undefined;
    this.#byGroup.set(group, own + 1);
    this.#taken++;
    return () => {
      const left = (this.#byGroup.get(group) ?? 0) - 1;
      if (left > 0) this.#byGroup.set(group, left);
      else this.#byGroup.delete(group);
      this.#taken--;
    };
  }
}
