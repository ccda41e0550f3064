// Over 400 lines: one state machine, which is read best in one piece; what can be said without it is in the files beside it.
/** The service-lb-controller: gives Services of type LoadBalancer what they ask for in the cloud. Entry point: `createServiceController`. */
import type {
  BackEnd,
  CallContext,
  CallPriority,
  LoadBalancers,
  LoadBalancerService,
  PartAnswer,
} from '@outrigger/cloud-provider';
import {
  createWorkQueue,
  exponentialBackoff,
  isConflict,
  isInvalid,
  isNotFound,
  resources,
  runController,
  type Client,
  type Clock,
  type Counter,
  type EventRecorder,
  type Logger,
  type Metrics,
  type Node,
  type ObjectMeta,
  type Patch,
  type RateLimiter,
  type ReconcileContext,
  type ReconcileResult,
  type ResourceClient,
  type Service,
  type Store,
  type StoreChange,
  type WorkQueue,
} from '@outrigger/kube';
import { afterWrite, CONTESTED_REASON, contestedNote, managerOf, reviewField } from '../contested-field.ts';
import type { Explains, Fact, Finding } from '../finding.ts';
import { noJournal, subjectOf, type ControllerJournal, type NotedAction, type Subject } from '../journal.ts';
import { ToldEvents } from '../told-events.ts';
import { WrittenVersions } from '../written-versions.ts';
import { applyActions } from '../load-balancer/apply-actions.ts';
import { BackEndSet } from './back-end-set.ts';
import { mayBeSelectedAnew, wakesLoadBalancers, type BackEndProvider, type CloudAddresses } from './back-ends.ts';
import { createActionCounter } from '../load-balancer/count-actions.ts';
import { factsOfParts, notedOf, recordAction } from '../load-balancer/load-balancer-words.ts';
import type { Bring, LookAgain, ServicePlan } from '../load-balancer/service-plan.ts';
import { readParts } from '../load-balancer/read-parts.ts';
import { isUncertain, retryOf, seldomMs } from '../load-balancer/failure.ts';
import { FOREIGN_AFTER_MS, foreignOwnerNote, foreignOwnerOf, type ForeignOwnerOptions } from './foreign-owner.ts';
import { canName, judgeLook, questionKey, type Judged } from '../load-balancer/judge-look.ts';
import { identityOf, ingressOf } from './load-balancer-service.ts';
import { Locks } from '../load-balancer/locks.ts';
import { NodeChanges } from './node-changes.ts';
import { namespaceOf, Observations, type TimedObservation } from './observations.ts';
import {
  annotationPatch,
  isWrittenDown,
  missingRecordOf,
  missingText,
  openedRecord,
  recordsOf,
} from './parts-record.ts';
import { planLeftover, planService, releasedIfAsked, selectedOf, type ObservedService } from './plan.ts';
import { hasFinalizer, isRecorded, roleOf } from './role.ts';
import {
  beginNote,
  endNote,
  failureNote,
  heldNote,
  hiddenNote,
  missingNote,
  noNodesNote,
  releasedNote,
  warningNote,
  type Episode,
} from './service-events.ts';
import { createServiceMetrics, type ServiceMetrics } from './service-metrics.ts';
import { factsOfService, factsOfServicePlan, letGoAction, notePartsAction, statusAction } from './service-words.ts';
import type { Tenancy } from '../load-balancer/tenancy.ts';
import { asRecorded, ingressText, letGoPatch, recordPatch, sameIngress, servedPatch } from './service-patch.ts';
import { missingSinceAnnotation, partsAnnotation } from './well-known-names.ts';
import { sameBackEnds, trackService, UNCERTAIN_MS, wakingText, type TrackedService } from './tracked-service.ts';
import { TurnBudget } from './turn-budget.ts';
import { tellSetAside } from '../set-aside.ts';

/** As in fieldsV1. */
const INGRESS_PATH = ['f:status', 'f:loadBalancer', 'f:ingress'];
/** Upstream's. */
const BACKOFF = { baseMs: 5_000, maxMs: 300_000 };
/** How long an empty set of back ends is not believed. */
const EMPTY_HOLD_MS = 300_000;
const FIRST_POLL_MS = 1_000;
const LONGEST_POLL_MS = 30_000;
/** Back ends that are gone through in one turn of the event loop: some milliseconds of work. */
const BACK_ENDS_A_TURN = 20_000;
/** So long the cloud may leave out of a look what it has, before a person is told: lists lag. */
const HIDDEN_TOLD_AFTER_MS = 30_000;
/** Keys of Services that are gone themselves. No namespace has such a name. */
const LEFTOVER = 'uid:';

export interface ServiceControllerOptions extends Tenancy {
  /** Recorded on the Services that have a load balancer, and the prefix of our provider IDs. */
  readonly providerName: string;
  /** `ClusterIdentity.id`. */
  readonly clusterId: string;
  /** Names of all providers of this program. Default: this one alone. */
  readonly providers?: readonly string[];
  /** Serves the Services without a `loadBalancerClass` too. Default: true. */
  readonly isDefault?: boolean;
  /** `--concurrent-service-syncs`: load balancers that are being changed at a time. Default: 10. */
  readonly concurrentServiceSyncs?: number;
}

export interface ServiceControllerDependencies {
  readonly client: Pick<Client, 'of'>;
  readonly services: Store<Service>;
  readonly nodes: Store<Node>;
  readonly provider: LoadBalancers;
  /** Addresses that the cloud does not give for a node get no traffic. Default: it is not known what it gives, and all do. */
  readonly cloudAddresses?: CloudAddresses | undefined;
  readonly callContext: (options: {
    readonly signal: AbortSignal;
    readonly priority: CallPriority;
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
  /** Shared with whoever else changes load balancers of this provider. Default: nobody does. */
  readonly locks?: Locks;
  /** Calls back for each changed cloud config that was taken, and returns the way to stop. Default: none is ever taken. */
  readonly onReconfigured?: (listener: () => void) => () => void;
  readonly options: ServiceControllerOptions;
}

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
  };
}

/** One pass over one Service. */
interface Pass {
  readonly key: string;
  readonly lock: string;
  readonly service: Service;
  readonly leftover: boolean;
  readonly tracked: TrackedService;
  readonly context: ReconcileContext;
  /** Of the back ends, when it began. */
  readonly generation: number;
  /** Dry run: what would have been done before, in this pass. */
  readonly before?: readonly NotedAction[];
}

class Run {
  readonly #deps: ServiceControllerDependencies;
  readonly #signal: AbortSignal;
  readonly #services: ResourceClient<Service>;
  readonly #queue: WorkQueue<string>;
  readonly #backoff: RateLimiter<string>;
  readonly #observations: Observations;
  readonly #nodeChanges: NodeChanges;
  readonly #told: ToldEvents;
  readonly #metrics: ServiceMetrics;
  readonly #actions: Counter;
  readonly #journal: ControllerJournal;
  readonly #written: WrittenVersions;
  readonly #locks: Locks;
  readonly #tracked = new Map<string, TrackedService>();
  /** Keys that wait for the store to see our own last write. */
  readonly #deferred = new Set<string>();
  readonly #leftovers = new Map<string, Service>();
  /** Keys that are being updated because of nodes. */
  readonly #updating = new Set<string>();
  readonly #startedAt: number;
  readonly #planOptions: ObservedService['options'] & ForeignOwnerOptions & BackEndProvider;
  readonly #backEnds: BackEndSet;
  /** The provider, whose selections of back ends are shared. */
  readonly #planner: ObservedService['provider'];
  #nodesChangedAt = 0;
  #following = false;
  readonly #turns = new TurnBudget(BACK_ENDS_A_TURN);

  constructor(deps: ServiceControllerDependencies, signal: AbortSignal) {
    const { callContext, client, clock, events, metrics, options, provider, random } = deps;
    this.#deps = deps;
    this.#signal = signal;
    this.#startedAt = clock.monotonic();
    this.#services = client.of(resources.services);
    this.#backoff = exponentialBackoff({ ...BACKOFF, random });
    // Whoever may write Services in one namespace may write thousands, over and over.
    const groupOf = (key: string): string => this.#leftovers.get(key)?.metadata?.namespace ?? namespaceOf(key);
    this.#queue = createWorkQueue({ name: 'service', clock, metrics, groupOf });
    this.#told = new ToldEvents(events, clock);
    this.#written = new WrittenVersions({ clock, signal, onBelieved: (key) => this.#queue.add(key) });
    this.#metrics = createServiceMetrics(metrics);
    this.#actions = createActionCounter(metrics);
    this.#journal = deps.journal ?? noJournal;
    this.#locks = deps.locks ?? new Locks();
    this.#planOptions = {
      providerName: options.providerName,
      clusterId: options.clusterId,
      classes: provider.classes,
      isDefault: options.isDefault ?? true,
      sharing: options.sharing,
      trustedNamespaces: options.trustedNamespaces,
      providers: options.providers ?? [options.providerName],
      takesForeignNodes: provider.takesForeignNodes,
    };
    this.#backEnds = new BackEndSet(this.#planOptions, provider, deps.cloudAddresses);
    this.#planner = {
      get annotations() {
        return provider.annotations;
      },
      get features() {
        return provider.features;
      },
      plan: (desired, parts) => provider.plan(desired, parts),
      ...(provider.planMembers && { planMembers: provider.planMembers.bind(provider) }),
      selectBackEnds: (service) => this.#backEnds.select(service),
    };
    this.#observations = new Observations({
      provider,
      callContext: (callSignal, about) => callContext({ signal: callSignal, priority: 'normal', about, reads: true }),
      clock,
      signal,
      serviceOf: (key) => this.#toObserve(key),
      onAnswer: (key) => this.#queue.add(key),
    });
    this.#nodeChanges = new NodeChanges(clock, () => this.#nodesSettled());
  }

  async run(): Promise<void> {
    const { clock, logger, metrics, nodes, onReconfigured, options, services } = this.#deps;
    try {
      // Without all nodes every set of back ends would be too small.
      await Promise.all([services.whenSynced(this.#signal), nodes.whenSynced(this.#signal)]);
    } catch (error) {
      if (this.#signal.aborted) return;
      throw error;
    }
    // All at once: the store tells a long list in slices, and members that are not told yet must not be taken away.
    for (const node of nodes.values()) {
      this.#backEnds.note({ type: 'add', key: node.metadata?.name ?? '', object: node });
    }
    // Nodes first: what is there at the start is no change.
    let started = false;
    const stopNodes = nodes.subscribe((change) => {
      const isMoved = this.#backEnds.note(change);
      const isReason = isMoved || wakesLoadBalancers(change, this.#planOptions) || mayBeSelectedAnew(change);
      if (started && isReason) this.#nodeChanges.note();
    });
    started = true;
    const stopServices = services.subscribe((change) => this.#changed(change));
    const stopReconfigured = onReconfigured?.(() => {
      this.#tryAgain();
      // What is selected may be by the config too.
      this.#nodeChanges.note();
    });
    try {
      await runController({
        name: 'service',
        queue: this.#queue,
        reconciler: { reconcile: (key, context) => this.#reconcile(key, context) },
        workers: options.concurrentServiceSyncs ?? 10,
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
      this.#nodeChanges.stop();
      this.#queue.shutDown();
    }
  }

  #changed(change: StoreChange<Service>): void {
    const { key } = change;
    if (change.type === 'delete') {
      this.#gone(key, change.previous, change.previous.metadata?.deletionTimestamp !== undefined);
      return;
    }
    const service = change.object;
    if (change.type === 'update' && change.previous.metadata?.uid !== service.metadata?.uid) {
      this.#gone(key, change.previous, !isOlder(service, change.previous));
    }
    if (this.#written.isBehind(key, service)) return;
    const role = roleOf(service, this.#planOptions);
    if (this.#deferred.delete(key) || role === 'clean' || role === 'unclaimed') this.#queue.add(key);
    else if (role === 'leave') this.#leave(key, service);
    else if (this.#isNews(key, service)) this.#queue.add(key);
  }

  #leave(key: string, service: Service): void {
    this.#forget(key);
    if (foreignOwnerOf(service, this.#planOptions) !== undefined) this.#queue.add(key, { delayMs: FOREIGN_AFTER_MS });
  }

  /** Whether this is more than what the last pass has seen, or what our own writes brought. */
  #isNews(key: string, service: Service): boolean {
    const tracked = this.#tracked.get(key);
    if (!tracked || tracked.seen !== wakingText(service)) return true;
    return (
      !isRecorded(service, this.#planOptions.providerName) ||
      (!!tracked.settled &&
        (!this.#isSettled(service, tracked) || !sameIngress(ingressOf(service), tracked.settled.ingress)))
    );
  }

  /** The object is gone. `certain`: because a person wanted it, not because the API server has been set back, or is behind. */
  #gone(key: string, service: Service, certain: boolean): void {
    const tracked = this.#tracked.get(key);
    const uid = service.metadata?.uid ?? '';
    this.#forget(key);
    this.#told.forget(uid);
    if (tracked?.lettingGo) return;
    // Who has taken our finalizer off what has parts wanted it to go, and at once: no API server that was set back shows that.
    const isForced = !hasFinalizer(service) && tracked?.uid === uid && tracked.knowledge.parts.words.length > 0;
    if (!isForced && !isRecorded(service, this.#planOptions.providerName)) return;
    if (!certain && !isForced) {
      this.#deps.logger.warn(
        'A Service has vanished without being deleted; its load balancer is left to the orphan check',
        { key },
      );
      return;
    }
    this.#leftovers.set(LEFTOVER + uid, service);
    // What is known of its parts goes on to hold.
    if (tracked?.uid === uid) this.#tracked.set(LEFTOVER + uid, tracked);
    this.#queue.add(LEFTOVER + uid);
  }

  #forget(key: string): void {
    const subject = this.#leftovers.get(key);
    this.#journal.plan(subject ? leftoverOf(subject) : { kind: 'Service', name: key, uid: '' }, []);
    this.#tracked.delete(key);
    this.#leftovers.delete(key);
    this.#deferred.delete(key);
    this.#written.forget(key);
    this.#backoff.forget(key);
    this.#observations.forget(key);
    this.#nodesDone(key);
  }

  /** From memory alone: with what the cloud showed last. */
  explain(key: string): Finding | undefined {
    const { clock, services } = this.#deps;
    const service = services.get(key);
    if (!service) return undefined;
    const known = this.#tracked.get(key);
    const tracked =
      known?.uid === service.metadata?.uid
        ? (known as TrackedService)
        : trackService(service, this.#planOptions.providerName, this.#startedAt);
    const { lastLook: look, lastFailure: failure, handles } = tracked;
    const now = clock.monotonic();
    const agoMs = look ? Math.max(0, now - look.startedAt) : 0;
    const seen: readonly Fact[] = !look
      ? [{ text: 'The cloud has not been asked what there is for it.' }]
      : look.observation.kind === 'failed'
        ? [{ text: `The cloud, asked what there is, failed: ${look.observation.error.message}.`, agoMs }]
        : factsOfParts(look.observation.parts, agoMs);
    const planned = planService({ ...this.#observed(service, tracked), observation: look?.observation });
    const plan = look ? this.#judge(service, tracked, look, planned).plan : planned;
    return {
      controller: 'service-lb-controller',
      about: [tracked.uid],
      observed: [
        ...factsOfService(service, this.#planOptions),
        ...seen,
        ...handles.map((handle) => ({ text: `The cloud is at work on its task ${handle}.` })),
        ...(failure ? [{ text: `The last try failed: ${failure.error.message}.`, agoMs: now - failure.at }] : []),
      ],
      planned: [...factsOfServicePlan(plan), ...retryFact(failure, now)],
    };
  }

  #subject(key: string): Service | undefined {
    return this.#leftovers.get(key) ?? this.#deps.services.get(key);
  }

  #toObserve(key: string): LoadBalancerService | undefined {
    const service = this.#subject(key);
    return service && identityOf(service);
  }

  async #reconcile(key: string, context: ReconcileContext): Promise<ReconcileResult | void> {
    await this.#turns.spend(this.#backEnds.all.length);
    const service = this.#subject(key);
    if (!service) return this.#observations.forget(key);
    const leftover = this.#leftovers.has(key);
    if (!leftover && this.#written.isBehind(key, service)) {
      this.#deferred.add(key);
      return;
    }
    const identity = identityOf(service);
    const lock = this.#deps.provider.lockKey?.(identity) ?? identity.uid;
    if (!this.#locks.tryAcquire(lock, key, () => this.#queue.add(key))) return;
    try {
      const tracked = this.#track(key, service);
      tracked.seen = wakingText(service);
      const { generation } = this.#backEnds;
      return await this.#pass({ key, lock, service, leftover, tracked, context, generation });
    } finally {
      this.#locks.release(lock);
    }
  }

  #track(key: string, service: Service): TrackedService {
    const known = this.#tracked.get(key);
    if (known?.uid === service.metadata?.uid) return known as TrackedService;
    const tracked = trackService(service, this.#planOptions.providerName, this.#startedAt);
    this.#tracked.set(key, tracked);
    return tracked;
  }

  async #pass(pass: Pass): Promise<ReconcileResult | void> {
    const { service, tracked, context, leftover } = pass;
    this.#noteEmptiness(service, tracked);
    try {
      if (!leftover && this.#isSettled(service, tracked)) return await this.#keepIngress(pass);
      return await this.#carryOut(pass, this.#plan(pass));
    } catch (thrown) {
      if (context.signal.aborted) throw thrown;
      const error = thrown instanceof Error ? thrown : new Error(`not an Error was thrown: ${String(thrown)}`);
      return this.#fail(pass, error, roleOf(service, this.#planOptions) === 'serve');
    }
  }

  /** Others may write the addresses too. What they should be is known: no look at the cloud. */
  async #keepIngress(pass: Pass): Promise<ReconcileResult | void> {
    const { service, tracked } = pass;
    const { clock } = this.#deps;
    const ingress = tracked.settled?.ingress ?? [];
    const wanted = ingressText(ingress);
    const now = clock.monotonic();
    const review = reviewField(tracked.ingressField, { wanted, observed: ingressText(ingressOf(service)), now });
    const { isContested, state, verdict } = review;
    tracked.ingressField = state;
    if (isContested) await this.#tellContested(pass);
    if (verdict.kind === 'wait') return { requeueAfterMs: verdict.atMs - now };
    if (verdict.kind === 'accept') return;
    const patch = servedPatch(service, { ingress, now: clock.now() });
    if (patch && !(await this.#write(pass, [statusAction], patch))) {
      return this.#journal.dryRun ? undefined : { requeueAfterMs: FIRST_POLL_MS };
    }
    tracked.ingressField = afterWrite(state, wanted, clock.monotonic());
  }

  /** The store keeps no managedFields, so the Service is read once: by a list of one, which the program may ask for already. */
  async #tellContested({ service, context }: Pass): Promise<void> {
    if (this.#told.wasTold(service, CONTESTED_REASON)) return;
    const { name = '', namespace = '' } = service.metadata ?? {};
    let manager: string | undefined;
    try {
      const fieldSelector = `metadata.name=${name}`;
      const { items } = await this.#services.list({ namespace, fieldSelector, signal: context.signal });
      manager = items[0] && managerOf(items[0], INGRESS_PATH);
    } catch (error) {
      context.signal.throwIfAborted();
      context.logger.verbose(2, 'Who else writes the addresses of the Service could not be read', { error });
    }
    const note = contestedNote('status.loadBalancer', manager);
    if (this.#told.tell(service, note)) context.logger.warn(note.message);
  }

  /** Whether it is served, and was so when the cloud was last looked at; its addresses may be undone since. */
  #isSettled(service: Service, tracked: TrackedService): boolean {
    const { settled, touched } = tracked;
    if (!settled || touched || settled.text !== wakingText(service) || roleOf(service, this.#planOptions) !== 'serve')
      return false;
    if (!isRecorded(service, this.#planOptions.providerName)) return false;
    const { generation } = this.#backEnds;
    if (settled.generation === generation) return true;
    try {
      if (!sameBackEnds(selectedOf(this.#observed(service, tracked)), settled.backEnds)) return false;
    } catch {
      return false;
    }
    settled.generation = generation;
    return true;
  }

  #plan({ key, lock, service, leftover, tracked }: Pass): ServicePlan {
    const timed = this.#usable(key, lock, tracked);
    if (timed && tracked.lastLook?.observation !== timed.observation)
      tracked.lastLook = { ...timed, answers: new Map() };
    const observed = { ...this.#observed(service, tracked), observation: timed?.observation };
    const plan = leftover ? planLeftover(observed) : planService(observed);
    if (timed?.observation.kind !== 'parts' || !tracked.lastLook) return plan;
    const judged = this.#judge(service, tracked, tracked.lastLook, plan);
    tracked.knowledge = judged.knowledge;
    return judged.plan;
  }

  /** What is to be done where the look that a plan rests on may have left something out. Changes nothing. */
  #judge(
    service: Service,
    { knowledge, quietFrom, uid }: TrackedService,
    { answers, observation, startedAt }: NonNullable<TrackedService['lastLook']>,
    plan: ServicePlan,
  ): Judged {
    if (observation.kind === 'failed') return { plan, knowledge };
    const { clock, provider } = this.#deps;
    const now = clock.monotonic();
    const recorded = missingRecordOf(service);
    const options = {
      owner: { clusterId: this.#planOptions.clusterId, uid },
      service: identityOf(service),
      served: ingressOf(service).length > 0,
      trust: provider,
      quietFrom,
      recorded: recorded && { ...recorded, since: now - Math.max(0, clock.now() - recorded.since) },
      now,
    };
    const judged = judgeLook(plan, knowledge, { parts: observation.parts, startedAt, answers }, options);
    return judged.plan === plan ? judged : { ...judged, plan: releasedIfAsked(service, judged.plan) };
  }

  #observed(service: Service, tracked: TrackedService): ObservedService {
    const { clock } = this.#deps;
    const { emptySince, settled } = tracked;
    return {
      service,
      backEnds: this.#backEnds.all,
      lastBackEnds: settled?.backEnds,
      isFailing: tracked.lastFailure !== undefined,
      believesEmpty: emptySince !== undefined && clock.monotonic() - emptySince >= EMPTY_HOLD_MS,
      provider: this.#planner,
      serviceOf: (uid) => this.#serviceOf(uid),
      options: this.#planOptions,
    };
  }

  /** Asked only about who owns what a Service wants to share. */
  #serviceOf(uid: string): Service | undefined {
    for (const service of this.#deps.services.values()) if (service.metadata?.uid === uid) return service;
    return undefined;
  }

  #noteEmptiness(service: Service, tracked: TrackedService): void {
    try {
      const backEnds = selectedOf(this.#observed(service, tracked));
      if (backEnds.length > 0) tracked.emptySince = undefined;
      else tracked.emptySince ??= this.#deps.clock.monotonic();
    } catch {
      // The plan says what is wrong with it.
    }
  }

  /** The answer, if it is about this very Service and not from before the last action on its load balancer. */
  #usable(key: string, lock: string, { uid }: TrackedService): TimedObservation | undefined {
    const timed = this.#observations.answer(key);
    if (timed && timed.uid === uid && timed.startedAt >= this.#locks.appliedAt(lock)) return timed;
    this.#observations.forget(key);
    return undefined;
  }

  async #carryOut(pass: Pass, plan: ServicePlan): Promise<ReconcileResult | void> {
    const { key, service, tracked, context } = pass;
    switch (plan.kind) {
      case 'nothing':
        this.#journal.plan(aboutOf(pass), []);
        context.logger.verbose(4, 'The Service is left alone', { reason: plan.reason });
        this.#observations.forget(key);
        return plan.reason === 'not-ours' ? this.#tellForeign(service) : undefined;
      case 'record': {
        const { providerName } = this.#planOptions;
        const recorded = this.#journal.dryRun
          ? { ...pass, service: asRecorded(service, providerName), before: [recordAction] }
          : await this.#noted(pass, recordAction, recordPatch(service, providerName));
        return recorded && this.#carryOut(recorded, this.#plan(recorded));
      }
      case 'observe':
        this.#observations.ask(key);
        return;
      case 'look-again':
        return this.#lookAgain(pass, plan);
      case 'ask':
        return this.#askDirectly(pass, plan);
      case 'hold':
        return this.#hold(pass);
      case 'refuse':
        return this.#fail(pass, plan.error, true, true);
      case 'failed':
        return this.#fail(pass, plan.error, plan.wanted);
      case 'release': {
        const parts = tracked.knowledge.parts.words;
        this.#deps.events.record(service, releasedNote(plan.error, parts));
        context.logger.warn('A load balancer is let go without being deleted', { error: plan.error, parts });
        return this.#letGo(pass);
      }
      case 'bring':
        return this.#bring(pass, plan);
    }
  }

  /** The cloud may not have shown all. */
  async #lookAgain(pass: Pass, { inMs, missing, why }: LookAgain): Promise<ReconcileResult> {
    const { key, service, tracked, context } = pass;
    const { clock } = this.#deps;
    context.logger.verbose(2, 'A look may leave out parts of a load balancer', { missing, why });
    this.#journal.plan(aboutOf(pass), pass.before ?? []);
    this.#observations.forget(key);
    if (why === 'hidden') {
      const forMs = clock.monotonic() - (tracked.knowledge.wait?.since ?? clock.monotonic());
      if (forMs >= HIDDEN_TOLD_AFTER_MS) this.#told.tell(service, hiddenNote(missing));
      return { requeueAfterMs: nextPollMs(tracked) };
    }
    if (why === 'quiet') return { requeueAfterMs: Math.max(1, inMs) };
    await this.#recordWait(pass, missing, inMs);
    return { requeueAfterMs: Math.min(nextPollMs(tracked), Math.max(1, inMs)) };
  }

  /** Says that a cloud which cannot be asked is waited for, and keeps since when: the next process goes on with it. */
  async #recordWait(pass: Pass, missing: readonly string[], inMs: number): Promise<void> {
    const { service, tracked, context, leftover } = pass;
    const { clock } = this.#deps;
    const { parts, wait } = tracked.knowledge;
    const since = clock.now() - (clock.monotonic() - (wait?.since ?? clock.monotonic()));
    this.#told.tell(service, missingNote(missing));
    const there = tracked.lastLook?.observation.kind === 'parts' ? tracked.lastLook.observation.parts : [];
    const record = { since, parts: parts.missingIn(there, 'there'), open: parts.unseen.length > 0 };
    if (leftover || isWrittenDown(service, record)) return;
    context.logger.warn(
      'The cloud does not show parts of a load balancer, nor prove that they are gone; they are waited for',
      {
        missing,
        forMs: inMs,
      },
    );
    await this.#write(
      pass,
      [notePartsAction],
      annotationPatch(service, { [missingSinceAnnotation]: missingText(record) }),
    );
  }

  /** A look leaves out what may be there: its plan waits for what the cloud says of that very part. */
  async #askDirectly(
    pass: Pass,
    { questions }: Extract<ServicePlan, { kind: 'ask' }>,
  ): Promise<ReconcileResult | void> {
    const { tracked, context } = pass;
    const { callContext, clock, provider } = this.#deps;
    const answers = await readParts(questions, {
      provider,
      callContext: (signal) => callContext({ signal, priority: 'normal', about: [tracked.uid], reads: true }),
      clock,
      signal: context.signal,
    });
    const byKey = new Map<string, PartAnswer>();
    for (const [i, question] of questions.entries()) {
      const answer = answers[i];
      if (answer) byKey.set(questionKey(question), answer);
      context.logger.verbose(2, 'The cloud was asked directly about a part', { ...question, answer });
    }
    const { lastLook } = tracked;
    // Those of before, too: what is missing is asked about first, and what nobody has seen after that.
    if (lastLook) tracked.lastLook = { ...lastLook, answers: new Map([...lastLook.answers, ...byKey]) };
    return this.#carryOut(pass, this.#plan(pass));
  }

  #tellForeign(service: Service): ReconcileResult | void {
    const owner = foreignOwnerOf(service, this.#planOptions);
    if (owner === undefined) return;
    this.#told.tell(service, foreignOwnerNote(service, owner, this.#planOptions.providerName));
    return { requeueAfterMs: FOREIGN_AFTER_MS };
  }

  /** The pass goes on with what the server answered. */
  async #noted(pass: Pass, action: NotedAction, patch: Patch): Promise<Pass | undefined> {
    const metadata = await this.#write(pass, [action], patch);
    return metadata && { ...pass, service: { ...pass.service, metadata } };
  }

  async #bring(pass: Pass, bring: Bring): Promise<ReconcileResult | void> {
    const { key, service, tracked } = pass;
    const { desired, plan, complete, refused } = bring;
    for (const warning of plan.warnings ?? []) this.#told.tell(service, warningNote(warning));
    if (refused && complete) return this.#followed(pass, desired.backEnds, refused);
    if (refused) this.#told.tell(service, failureNote(episodeOf(service, tracked, true), refused));
    if (complete) {
      if (this.#journal.dryRun) this.#journal.plan(aboutOf(pass), []);
      return desired.wanted ? this.#settle(pass, bring) : this.#cleaned(pass);
    }
    if (plan.actions.length === 0) {
      // What is pending in the cloud goes on by itself.
      this.#observations.forget(key);
      if (desired.wanted && !refused && plan.ingress.length > 0) await this.#writeStatus(pass, bring);
      return { requeueAfterMs: nextPollMs(tracked) };
    }
    return this.#act(pass, bring);
  }

  /** What the Service asks for is refused; what it has is as it should be. */
  #followed(pass: Pass, backEnds: readonly BackEnd[], refused: Error): ReconcileResult | void {
    const { service, tracked } = pass;
    if (!this.#journal.dryRun) tracked.followed = backEnds;
    if (tracked.episode === 'update') this.#deps.events.record(service, endNote('update'));
    tracked.episode = undefined;
    tracked.handles = [];
    tracked.polls = 0;
    tracked.lastActions = undefined;
    return this.#fail(pass, refused, true);
  }

  async #act(pass: Pass, bring: Bring): Promise<ReconcileResult | void> {
    const { key, lock, service, tracked, context, leftover, before = [] } = pass;
    const { desired, plan } = bring;
    const { callContext, clock, provider } = this.#deps;
    if (this.#journal.dryRun) {
      this.#journal.plan(aboutOf(pass), [...before, ...notedOf(bring)]);
      this.#observations.forget(key);
      return { requeueAfterMs: LONGEST_POLL_MS };
    }
    const notes = new Map(plan.actions.map((action, i) => [action, notedOf(bring)[i]] as const));
    const opened = await this.#openRecord(pass, bring);
    if (!opened) return;
    tracked.handles = [];
    this.#begin(pass, bring);
    tracked.touched = true;
    tracked.followed = undefined;
    const isCurrent = (): boolean =>
      !desired.wanted || leftover || wakingText(this.#subject(key) ?? {}) === wakingText(service);
    try {
      const { error, pollAfterMs } = await applyActions(plan.actions, desired, {
        provider,
        callContext: (signal) => callContext({ signal, priority: 'normal', about: [tracked.uid] }),
        clock,
        counter: this.#actions,
        logger: context.logger,
        signal: context.signal,
        isCurrent,
        onResult: (action, result) => {
          tracked.knowledge.parts.noteApplied(action, result);
          const noted = notes.get(action);
          if (!noted) return;
          const outcome =
            result.kind === 'failed' ? result : result.kind === 'pending' ? { pending: result.handle } : undefined;
          this.#journal.note(aboutOf(pass), [noted], outcome);
          if (result.kind === 'pending') tracked.handles = [...tracked.handles, result.handle];
        },
      });
      if (error) {
        if (isUncertain(error)) tracked.quietFrom = clock.monotonic() + UNCERTAIN_MS;
        return this.#fail(pass, error, desired.wanted);
      }
      // The same actions again: the cloud does not yet show what it has done, or never will.
      const done = JSON.stringify(plan.actions);
      const repeated = tracked.lastActions === done;
      tracked.lastActions = done;
      if (!repeated) tracked.polls = 0;
      tracked.pollMs = pollAfterMs || undefined;
      const afterMs = Math.max(pollAfterMs ?? 0, provider.listLagMs ?? 0, repeated ? nextPollMs(tracked) : 0);
      if (afterMs > 0) return { requeueAfterMs: afterMs };
    } finally {
      const now = clock.monotonic();
      this.#locks.noteApplied(lock, now);
      tracked.quietFrom = Math.max(tracked.quietFrom, now + (provider.listLagMs ?? 0));
      this.#observations.forget(key);
    }
    this.#observations.ask(key);
  }

  /** Nothing is made beyond what the record on the Service says before it says that there may be more. */
  async #openRecord(pass: Pass, { plan }: Bring): Promise<Pass | undefined> {
    const adds = plan.actions.some(({ kind }) => kind === 'create' || kind === 'claim');
    const opened = adds && !canName(this.#deps.provider) ? openedRecord(pass.service) : undefined;
    if (opened === undefined) return pass;
    return this.#noted(pass, notePartsAction, annotationPatch(pass.service, { [partsAnnotation]: opened }));
  }

  /** Tells, once, what begins. */
  #begin({ service, tracked }: Pass, { desired: { backEnds, wanted }, refused }: Bring): void {
    const episode = refused ? 'update' : episodeOf(service, tracked, wanted);
    if (tracked.episode !== episode) {
      tracked.episode = episode;
      this.#metrics.syncs.inc();
      const note = beginNote(episode);
      if (note) this.#deps.events.record(service, note);
    }
    if (wanted && backEnds.length === 0) this.#told.tell(service, noNodesNote);
  }

  /** All is as it should be. */
  async #settle(pass: Pass, bring: Bring): Promise<ReconcileResult | void> {
    const { key, service, tracked } = pass;
    const { clock, events } = this.#deps;
    if (!(await this.#writeStatus(pass, bring))) {
      // Gone, which the next pass sees; or the server has refused to merge what two have written.
      this.#observations.forget(key);
      return { requeueAfterMs: nextPollMs(tracked) };
    }
    this.#observations.forget(key);
    const { backEnds } = bring.desired;
    // The last good back ends stand in for none: until that is believed.
    const isHeld = tracked.emptySince !== undefined && backEnds.length > 0;
    const generation = isHeld ? undefined : pass.generation;
    tracked.settled = { text: wakingText(service), backEnds, ingress: bring.plan.ingress, generation };
    tracked.followed = undefined;
    tracked.touched = false;
    tracked.polls = 0;
    tracked.lastActions = undefined;
    tracked.lastFailure = undefined;
    tracked.handles = [];
    this.#backoff.forget(key);
    if (tracked.episode) events.record(service, endNote(tracked.episode));
    if (tracked.episode === 'update' && tracked.nodesChangedAt !== undefined) {
      this.#metrics.updateLatency.observe((clock.monotonic() - tracked.nodesChangedAt) / 1000);
    }
    tracked.episode = undefined;
    this.#nodesDone(key);
    if (isHeld) return this.#hold(pass);
    // Nodes that changed while the status was written are compared with what was just settled.
    if (generation !== this.#backEnds.generation) this.#queue.add(key);
  }

  #hold({ service, tracked, key }: Pass): ReconcileResult {
    const left = (tracked.emptySince ?? 0) + EMPTY_HOLD_MS - this.#deps.clock.monotonic();
    this.#observations.forget(key);
    this.#told.tell(service, heldNote(EMPTY_HOLD_MS / 1000));
    return { requeueAfterMs: Math.max(0, left) };
  }

  /** Returns whether the Service has it. */
  async #writeStatus(pass: Pass, { complete: isComplete, plan }: Bring): Promise<boolean> {
    const { service, tracked } = pass;
    const { ingress, annotations } = plan;
    const now = this.#deps.clock.now();
    const needsNone = canName(this.#deps.provider);
    const records = recordsOf(service, tracked.knowledge, { isComplete, needsNone });
    const isDue = records.isDue || servedPatch(service, { ingress, annotations, now }) !== undefined;
    const all = { ...annotations, ...records.annotations };
    const patch = isDue ? servedPatch(service, { ingress, annotations: all, now }) : undefined;
    return !patch || (await this.#write(pass, [statusAction], patch)) !== undefined || this.#journal.dryRun;
  }

  /** No part was seen. That counts once nothing that was asked for before can still appear. */
  async #cleaned(pass: Pass): Promise<ReconcileResult | void> {
    const { key, tracked } = pass;
    const seenAt = this.#observations.answer(key)?.startedAt ?? -Infinity;
    if (seenAt < tracked.quietFrom) {
      this.#observations.forget(key);
      return { requeueAfterMs: Math.max(0, tracked.quietFrom - this.#deps.clock.monotonic()) };
    }
    return this.#letGo(pass, endNote('delete'));
  }

  async #letGo(pass: Pass, note?: ReturnType<typeof endNote>): Promise<void> {
    const { key, service, tracked, leftover } = pass;
    if (leftover) {
      if (note) this.#deps.events.record(service, note);
      this.#forgetLock(pass);
      return this.#forget(key);
    }
    const patch = letGoPatch(service, tracked.settled?.ingress);
    tracked.lettingGo = true;
    try {
      if (patch && !(await this.#write(pass, [letGoAction], patch))) {
        // A Service that stays may be served again, and be deleted by force then.
        if (this.#journal.dryRun || !service.metadata?.deletionTimestamp) tracked.lettingGo = false;
        return;
      }
    } catch (error) {
      tracked.lettingGo = false;
      throw error;
    }
    if (note) this.#deps.events.record(service, note);
    this.#forgetLock(pass);
    this.#backoff.forget(key);
    this.#observations.forget(key);
    // The watch may have been faster than the answer.
    if (!this.#deps.services.get(key)) this.#written.forget(key);
    // The Service may stay, as another type: what is known of its load balancer does not hold for the next one.
    if (this.#tracked.get(key) === tracked && !service.metadata?.deletionTimestamp) this.#tracked.delete(key);
  }

  /** A lock with a name of its own is shared: what others know by it stays. */
  #forgetLock({ lock, tracked }: Pass): void {
    if (lock === tracked.uid) this.#locks.forget(lock);
  }

  #write(pass: Pass, actions: readonly NotedAction[], patch: Patch): Promise<ObjectMeta | undefined> {
    const failureOf = (metadata: ObjectMeta | undefined): string | undefined =>
      metadata ? undefined : 'the Service is gone, another one, or has changed meanwhile';
    return this.#journal.perform(aboutOf(pass), actions, () => this.#patch(pass, patch), failureOf);
  }

  /** Returns the new metadata; `undefined` when the Service is gone, another one, or was written by another meanwhile. */
  async #patch({ key, service, context }: Pass, patch: Patch): Promise<ObjectMeta | undefined> {
    const { name = '', namespace } = service.metadata ?? {};
    try {
      const { metadata } = await this.#services.patch({ name, namespace }, patch, {
        subresource: 'status',
        answer: 'metadata',
        signal: context.signal,
      });
      this.#written.note(key, metadata);
      return metadata;
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error) && !isAboutUid(error)) throw error;
      context.logger.verbose(4, 'The Service is gone, another one, or has changed meanwhile', { error });
      return undefined;
    }
  }

  /** `isPlans`: a plan refuses. */
  #fail(pass: Pass, error: Error, wanted: boolean, isPlans = false): ReconcileResult | void {
    const { key, service, tracked, context } = pass;
    this.#observations.forget(key);
    this.#journal.plan(aboutOf(pass), pass.before ?? []);
    const retry = retryOf(error, isPlans);
    const failedAt = this.#deps.clock.monotonic();
    tracked.lastFailure = { error, at: failedAt, retryAfterMs: undefined };
    if (retry.kind === 'later') return { requeueAfterMs: retry.afterMs };
    if (retry.kind === 'elsewhere') return;
    const episode = episodeOf(service, tracked, wanted);
    if (episode === 'update') this.#metrics.nodeSyncErrors.inc();
    context.logger.error('A load balancer could not be brought to what it should be', { error, retry: retry.kind });
    this.#told.tell(service, failureNote(episode, error));
    this.#nodesDone(key);
    const backoffMs = this.#backoff.delayMs(key);
    // Nothing may stand in the way of a deletion for ever.
    const longest = retry.kind === 'longest' || !wanted ? BACKOFF.maxMs : undefined;
    const seldom = retry.kind === 'seldom' && wanted ? seldomMs(this.#backoff.requeues(key)) : longest;
    const requeueAfterMs = retry.kind === 'back-off' ? backoffMs : seldom;
    tracked.lastFailure = { error, at: failedAt, retryAfterMs: requeueAfterMs };
    if (requeueAfterMs !== undefined) return { requeueAfterMs };
  }

  /** Credentials, a quota's project, a network: what Services failed for may be what was changed. */
  #tryAgain(): void {
    for (const [key, { lastFailure }] of this.#tracked) {
      if (!lastFailure) continue;
      this.#backoff.forget(key);
      this.#queue.add(key);
    }
  }

  #nodesSettled(): void {
    this.#nodesChangedAt = this.#deps.clock.monotonic();
    this.#backEnds.advance();
    if (!this.#following) void this.#followNodes();
  }

  /** Has every Service looked at that is not settled for the present generation of back ends. */
  async #followNodes(): Promise<void> {
    this.#following = true;
    let generation: number;
    do {
      ({ generation } = this.#backEnds);
      for (const [key, tracked] of this.#tracked) {
        await this.#turns.spend(this.#backEnds.all.length);
        if (this.#signal.aborted) return;
        this.#follow(key, tracked);
      }
    } while (generation !== this.#backEnds.generation);
    this.#following = false;
  }

  #follow(key: string, tracked: TrackedService): void {
    const service = this.#deps.services.get(key);
    if (!service || this.#tracked.get(key) !== tracked || roleOf(service, this.#planOptions) !== 'serve') return;
    if (tracked.settled?.generation === this.#backEnds.generation) return;
    this.#noteEmptiness(service, tracked);
    if (this.#isSettled(service, tracked) || this.#hasFollowed(service, tracked)) return;
    const { lastFailure } = tracked;
    // What was refused may have been so for the sake of its nodes. Else what has never served is tried again in its own time.
    const isRefused = lastFailure !== undefined && retryOf(lastFailure.error).kind === 'seldom';
    const hasServed = tracked.settled !== undefined || ingressOf(service).length > 0;
    if (!hasServed && !isRefused && lastFailure?.retryAfterMs !== undefined) return;
    tracked.nodesChangedAt = this.#nodesChangedAt;
    this.#updating.add(key);
    this.#queue.add(key);
  }

  /** Whether a Service that is refused has the members that it should have. */
  #hasFollowed(service: Service, tracked: TrackedService): boolean {
    const { followed, lastFailure } = tracked;
    if (!followed || !lastFailure || tracked.seen !== wakingText(service)) return false;
    try {
      return sameBackEnds(selectedOf(this.#observed(service, tracked)), followed);
    } catch {
      return false;
    }
  }

  #nodesDone(key: string): void {
    if (!this.#updating.delete(key) || this.#updating.size > 0) return;
    this.#metrics.nodeSyncLatency.observe((this.#deps.clock.monotonic() - this.#nodesChangedAt) / 1000);
  }
}

/** Whether the first was made before the second: then it did not take its place, but a list is behind, or etcd was restored. */
function isOlder({ metadata: one }: Service, { metadata: other }: Service): boolean {
  return Date.parse(one?.creationTimestamp ?? '') < Date.parse(other?.creationTimestamp ?? '');
}

/** The server reads a UID in a status patch as an attempt to change it: this is another Service of the same name. */
function isAboutUid(error: unknown): boolean {
  return isInvalid(error) && (error.details.causes ?? []).some(({ field }) => field === 'metadata.uid');
}

function nextPollMs(tracked: TrackedService): number {
  return Math.min(LONGEST_POLL_MS, (tracked.pollMs ?? FIRST_POLL_MS) * 1.5 ** tracked.polls++);
}

/** Only the back ends of a load balancer that was served before have changed: an update. */
function episodeOf(service: Service, { episode, settled }: TrackedService, wanted: boolean): Episode {
  if (!wanted) return 'delete';
  if (episode === 'ensure') return episode;
  return settled?.text === wakingText(service) ? 'update' : 'ensure';
}

/** What the journal knows the Service of a pass by. */
function aboutOf({ leftover, service }: Pick<Pass, 'leftover' | 'service'>): Subject {
  return leftover ? leftoverOf(service) : subjectOf('Service', service);
}

/** Another one of this name may be there. */
function leftoverOf(service: Service): Subject {
  const subject = subjectOf('Service', service);
  return { ...subject, name: `${subject.name} (deleted)` };
}

function retryFact(failure: TrackedService['lastFailure'], now: number): readonly Fact[] {
  if (failure?.retryAfterMs === undefined) return [];
  return [{ text: 'Try again.', inMs: Math.max(0, failure.at + failure.retryAfterMs - now) }];
}
