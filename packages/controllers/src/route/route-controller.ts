/**
 * The node-route-controller: routes from the pod CIDRs of the nodes to their machines. Entry point: `createRouteController`.
 *
 * What should be is planned anew with each change, from all nodes and from the routes as last listed plus what was done since;
 * nothing is remembered but that. Work is grouped by commit: while one batch is in flight, routes gather for the next.
 */
import { isDeepStrictEqual } from 'node:util';
import {
  resources,
  type KubeObject,
  type Node,
  type ResourceClient,
  type ResourceEvent,
  type Timer,
} from '@outrigger/kube';
import { endsBeforeAbort } from '../ends-before-abort.ts';
import type { Explains, Finding, Standing } from '../finding.ts';
import { noJournal, type ControllerJournal } from '../journal.ts';
import type { ActionState } from '../planned-action.ts';
import { isUnmanaged } from '../unmanaged-nodes.ts';
import { ToldEvents } from '../told-events.ts';
import { CloudRoutes } from './cloud-routes.ts';
import { explainRoutes, explainUnlisted, listRoutes, type ExplainedRoutes } from './explain-routes.ts';
import { InFlightRoutes } from './in-flight-routes.ts';
import { KeptRouteRecord } from './kept-route-record.ts';
import { KnownRoutes } from './known-routes.ts';
import { LongKeptRoutes } from './long-kept-routes.ts';
import { RouteMaker } from './make-routes.ts';
import { planRoutes } from './plan.ts';
import type { CreateRoute, DeleteRoute, NodeRoutes, RoutePlan } from './planned-route.ts';
import { RemovalBreaker } from './removal-breaker.ts';
import { RouteRemover } from './remove-routes.ts';
import { Retries } from './retries.ts';
import { RouteConditions } from './route-conditions.ts';
import type { RouteControllerDependencies } from './route-dependencies.ts';
import { createRouteMetrics, type RouteMetrics } from './route-metrics.ts';
import { notedCreate, notedDelete, subjectOfCreate, subjectOfDelete } from './route-words.ts';
import { keyOfDelete, type RouteWork } from './route-work.ts';
import { StoredRouteRecord } from './stored-route-record.ts';

const DEFAULT_RESYNC_MS = 600_000;
/** Lists that were not due are not asked for more often. */
const MIN_LIST_INTERVAL_MS = 2_000;
/** Dry run: so often, while something is planned. */
const PLANNED_LIST_MS = 30_000;

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
    list: (kind) => current?.list(kind) ?? [],
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
  readonly #record: KeptRouteRecord | undefined;
  /** Dry run: destinations for which something is planned. */
  #planned = new Set<string>();
  readonly #inFlight: InFlightRoutes;
  readonly #maker: RouteMaker;
  readonly #remover: RouteRemover;
  #listing = false;
  #listAt = 0;
  /** Why the next list is due. */
  #listTrigger: 'periodic' | 'node_change' = 'periodic';
  #listStartedAt = Number.NEGATIVE_INFINITY;
  readonly #kept: LongKeptRoutes;
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
    this.#kept = new LongKeptRoutes({ told: this.#told, logger });
    this.#journal = deps.journal ?? noJournal;
    const cluster = { name: 'kube-system', uid: deps.options.clusterId };
    this.#cluster = { apiVersion: 'v1', kind: 'Namespace', metadata: cluster };
    this.#conditions = new RouteConditions({
      ...deps,
      journal: this.#journal,
      nodes: this.#nodes,
      told: this.#told,
      signal,
    });
    this.#inFlight = new InFlightRoutes({
      clock,
      onError: (error) => {
        if (!signal.aborted) logger.error('A task of the route controller failed', { error });
      },
      onEnd: () => this.#wake(),
    });
    const work: RouteWork = {
      cloud: this.#cloud,
      known: this.#known,
      inFlight: this.#inFlight,
      retries: this.#retries,
      told: this.#told,
      journal: this.#journal,
      metrics: this.#metrics,
      clock,
      logger,
      signal,
      planWith: (nodes) => this.#plan(nodes),
      listIn: (delayMs) => this.#listIn(delayMs),
    };
    if (routes.unmarked) {
      const stored = new StoredRouteRecord({ client, clock, signal, ...deps.options });
      this.#record = new KeptRouteRecord({ ...work, stored, retries: this.#listRetries, cluster: this.#cluster });
    }
    this.#maker = new RouteMaker({ ...work, stored: this.#record?.stored, nextHop: routes.nextHop });
    this.#remover = new RouteRemover({ ...work, nodes: this.#nodes, store: deps.store });
  }

  async run(): Promise<void> {
    const { store, options } = this.#deps;
    const ready = store.whenSynced(this.#signal).then(() => this.#record?.load());
    if (!(await endsBeforeAbort(ready, this.#signal))) return;
    const unsubscribe = store.subscribe((change) => this.#changed(change));
    this.#wake();
    try {
      await this.#conditions.run(options.concurrentWrites ?? 8);
    } finally {
      unsubscribe();
      this.#timer?.cancel();
      await this.#inFlight.ended();
    }
  }

  /** Runs for each heartbeat of each node: only what routes are made from wakes the plan. */
  #changed(change: ResourceEvent<Node>): void {
    const { key } = change;
    const before = change.type === 'add' ? undefined : change.previous;
    const after = change.type === 'delete' ? undefined : change.object;
    if (before && before.metadata?.uid !== after?.metadata?.uid) {
      this.#conditions.forget(key);
      this.#told.forget(before.metadata?.uid ?? '');
    }
    const { options } = this.#deps;
    const isLeft = after !== undefined && isUnmanaged(after, options);
    // Whether it has a network is for others to say.
    if (isLeft) this.#conditions.forget(key);
    if (!before || !after || isUnmanaged(before, options) !== isLeft) this.#wake();
    else if (!isDeepStrictEqual(routeInputs(before), routeInputs(after))) this.#wake();
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
      waits.push(this.#kept.tell(plan.kept, now));
      this.#retries.keepOnly(
        new Set([
          ...plan.nodes.flatMap(({ missing }) => missing),
          ...plan.deletes.map(({ route }) => keyOfDelete(route)),
        ]),
      );
      for (const node of plan.nodes) this.#settle(node);
      waits.push(nextInMs, this.#record?.remember(plan.owned, now) ?? Number.POSITIVE_INFINITY);
      if (this.#journal.dryRun) this.#tellPlan(plan.creates, deletes);
      else waits.push(this.#remover.start(deletes, now), this.#maker.start(plan.creates));
    }
    if (!this.#listing && this.#listAt <= now) this.#inFlight.start(this.#list());
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
    const explained = this.#explained();
    return explained ? explainRoutes(key, explained) : explainUnlisted();
  }

  /** `undefined` before the first list. */
  #explained(): ExplainedRoutes | undefined {
    const { clock, store, options } = this.#deps;
    const { asOf } = this.#known;
    if (asOf === undefined) return undefined;
    return {
      routes: this.#known.values(),
      plan: this.#plan(store.values()),
      clusterCidrs: options.clusterCidrs,
      agoMs: Math.max(0, clock.monotonic() - asOf),
      stateOf: (action) => this.#stateOf(action),
    };
  }

  list(kind: string): Iterable<Standing> {
    const explained = kind === 'route' && this.#explained();
    return explained ? listRoutes(explained) : [];
  }

  #stateOf(action: CreateRoute | DeleteRoute): ActionState {
    const isCreate = 'key' in action;
    const key = isCreate ? action.key : keyOfDelete(action.route);
    if (this.#inFlight.has(key)) return { kind: 'under-way' };
    const inMs = Math.max(this.#retries.waitMs(key), isCreate ? 0 : this.#breaker.heldForMs(action));
    return inMs > 0 ? { kind: 'waits', inMs, hasFailed: isCreate } : { kind: 'now' };
  }

  #plan(nodes: Iterable<Node>): RoutePlan {
    const { options, routes } = this.#deps;
    const { clusterCidrs, providerName, serviceCidrs, unmanaged } = options;
    const record = this.#record?.stored.record;
    const unmarked = record && { record, nextHop: routes.nextHop };
    const known = this.#known.values();
    return planRoutes({ nodes, routes: known, clusterCidrs, serviceCidrs, providerName, unmanaged, ...unmarked });
  }

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
      this.#record?.stored.record.keepOnly(list.routes, list.asOf);
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

  #tellHeld(held: number): void {
    this.#metrics.held.set(held);
    if (held === 0) return;
    const message = `${held} routes belong to nodes that do not exist any more. Because they are so many, they are kept for 5 minutes: if their machines still exist, let the nodes register again.`;
    if (this.#told.tell(this.#cluster, { type: 'Warning', reason: 'RouteRemovalHeld', message })) {
      this.#deps.logger.warn(message);
    }
  }

  #settle({ node, complete, disputed, problems, missing }: NodeRoutes): void {
    if (problems.length > 0 && this.#deps.options.knowsAllRanges === false) return;
    const name = node.metadata?.name ?? '';
    const told = [
      ...(problems.length > 0 ? [`No route is created for node ${name}.`, ...problems] : []),
      ...(disputed.length > 0 ? [`A route of node ${name} is kept, but not created again.`, ...disputed] : []),
    ];
    if (told.length > 0) {
      this.#told.tell(node, { type: 'Warning', reason: 'PodCIDRWithoutRoute', message: told.join(' ') });
    }
    const failed = problems.length > 0 || missing.some((key) => this.#retries.hasFailed(key));
    // A route that is being made says nothing yet.
    if (complete || failed) this.#conditions.want(node, complete);
  }
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
