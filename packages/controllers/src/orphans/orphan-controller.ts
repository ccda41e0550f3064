/**
 * The orphan-controller: says what of this cluster is left in the cloud without a Kubernetes object behind it and, on request,
 * removes it. Entry point: `createOrphanController`.
 *
 * The cloud is asked first and the API server afterwards: what was made for an object that is new is then known to have one.
 */
import {
  asError,
  isCloudError,
  type LoadBalancerPart,
  type LoadBalancers,
  type Route,
  type Routes,
} from '@outrigger/cloud-provider';
import type { MakeCallContext } from '@outrigger/cloud-runtime';
import type { Counter, EventNote, KubeObject } from '@outrigger/kube';
import type { ControllerDependencies } from '../controller-dependencies.ts';
import { standingOf, type Explains, type Finding, type Standing } from '../finding.ts';
import { noJournal, type ControllerJournal } from '../journal.ts';
import { CloudRoutes } from '../route/cloud-routes.ts';
import { asOwned, NOTHING_KNOWN, type KnownHops } from '../route/route-owners.ts';
import { recordFailureNote } from '../route/failure-note.ts';
import { StoredRouteRecord } from '../route/stored-route-record.ts';
import { createActionCounter } from '../load-balancer/count-actions.ts';
import { listedParts } from '../load-balancer/load-balancer-words.ts';
import { Locks } from '../load-balancer/locks.ts';
import { reasonOf } from '../load-balancer/failure.ts';
import { ToldEvents } from '../told-events.ts';
import { isLeftBehind } from '../service/role.ts';
import { CLUSTER_NAMESPACE, readLiveObjects, type ToProve } from './live-objects.ts';
import { createOrphanMetrics, type OrphanMetrics } from './orphan-metrics.ts';
import { orphanKinds, type Orphan, type OrphanedLoadBalancer, type OrphanedRoute, type OrphanKind } from './orphan.ts';
import {
  factsOfOrphan,
  heldNote,
  isNamed,
  nameOfOrphan,
  notedRouteRemoval,
  orphansNote,
  plannedFact,
  removalFailedNote,
  removedNote,
  subjectOfOrphan,
} from './orphan-words.ts';
import { listOwnedParts } from './owned-parts.ts';
import { inUseBy } from './owned-things.ts';
import { planOrphans, type OrphanPlan, type OrphanPlanOptions } from './plan.ts';
import { removeLoadBalancer, type Removed } from './remove-load-balancer.ts';

const NAME = 'orphan-controller';
const DEFAULT_PERIOD_MS = 600_000;

export interface OrphanControllerOptions extends OrphanPlanOptions {
  /** The prefix of our provider IDs. */
  readonly providerName: string;
  /** Whether the provider serves Services without a class. Default: true. */
  readonly isDefault?: boolean;
  /** From pass to pass, in milliseconds, of which a tenth is left to chance; the first comes after a tenth. Default: 600,000. */
  readonly periodMs?: number;
}

export interface OrphanControllerDependencies extends ControllerDependencies {
  /** What the provider has of the two. */
  readonly provider: { readonly loadBalancers?: LoadBalancers | undefined; readonly routes?: Routes | undefined };
  readonly callContext: MakeCallContext;
  /** The service controller's. Default: nobody else changes load balancers. */
  readonly locks?: Locks;
  /** Since when this program leads; monotonic. */
  readonly leaderSince: number;
  readonly options: OrphanControllerOptions;
}

export interface OrphanController extends Explains {
  /** Runs until `signal` aborts, and resolves when the last request has ended. Once only. */
  run(signal: AbortSignal): Promise<void>;
}

/** Makes the controller; nothing is read or written before `run`. */
export function createOrphanController(dependencies: OrphanControllerDependencies): OrphanController {
  let current: Run | undefined;
  return {
    run: (signal) => (current = new Run(dependencies, signal)).run(),
    explain: (key) => current?.explain(key),
    list: (kind) => current?.list(kind) ?? [],
  };
}

/** The end of the last pass. */
interface LastPass {
  readonly plan: OrphanPlan;
  /** Before the cloud was asked; monotonic. */
  readonly at: number;
}

class Run {
  readonly #deps: OrphanControllerDependencies;
  readonly #signal: AbortSignal;
  readonly #metrics: OrphanMetrics;
  readonly #actions: Counter;
  readonly #told: ToldEvents;
  readonly #journal: ControllerJournal;
  readonly #locks: Locks;
  readonly #routes: CloudRoutes | undefined;
  /** Namespace kube-system, whose UID is the cluster's: there is no object of their own to say it about. */
  readonly #cluster: KubeObject;
  #last: LastPass | undefined;
  /** When the removal of what still looks orphaned was last tried; monotonic. */
  readonly #tried = new Map<string, number>();
  /** What the log has named. */
  #logged = new Set<string>();
  /** Values of the label of the gauge, with what they belong to. */
  readonly #counted = new Map<string, OrphanKind>();
  /** Dry run: what something is planned for. */
  #planned: readonly Orphan[] = [];

  constructor(deps: OrphanControllerDependencies, signal: AbortSignal) {
    const { callContext, clock, events, logger, metrics, options, provider } = deps;
    this.#deps = deps;
    this.#signal = signal;
    this.#metrics = createOrphanMetrics(metrics);
    this.#actions = createActionCounter(metrics);
    this.#told = new ToldEvents(events, clock);
    this.#journal = deps.journal ?? noJournal;
    this.#locks = deps.locks ?? new Locks();
    const { routes } = provider;
    this.#routes = routes && new CloudRoutes({ routes, callContext, clock, logger, signal });
    this.#cluster = {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: CLUSTER_NAMESPACE, uid: options.clusterId },
    };
  }

  async run(): Promise<void> {
    const { clock, logger, options, random } = this.#deps;
    const { periodMs = DEFAULT_PERIOD_MS } = options;
    // What the other controllers find at their start is theirs.
    let waitMs = periodMs / 10;
    while (!this.#signal.aborted) {
      try {
        await clock.sleep(waitMs, this.#signal);
        await this.#pass();
      } catch (error) {
        if (this.#signal.aborted) return;
        // Nothing is concluded: what is to be removed has to be seen in two passes again.
        this.#last = undefined;
        this.#metrics.passes.inc({ result: 'partial' });
        logger.warn('The search for orphans failed; retrying with the next pass', {
          error,
        });
      }
      waitMs = periodMs * (1 - random() / 10);
    }
  }

  /** From memory alone: as the last pass left it. */
  explain(key: string): Finding | undefined {
    const last = this.#last;
    const orphan = last?.plan.suspected.find((one) => isNamed(one, key));
    return last && orphan && this.#findingOf(orphan, last);
  }

  *list(kind: string): Iterable<Standing> {
    const last = this.#last;
    for (const orphan of last?.plan.suspected ?? []) {
      const { name } = subjectOfOrphan(orphan);
      if ((orphan.kind === 'route') !== (kind === 'route')) continue;
      const parts = orphan.kind === 'route' ? {} : { parts: listedParts(orphan.parts) };
      yield { ...standingOf({ metadata: { name } }, 'orphan', last && this.#findingOf(orphan, last)), ...parts };
    }
  }

  #findingOf(orphan: Orphan, { at, plan }: LastPass): Finding {
    const { name, uid } = subjectOfOrphan(orphan);
    return {
      controller: NAME,
      about: [orphan.kind === 'route' ? `Route ${name}` : uid],
      observed: factsOfOrphan(orphan, this.#deps.clock.monotonic() - at),
      planned: [plannedFact(orphan, plan)],
    };
  }

  async #pass(): Promise<void> {
    const { client, clock, leaderSince, options } = this.#deps;
    const at = clock.monotonic();
    const parts = await this.#parts();
    const record = await this.#record();
    // Without the record nothing can be said of routes that have no owner.
    const routes = record && (await this.#listedRoutes());
    const live = await readLiveObjects(
      client,
      { ...this.#proof(), parts: parts ?? [], routes: (routes ?? []).length > 0 },
      this.#signal,
    );
    const now = clock.monotonic();
    const before = this.#last?.plan.suspects ?? new Map<string, number>();
    const plan = planOrphans({
      parts,
      routes,
      live,
      record: record ?? NOTHING_KNOWN,
      before,
      tried: this.#tried,
      now,
      leaderSince,
      options,
    });
    this.#last = { plan, at };
    for (const key of this.#tried.keys()) if (!plan.suspects.has(key)) this.#tried.delete(key);
    const { loadBalancers } = this.#deps.provider;
    const isComplete = (parts || !loadBalancers) && (routes || !this.#routes);
    this.#metrics.passes.inc({ result: isComplete ? 'complete' : 'partial' });
    this.#report(plan, { 'load-balancer': parts !== undefined, route: routes !== undefined });
    await this.#remove(plan);
  }

  #proof(): Pick<ToProve, 'clusterId' | 'isLeftBehind'> {
    const { options, provider } = this.#deps;
    const { classes = [] } = provider.loadBalancers ?? {};
    const role = { providerName: options.providerName, classes, isDefault: options.isDefault ?? true };
    return { clusterId: options.clusterId, isLeftBehind: (service) => isLeftBehind(service, role) };
  }

  async #parts(): Promise<readonly LoadBalancerPart[] | undefined> {
    const { callContext, clock, logger, provider } = this.#deps;
    if (!provider.loadBalancers) return undefined;
    try {
      return await listOwnedParts({
        provider: provider.loadBalancers,
        callContext: (signal) => callContext({ signal, priority: 'background', reads: true }),
        clock,
        signal: this.#signal,
      });
    } catch (error) {
      this.#signal.throwIfAborted();
      logger.warn('The parts of load balancers could not be listed; they are not searched for orphans', { error });
      return undefined;
    }
  }

  async #listedRoutes(): Promise<readonly Route[] | undefined> {
    try {
      return (await this.#routes?.list())?.routes;
    } catch (error) {
      this.#signal.throwIfAborted();
      this.#deps.logger.warn('The routes could not be listed; they are not searched for orphans', { error });
      return undefined;
    }
  }

  /** As the route controller has written it; read anew, as it is another's. */
  async #record(): Promise<KnownHops | undefined> {
    const { client, clock, options, provider } = this.#deps;
    if (!provider.routes?.unmarked) return NOTHING_KNOWN;
    const stored = new StoredRouteRecord({
      client,
      clock,
      providerName: options.providerName,
      clusterId: options.clusterId,
      signal: this.#signal,
    });
    try {
      await stored.load();
      return stored.record;
    } catch (error) {
      this.#signal.throwIfAborted();
      this.#deps.logger.warn('The record of routes could not be read; they are not searched for orphans', { error });
      const note = recordFailureNote(error, 'Routes are not searched for orphans');
      if (note) this.#tell(note);
      return undefined;
    }
  }

  #report(plan: OrphanPlan, known: Readonly<Record<OrphanKind, boolean>>): void {
    const counts = new Map<string, number>();
    const count = (label: string, kind: OrphanKind): void => {
      counts.set(label, (counts.get(label) ?? 0) + 1);
      this.#counted.set(label, kind);
    };
    for (const orphan of plan.orphans) {
      if (orphan.kind === 'route') count('route', 'route');
      else for (const { kind } of orphan.parts) count(kind, 'load-balancer');
    }
    for (const [label, kind] of this.#counted) {
      if (known[kind]) this.#metrics.orphans.set(counts.get(label) ?? 0, { kind: label });
    }
    for (const kind of orphanKinds) {
      if (!known[kind]) continue;
      const held = plan.held.find((one) => one.kind === kind);
      this.#metrics.held.set(held?.orphaned ?? 0, { kind });
      const orphans = plan.orphans.filter((one) => one.kind === kind);
      if (held) this.#tell(heldNote(held));
      else if (orphans.length > 0) this.#tell(orphansNote(kind, orphans, plan, this.#deps.options.providerName));
    }
    for (const orphan of plan.orphans) {
      if (this.#logged.has(orphan.key)) continue;
      this.#deps.logger.warn('Orphan in the cloud', {
        kind: orphan.kind,
        orphan: nameOfOrphan(orphan, this.#deps.options.providerName),
      });
    }
    this.#logged = new Set(plan.orphans.map(({ key }) => key));
  }

  async #remove({ removals }: OrphanPlan): Promise<void> {
    if (this.#journal.dryRun) {
      for (const one of this.#planned) {
        if (!removals.some(({ key }) => key === one.key)) this.#journal.plan(subjectOfOrphan(one), []);
      }
      this.#planned = removals;
    }
    for (const orphan of removals) {
      this.#signal.throwIfAborted();
      let removed: Removed;
      try {
        removed = await (orphan.kind === 'route' ? this.#removeRoute(orphan) : this.#removeLoadBalancer(orphan));
      } catch (thrown) {
        this.#signal.throwIfAborted();
        removed = { kind: 'failed', error: asError(thrown) };
      }
      this.#removed(orphan, removed);
    }
  }

  #removed(orphan: Orphan, removed: Removed): void {
    const { events, logger } = this.#deps;
    const fields = { kind: orphan.kind, orphan: nameOfOrphan(orphan) };
    this.#metrics.removals.inc({ kind: orphan.kind, result: removed.kind });
    // A dry run goes on to show the same.
    if (removed.kind !== 'planned') this.#tried.set(orphan.key, this.#deps.clock.monotonic());
    if (removed.kind === 'failed') {
      const { error } = removed;
      logger.warn('An orphan could not be removed', { ...fields, error });
      this.#tell(removalFailedNote(orphan, isCloudError(error) ? reasonOf(error) : 'the log has the error'));
    } else if (removed.kind === 'done') {
      logger.info('Orphan removed', fields);
      events.record(this.#cluster, removedNote(orphan));
    } else {
      logger.verbose(2, 'An orphan is left alone for now', { ...fields, why: removed.kind });
    }
  }

  #removeLoadBalancer(orphan: OrphanedLoadBalancer): Promise<Removed> {
    const { callContext, client, clock, logger, options, provider } = this.#deps;
    if (!provider.loadBalancers) return Promise.resolve({ kind: 'kept' });
    return removeLoadBalancer(orphan, {
      provider: provider.loadBalancers,
      clusterId: options.clusterId,
      callContext: (call) => callContext({ ...call, priority: 'background', about: [orphan.uid] }),
      locks: this.#locks,
      isStillOrphan: async () => {
        const { uids } = await readLiveObjects(
          client,
          { ...this.#proof(), parts: orphan.parts, routes: false },
          this.#signal,
        );
        return !uids.has(orphan.uid);
      },
      clock,
      counter: this.#actions,
      logger,
      journal: this.#journal,
      subject: subjectOfOrphan(orphan),
      signal: this.#signal,
    });
  }

  async #removeRoute(orphan: OrphanedRoute): Promise<Removed> {
    const { route } = orphan;
    const { client } = this.#deps;
    const { nodes } = await readLiveObjects(client, { ...this.#proof(), parts: [], routes: true }, this.#signal);
    if (!this.#routes || inUseBy(nodes)(route)) return { kind: 'kept' };
    const subject = subjectOfOrphan(orphan);
    const actions = [notedRouteRemoval(route)];
    if (this.#journal.dryRun) {
      this.#journal.plan(subject, actions);
      return { kind: 'planned' };
    }
    const [result] = await this.#routes.delete([asOwned(route)]);
    const failure = result?.kind === 'failed' ? result : undefined;
    this.#journal.note(subject, actions, failure);
    return failure ?? { kind: 'done', actions };
  }

  /** Once, and again after half an hour. */
  #tell(note: EventNote): void {
    this.#told.tell(this.#cluster, note);
  }
}
