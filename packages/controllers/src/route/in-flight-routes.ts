/** What the route controller has under way: its tasks, the routes that are being made or removed, and the batches of creates. */
import type { Clock } from '@outrigger/kube';

const MOST_BATCHES = 4;
/** A batch in flight for longer holds up nobody: the next starts beside it. */
const SLOW_MS = 2_000;

export interface InFlightOptions {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** A task has thrown, which is a defect. */
  readonly onError: (error: unknown) => void;
  /** A task has ended, one way or the other. */
  readonly onEnd: () => void;
}

export class InFlightRoutes {
  readonly #options: InFlightOptions;
  readonly #tasks = new Set<Promise<void>>();
  readonly #keys = new Set<string>();
  /** When each batch was sent; monotonic. */
  readonly #batches = new Map<symbol, number>();

  constructor(options: InFlightOptions) {
    this.#options = options;
  }

  start(task: Promise<void>): void {
    const settled = task.catch(this.#options.onError).finally(() => {
      this.#tasks.delete(settled);
      this.#options.onEnd();
    });
    this.#tasks.add(settled);
  }

  async ended(): Promise<void> {
    await Promise.all(this.#tasks);
  }

  /** Whether the route with this key is being made or removed. */
  has(key: string): boolean {
    return this.#keys.has(key);
  }

  /** Until it is disposed of. */
  hold(keys: readonly string[]): Disposable {
    for (const key of keys) this.#keys.add(key);
    return {
      [Symbol.dispose]: () => {
        for (const key of keys) this.#keys.delete(key);
      },
    };
  }

  /** A batch of creates is sent, until it is disposed of. */
  beginBatch(): Disposable {
    const batch = Symbol('batch');
    this.#batches.set(batch, this.#options.clock.monotonic());
    return { [Symbol.dispose]: () => void this.#batches.delete(batch) };
  }

  /**
   * In how many milliseconds the next batch may start; `Infinity`: when one has ended. One that is not full waits for more while
   * another is under way and has not been for long.
   */
  batchWaitMs(isFull: boolean): number {
    if (this.#batches.size >= MOST_BATCHES) return Number.POSITIVE_INFINITY;
    if (this.#batches.size === 0 || isFull) return 0;
    return Math.max(0, Math.min(...this.#batches.values()) + SLOW_MS - this.#options.clock.monotonic());
  }
}
