/**
 * The RangeAllocator of node IPAM: gives each node a range of each cluster range as its pod CIDRs. Entry point:
 * `createRangeAllocator`.
 *
 * A range has one holder from before its first write is sent until the server has said that the node is gone. The books are
 * made at the start from one consistent list, so that nothing which a former leader wrote is missing.
 */
import { overlaps, parseCidr } from '@outrigger/cloud-provider';
import {
  createWorkQueue,
  exponentialBackoff,
  isConflict,
  isInvalid,
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
import type { ControllerDependencies } from '../controller-dependencies.ts';
import { standingOf, type Explains, type Finding, type Standing } from '../finding.ts';
import { noJournal, subjectOf, type ControllerJournal } from '../journal.ts';
import { podCidrsOf } from '../pod-cidrs.ts';
import { ToldEvents } from '../told-events.ts';
import { parseRangeLines, setAdditionalRanges } from './additional-ranges.ts';
import { AllocatorWatch, type AllocatorWatchOptions } from './allocator-watch.ts';
import { createIpamMetrics, type IpamMetrics } from './ipam-metrics.ts';
import type { IpamRanges } from './ipam-ranges.ts';
import { listUntilComplete } from './list-until-complete.ts';
import { NodeRanges } from './node-ranges.ts';
import { FIELD_MANAGER } from './other-allocator.ts';
import { parseCidrs } from './parse-cidrs.ts';
import { podCidrPatch, WRITE_TIMEOUT_MS } from './pod-cidr-patch.ts';
import { tellSetAside } from '../set-aside.ts';
import { isUnmanaged, type UnmanagedRule } from '../unmanaged-nodes.ts';

const BACKOFF = { baseMs: 50, maxMs: 300_000 };
/** Of nodes that have a part of the pod CIDR of another one. */
const MOST_NAMED = 3;

export interface RangeAllocatorDependencies
  extends ControllerDependencies, Pick<AllocatorWatchOptions, 'observeMs' | 'exclusive'> {
  readonly store: Store<Node>;
  /** Made by `readIpamRanges` for this allocator alone: it keeps its books in them. */
  readonly ranges: IpamRanges;
  /** Nodes that get no range; what they have is theirs. Default: none. */
  readonly unmanaged?: readonly UnmanagedRule[] | undefined;
  /** Nodes that are written at a time. Default: 30, as upstream. */
  readonly concurrentWrites?: number;
}

export interface RangeAllocator extends Explains {
  /** Runs until `signal` aborts, and resolves when the last write has ended. Once only. */
  run(signal: AbortSignal): Promise<void>;
  /**
   * Nodes get ranges of these too, one a line, in place of what was said before. Throws a `RangeError` that says what is wrong
   * with them, as when a node has a range that would go; then the old ones stay. After `run`.
   */
  addRanges(text: string): void;
}

/** Makes the allocator; nothing is read or written before `run`. */
export function createRangeAllocator(dependencies: RangeAllocatorDependencies): RangeAllocator {
  let current: Run | undefined;
  return {
    run: (signal) => (current = new Run(dependencies, signal)).run(),
    explain: (key) => current?.explain(key),
    list: () => current?.list() ?? [],
    addRanges: (text) => current?.addRanges(text),
  };
}

class Run {
  readonly #deps: RangeAllocatorDependencies;
  readonly #signal: AbortSignal;
  readonly #nodes: ResourceClient<Node>;
  readonly #ranges: NodeRanges;
  readonly #other: AllocatorWatch;
  readonly #told: ToldEvents;
  readonly #metrics: IpamMetrics;
  readonly #journal: ControllerJournal;
  readonly #queue: WorkQueue<string>;
  /** All that nodes have is in the books. */
  #isOpen = false;
  /** Nodes that got nothing because nothing was left. */
  readonly #starved = new Set<string>();

  constructor(deps: RangeAllocatorDependencies, signal: AbortSignal) {
    const { client, clock, events, exclusive, logger, metrics, observeMs, random, ranges } = deps;
    this.#deps = deps;
    this.#signal = signal;
    this.#nodes = client.of(resources.nodes);
    this.#ranges = new NodeRanges(ranges.sets, ranges.reserved);
    this.#told = new ToldEvents(events, clock);
    this.#other = new AllocatorWatch({ nodes: this.#nodes, clock, told: this.#told, logger, observeMs, exclusive });
    this.#metrics = createIpamMetrics(
      metrics,
      () => this.#ranges.sets,
      signal,
      () => this.#other.refusesForMs > 0,
    );
    this.#journal = deps.journal ?? noJournal;
    const rateLimiter = exponentialBackoff<string>({ ...BACKOFF, random });
    this.#queue = createWorkQueue({ name: 'cidrallocator_node', clock, metrics, rateLimiter });
  }

  async run(): Promise<void> {
    const { store, clock, logger, metrics, concurrentWrites = 30 } = this.#deps;
    let unsubscribe = (): void => {};
    try {
      await store.whenSynced(this.#signal);
      // Before the list, so that nothing happens in between unseen.
      unsubscribe = store.subscribe((change) => this.#changed(change));
      await this.#openBooks();
      await runController({
        name: 'node-ipam-controller',
        queue: this.#queue,
        reconciler: { reconcile: (key, context) => this.#reconcile(key, context) },
        workers: concurrentWrites,
        clock,
        logger,
        metrics,
        signal: this.#signal,
        onSetAside: tellSetAside(store, this.#deps.events),
      });
    } catch (error) {
      if (!this.#signal.aborted) throw error;
    } finally {
      unsubscribe();
      this.#queue.shutDown();
    }
  }

  /** What the server has, whatever the store has seen of it: nothing is given away before this is complete. */
  async #openBooks(): Promise<void> {
    const { clock, logger, store } = this.#deps;
    await listUntilComplete({ nodes: this.#nodes, clock, logger, signal: this.#signal }, (node) => {
      this.#hold(node);
      this.#other.inspect(node);
    });
    this.#other.listed();
    this.#isOpen = true;
    // Of a node that has gone meanwhile, nobody may have been told.
    for (const name of this.#ranges.names()) if (!store.get(name)) this.#queue.add(name);
  }

  addRanges(text: string): void {
    const fixed = this.#deps.ranges.sets;
    // Which ranges are in use is not known before.
    if (!this.#isOpen && this.#ranges.sets.length > fixed.length) {
      throw new RangeError('the nodes have not been listed yet: it is unknown which CIDRs are in use');
    }
    setAdditionalRanges(this.#ranges, fixed, parseRangeLines(text));
    this.#feedStarved();
  }

  #changed(change: ResourceEvent<Node>): void {
    const { key } = change;
    if (change.type !== 'delete') {
      const { object } = change;
      const before = change.type === 'update' && change.previous.metadata?.uid === object.metadata?.uid;
      if (podCidrsOf(object).length > 0) {
        this.#journal.plan(subjectOf('Node', object), []);
        this.#starved.delete(key);
        const isSuspect = this.#other.changed(change, this.#ranges);
        this.#hold(object);
        // Of the node that had this name before, something may be held.
        if (isSuspect || (change.type === 'update' && !before)) this.#queue.add(key, { priority: 1 });
        return;
      }
      // A heartbeat of a node that waits for a range makes none.
      if (before && this.#starved.has(key)) return;
    } else {
      this.#journal.plan(subjectOf('Node', change.previous), []);
      this.#told.forget(change.previous.metadata?.uid ?? '');
    }
    this.#queue.add(key);
  }

  /** Notes what the node has. */
  #hold(node: Node): void {
    const { name = '', uid = '' } = node.metadata ?? {};
    const cidrs = podCidrsOf(node);
    if (cidrs.length === 0) return;
    const shared = this.#ranges.hold(name, uid, cidrs);
    if (shared.length === 0) return;
    const message = shared.some((cidr) => this.#ranges.isTooWide(cidr))
      ? `The pod CIDR ${shared.join(', ')} of node ${name} is too wide for one node, so other nodes get parts of it. Delete this node and let it register again.`
      : `The pod CIDR ${shared.join(', ')} of node ${name} overlaps that of ${this.#othersIn(shared, name)}. Delete one of the nodes and let it register again.`;
    if (this.#told.tell(node, { type: 'Warning', reason: 'PodCIDRClash', message })) this.#deps.logger.error(message);
  }

  /** Nodes that hold a part of these, in words. */
  #othersIn(texts: readonly string[], name: string): string {
    const cidrs = parseCidrs(texts);
    const holders = new Set(cidrs.flatMap((cidr) => [...this.#ranges.holdersIn(cidr)].map((one) => one.name)));
    const others = [...holders].filter((one) => one !== name).slice(0, MOST_NAMED);
    return others.length > 0 ? `node ${others.join(', ')}` : 'another node or the Service range';
  }

  /** From memory alone. */
  explain(key: string): Finding | undefined {
    const node = this.#deps.store.get(key);
    if (!node) return undefined;
    const { uid = '' } = node.metadata ?? {};
    const has = podCidrsOf(node);
    const refusesMs = this.#other.refusesForMs;
    const held = this.#ranges.heldBy(uid) ?? [];
    const planned =
      has.length > 0
        ? { text: 'Nothing: it has its pod CIDRs, which cannot be changed.' }
        : isUnmanaged(node, this.#deps)
          ? { text: 'Nothing: it is a node without a machine in the cloud (--unmanaged-nodes).' }
          : refusesMs > 0
            ? { text: 'Nothing while another component allocates pod CIDRs.', inMs: refusesMs }
            : this.#starved.has(key)
              ? { text: 'Nothing: the cluster CIDR is exhausted.' }
              : { text: 'Allocate a pod CIDR from each cluster CIDR.' };
    return {
      controller: 'node-ipam-controller',
      about: [uid],
      observed: [
        { text: has.length > 0 ? `It has the pod CIDRs ${has.join(', ')}.` : 'It has no pod CIDR.' },
        ...(held.length > 0 ? [{ text: `${held.join(', ')} are allocated to it.` }] : []),
      ],
      planned: [planned],
    };
  }

  *list(): Iterable<Standing> {
    for (const node of this.#deps.store.values()) {
      if (podCidrsOf(node).length > 0 || isUnmanaged(node, this.#deps)) continue;
      yield standingOf(node, 'waits', this.explain(keyOfObject(node)));
    }
  }

  async #reconcile(key: string, { logger, signal }: ReconcileContext): Promise<ReconcileResult | void> {
    const node = this.#deps.store.get(key);
    const { uid = '', deletionTimestamp } = node?.metadata ?? {};
    for (const held of this.#ranges.uidsOf(key)) if (held !== uid) await this.#releaseIfGone(key, held, signal);
    await this.#other.clear(key, signal);
    if (!node || deletionTimestamp || podCidrsOf(node).length > 0) return undefined;
    if (isUnmanaged(node, this.#deps)) return undefined;

    const waitMs = this.#other.waitMs(uid);
    if (waitMs > 0) return { requeueAfterMs: waitMs };

    const cidrs = this.#ranges.heldBy(uid) ?? this.#allocate(key, node);
    if (!cidrs) return undefined;
    try {
      const patch = podCidrPatch(uid, cidrs);
      const summary = `set the pod CIDRs ${cidrs.join(', ')}`;
      const action = { kind: 'allocate', summary, write: { object: node, patch } };
      const written = await this.#journal.perform(subjectOf('Node', node), [action], () =>
        this.#nodes.patch({ name: key }, patch, {
          fieldManager: FIELD_MANAGER,
          answer: 'metadata',
          // Not ended by the stop of the controller: what the next leader lists has to be complete.
          timeoutMs: WRITE_TIMEOUT_MS,
        }),
      );
      if (!written) return undefined;
      logger.verbose(2, 'Pod CIDRs allocated', { cidrs });
    } catch (error) {
      // Whatever else it is, the write may have taken effect: the node keeps the range, and the next try writes the same.
      if (!isConflict(error) && !isInvalid(error) && !isNotFound(error)) throw error;
      await this.#readAgain(key, uid, error, signal);
    }
    return undefined;
  }

  #allocate(name: string, node: Node): readonly string[] | undefined {
    const outcome = this.#ranges.allocate(name, node.metadata?.uid ?? '');
    if (outcome.kind === 'allocated') {
      this.#starved.delete(name);
      for (const clusterCIDR of outcome.clusters) this.#metrics.allocations.inc({ clusterCIDR });
      return outcome.cidrs;
    }
    this.#starved.add(name);
    const message = `No pod CIDR can be allocated to node ${name}: ${outcome.cluster} is exhausted. Delete nodes, or add a CIDR to the file of --additional-cluster-cidrs-file.`;
    if (this.#told.tell(node, { type: 'Warning', reason: 'CIDRNotAvailable', message })) {
      this.#metrics.notAvailable.inc();
      this.#deps.logger.warn(message);
    }
    return undefined;
  }

  /** The server refused: the node is another one, is gone, or has pod CIDRs already. */
  async #readAgain(key: string, uid: string, refusal: unknown, signal: AbortSignal): Promise<void> {
    const live = await this.#read(key, signal);
    if (live?.metadata?.uid !== uid) {
      this.#release(uid);
      return;
    }
    const cidrs = podCidrsOf(live);
    if (cidrs.length === 0) throw refusal;
    if (this.#ranges.heldBy(uid)?.join() !== cidrs.join()) this.#other.judge(live);
    this.#hold(live);
  }

  /** A store that is behind, or was filled from a server that is, must not set a range free that a node has. */
  async #releaseIfGone(name: string, uid: string, signal: AbortSignal): Promise<void> {
    const live = await this.#read(name, signal);
    if (live?.metadata?.uid !== uid) this.#release(uid);
  }

  async #read(name: string, signal: AbortSignal): Promise<Node | undefined> {
    try {
      return await this.#nodes.get({ name }, { signal });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  #release(uid: string): void {
    const held = this.#ranges.heldBy(uid)?.map(parseCidr) ?? [];
    if (!this.#ranges.release(uid)) return;
    for (const { cluster } of this.#ranges.sets) {
      if (!held.some((cidr) => cidr && overlaps(cluster, cidr))) continue;
      this.#metrics.releases.inc({ clusterCIDR: cluster.text });
    }
    this.#feedStarved();
  }

  /** There may be a range for them now. */
  #feedStarved(): void {
    for (const key of this.#starved) this.#queue.add(key);
    this.#starved.clear();
  }
}
