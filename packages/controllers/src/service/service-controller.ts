/**
 * The service-lb-controller: gives Services of type LoadBalancer what they ask for in the cloud. Entry point: `createServiceController`.
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
import { endsBeforeAbort } from '../ends-before-abort.ts';
import type { Explains, Finding, Standing } from '../finding.ts';
import { asError } from '../load-balancer/failure.ts';
import { Locks } from '../load-balancer/locks.ts';
import { tellSetAside } from '../set-aside.ts';
import { WrittenVersions } from '../written-versions.ts';
import { BackEndSet } from './back-end-set.ts';
import { ConfirmedNodes } from './confirmed-nodes.ts';
import { explainService, standingOfService } from './explain-service.ts';
import { lockOf } from './lock-of.ts';
import { NodeFollower } from './node-follower.ts';
import { warnOfForeignNodes, watchForeignNodes } from './foreign-nodes.ts';
import { Observations } from './observations.ts';
import { asAnswered } from './pass.ts';
import { onGrid } from './polling.ts';
import type { ServiceControllerDependencies } from './service-dependencies.ts';
import { ServiceEffects } from './service-effects.ts';
import { roleOf } from './role.ts';
import type { ServiceState } from './service-state.ts';
import { ServiceStates } from './service-states.ts';
import { step } from './service-step.ts';
import type { Rules, ServiceEvent, Step, Surroundings } from './step-types.ts';
import { createServiceMetrics } from './service-metrics.ts';
import { ruleOptionsOf, rulesOf, surroundingsOf } from './surroundings.ts';
import { TurnBudget } from './turn-budget.ts';

/** As many as the call budget has requests in flight: who would send one does not wait for a worker, and the budget bounds what the cloud gets. */
const DEFAULT_WORKERS = 32;
/** For each worker, so many passes wait without one for a cloud that is at work, with their plans; without a place a pass ends, and costs another look. */
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

  constructor(deps: ServiceControllerDependencies, signal: AbortSignal) {
    const { callContext, clock, events, locks = new Locks(), nodes, provider, services } = deps;
    this.#deps = deps;
    this.#signal = signal;
    this.#locks = locks;
    const metrics = createServiceMetrics(deps.metrics);
    const sinceNodesMs = (): number => clock.monotonic() - this.#nodes.changedAt;
    const states = new ServiceStates(services, () => metrics.nodeSyncLatency.observe(sinceNodesMs() / 1000));
    this.#states = states;
    const groupOf = (key: string): string => states.groupOf(key);
    this.#queue = createWorkQueue({ name: 'service', clock, metrics: deps.metrics, groupOf });
    const wake = (key: string): void => this.#queue.add(key);
    this.#written = new WrittenVersions({ clock, signal, onBelieved: wake });
    const options = ruleOptionsOf(deps);
    const confirmed = new ConfirmedNodes(deps, options, signal, (name) => this.#nodes.recheck(name));
    this.#backEnds = new BackEndSet(options, provider, confirmed.addressesOf);
    this.#rules = rulesOf(deps, options, this.#backEnds);
    this.#nodes = new NodeFollower({
      nodes,
      backEnds: this.#backEnds,
      confirmed,
      provider: options,
      turns: this.#turns,
      clock,
      signal,
      keys: () => states.keys(),
      follow: (key) => this.#follow(key),
      tell: (node, note) => events.record(node, note),
    });
    this.#observations = new Observations({
      ...deps,
      callContext: (callSignal, about, priority) => callContext({ signal: callSignal, priority, about, reads: true }),
      signal,
      groupOf,
      tenantOf: (key) => states.tenantOf(key),
      isFollower: (key) => states.onlyFollows(key),
      serviceOf: (key) => states.identityOf(key),
      onAnswer: (key, look) => this.#hear(key, { kind: 'looked', look }),
    });
    const ask = (key: string): void => this.#observations.ask(key);
    const crowdOut = (key: string): void => this.#hear(key, { kind: 'crowded-out' });
    this.#effects = new ServiceEffects({ deps, locks, metrics, states, ask, crowdOut, wake, written: this.#written });
  }

  async run(): Promise<void> {
    const { clock, events, logger, metrics, nodes, onReconfigured, options, services } = this.#deps;
    const { concurrentServiceSyncs: workers = DEFAULT_WORKERS } = options;
    // Without all nodes every set of back ends would be too small.
    const synced = Promise.all([services.whenSynced(this.#signal), nodes.whenSynced(this.#signal)]);
    const ready = synced.then(() => this.#nodes.begin());
    if (!(await endsBeforeAbort(ready, this.#signal))) return;
    // Before the Services: what is there at the start is no change.
    const stops = [this.#nodes.start(), services.subscribe((change) => this.#changed(change))];
    if (onReconfigured) stops.push(onReconfigured(() => this.#reconfigured()));
    watchForeignNodes(this.#backEnds, this.#deps, this.#signal);
    try {
      await runController({
        name: 'service-lb-controller',
        queue: this.#queue,
        reconciler: { reconcile: (key, context) => this.#reconcile(key, context) },
        workers,
        parking: { places: WAITING_A_WORKER * workers, groupOf: (key) => this.#states.tenantOf(key) },
        clock,
        logger,
        metrics,
        signal: this.#signal,
        onSetAside: tellSetAside(services, events),
      });
    } finally {
      for (const stop of stops) stop();
      this.#queue.shutDown();
    }
  }

  /** From memory alone: with what the cloud showed last. */
  explain(key: string): Finding | undefined {
    const known = this.#states.keyOfAsked(key);
    const service = this.#states.subjectOf(known);
    return service && explainService(this.#states.get(known), this.#at(service), this.#nodes.facts());
  }

  /** A Service that is settled costs no plan: what each of them would be asked for its back ends is the most of it. */
  *list(): Iterable<Standing> {
    for (const service of this.#deps.services.values()) {
      if (roleOf(service, this.#rules.options) === 'leave') continue;
      yield standingOfService(this.#states.get(keyOfObject(service)), this.#at(service));
    }
  }

  #changed(change: ResourceEvent<Service>): void {
    const { key } = change;
    const service = change.type === 'delete' ? undefined : change.object;
    const before = change.type === 'add' ? service : change.previous;
    const isGone = before?.metadata?.uid !== service?.metadata?.uid;
    if (isGone) this.#hear(key, { kind: 'vanished', successor: service, isSeen: 'seen' in change }, before);
    if (service && !this.#written.isBehind(key, service)) this.#hear(key, { kind: 'changed' }, service);
    const { lost, others } = this.#states.sharers.note(change);
    for (const sharer of others) this.#hear(sharer, { kind: 'address-lost', lost });
  }

  #reconfigured(): void {
    for (const key of this.#states.keys()) this.#hear(key, { kind: 'reconfigured' });
    this.#nodes.followAnew();
    warnOfForeignNodes(this.#backEnds, this.#deps);
  }

  #follow(key: string): void {
    const service = this.#deps.services.get(key);
    if (!service || this.#states.get(key)?.uid !== service.metadata?.uid) return;
    this.#hear(key, { kind: 'nodes-changed', at: this.#nodes.changedAt }, service);
  }

  /** An event outside of passes: its effects take no time. */
  #hear(key: string, event: ServiceEvent, service: Service = this.#states.subjectOf(key) ?? {}): void {
    const { effects, next, state } = step(this.#states.get(key), event, this.#at(service));
    this.#states.set(key, state);
    const about = { key, service, logger: this.#deps.logger, signal: this.#signal };
    for (const effect of effects) void this.#effects.carryOut(effect, about);
    if (next.kind === 'wake') this.#queue.add(key, next.afterMs > 0 ? { delayMs: next.afterMs } : {});
  }

  async #reconcile(key: string, context: ReconcileContext): Promise<ReconcileResult | void> {
    await this.#turns.spend(this.#backEnds.all.length);
    const service = this.#states.subjectOf(key);
    if (!service) return;
    if (this.#written.isBehind(key, service)) return this.#hear(key, { kind: 'behind' });
    const lock = lockOf(service, this.#states.get(key)?.look, this.#rules);
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
      const home = own ? this.#states.homeOf(key, own.uid) : key;
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
      const pass = { ...context, key, lock, service, onApplied: take };
      try {
        const { effects, next } = take(event);
        for (const effect of effects) await this.#effects.carryOut(effect, pass);
        if (next.kind === 'wake') return { requeueAfterMs: onGrid(next.afterMs, this.#deps.clock.monotonic()) };
        if (next.kind === 'look' && !next.underLock) return this.#observations.ask(key);
        if (next.kind === 'apply' && lockOf(service, own?.look, this.#rules) !== lock) return { requeueAfterMs: 0 };
        event = await this.#effects.perform(next, pass);
        if (event) service = asAnswered(service, event);
      } catch (thrown) {
        if (context.signal.aborted || event?.kind === 'failed') throw thrown;
        event = { kind: 'failed', error: asError(thrown) };
      }
    }
  }

  #at(service: Service): Surroundings {
    return surroundingsOf(service, this.#rules, this.#backEnds, this.#deps);
  }
}
