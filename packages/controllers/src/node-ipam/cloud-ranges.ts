/**
 * Node IPAM with a cloud that gives machines ranges for their pods: brings `spec.podCIDRs` of each node and the ranges of its
 * machine together, in the one direction or the other. Entry point: `createCloudRanges`. The cloud's answers are the shared
 * look-ups': what the node controller has just been told is not asked for again.
 */
import type { PodRanges } from '@outrigger/cloud-provider';
import type { DatedAnswer, InstanceLookups, MakeCallContext } from '@outrigger/cloud-runtime';
import {
  createWorkQueue,
  exponentialBackoff,
  isNotFound,
  resources,
  runController,
  keyOfObject,
  type Node,
  type ReconcileContext,
  type ReconcileResult,
  type ResourceClient,
  type Store,
  type ResourceEvent,
  type WorkQueue,
} from '@outrigger/kube';
import { factOfAnswer } from '../answer-words.ts';
import type { ControllerDependencies } from '../controller-dependencies.ts';
import { standingOf, type Explains, type Finding, type Standing } from '../finding.ts';
import { noJournal, type ControllerJournal } from '../journal.ts';
import { LookUpRounds } from '../look-up-rounds.ts';
import { refOfNode } from '../node-ref.ts';
import { podCidrsOf } from '../pod-cidrs.ts';
import { hasRouteCondition } from '../route/network-condition.ts';
import { ToldEvents } from '../told-events.ts';
import { WrittenVersions } from '../written-versions.ts';
import { AllocatorWatch, type AllocatorWatchOptions } from './allocator-watch.ts';
import { inputsOf, rangesIn } from './cloud-ranges-inputs.ts';
import { findingOfRanges } from './cloud-ranges-words.ts';
import { CloudRangesWrites } from './cloud-ranges-writes.ts';
import {
  firstOfEachFamily,
  planCloudRanges,
  type CloudRangesObservation,
  type CloudRangesPlan,
  type RangeDirection,
} from './cloud-ranges-plan.ts';
import { createIpamMetrics, type IpamMetrics } from './ipam-metrics.ts';
import { listUntilComplete } from './list-until-complete.ts';
import { RangeClaims } from './range-claims.ts';
import { ownerOfNode, type UnmanagedRule } from '../unmanaged-nodes.ts';
import { tellSetAside } from '../set-aside.ts';

/** An answer that the look-ups have given to whomever will do for so long. */
const FRESH_MS = 30_000;
/** Rounds before a person is told that there is no range: a new machine gets its ranges a little later than it is there. */
const PATIENT_ROUNDS = 3;

export interface CloudRangesDependencies
  extends ControllerDependencies, Pick<AllocatorWatchOptions, 'observeMs' | 'exclusive'> {
  readonly store: Store<Node>;
  readonly lookups: Pick<InstanceLookups, 'lookUp' | 'snapshot'>;
  /** With direction `to-cloud`. */
  readonly podRanges?: PodRanges | undefined;
  readonly callContext: MakeCallContext;
  readonly options: {
    readonly direction: RangeDirection;
    /** The prefix of our provider IDs. */
    readonly providerName: string;
    /** Nodes that are left alone. Default: none. */
    readonly unmanaged?: readonly UnmanagedRule[] | undefined;
    /** The condition `NetworkUnavailable` is set to False with the pod CIDRs: no route controller does it. */
    readonly setsNetworkCondition: boolean;
    /** Nodes that are written at a time. Default: 30, as upstream. */
    readonly concurrentWrites?: number;
  };
}

export interface CloudRanges extends Explains {
  /** Runs until `signal` aborts, and resolves when the last write has ended. Once only. */
  run(signal: AbortSignal): Promise<void>;
}

/** Makes the controller; no I/O before `run`. Throws a `RangeError` where the provider cannot be told of ranges. */
export function createCloudRanges(dependencies: CloudRangesDependencies): CloudRanges {
  if (dependencies.options.direction === 'to-cloud' && !dependencies.podRanges) {
    throw new RangeError('the provider does not implement podRanges: pod CIDRs cannot be assigned to machines');
  }
  let current: Run | undefined;
  return {
    run: (signal) => (current = new Run(dependencies, signal)).run(),
    explain: (key) => current?.explain(key),
    list: () => current?.list() ?? [],
  };
}

class Run {
  readonly #deps: CloudRangesDependencies;
  readonly #signal: AbortSignal;
  readonly #nodes: ResourceClient<Node>;
  readonly #claims: RangeClaims;
  readonly #rounds: LookUpRounds;
  readonly #writes: CloudRangesWrites;
  readonly #told: ToldEvents;
  readonly #metrics: IpamMetrics;
  readonly #journal: ControllerJournal;
  readonly #written: WrittenVersions;
  readonly #queue: WorkQueue<string>;
  /** Where the cluster chooses, its range allocator looks for another one. */
  readonly #other: AllocatorWatch | undefined;
  /** By UID: nodes that are as they should be, and with which pod CIDRs. */
  readonly #settled = new Map<string, string>();

  constructor(deps: CloudRangesDependencies, signal: AbortSignal) {
    const { client, clock, events, exclusive, logger, lookups, metrics, observeMs, podRanges, random, store } = deps;
    this.#deps = deps;
    this.#signal = signal;
    this.#claims = new RangeClaims({ store, clock, isOurs: (node) => this.#isOurs(node) });
    this.#nodes = client.of(resources.nodes);
    this.#told = new ToldEvents(events, clock);
    this.#written = new WrittenVersions({ clock, signal, onBelieved: (key) => this.#believe(key) });
    if (deps.options.direction === 'from-cloud') {
      this.#other = new AllocatorWatch({ nodes: this.#nodes, clock, told: this.#told, logger, observeMs, exclusive });
    }
    const other = this.#other;
    this.#metrics = createIpamMetrics(metrics, () => [], signal, other && (() => other.refusesForMs > 0));
    this.#journal = deps.journal ?? noJournal;
    const rateLimiter = exponentialBackoff<string>({ baseMs: 50, maxMs: 300_000, random });
    this.#queue = createWorkQueue({ name: 'node_ipam_cloud', clock, metrics, rateLimiter });
    this.#rounds = new LookUpRounds({
      lookups,
      clock,
      logger,
      signal,
      need: 'metadata',
      nodeOf: (key) => {
        const node = store.get(key);
        return node && this.#isOurs(node) ? refOfNode(node) : undefined;
      },
      onAnswer: (key) => this.#queue.add(key),
    });
    this.#writes = new CloudRangesWrites({
      nodes: this.#nodes,
      podRanges,
      callContext: deps.callContext,
      clock,
      logger,
      signal,
      journal: this.#journal,
      told: this.#told,
      written: this.#written,
    });
  }

  async run(): Promise<void> {
    const { store, clock, logger, lookups, metrics, options } = this.#deps;
    const stops: (() => void)[] = [];
    try {
      await store.whenSynced(this.#signal);
      stops.push(store.subscribe((change) => this.#changed(change)));
      await listUntilComplete({ nodes: this.#nodes, clock, logger, signal: this.#signal }, (node) => {
        this.#hold(node);
        this.#other?.inspect(node);
      });
      this.#other?.listed();
      // Of a node that has gone meanwhile, nobody may have been told.
      for (const name of this.#claims.ranges.names()) if (!store.get(name)) this.#queue.add(name);
      stops.push(lookups.snapshot.subscribe((node, need, answer) => this.#heard(node.name, need, answer)));
      await runController({
        name: 'node-ipam-controller',
        queue: this.#queue,
        reconciler: { reconcile: (key, context) => this.#reconcile(key, context) },
        workers: options.concurrentWrites ?? 30,
        clock,
        logger,
        metrics,
        signal: this.#signal,
        onSetAside: tellSetAside(store, this.#deps.events),
      });
    } catch (error) {
      if (!this.#signal.aborted) throw error;
    } finally {
      for (const stop of stops) stop();
      this.#queue.shutDown();
    }
  }

  #isOurs(node: Node): boolean {
    return node.metadata?.deletionTimestamp === undefined && ownerOfNode(node, this.#deps.options) === 'ours';
  }

  #changed(change: ResourceEvent<Node>): void {
    const { key } = change;
    if (change.type === 'delete') {
      const { uid = '' } = change.previous.metadata ?? {};
      this.#forget(key, uid);
    } else {
      const { metadata } = change.object;
      const isSuspect = this.#other?.changed(change, this.#claims.ranges) ?? false;
      this.#hold(change.object);
      if (change.type === 'update') {
        const { previous } = change;
        if (previous.metadata?.uid !== metadata?.uid) this.#forget(key, previous.metadata?.uid ?? '');
        else if (
          inputsOf(previous) === inputsOf(change.object) &&
          this.#isOurs(previous) === this.#isOurs(change.object)
        )
          return;
        else if (!isSuspect && this.#isSettled(key, change.object)) return;
      }
      this.#settled.delete(metadata?.uid ?? '');
    }
    this.#queue.add(key);
  }

  /** As if the store had just heard of it: what it shows is no longer taken to be old. */
  #believe(key: string): void {
    const object = this.#deps.store.get(key);
    if (object) this.#changed({ type: 'add', key, object });
  }

  /** What we have written comes back through the watch. */
  #isSettled(key: string, node: Node): boolean {
    if (this.#settled.get(node.metadata?.uid ?? '') !== podCidrsOf(node).join()) return false;
    return (
      this.#written.isBehind(key, node) || planCloudRanges(this.#observe(node, podCidrsOf(node))).actions.length === 0
    );
  }

  #forget(key: string, uid: string): void {
    this.#rounds.forget(key);
    this.#written.forget(key);
    this.#told.forget(uid);
    this.#settled.delete(uid);
    this.#claims.wait(uid, false);
    this.#journal.plan({ kind: 'Node', name: key, uid }, []);
  }

  #hold(node: Node): void {
    const { name = '', uid = '' } = node.metadata ?? {};
    const cidrs = podCidrsOf(node);
    if (cidrs.length > 0) this.#claims.ranges.hold(name, uid, cidrs);
  }

  /** Somebody has asked: whether a settled node still is, costs nothing then. */
  #heard(name: string, need: string, answer: DatedAnswer): void {
    const node = this.#deps.store.get(name);
    const { uid = '' } = node?.metadata ?? {};
    const cloud = rangesIn(answer);
    if (!node || need !== 'metadata' || !this.#isOurs(node)) return;
    this.#claims.hear(uid, answer);
    // What is asked here comes to a round, newer than this.
    if (cloud === undefined || this.#rounds.askedInMs(name) === 0) return;
    if (this.#settled.has(uid) && !planCloudRanges(this.#observe(node, cloud)).askAgain) return;
    this.#settled.delete(uid);
    this.#queue.add(name);
  }

  /** What the cloud said not long ago, and no older than what was done since. */
  #answerFor(key: string, uid: string): DatedAnswer | undefined {
    const answer = this.#rounds.answer(key, uid);
    if (answer) return answer;
    const known = this.#deps.lookups.snapshot.get(uid, 'metadata');
    const isFresh = known && this.#deps.clock.monotonic() - known.asOf < FRESH_MS;
    return isFresh && (rangesIn(known)?.length ?? 0) > 0 ? known : undefined;
  }

  #observe(node: Node, found: readonly string[] | undefined): CloudRangesObservation {
    const { direction, setsNetworkCondition } = this.#deps.options;
    const has = podCidrsOf(node);
    const cloud = found && firstOfEachFamily(found);
    return {
      direction,
      node: has,
      cloud,
      ...this.#claims.clashes(node.metadata?.uid ?? '', has.length === 0 && cloud ? cloud : []),
      waitsForNetwork: setsNetworkCondition && !hasRouteCondition(node, true),
    };
  }

  async #reconcile(key: string, { logger, signal }: ReconcileContext): Promise<ReconcileResult | void> {
    const node = this.#deps.store.get(key);
    const { uid = '' } = node?.metadata ?? {};
    for (const held of this.#claims.ranges.uidsOf(key)) if (held !== uid) await this.#releaseIfGone(key, held, signal);
    await this.#other?.clear(key, signal);
    if (!node || !this.#isOurs(node) || this.#settled.has(uid) || this.#written.isBehind(key, node)) return undefined;

    const answer = this.#answerFor(key, uid);
    const needsCloud = planCloudRanges(this.#observe(node, undefined)).askAgain;
    if (!answer && needsCloud) {
      this.#rounds.ask(key, refOfNode(node), podCidrsOf(node).length === 0 ? 'normal' : 'background');
      return undefined;
    }
    const found = rangesIn(answer);
    if (found && (await this.#mayHaveOthers(node, found, signal))) return { requeueAfterMs: 1_000 };
    const observed = this.#observe(node, found);
    const plan = planCloudRanges(observed);
    const writes = plan.actions.find((action) => action.kind === 'set-pod-cidrs');
    // From here on the node holds them: nothing has been waited for since it was seen that no other one does.
    if (writes) this.#claims.ranges.hold(key, uid, writes.podCidrs);
    if (answer) this.#claims.hear(uid, answer);
    this.#claims.wait(uid, observed.unheard.length > 0);
    for (const { node: other } of observed.unheard) this.#hasten(other);
    // Both are waited for at a time.
    const waitMs = writes || observed.unheard.length > 0 ? (this.#other?.waitMs(uid) ?? 0) : 0;
    if (plan.askAgain) {
      const rounds = this.#rounds.askLater(key, uid);
      if (plan.problem) this.#tell(node, plan.problem, rounds);
      return undefined;
    }
    if (!needsCloud) return undefined;
    if (waitMs > 0) return { requeueAfterMs: waitMs };
    for (const action of plan.actions) {
      if (await this.#writes.carryOut(node, action, signal)) continue;
      this.#rounds.askLater(key, uid);
      return undefined;
    }
    this.#rounds.used(key);
    this.#settled.set(uid, (podCidrsOf(node).length > 0 ? podCidrsOf(node) : firstOfEachFamily(found ?? [])).join());
    if (plan.actions.length > 0)
      logger.verbose(2, 'Node and machine have the same pod CIDRs', { actions: plan.actions });
    return undefined;
  }

  /** Another node waits for what the cloud says of this one. */
  #hasten(name: string): void {
    const node = this.#deps.store.get(name);
    if (node && this.#isOurs(node)) this.#rounds.askNow(name, refOfNode(node), 'normal');
  }

  #tell(node: Node, { reason, message }: NonNullable<CloudRangesPlan['problem']>, rounds: number): void {
    if (reason === 'CIDRNotAvailable' && rounds < PATIENT_ROUNDS) return;
    if (!this.#told.tell(node, { type: 'Warning', reason, message })) return;
    if (reason === 'CIDRNotAvailable') this.#metrics.notAvailable.inc();
    this.#deps.logger.warn(message, { node: node.metadata?.name ?? '' });
  }

  /** The cloud has changed its mind about a node to which something was written, and nobody knows whether it arrived. */
  async #mayHaveOthers(node: Node, found: readonly string[], signal: AbortSignal): Promise<boolean> {
    const { name = '', uid = '' } = node.metadata ?? {};
    const held = this.#claims.ranges.heldBy(uid);
    if (!held || podCidrsOf(node).length > 0 || held.join() === firstOfEachFamily(found).join()) return false;
    const live = await this.#nodes.get({ name }, { signal });
    this.#hold(live);
    if (live.metadata?.uid !== uid || this.#claims.ranges.heldBy(uid)?.join() !== held.join()) return true;
    if (podCidrsOf(live).length > 0) return true;
    // None of it was written.
    this.#claims.ranges.release(uid);
    return false;
  }

  /** A store that is behind must not set a range free that a node has. */
  async #releaseIfGone(name: string, uid: string, signal: AbortSignal): Promise<void> {
    let live: Node | undefined;
    try {
      live = await this.#nodes.get({ name }, { signal });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    if (live?.metadata?.uid === uid) return;
    this.#claims.forget(uid);
  }

  *list(): Iterable<Standing> {
    for (const node of this.#deps.store.values()) {
      if (podCidrsOf(node).length === 0 && this.#isOurs(node)) {
        yield standingOf(node, 'waits', this.explain(keyOfObject(node)));
      }
    }
  }

  /** From memory alone. */
  explain(key: string): Finding | undefined {
    const { clock, lookups, store } = this.#deps;
    const node = store.get(key);
    if (!node || !this.#isOurs(node)) return undefined;
    const answer = lookups.snapshot.get(node.metadata?.uid ?? '', 'metadata');
    const found = rangesIn(answer);
    return findingOfRanges({
      node,
      found,
      answered: answer && factOfAnswer(answer, clock.monotonic(), 'Last look-up'),
      plan: planCloudRanges(this.#observe(node, found)),
      refusesMs: this.#other?.refusesForMs ?? 0,
    });
  }
}
