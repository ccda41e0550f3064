/** One worker at a time for each load balancer, which several Services may share. Waits hold no worker. */
export class Locks {
  readonly #held = new Map<string, Set<string>>();

  /** Takes the lock; or else remembers `key`, for `release` to give back. */
  tryAcquire(lock: string, key: string): boolean {
    const waiting = this.#held.get(lock);
    if (waiting) waiting.add(key);
    else this.#held.set(lock, new Set());
    return waiting === undefined;
  }

  /** Frees the lock. Returns the keys that wanted it meanwhile. */
  release(lock: string): readonly string[] {
    const waiting = this.#held.get(lock) ?? [];
    this.#held.delete(lock);
    return [...waiting];
  }
}
