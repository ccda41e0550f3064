/** Keys of a controller that have held the event loop, and which of them are set aside. */

/** The first time that a key is set aside; doubled each time that it holds the event loop again. */
const FIRST_MS = 60_000;
const LONGEST_MS = 3_600_000;
/** A key that has not held the event loop for so long begins anew. */
const FORGOTTEN_MS = 2 * LONGEST_MS;

interface HeldKey {
  times: number;
  at: number;
  /** Monotonic. */
  until: number;
}

export class HeldKeys<K> {
  readonly #keys = new Map<K, HeldKey>();

  /** Notes that a key has held it. Returns for how long it is set aside: not at all the first time. */
  note(key: K, now: number): number {
    for (const [one, { at }] of this.#keys) if (now - at > FORGOTTEN_MS) this.#keys.delete(one);
    const held = this.#keys.get(key) ?? { times: 0, at: now, until: now };
    this.#keys.set(key, held);
    held.times++;
    held.at = now;
    const asideMs = held.times < 2 ? 0 : Math.min(LONGEST_MS, FIRST_MS * 2 ** (held.times - 2));
    held.until = now + asideMs;
    return asideMs;
  }

  /** For how long the key is still set aside, in milliseconds; 0: it is not. */
  asideMs(key: K, now: number): number {
    return Math.max(0, (this.#keys.get(key)?.until ?? now) - now);
  }
}
