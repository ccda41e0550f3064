/** How much is done in one turn of the event loop, on which leases are renewed and watches are read. */
import type { Clock } from '@outrigger/kube';

/** Back ends that are gone through: some milliseconds of work. */
const BACK_ENDS_A_TURN = 20_000;
/** Of plans from a look at the cloud: a node that changes has all Services planned anew at once, beside nodes that join. */
const PLANS_A_TURN_MS = 4;

export class TurnBudget {
  readonly #most: number;
  #spent = 0;
  #tail: Promise<void> = Promise.resolve();

  /** `most`: in the unit of what is spent. Default: as back ends. */
  constructor(most: number = BACK_ENDS_A_TURN) {
    this.#most = most;
  }

  /** Resolves when there is room for this much work, in the order of the calls: at once, or in a later turn. */
  spend(work: number): Promise<void> {
    this.#tail = this.#tail.then(async () => {
      if (this.#spent >= this.#most) {
        await new Promise<void>((resolve) => void setImmediate(resolve));
        this.#spent = 0;
      }
      this.#spent += work;
    });
    return this.#tail;
  }
}

/** How long work of one kind may take of one turn, by the clock: what else waits for the loop has the rest. */
export class TurnShare {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #mostMs: number;
  #began: number | undefined;
  #tail: Promise<void> = Promise.resolve();

  /** `mostMs`: default: as plans. */
  constructor(clock: Pick<Clock, 'monotonic'>, mostMs: number = PLANS_A_TURN_MS) {
    this.#clock = clock;
    this.#mostMs = mostMs;
  }

  /**
   * Resolves when there is time, in the order of the calls: at once, or in a later turn. What the caller does then, until it waits for something
   * else, is what counts.
   */
  take(): Promise<void> {
    this.#tail = this.#tail.then(async () => {
      if (this.#began !== undefined && this.#clock.monotonic() - this.#began >= this.#mostMs)
        await new Promise<void>((resolve) => void setImmediate(resolve));
      if (this.#began !== undefined) return;
      this.#began = this.#clock.monotonic();
      setImmediate(() => (this.#began = undefined));
    });
    return this.#tail;
  }
}
