/**
 * The service-lb-controller: gives Services of type LoadBalancer what they ask for in the cloud. Entry point: `createServiceController`.
 *
 * Here is what moves: the queue, the locks, and the loop that hands each event to the pure step and carries its effects out.
 */
import {
  createWorkQueue,
  keyOfObject,
  runController,
  type ReconcileContext,
  type ReconcileResult,
  type Service,
  type ResourceEvent,
  type WorkQueue,
} from '@outrigger/kube';
import type { Explains, Finding, Standing } from '../finding.ts';
import { asError } from '../load-balancer/failure.ts';
import { Locks } from '../load-balancer/locks.ts';
import { tellSetAside } from '../set-aside.ts';
import { WrittenVersions } from '../written-versions.ts';
import { BackEndSet } from './back-end-set.ts';
import { confirmAddresses } from './confirm-addresses.ts';
import { explainService, standingOfService } from './explain-service.ts';
import { identityOf } from './load-balancer-service.ts';
import { NodeFollower } from './node-follower.ts';
import { namespaceOf, Observations } from './observations.ts';
import { onGrid } from './polling.ts';
import type { ServiceControllerDependencies } from './service-dependencies.ts';
import { asAnswered, ServiceEffects, type Pass } from './service-effects.ts';
import { roleOf } from './role.ts';
import { LEFTOVER, ServiceStates, stateOf, type ServiceState } from './service-state.ts';
import { step } from './service-step.ts';
import type { Rules, ServiceEvent, Step, Surroundings } from './step-types.ts';
import { createServiceMetrics } from './service-metrics.ts';
import { ruleOptionsOf, rulesOf, surroundingsOf } from './surroundings.ts';
import { TurnBudget } from './turn-budget.ts';
import { wakingText } from './waking-text.ts';

/** As many as the call budget has requests in flight: who would send one does not wait for a worker, and the budget bounds what the cloud gets. */
const DEFAULT_WORKERS = 32;
/**
 * For each worker, so many passes may wait without one for a cloud that is at work. Each keeps its plan in memory; where there is no place, a
 * pass ends, and what is left of its plan costs another look.
 */
const WAITING_A_WORKER = 3;
/** Back ends that are gone through in one turn of the event loop: some milliseconds of work. */
const BACK_ENDS_A_TURN = 20_000;

export interface ServiceController extends Explains {
  /** Runs until `signal` aborts, and resolves when the last write has ended. Once only. */
  run(signal: AbortSignal): Promise<void>;
}

/** Makes the controller; nothing is read or written before `run`. */
export function createServiceController(dependencies: ServiceControllerDependencies): ServiceController {
  let current: Run | undefined;
  return {
    run: (signal) => (current = new Run(dependencies, signal)).run(),
    explain: (key) => current?.explain(key),
    list: () => current?.list() ?? [],
  };
}

class Run {
  readonly #deps: ServiceControllerDependencies;
  readonly #signal: AbortSignal;
  readonly #rules: Rules;
  readonly #queue: WorkQueue<string>;
  readonly #states: ServiceStates;
  readonly #backEnds: BackEndSet;
  readonly #nodes: NodeFollower;
  readonly #locks: Locks;
  readonly #written: WrittenVersions;
  readonly #observations: Observations;
  readonly #effects: ServiceEffects;
  readonly #turns = new TurnBudget(BACK_ENDS_A_TURN);
  readonly #groupOf: (key: string) => string;

  constructor(deps: ServiceControllerDependencies, signal: AbortSignal) {
    const { callContext, clock, locks = new Locks(), metrics, nodes, provider } = deps;
    this.#deps = deps;
    this.#signal = signal;
    this.#locks = locks;
    // Whoever may write Services in one namespace may write thousands, over and over.
    this.#groupOf = (key) => this.#states.get(key)?.leftover?.metadata?.namespace ?? namespaceOf(key);
    // All of a namespace follow a node that joins: who asks for something meanwhile is not behind them.
    const groupOf = (key: string): string => (this.#onlyFollows(key) ? 'nodes ' : '') + this.#groupOf(key);
    this.#queue = createWorkQueue({ name: 'service', clock, metrics, groupOf });
    this.#written = new WrittenVersions({ clock, signal, onBelieved: (key) => this.#queue.add(key) });
    this.#states = new ServiceStates(() => this.#effects.nodesFollowed(clock.monotonic() - this.#nodes.changedAt));
    const options = ruleOptionsOf(deps);
    this.#backEnds = new BackEndSet(options, provider, deps.cloudAddresses);
    this.#rules = rulesOf(deps, options, this.#backEnds);
    this.#nodes = new NodeFollower({
      nodes,
      backEnds: this.#backEnds,
      provider: options,
      turns: this.#turns,
      clock,
      signal,
      keys: () => this.#states.keys(),
      follow: (key) => this.#follow(key),
      tell: (node, note) => deps.events.record(node, note),
    });
    this.#observations = new Observations({
      provider,
      callContext: (callSignal, about, priority) => callContext({ signal: callSignal, priority, about, reads: true }),
      clock,
      signal,
      groupOf,
      tenantOf: this.#groupOf,
      isFollower: (key) => this.#onlyFollows(key),
      serviceOf: (key) => {
        const service = this.#subject(key);
        return service && identityOf(service);
      },
      onAnswer: (key, look) => this.#hear(key, { kind: 'looked', look }, this.#subject(key) ?? {}),
    });
    const leaveOver = (state: ServiceState): void => {
      this.#states.set(LEFTOVER + state.uid, state);
      this.#queue.add(LEFTOVER + state.uid);
    };
    this.#effects = new ServiceEffects({ deps, locks, written: this.#written, leaveOver });
  }

  async run(): Promise<void> {
    const { clock, logger, metrics, nodes, onReconfigured, options, services } = this.#deps;
    const { concurrentServiceSyncs: workers = DEFAULT_WORKERS } = options;
    try {
      // Without all nodes every set of back ends would be too small.
      await Promise.all([services.whenSynced(this.#signal), nodes.whenSynced(this.#signal)]);
      await confirmAddresses(this.#deps, this.#rules.options, this.#signal);
    } catch (error) {
      if (this.#signal.aborted) return;
      throw error;
    }
    // Before the Services: what is there at the start is no change.
    const stopNodes = this.#nodes.start();
    const { providerName: provider } = options;
    const { foreignNodes } = createServiceMetrics(metrics);
    metrics.onCollect(() => foreignNodes.set(this.#backEnds.foreign, { provider }), this.#signal);
    this.#tellForeignNodes();
    const stopServices = services.subscribe((change) => this.#changed(change));
    const stopReconfigured = onReconfigured?.(() => this.#reconfigured());
    try {
      await runController({
        name: 'service-lb-controller',
        queue: this.#queue,
        reconciler: { reconcile: (key, context) => this.#reconcile(key, context) },
        workers,
        parking: { places: WAITING_A_WORKER * workers, groupOf: this.#groupOf },
        clock,
        logger,
        metrics,
        signal: this.#signal,
        onSetAside: tellSetAside(services, this.#deps.events),
      });
    } finally {
      stopReconfigured?.();
      stopServices();
      stopNodes();
      this.#queue.shutDown();
    }
  }

  /** From memory alone: with what the cloud showed last. */
  explain(key: string): Finding | undefined {
    // One that is deleted is known by its UID.
    const known = this.#states.get(LEFTOVER + key) ? LEFTOVER + key : key;
    const service = this.#subject(known);
    if (!service) return undefined;
    const finding = explainService(stateOf(this.#states.get(known), service, this.#rules), this.#at(service));
    return { ...finding, observed: [...finding.observed, ...this.#nodes.facts()] };
  }

  /** A Service that is settled costs no plan: what each of them would be asked for its back ends is the most of it. */
  *list(): Iterable<Standing> {
    for (const service of this.#deps.services.values()) {
      if (roleOf(service, this.#rules.options) === 'leave') continue;
      const state = stateOf(this.#states.get(keyOfObject(service)), service, this.#rules);
      yield standingOfService(state, this.#at(service));
    }
  }

  #changed(change: ResourceEvent<Service>): void {
    const { key } = change;
    if (change.type === 'delete') return this.#hear(key, { kind: 'vanished', successor: undefined }, change.previous);
    const { object: service } = change;
    if (change.type === 'update' && change.previous.metadata?.uid !== service.metadata?.uid) {
      this.#hear(key, { kind: 'vanished', successor: service }, change.previous);
    }
    if (!this.#written.isBehind(key, service)) this.#hear(key, { kind: 'changed' }, service);
  }

  #reconfigured(): void {
    this.#backEnds.forgetSelections();
    for (const key of this.#states.keys()) this.#hear(key, { kind: 'reconfigured' }, this.#subject(key) ?? {});
    // Which nodes there are, and what is selected of them, may be by the config too.
    this.#nodes.followAnew();
    this.#tellForeignNodes();
  }

  /** Who can write the status of such a Node can lead the traffic of load balancers anywhere. */
  #tellForeignNodes(): void {
    const { logger, options, provider } = this.#deps;
    const { foreign: nodes } = this.#backEnds;
    if (nodes === 0) return;
    const { foreignNodesOption: option } = provider;
    const remedy = option === undefined ? '' : `; to exclude them, set ${option} to false`;
    logger.warn(
      `Nodes that the cloud does not know are back ends, at addresses that only their status reports${remedy}`,
      {
        provider: options.providerName,
        nodes,
      },
    );
  }

  #follow(key: string): void {
    const service = this.#deps.services.get(key);
    if (!service || this.#states.get(key)?.uid !== service.metadata?.uid) return;
    this.#hear(key, { kind: 'nodes-changed', at: this.#nodes.changedAt }, service);
  }

  /** An event outside of passes: its effects take no time. */
  #hear(key: string, event: ServiceEvent, service: Service): void {
    const { effects, next, state } = step(this.#states.get(key), event, this.#at(service));
    this.#states.set(key, state);
    const about = { key, service, isLeftover: key.startsWith(LEFTOVER), logger: this.#deps.logger };
    for (const effect of effects) void this.#effects.carryOut(effect, about);
    if (next.kind === 'wake') this.#queue.add(key, next.afterMs > 0 ? { delayMs: next.afterMs } : {});
  }

  async #reconcile(key: string, context: ReconcileContext): Promise<ReconcileResult | void> {
    await this.#turns.spend(this.#backEnds.all.length);
    const service = this.#subject(key);
    if (!service) return;
    if (!key.startsWith(LEFTOVER) && this.#written.isBehind(key, service)) {
      return this.#hear(key, { kind: 'behind' }, service);
    }
    const identity = identityOf(service);
    const lock = this.#deps.provider.lockKey?.(identity) ?? identity.uid;
    if (!this.#locks.tryAcquire(lock, key, () => this.#queue.add(key))) return;
    try {
      return await this.#pass(key, lock, service, context);
    } finally {
      this.#locks.release(lock);
    }
  }

  /** From event to event, until there is nothing to wait for. */
  async #pass(key: string, lock: string, first: Service, context: ReconcileContext): Promise<ReconcileResult | void> {
    const { generation } = this.#backEnds;
    let service = first;
    let own: ServiceState | undefined;
    const take = (event: ServiceEvent): Step => {
      // Whatever became of its key meanwhile: what is known of its parts goes where it is.
      const home = own ? this.#homeOf(key, own) : key;
      const taken = step(home === undefined ? own : this.#states.get(home), event, {
        ...this.#at(service),
        generation,
        appliedAt: this.#locks.appliedAt(lock),
      });
      if (home !== undefined) this.#states.set(home, taken.state);
      own = taken.state ?? own;
      return taken;
    };
    let event: ServiceEvent | undefined = { kind: 'due' };
    while (event) {
      const pass: Pass = {
        key,
        service,
        isLeftover: key.startsWith(LEFTOVER),
        logger: context.logger,
        lock,
        signal: context.signal,
        park: context.park,
        isCurrent: ({ desired }) =>
          pass.isLeftover || !desired.wanted || wakingText(this.#subject(key) ?? {}) === wakingText(pass.service),
        onApplied: take,
      };
      try {
        const { effects, next } = take(event);
        for (const effect of effects) await this.#effects.carryOut(effect, pass);
        if (next.kind === 'wake') return { requeueAfterMs: onGrid(next.afterMs, this.#deps.clock.monotonic()) };
        if (next.kind === 'look') return this.#observations.ask(key);
        event = await this.#effects.perform(next, pass);
        if (event) service = asAnswered(service, event);
      } catch (thrown) {
        if (context.signal.aborted || event?.kind === 'failed') throw thrown;
        event = { kind: 'failed', error: asError(thrown) };
      }
    }
  }

  /** It was as it should be until nodes changed, and asks for nothing else since. */
  #onlyFollows(key: string): boolean {
    const state = this.#states.get(key);
    const service = this.#deps.services.get(key);
    return state?.nodes?.isDue === true && service !== undefined && state.settled?.text === wakingText(service);
  }

  #homeOf(key: string, { uid }: ServiceState): string | undefined {
    return [key, LEFTOVER + uid].find((one) => this.#states.get(one)?.uid === uid);
  }

  #at(service: Service): Surroundings {
    return surroundingsOf(service, this.#rules, this.#backEnds, this.#deps);
  }

  #subject(key: string): Service | undefined {
    return this.#states.get(key)?.leftover ?? this.#deps.services.get(key);
  }
}
