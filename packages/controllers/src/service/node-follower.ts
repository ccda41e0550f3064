/** Brings changes of nodes to the Services: each is looked at that is not settled for the present generation of back ends. */
import type { Clock, Node, Store, ResourceEvent } from '@outrigger/kube';
import type { BackEndSet } from './back-end-set.ts';
import { mayBeSelectedAnew, wakesLoadBalancers, type BackEndProvider } from './back-ends.ts';
import { NodeChanges } from './node-changes.ts';
import type { TurnBudget } from './turn-budget.ts';

export interface NodeFollowerOptions {
  readonly nodes: Store<Node>;
  readonly backEnds: BackEndSet;
  readonly provider: BackEndProvider;
  readonly turns: TurnBudget;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Keys of Services. */
  readonly keys: () => Iterable<string>;
  /** The back ends of this Service may be others now. */
  readonly follow: (key: string) => void;
}

export class NodeFollower {
  readonly #options: NodeFollowerOptions;
  readonly #changes: NodeChanges;
  #changedAt = 0;
  #isFollowing = false;

  constructor(options: NodeFollowerOptions) {
    this.#options = options;
    this.#changes = new NodeChanges(options.clock, () => this.#settled());
  }

  /** When the last change of nodes was over; monotonic. */
  get changedAt(): number {
    return this.#changedAt;
  }

  /** Returns the way to stop. */
  start(): () => void {
    const { backEnds, nodes } = this.#options;
    // All at once: the store tells a long list in slices, and members that are not told yet must not be taken away.
    for (const node of nodes.values()) backEnds.note({ type: 'add', key: node.metadata?.name ?? '', object: node });
    // What is there at the start is no change.
    let isStarted = false;
    const stop = nodes.subscribe((change) => this.#changed(change, isStarted));
    isStarted = true;
    return () => {
      stop();
      this.#changes.stop();
    };
  }

  /** What Services select may be other nodes by now. */
  note(): void {
    this.#changes.note();
  }

  #changed(change: ResourceEvent<Node>, isStarted: boolean): void {
    const { backEnds, provider } = this.#options;
    const isMoved = backEnds.note(change);
    const isReason = isMoved || wakesLoadBalancers(change, provider) || mayBeSelectedAnew(change);
    if (isStarted && isReason) this.#changes.note();
  }

  #settled(): void {
    this.#changedAt = this.#options.clock.monotonic();
    this.#options.backEnds.advance();
    if (!this.#isFollowing) void this.#followAll();
  }

  async #followAll(): Promise<void> {
    const { backEnds, follow, keys, signal, turns } = this.#options;
    this.#isFollowing = true;
    let generation: number;
    do {
      ({ generation } = backEnds);
      for (const key of keys()) {
        await turns.spend(backEnds.all.length);
        if (signal.aborted) return;
        follow(key);
      }
    } while (generation !== backEnds.generation);
    this.#isFollowing = false;
  }
}
