// Over 400 lines: one loop and the work that it starts, which share what is known, what is in flight and what has failed.
/**
 * The node-route-controller: routes from the pod CIDRs of the nodes to their machines. Entry point: `createRouteController`.
 *
 * What should be is planned anew with each change, from all nodes and from the routes as last listed plus what was done since;
 * nothing is remembered but that. Work is grouped by commit: while one batch is in flight, routes gather for the next.
 */
import {
  type CallContext,
  type CallPriority,
  type Cidr,
  type NodeAddress,
  parseCidr,
  type Route,
  type RouteRequest,
  type RouteResult,
  type Routes,
  isCloudError,
} from '@outrigger/cloud-provider';
import {
  resources,
  type Client,
  type Clock,
  type EventRecorder,
  type KubeObject,
  type Logger,
  type Metrics,
  type Node,
  type ResourceClient,
  type Store,
  type StoreChange,
  type Timer,
} from '@outrigger/kube';
import { isDeepStrictEqual } from 'node:util';
import { refOfNode } from '../node-ref.ts';
import { podCidrsOf } from '../pod-cidrs.ts';
import type { Explains, Fact, Finding } from '../finding.ts';
import { noJournal, type ControllerJournal } from '../journal.ts';
import { ToldEvents } from '../told-events.ts';
import { CloudRoutes } from './cloud-routes.ts';
import { failureNote, keptNote, noRouteNote, recordFailureNote } from './failure-note.ts';
import { KnownRoutes } from './known-routes.ts';
import { readLiveNodes } from './live-nodes.ts';
import { RouteConditions } from './route-conditions.ts';
import { planRoutes } from './plan.ts';
import type { CreateRoute, DeleteRoute, KeptRoutes, NodeRoutes, RoutePlan } from './planned-route.ts';
import { RemovalBreaker } from './removal-breaker.ts';
import { Retries } from './retries.ts';
import { factOfKept, factOfRoute, notedCreate, notedDelete, subjectOfCreate, subjectOfDelete } from './route-words.ts';
import { addressesOf, asOwned, hopsOf, hopsOfNode } from './route-owners.ts';
import { StoredRouteRecord } from './stored-route-record.ts';
import { createRouteMetrics, type RouteMetrics } from './route-metrics.ts';

const DEFAULT_RESYNC_MS = 600_000;
/** Lists that were not due are not asked for more often. */
const MIN_LIST_INTERVAL_MS = 2_000;
/** Routes are deleted by a list that is not older. */
const FRESH_MS = 10_000;
const MOST_BATCHES = 4;
/** A batch in flight for longer holds up nobody: the next starts beside it. */
const SLOW_MS = 2_000;
/** Dry run: so often, while something is planned. */
const PLANNED_LIST_MS = 30_000;
/** After the outcome of a request was unknown. */
const SUSPECT_MS = 30_000;
/** A node that has just registered has an address and a pod CIDR long before. */
const KEPT_TOLD_MS = 600_000;

/** Key of the retries. */
const RECORD = 'record';

export interface RouteControllerOptions {
  /** The prefix of our provider IDs. */
  readonly providerName: string;
  /** `ClusterIdentity.id`. */
  readonly clusterId: string;
  /** `--cluster-cidr`, by `parseClusterCidrs`: one range, or one of each family. */
  readonly clusterCidrs: readonly Cidr[];
  /** False while there may be others, of which nodes have parts: of a node outside of those above nothing is said. Default: true. */
  readonly knowsAllRanges?: boolean;
  /** `--route-reconciliation-period`, in milliseconds, which is kept to as it is. Default: 600,000, of which a tenth is left to chance. */
  readonly routeReconciliationPeriodMs?: number | undefined;
  /** Conditions that are written at a time. Default: 8. */
  readonly concurrentWrites?: number;
}

export interface RouteControllerDependencies {
  readonly client: Pick<Client, 'of'>;
  readonly store: Store<Node>;
  readonly routes: Routes;
  readonly callContext: (options: {
    readonly signal: AbortSignal;
    readonly priority: CallPriority;
    readonly logger?: Logger;
    readonly about?: readonly string[];
    readonly reads?: boolean;
  }) => CallContext;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** From 0 to 1. */
  readonly random: () => number;
  /** Default: nothing is remembered, and everything done. */
  readonly journal?: ControllerJournal;
  readonly options: RouteControllerOptions;
}

export interface RouteController extends Explains {
  /** The ranges of its options have changed. */
  replan(): void;
  /** Runs until `signal` aborts, and resolves when the last write has ended. Once only. */
  run(signal: AbortSignal): Promise<void>;
}

/** Makes the controller; nothing is read or written before `run`. Throws a `RangeError` without a cluster CIDR. */
export function createRouteController(dependencies: RouteControllerDependencies): RouteController {
  if (dependencies.options.clusterCidrs.length === 0) {
    throw new RangeError(
      'the route controller needs a cluster CIDR: without one it cannot recognize the routes of this cluster',
    );
  }
  let current: Run | undefined;
  return {
    run: (signal) => (current = new Run(dependencies, signal)).run(),
    replan: () => current?.replan(),
    explain: (key) => current?.explain(key),
  };
}

class Run {
  readonly #deps: RouteControllerDependencies;
  readonly #signal: AbortSignal;
  readonly #nodes: ResourceClient<Node>;
  readonly #cloud: CloudRoutes;
  readonly #known = new KnownRoutes();
  readonly #retries: Retries;
  readonly #listRetries: Retries;
  readonly #breaker: RemovalBreaker;
  readonly #told: ToldEvents;
  readonly #conditions: RouteConditions;
  readonly #metrics: RouteMetrics;
  readonly #journal: ControllerJournal;
  /** Namespace kube-system, whose UID is the cluster's: what is said about no node in particular is said about it. */
  readonly #cluster: KubeObject;
  /** Where the cloud keeps no owner with a route. */
  readonly #stored: StoredRouteRecord | undefined;
  /** Dry run: destinations for which something is planned. */
  #planned = new Set<string>();
  /** Everything in flight, for the end. */
  readonly #running = new Set<Promise<void>>();
  /** Keys of creates and IDs of routes that are in flight. */
  readonly #busy = new Set<string>();
  /** When each batch of creates in flight was sent. */
  readonly #batches = new Set<number>();
  #listing = false;
  #listAt = 0;
  /** Why the next list is due. */
  #listTrigger: 'periodic' | 'node_change' = 'periodic';
  #listStartedAt = Number.NEGATIVE_INFINITY;
  /** Since when each node of which nothing is known keeps routes, by its UID; monotonic. */
  #keepsSince: ReadonlyMap<string, number> = new Map();
  #timer: Timer | undefined;
  #awake = false;

  constructor(deps: RouteControllerDependencies, signal: AbortSignal) {
    const { client, clock, events, logger, metrics, random, routes, callContext } = deps;
    this.#deps = deps;
    this.#signal = signal;
    this.#nodes = client.of(resources.nodes);
    this.#cloud = new CloudRoutes({ routes, callContext, clock, logger, signal });
    this.#retries = new Retries(clock, random);
    this.#listRetries = new Retries(clock, random);
    this.#breaker = new RemovalBreaker(clock);
    this.#told = new ToldEvents(events, clock);
    this.#metrics = createRouteMetrics(metrics);
    this.#journal = deps.journal ?? noJournal;
    const cluster = { name: 'kube-system', uid: deps.options.clusterId };
    this.#cluster = { apiVersion: 'v1', kind: 'Namespace', metadata: cluster };
    if (routes.unmarked) this.#stored = new StoredRouteRecord({ client, clock, signal, ...deps.options });
    this.#conditions = new RouteConditions({
      ...deps,
      journal: this.#journal,
      nodes: this.#nodes,
      told: this.#told,
      signal,
    });
  }

  async run(): Promise<void> {
    const { store, options } = this.#deps;
    try {
      await store.whenSynced(this.#signal);
      await this.#loadRecord();
    } catch (error) {
      if (this.#signal.aborted) return;
      throw error;
    }
    const unsubscribe = store.subscribe((change) => this.#changed(change));
    this.#wake();
    try {
      await this.#conditions.run(options.concurrentWrites ?? 8);
    } finally {
      unsubscribe();
      this.#timer?.cancel();
      await Promise.all(this.#running);
    }
  }

  /** Without it, routes of this cluster would seem to be foreign. */
  async #loadRecord(): Promise<void> {
    const { clock, logger } = this.#deps;
    for (let isLoaded = this.#stored === undefined; !isLoaded;) {
      try {
        await this.#stored?.load();
        isLoaded = true;
        this.#listRetries.succeeded(RECORD);
      } catch (error) {
        this.#signal.throwIfAborted();
        const { delayMs } = this.#listRetries.failed(RECORD, error as Error);
        logger.error('The record of the routes could not be read; retrying', { error, delayMs });
        const note = recordFailureNote(error, 'No route is created or deleted');
        if (note) this.#told.tell(this.#cluster, note);
        await clock.sleep(Math.min(delayMs, SUSPECT_MS), this.#signal);
      }
    }
  }

  /** Runs for each heartbeat of each node: only what routes are made from wakes the plan. */
  #changed(change: StoreChange<Node>): void {
    const { key } = change;
    const before = change.type === 'add' ? undefined : change.previous;
    const after = change.type === 'delete' ? undefined : change.object;
    if (before && before.metadata?.uid !== after?.metadata?.uid) {
      this.#conditions.forget(key);
      this.#told.forget(before.metadata?.uid ?? '');
    }
    if (!before || !after || !isDeepStrictEqual(routeInputs(before), routeInputs(after))) this.#wake();
    else this.#conditions.check(key, after);
  }

  replan(): void {
    // Before the first list there is no plan.
    if (this.#known.asOf !== undefined) this.#wake();
  }

  /** Plans in the next turn, once for all changes of this one. */
  #wake(): void {
    if (this.#awake) return;
    this.#awake = true;
    setImmediate(() => {
      this.#awake = false;
      if (!this.#signal.aborted) this.#advance();
    });
  }

  #wakeIn(delayMs: number): void {
    this.#timer?.cancel();
    this.#timer = Number.isFinite(delayMs) ? this.#deps.clock.setTimer(delayMs, () => this.#wake()) : undefined;
  }

  #advance(): void {
    const now = this.#deps.clock.monotonic();
    const waits: number[] = [];
    if (this.#known.asOf !== undefined) {
      const { store } = this.#deps;
      const plan = this.#plan(store.values());
      const {
        deletes,
        held,
        nextInMs = Number.POSITIVE_INFINITY,
      } = this.#breaker.release(plan.deletes, { nodes: store.size, owned: plan.owned.size });
      this.#tellHeld(held);
      waits.push(this.#tellKept(plan.kept, now));
      this.#retries.keepOnly(
        new Set([
          ...plan.nodes.flatMap(({ missing }) => missing),
          ...plan.deletes.map(({ route }) => deleteKey(route.id)),
        ]),
      );
      for (const node of plan.nodes) this.#settle(node);
      waits.push(nextInMs, this.#remember(plan.owned, now));
      if (this.#journal.dryRun) this.#tellPlan(plan.creates, deletes);
      else waits.push(this.#startDeletes(deletes, now), this.#startCreates(plan.creates, now));
    }
    if (!this.#listing && this.#listAt <= now) this.#start(this.#list());
    if (!this.#listing) waits.push(this.#listAt - now);
    this.#wakeIn(Math.min(...waits));
  }

  /** Dry run: what would be started now. */
  #tellPlan(creates: readonly CreateRoute[], deletes: readonly DeleteRoute[]): void {
    const planned = new Set<string>();
    for (const one of deletes) {
      this.#journal.plan(subjectOfDelete(one), [notedDelete(one)]);
      planned.add(one.route.destination);
    }
    for (const one of creates) {
      this.#journal.plan(subjectOfCreate(one), [notedCreate(one)]);
      planned.add(one.destination);
    }
    for (const name of this.#planned.difference(planned)) this.#journal.plan({ kind: 'Route', name, uid: '' }, []);
    this.#planned = planned;
    // Somebody else may do it, which only a list shows.
    if (planned.size > 0) this.#listIn(PLANNED_LIST_MS);
  }

  /** `key`: a destination, the ID of a route, or the name of a node. From memory alone. */
  explain(key: string): Finding | undefined {
    const { clock, store, options } = this.#deps;
    const controller = 'node-route-controller';
    const { asOf } = this.#known;
    if (asOf === undefined) {
      const observed = [{ text: 'The routes have not been listed yet.' }];
      return { controller, about: [], observed, planned: [{ text: 'Nothing until they are.' }] };
    }
    const agoMs = Math.max(0, clock.monotonic() - asOf);
    const plan = this.#plan(store.values());
    const about = plan.nodes.find(({ node }) => node.metadata?.name === key);
    const wanted = new Set(
      about ? podCidrsOf(about.node).map((cidr) => parseCidr(cidr)?.text ?? cidr) : [parseCidr(key)?.text ?? key],
    );
    const routes = [...this.#known.values()].filter(({ destination, id }) => wanted.has(destination) || id === key);
    for (const { destination } of routes) wanted.add(destination);
    const creates = plan.creates.filter(({ destination }) => wanted.has(destination));
    const deletes = plan.deletes.filter(({ route }) => routes.includes(route));
    if (!about && routes.length === 0 && creates.length === 0) return undefined;
    const ranges = options.clusterCidrs.map(({ text }) => text).join(', ');
    const planned: readonly Fact[] = [
      ...creates.map((one) => this.#factOfCreate(one)),
      ...deletes.map((one) => this.#factOfDelete(one)),
      ...(routes.some((route) => plan.kept.routes.includes(route)) ? [factOfKept(plan.kept)] : []),
      ...(about?.waits ? [{ text: 'No route can be created until the node has an IP address.' }] : []),
      ...(about?.problems ?? []).map((text) => ({ text: `No route can be created: ${text}` })),
    ];
    return {
      controller,
      about: [...Array.from(wanted, (destination) => `Route ${destination}`), about?.node.metadata?.uid ?? []].flat(),
      observed: [
        ...routes.map((route) => factOfRoute(route, plan.owned.has(route), agoMs)),
        ...(routes.length === 0 ? [{ text: `The cloud has no route for it.`, agoMs }] : []),
      ],
      planned: planned.length > 0 ? planned : [{ text: `Nothing: its routes in ${ranges} are up to date.` }],
    };
  }

  #factOfCreate(create: CreateRoute): Fact {
    const { key } = create;
    const text = sentence(notedCreate(create).summary);
    if (this.#busy.has(key)) return { text: `${text} The request is in progress.` };
    const inMs = this.#retries.waitMs(key);
    return inMs > 0 ? { text: `${text} The last attempt failed.`, inMs } : { text };
  }

  #factOfDelete(removal: DeleteRoute): Fact {
    const text = sentence(notedDelete(removal).summary);
    if (this.#busy.has(deleteKey(removal.route.id))) return { text: `${text} The request is in progress.` };
    const inMs = Math.max(this.#retries.waitMs(deleteKey(removal.route.id)), this.#breaker.heldForMs(removal));
    return inMs > 0 ? { text, inMs } : { text };
  }

  #plan(nodes: Iterable<Node>): RoutePlan {
    const { options, routes } = this.#deps;
    const { clusterCidrs, providerName } = options;
    const record = this.#stored?.record;
    const unmarked = record && { record, nextHop: routes.nextHop };
    return planRoutes({ nodes, routes: this.#known.values(), clusterCidrs, providerName, ...unmarked });
  }

  /** What is ours now, by its node, is so after the node. Milliseconds until it is tried again to write that down. */
  #remember(owned: Iterable<Route>, now: number): number {
    const stored = this.#stored;
    if (!stored || this.#journal.dryRun) return Number.POSITIVE_INFINITY;
    for (const route of owned) stored.record.note(parseCidr(route.destination)?.text ?? '', hopsOf(route), now);
    if (!stored.isBehind) return Number.POSITIVE_INFINITY;
    const waitMs = this.#listRetries.waitMs(RECORD);
    if (waitMs === 0) this.#start(this.#saveRecord(stored));
    return waitMs || Number.POSITIVE_INFINITY;
  }

  async #saveRecord(stored: StoredRouteRecord): Promise<void> {
    try {
      await stored.save();
      this.#listRetries.succeeded(RECORD);
    } catch (error) {
      if (this.#signal.aborted) return;
      const { delayMs } = this.#listRetries.failed(RECORD, error as Error);
      this.#deps.logger.warn('The record of the routes could not be saved', { error, delayMs });
    }
  }

  /** What a task throws is a defect, or the end. */
  #start(task: Promise<void>): void {
    const settled = task
      .catch((error: unknown) => {
        if (!this.#signal.aborted) this.#deps.logger.error('A task of the route controller failed', { error });
      })
      .finally(() => {
        this.#running.delete(settled);
        this.#wake();
      });
    this.#running.add(settled);
  }

  // Lists

  /** Asks for a list in `delayMs`, unless one is due before. */
  #listIn(delayMs: number): void {
    const at = Math.max(this.#deps.clock.monotonic() + delayMs, this.#listStartedAt + MIN_LIST_INTERVAL_MS);
    if (at >= this.#listAt) return;
    this.#listAt = at;
    this.#listTrigger = 'node_change';
  }

  async #list(): Promise<void> {
    const { clock, logger } = this.#deps;
    this.#listing = true;
    this.#listStartedAt = clock.monotonic();
    this.#listAt = Number.POSITIVE_INFINITY;
    const trigger = this.#listTrigger;
    this.#listTrigger = 'periodic';
    try {
      const list = await this.#cloud.list();
      this.#known.replace(list);
      this.#stored?.record.keepOnly(list.routes, list.asOf);
      this.#listRetries.succeeded('list');
      this.#listAt = Math.min(this.#listAt, this.#listStartedAt + this.#period());
      const { creates, deletes } = this.#plan(this.#deps.store.values());
      this.#metrics.syncs.inc({ outcome: creates.length + deletes.length > 0 ? 'changed' : 'noop', trigger });
    } catch (error) {
      if (this.#signal.aborted) return;
      this.#metrics.syncs.inc({ outcome: 'error', trigger });
      const { attempts, delayMs } = this.#listRetries.failed('list', error as Error);
      this.#listAt = clock.monotonic() + delayMs;
      logger.error('The routes could not be listed; retrying', { error, attempts });
    } finally {
      this.#listing = false;
    }
  }

  #period(): number {
    const { random, options } = this.#deps;
    return options.routeReconciliationPeriodMs ?? DEFAULT_RESYNC_MS * (1 - random() / 10);
  }

  // Creates

  /** Starts what may start; milliseconds until there is more. */
  #startCreates(creates: readonly CreateRoute[], now: number): number {
    const free = creates.filter(({ key }) => !this.#busy.has(key));
    const ready = free.filter(({ key }) => this.#retries.waitMs(key) === 0);
    let soonest = Math.min(...free.map(({ key }) => this.#retries.waitMs(key) || Number.POSITIVE_INFINITY));
    while (ready.length > 0 && this.#batches.size < MOST_BATCHES) {
      const full = ready.length >= this.#cloud.batchSize;
      const oldest = Math.min(...this.#batches);
      const patience = SLOW_MS - (now - oldest);
      if (this.#batches.size > 0 && !full && patience > 0) {
        soonest = Math.min(soonest, patience);
        break;
      }
      this.#start(this.#create(ready.splice(0, this.#cloud.batchSize)));
    }
    return soonest;
  }

  async #create(batch: readonly CreateRoute[]): Promise<void> {
    // A set of times: two batches of one instant must not be one.
    let sentAt = this.#deps.clock.monotonic();
    while (this.#batches.has(sentAt)) sentAt += 0.001;
    this.#batches.add(sentAt);
    for (const { key } of batch) this.#busy.add(key);
    try {
      const results = await this.#createRecorded(batch);
      if (this.#signal.aborted) return;
      for (const [i, create] of batch.entries()) this.#created(create, results[i] as RouteResult);
    } finally {
      this.#batches.delete(sentAt);
      for (const { key } of batch) this.#busy.delete(key);
    }
  }

  /** Where the cloud keeps no owner, it is written down before: whatever comes of the request, its route is known as ours. */
  async #createRecorded(batch: readonly CreateRoute[]): Promise<readonly RouteResult[]> {
    const requests = batch.map(requestOf);
    const stored = this.#stored;
    if (!stored) return this.#cloud.create(requests);
    const hops = batch.map(({ node }) => hopsOfNode(node, this.#deps.routes.nextHop));
    for (const [i, { destination }] of batch.entries()) {
      stored.record.note(destination, hops[i] ?? [], Number.POSITIVE_INFINITY);
    }
    try {
      await stored.save();
      return await this.#cloud.create(requests);
    } catch (error) {
      return batch.map(() => ({ kind: 'failed', error: error as Error }));
    } finally {
      // What has no answer yet may take effect later.
      const at = this.#deps.clock.monotonic() + SUSPECT_MS;
      for (const [i, { destination }] of batch.entries()) stored.record.release(destination, hops[i] ?? [], at);
    }
  }

  #created(create: CreateRoute, result: RouteResult): void {
    this.#metrics.operations.inc({ operation: 'create', result: result.kind });
    this.#journal.note(subjectOfCreate(create), [notedCreate(create)], result.kind === 'failed' ? result : undefined);
    if (result.kind !== 'failed') {
      this.#retries.succeeded(create.key);
      // Only by its addresses is such a route known to lead to the node.
      const nextHops = this.#stored && this.#deps.routes.nextHop !== 'instance' ? addressesOf(create.node) : undefined;
      this.#known.made(create, this.#deps.clock.monotonic(), nextHops);
      return;
    }
    const { error } = result;
    const { attempts, delayMs } = this.#retries.failed(create.key, error);
    this.#suspect(error, delayMs);
    const { node, destination } = create;
    this.#deps.logger.warn('The route could not be created', {
      node: node.metadata?.name,
      destination,
      error,
      attempts,
    });
    const note = failureNote(create, error, attempts);
    if (note) this.#told.tell(node, note);
  }

  /** It may be there, or gone, all the same. */
  #suspect(error: Error, delayMs: number): void {
    if (isCloudError(error, 'conflict') || isCloudError(error, 'not-found')) this.#listIn(delayMs);
    else if (!isCloudError(error, 'quota') && !isCloudError(error, 'throttled')) this.#listIn(SUSPECT_MS);
  }

  // Deletes

  #startDeletes(deletes: readonly DeleteRoute[], now: number): number {
    const free = deletes.filter(({ route }) => !this.#busy.has(deleteKey(route.id)));
    const waits = free.map(({ route }) => this.#retries.waitMs(deleteKey(route.id)));
    const ready = free.filter((_, i) => waits[i] === 0);
    const soonest = Math.min(...waits.filter((wait) => wait > 0));
    if (ready.length === 0) return soonest;
    // What is deleted is what the cloud shows now, with the ID and the owner that it shows now.
    const isFresh = now - (this.#known.asOf ?? Number.NEGATIVE_INFINITY) <= FRESH_MS;
    const listed = ready.filter(({ route }) => isFresh && this.#known.isListed(route));
    if (listed.length < ready.length) this.#listIn(0);
    if (listed.length > 0) this.#start(this.#delete(listed));
    return soonest;
  }

  async #delete(candidates: readonly DeleteRoute[]): Promise<void> {
    const keys = candidates.map(({ route }) => deleteKey(route.id));
    for (const key of keys) this.#busy.add(key);
    try {
      const confirmed = await this.#confirm(candidates);
      const { batchSize } = this.#cloud;
      for (let i = 0; i < confirmed.length; i += batchSize) {
        const batch = confirmed.slice(i, i + batchSize);
        const results = await this.#cloud.delete(batch.map(({ route }) => asOwned(route)));
        if (this.#signal.aborted) return;
        for (const [j, one] of batch.entries()) this.#deleted(one, results[j] as RouteResult);
      }
    } catch (error) {
      if (this.#signal.aborted) return;
      for (const key of keys) this.#retries.failed(key, error as Error);
      this.#deps.logger.warn('The nodes could not be read: no route is deleted', { error });
    } finally {
      for (const key of keys) this.#busy.delete(key);
    }
  }

  /** Plans again with the nodes as the server has them now: what is not to go by that plan stays. */
  async #confirm(candidates: readonly DeleteRoute[]): Promise<readonly DeleteRoute[]> {
    const nodes = await readLiveNodes(candidates, {
      client: this.#nodes,
      nodes: this.#deps.store.values(),
      signal: this.#signal,
    });
    const planned = new Set(this.#plan(nodes).deletes.map(({ route }) => route));
    const confirmed = candidates.filter(({ route }) => planned.has(route));
    for (const { route } of candidates) {
      if (planned.has(route)) continue;
      // The store is behind and will be woken by what it has not seen yet.
      this.#retries.failed(deleteKey(route.id), new Error('the node is there'));
      this.#deps.logger.warn('A route is kept: the API server has a node that is not in the cache', {
        route: route.id,
      });
    }
    return confirmed;
  }

  #deleted(removal: DeleteRoute, result: RouteResult): void {
    const { route, reason, node } = removal;
    const { logger } = this.#deps;
    this.#journal.note(subjectOfDelete(removal), [notedDelete(removal)], result.kind === 'failed' ? result : undefined);
    const fields = { route: route.id, destination: route.destination, reason };
    this.#metrics.operations.inc({ operation: 'delete', result: result.kind });
    if (result.kind !== 'failed') {
      this.#retries.succeeded(deleteKey(route.id));
      this.#known.removed(route);
      logger.info('Route deleted', fields);
      return;
    }
    const { error } = result;
    const { attempts, delayMs } = this.#retries.failed(deleteKey(route.id), error);
    this.#suspect(error, delayMs);
    logger.warn('The route could not be deleted', { ...fields, error, attempts });
    if (!node) return;
    const why = isCloudError(error) ? `${error.message} (${error.code})` : 'the log has the error';
    const name = node.metadata?.name ?? '';
    this.#told.tell(
      node,
      noRouteNote(`The route ${route.destination} does not lead to node ${name} and could not be deleted: ${why}.`),
    );
  }

  #tellHeld(held: number): void {
    this.#metrics.held.set(held);
    if (held === 0) return;
    const message = `${held} routes belong to nodes that do not exist any more. Because they are so many, they are kept for 5 minutes: if their machines still exist, let the nodes register again.`;
    if (this.#told.tell(this.#cluster, { type: 'Warning', reason: 'RouteRemovalHeld', message })) {
      this.#deps.logger.warn(message);
    }
  }

  /** Safe, and without an end where such a node is never initialised. Milliseconds until it is told. */
  #tellKept({ routes, nodes }: KeptRoutes, now: number): number {
    const since = new Map<string, number>();
    let nextMs = Number.POSITIVE_INFINITY;
    for (const node of nodes) {
      const uid = node.metadata?.uid ?? '';
      const keepsSince = this.#keepsSince.get(uid) ?? now;
      since.set(uid, keepsSince);
      const leftMs = keepsSince + KEPT_TOLD_MS - now;
      if (leftMs > 0) nextMs = Math.min(nextMs, leftMs);
      else if (this.#told.tell(node, keptNote(routes))) {
        this.#deps.logger.warn(
          'Routes of unknown nodes are kept, as they may belong to a node that is not initialised',
          { node: node.metadata?.name, routes: routes.length },
        );
      }
    }
    this.#keepsSince = since;
    return nextMs;
  }

  #settle({ node, complete, problems, missing }: NodeRoutes): void {
    if (problems.length > 0 && this.#deps.options.knowsAllRanges === false) return;
    if (problems.length > 0) {
      const message = `No route is created for node ${node.metadata?.name ?? ''}. ${problems.join(' ')}`;
      this.#told.tell(node, { type: 'Warning', reason: 'PodCIDRWithoutRoute', message });
    }
    const failed = problems.length > 0 || missing.some((key) => this.#retries.hasFailed(key));
    // A route that is being made says nothing yet.
    if (complete || failed) this.#conditions.want(node, complete);
  }
}

function sentence(clause: string): string {
  return `${clause.charAt(0).toUpperCase()}${clause.slice(1)}.`;
}

function deleteKey(id: string): string {
  return `route ${id}`;
}

/** What of a node decides about its routes. */
function routeInputs({ metadata, spec, status }: Node): unknown {
  return [
    metadata?.uid,
    metadata?.deletionTimestamp,
    spec?.providerID,
    spec?.podCIDR,
    spec?.podCIDRs,
    status?.addresses,
  ];
}

function requestOf({ node, destination, replaces }: CreateRoute): RouteRequest {
  const addresses = (node.status?.addresses ?? []) as readonly NodeAddress[];
  return { node: refOfNode(node), addresses, destination, ...(replaces.length > 0 && { replaces }) };
}
