/** So long after the last action under a lock nobody holds an answer from before it any more. */
const REMEMBERED_MS = 3_600_000;

/**
 * One worker at a time for each load balancer, which several Services may share, whichever controller it works for. Waits hold
 * no worker.
 */
export class Locks {
  /** By lock: who waits for it, and how they are woken. */
  readonly #held = new Map<string, Map<string, () => void>>();
  /** By lock, when the last action under it ended; monotonic, the oldest first. */
  readonly #appliedAt = new Map<string, number>();

  /** Takes the lock; or else `wake` is called once it is free: once for each `key`. */
  tryAcquire(lock: string, key: string, wake: () => void): boolean {
    const waiting = this.#held.get(lock);
    if (waiting) waiting.set(key, wake);
    else this.#held.set(lock, new Map());
    return waiting === undefined;
  }

  release(lock: string): void {
    const waiting = this.#held.get(lock) ?? new Map<string, () => void>();
    this.#held.delete(lock);
    for (const wake of waiting.values()) wake();
  }

  /** Whether somebody waits for it. */
  isAwaited(lock: string): boolean {
    return (this.#held.get(lock)?.size ?? 0) > 0;
  }

  /** Something was changed: what was seen before does not hold any more. */
  noteApplied(lock: string, at: number): void {
    this.#appliedAt.delete(lock);
    this.#appliedAt.set(lock, at);
    // Locks that are shared are forgotten by nobody else.
    for (const [other, then] of this.#appliedAt) {
      if (then > at - REMEMBERED_MS) break;
      this.#appliedAt.delete(other);
    }
  }

  appliedAt(lock: string): number {
    return this.#appliedAt.get(lock) ?? -Infinity;
  }

  /** Nobody will take this lock again. */
  forget(lock: string): void {
    this.#appliedAt.delete(lock);
  }
}
