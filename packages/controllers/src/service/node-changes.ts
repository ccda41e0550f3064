/** Gathers changes of nodes: ten nodes that join within two seconds cost each load balancer one update. */
import type { Clock, Timer } from '@outrigger/kube';

/** So long nothing more has to change … */
const QUIET_MS = 1_000;
/** … but no longer than this after the first change. */
const LONGEST_MS = 2_500;

export class NodeChanges {
  readonly #clock: Clock;
  readonly #settled: () => void;
  #firstAt: number | undefined;
  #timer: Timer | undefined;

  constructor(clock: Clock, settled: () => void) {
    this.#clock = clock;
    this.#settled = settled;
  }

  note(): void {
    const now = this.#clock.monotonic();
    this.#firstAt ??= now;
    this.#timer?.cancel();
    const delay = Math.min(QUIET_MS, this.#firstAt + LONGEST_MS - now);
    this.#timer = this.#clock.setTimer(delay, () => {
      this.#firstAt = undefined;
      this.#timer = undefined;
      this.#settled();
    });
  }

  stop(): void {
    this.#timer?.cancel();
  }
}
