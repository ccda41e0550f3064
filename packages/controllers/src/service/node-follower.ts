/**
 * Brings changes of nodes to the Services: each is looked at that is not settled for the present generation of back ends. A node that
 * changes over and over is followed ever more seldom.
 */
import type { Clock, EventNote, Node, Store, ResourceEvent, Timer } from '@outrigger/kube';
import type { Fact } from '../finding.ts';
import type { BackEndSet, ComparedNode } from './back-end-set.ts';
import type { ConfirmedNodes } from './confirmed-nodes.ts';
import { isLeaving, mayBeSelectedAnew, wakesLoadBalancers, type BackEndProvider } from './back-ends.ts';
import {
  flappingFact,
  flappingNote,
  isHeld,
  isMembershipChange,
  isQuiet,
  noteChange,
  type Flapping,
} from './flap-damper.ts';
import { NodeChanges } from './node-changes.ts';
import type { TurnBudget } from './turn-budget.ts';

export interface NodeFollowerOptions {
  readonly nodes: Store<Node>;
  readonly backEnds: BackEndSet;
  readonly confirmed: ConfirmedNodes;
  readonly provider: BackEndProvider;
  readonly turns: TurnBudget;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Keys of Services. */
  readonly keys: () => Iterable<string>;
  /** The back ends of this Service may be others now. */
  readonly follow: (key: string) => void;
  /** Tells people about a node. */
  readonly tell: (node: Node, note: EventNote) => void;
}

/** Nodes that are held and are named. */
const MOST_FACTS = 10;
/** How often those are looked for that have not changed for long. */
const SWEEP_MS = 60_000;

export class NodeFollower {
  readonly #options: NodeFollowerOptions;
  readonly #changes: NodeChanges;
  #changedAt = 0;
  #isFollowing = false;
  /** By name, also of nodes that are gone: a kubelet may delete its own, and make it anew. */
  readonly #flapping = new Map<string, Flapping>();
  readonly #holds = new Map<string, Timer>();
  #sweptAt = -Infinity;

  constructor(options: NodeFollowerOptions) {
    this.#options = options;
    this.#changes = new NodeChanges(options.clock, () => this.#settled());
  }

  /** When the last change of nodes was over; monotonic. */
  get changedAt(): number {
    return this.#changedAt;
  }

  /** Has the cloud asked about all nodes. Rejects when the signal aborts. */
  begin(): Promise<void> {
    return this.#options.confirmed.begin();
  }

  /** Returns the way to stop. */
  start(): () => void {
    const { nodes } = this.#options;
    // All at once: the store tells a long list in slices, and members that are not told yet must not be taken away.
    this.#noteAll();
    // What is there at the start is no change.
    let isStarted = false;
    const stop = nodes.subscribe((change) => this.#changed(change, isStarted));
    isStarted = true;
    return () => {
      stop();
      this.#changes.stop();
      this.#options.confirmed.stop();
      for (const timer of this.#holds.values()) timer.cancel();
    };
  }

  /** Which nodes are back ends, and what Services select of them, may be something else by now. */
  followAnew(): void {
    this.#options.backEnds.forgetSelections();
    this.#noteAll();
    this.#changes.note();
  }

  /** Whether this node is a back end may be something else by now, although it has not changed. */
  recheck(key: string): void {
    const { backEnds, nodes } = this.#options;
    const object = nodes.get(key);
    if (!object) return;
    const change = { type: 'add', key, object } as const;
    const { after, before } = backEnds.compare(change);
    if (after !== before) this.#changed(change, true);
  }

  /** What is held up now, for people. */
  facts(): readonly Fact[] {
    const now = this.#options.clock.monotonic();
    const held = [...this.#holds.keys()].slice(0, MOST_FACTS).flatMap((name) => {
      const flapping = this.#flapping.get(name);
      return flapping ? [flappingFact(name, flapping, now)] : [];
    });
    return [...held, ...this.#options.confirmed.facts()];
  }

  #noteAll(): void {
    const { backEnds, nodes } = this.#options;
    for (const object of nodes.values()) {
      const key = object.metadata?.name ?? '';
      if (!this.#holds.has(key)) backEnds.note({ type: 'add', key, object });
    }
  }

  #changed(change: ResourceEvent<Node>, isStarted: boolean): void {
    const { backEnds, confirmed, provider } = this.#options;
    if (change.type === 'delete') confirmed.forget(change.key);
    const found = backEnds.compare(change);
    if (isStarted && this.#isHeldUp(change, found)) {
      // Whatever has its name then: it is followed when the hold is over.
      if (isLeaving(change, found.before)) this.#follow(change, { ...found, after: undefined });
      return;
    }
    const isMoved = backEnds.note(change, found);
    const isReason = isMoved || wakesLoadBalancers(change, provider) || mayBeSelectedAnew(change);
    if (isStarted && isReason) this.#changes.note();
  }

  #follow(change: ResourceEvent<Node>, found: ComparedNode): void {
    this.#options.backEnds.note(change, found);
    this.#changes.note();
  }

  #isHeldUp(change: ResourceEvent<Node>, { after, before }: ComparedNode): boolean {
    const { clock, tell } = this.#options;
    const { key } = change;
    const now = clock.monotonic();
    const known = this.#flapping.get(key);
    if (!isMembershipChange(before, after)) return known !== undefined && isHeld(known, now);
    const flapping = noteChange(known, now);
    this.#sweep(now);
    this.#flapping.set(key, flapping);
    if (!isHeld(flapping, now)) return false;
    if (!this.#holds.has(key)) {
      const timer = clock.setTimer(flapping.holdMs, () => this.#release(key));
      this.#holds.set(key, timer);
      tell(change.type === 'delete' ? change.previous : change.object, flappingNote(flapping));
    }
    return true;
  }

  /**
   * The hold is over: what the node is by now is followed. Also where it is what the set has: load balancers may not have been told of
   * that (`wakesLoadBalancers`).
   */
  #release(key: string): void {
    this.#holds.delete(key);
    const { backEnds, nodes } = this.#options;
    const object = nodes.get(key);
    if (!object) return;
    const change = { type: 'add', key, object } as const;
    this.#follow(change, backEnds.compare(change));
  }

  #sweep(now: number): void {
    if (now < this.#sweptAt + SWEEP_MS) return;
    this.#sweptAt = now;
    for (const [name, flapping] of this.#flapping) if (isQuiet(flapping, now)) this.#flapping.delete(name);
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
