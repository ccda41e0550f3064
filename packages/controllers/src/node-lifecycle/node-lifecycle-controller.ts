// Over 400 lines: one state machine over what is known of each node; what can be said without it is in the files beside it.
/** The cloud-node-lifecycle-controller: nodes whose machines are gone or shut down. Entry point: `createNodeLifecycleController`. */
import type { NodeRef } from '@outrigger/cloud-provider';
import type { DatedAnswer, HintedMachines } from '@outrigger/cloud-runtime';
import {
  createWorkQueue,
  exponentialBackoff,
  isNotFound,
  resources,
  runController,
  type EventNote,
  type Logger,
  type Node,
  type ReconcileContext,
  type ReconcileResult,
  type ResourceClient,
  type ResourceEvent,
  type WorkQueue,
} from '@outrigger/kube';
import { endsBeforeAbort } from '../ends-before-abort.ts';
import { standingOf, type Explains, type Finding, type Standing } from '../finding.ts';
import { noJournal, subjectOf, type ControllerJournal } from '../journal.ts';
import { LookUpRounds } from '../look-up-rounds.ts';
import { isUninitialized } from '../node/taints.ts';
import { zoneLabel } from '../node/well-known-names.ts';
import { hintedNodes } from '../hinted-nodes.ts';
import { refOfNode } from '../node-ref.ts';
import { ownerOfNode } from '../unmanaged-nodes.ts';
import { toBeDeletedTaintKey } from '../service/well-known-names.ts';
import { ToldEvents } from '../told-events.ts';
import { Candidates, type Candidate } from './candidates.ts';
import { deleteNode } from './delete-node.ts';
import { DeletionBreaker } from './deletion-breaker.ts';
import { KnownPlaces } from './known-places.ts';
import { DirectReads, type ReadRequest } from './direct-reads.ts';
import { noEvidence, withLookUp, withRead } from './evidence.ts';
import { factsOfEvidence, factsOfLifecyclePlan } from './lifecycle-words.ts';
import { heldNote, NO_PROOF, NO_TURN, unprovedNote } from './lifecycle-notes.ts';
import type { NodeLifecycleControllerDependencies } from './lifecycle-dependencies.ts';
import { createLifecycleMetrics, type LifecycleMetrics } from './lifecycle-metrics.ts';
import { planNodeLifecycle, type LifecycleOptions, type LifecyclePlan, type Surroundings } from './plan.ts';
import { isSameReadiness, readinessOf } from './readiness.ts';
import { allowDeletionAnnotation } from './well-known-names.ts';
import { taintPatch, writeShutdownTaint, type TaintWrite } from './write-shutdown-taint.ts';
import { tellSetAside } from '../set-aside.ts';

/** After a write that failed. */
const WRITE_BACKOFF = { baseMs: 50, maxMs: 300_000 };
/** A machine may go, or come back, long after its node stopped being Ready. */
const LONGEST_WAIT_MS = 60_000;
/** While a large share is gone, so many nodes that are Ready are looked up so often, to see whether the cloud knows them. */
const WITNESSES = 3;
const WITNESS_MS = 60_000;
/**
 * Waits in a row after answers that failed or proved nothing, 8 to 20 s together, or minutes where the machine was found before: what passes
 * by itself is not worth a person's time.
 */
const WAITS_BEFORE_TOLD = 5;
/** A machine that was seen to run since its node stopped being Ready is asked about again after this time. */
const RECHECK_MS = LONGEST_WAIT_MS;
/** A node that was Ready in between is not asked about at once again so soon. */
const ASKED_LATELY_MS = 10_000;
/** Between two looks at a node that has to grow older, at least. */
const SOONEST_MS = 1_000;
const DEFAULT_GRACE_MS = 30_000;
const DEFAULT_MAX_FRACTION = 0.3;
const DEFAULT_WINDOW_MS = 600_000;
const DEFAULT_WRITERS = 8;

export interface NodeLifecycleController extends Explains {
  /** Runs until `signal` aborts, and resolves when the last write has ended. Once only. */
  run(signal: AbortSignal): Promise<void>;
}

/** Makes the controller; nothing is read or written before `run`. */
export function createNodeLifecycleController(
  dependencies: NodeLifecycleControllerDependencies,
): NodeLifecycleController {
  let current: Run | undefined;
  return {
    run: (signal) => (current = new Run(dependencies, signal)).run(),
    explain: (key) => current?.explain(key),
    list: () => current?.list() ?? [],
  };
}

class Run {
  readonly #deps: NodeLifecycleControllerDependencies;
  readonly #signal: AbortSignal;
  readonly #nodes: ResourceClient<Node>;
  readonly #queue: WorkQueue<string>;
  readonly #rounds: LookUpRounds;
  readonly #reads: DirectReads;
  readonly #breaker: DeletionBreaker;
  readonly #candidates: Candidates;
  #startedAt = { monotonic: 0, wall: 0 };
  /** Not Ready and not yet initialised, since when we know that. */
  readonly #newborns = new Map<string, { readonly uid: string; readonly transition: string; readonly since: number }>();
  /** By UID, monotonic: nodes that were asked about as soon as they were not Ready. */
  readonly #askedAt = new Map<string, number>();
  /** By key: waits in a row after answers that failed or proved nothing. */
  readonly #inVain = new Map<string, number>();
  readonly #told: ToldEvents;
  readonly #metrics: LifecycleMetrics;
  readonly #journal: ControllerJournal;
  readonly #options: LifecycleOptions;
  readonly #places = new KnownPlaces();
  #askedWitnessAt = -Infinity;

  constructor(deps: NodeLifecycleControllerDependencies, signal: AbortSignal) {
    const { client, clock, events, logger, lookups, metrics, random, options } = deps;
    this.#deps = deps;
    this.#signal = signal;
    this.#nodes = client.of(resources.nodes);
    this.#options = {
      providerName: options.providerName,
      unmanaged: options.unmanaged,
      deletionGraceMs: options.deletionGraceMs ?? DEFAULT_GRACE_MS,
      unknownNodeDeletionMs: options.unknownNodeDeletionMs ?? 0,
    };
    this.#queue = createWorkQueue({
      name: 'cloud-node-lifecycle-controller',
      clock,
      metrics,
      rateLimiter: exponentialBackoff({ ...WRITE_BACKOFF, random }),
    });
    this.#told = new ToldEvents(events, clock);
    this.#metrics = createLifecycleMetrics(metrics);
    this.#journal = deps.journal ?? noJournal;
    this.#breaker = new DeletionBreaker({
      clock,
      maxFraction: options.deletionMaxFraction ?? DEFAULT_MAX_FRACTION,
      windowMs: options.deletionWindowMs ?? DEFAULT_WINDOW_MS,
    });
    this.#candidates = new Candidates({
      onSuspected: (uid, suspected) => this.#breaker.markGone(uid, suspected),
      onHeld: (count, withoutEnd) => {
        this.#metrics.held.set(count);
        this.#metrics.unproved.set(withoutEnd);
      },
    });
    this.#rounds = new LookUpRounds({
      lookups,
      clock,
      logger,
      signal,
      need: 'state',
      longestWaitMs: LONGEST_WAIT_MS,
      notBefore: (key) => this.#candidates.get(key)?.evidence.since,
      nodeOf: (key) => this.#refOfCandidate(key),
      onAnswer: (key) => this.#lookedUp(key),
    });
    this.#reads = new DirectReads({
      lookups,
      clock,
      logger,
      signal,
      requestOf: (key) => this.#readRequest(key),
      isPaced: (key) => this.#breaker.isLargeShare(this.#candidates.get(key)?.uid ?? ''),
      onAnswer: (key, answer) => this.#wasRead(key, answer),
      onLate: (key) => this.#late(key),
    });
  }

  async run(): Promise<void> {
    const { store, clock, logger, lookups, metrics, options } = this.#deps;
    if (!(await endsBeforeAbort(store.whenSynced(this.#signal), this.#signal))) return;
    this.#metrics.held.set(0);
    this.#metrics.unproved.set(0);
    this.#startedAt = { monotonic: clock.monotonic(), wall: clock.now() };
    // The node controller's answers too: each machine that is found says where this cluster is.
    const stopAnswers = lookups.snapshot.subscribe((about, _need, answer) => this.#places.learn(about, answer));
    this.#breaker.started(Array.from(store.values(), ({ metadata }) => metadata?.uid ?? ''));
    const unsubscribe = store.subscribe((change) => this.#changed(change));
    const stopHints = lookups.hints?.subscribe((hinted) => this.#hinted(hinted));
    try {
      await runController({
        name: 'cloud-node-lifecycle-controller',
        queue: this.#queue,
        reconciler: { reconcile: (key, context) => this.#reconcile(key, context) },
        workers: options.concurrentWrites ?? DEFAULT_WRITERS,
        clock,
        logger,
        metrics,
        signal: this.#signal,
        onSetAside: tellSetAside(store, this.#deps.events),
      });
    } finally {
      unsubscribe();
      stopHints?.();
      stopAnswers();
      this.#queue.shutDown();
    }
  }

  /** Runs for each heartbeat of each node. Only a change of the Ready condition wakes anything. */
  #changed(change: ResourceEvent<Node>): void {
    const { key } = change;
    if (change.type === 'delete') {
      this.#forget(key, change.previous);
      return;
    }
    const node = change.object;
    let previous = change.type === 'update' ? change.previous : undefined;
    if (previous && previous.metadata?.uid !== node.metadata?.uid) {
      this.#forget(key, previous);
      previous = undefined;
    }
    const plan = this.#plan(node, undefined);
    this.#see(node, plan);
    if (plan.kind !== 'look-up') {
      this.#journal.plan(subjectOf('Node', node), []);
      this.#dropCandidate(key);
      if (plan.kind === 'wait') this.#awaitAge(key, node, plan.afterMs);
      else this.#newborns.delete(key);
      if (plan.kind !== 'remove-shutdown-taint') return;
      if (!previous || this.#plan(previous, undefined).kind !== plan.kind) this.#queue.add(key);
      return;
    }
    this.#observe(key, node);
  }

  /** Only what is asked about anyway: a node that is Ready is nobody's candidate, whatever the cloud says. */
  #hinted(hinted: HintedMachines): void {
    for (const node of hintedNodes(this.#deps.store.values(), hinted)) {
      const key = node.metadata?.name ?? '';
      if (this.#candidates.get(key)) this.#rounds.askNow(key, refOfNode(node), 'normal');
    }
  }

  /** A node that has yet to be initialised: looked at again when it is, or when it should have been long ago. */
  #awaitAge(key: string, node: Node, afterMs: number): void {
    const { uid = '' } = node.metadata ?? {};
    const { transition } = readinessOf(node);
    const known = this.#newborns.get(key);
    if (known?.uid === uid && known.transition === transition) return;
    this.#newborns.set(key, { uid, transition, since: this.#notReadySince(node) });
    this.#queue.add(key, { delayMs: afterMs });
  }

  /** Monotonic. What was not Ready before we began was so in the first list, which is told in slices: later than it was read. */
  #notReadySince(node: Node): number {
    const { clock } = this.#deps;
    const wasReadAtStart = Date.parse(node.metadata?.creationTimestamp ?? '') < this.#startedAt.wall;
    return wasReadAtStart ? this.#startedAt.monotonic : clock.monotonic();
  }

  /** A node of ours that is not Ready: begins to ask about it, unless it is a candidate as it was before. */
  #observe(key: string, node: Node): void {
    const readiness = readinessOf(node);
    const { uid = '' } = node.metadata ?? {};
    const { providerID } = node.spec ?? {};
    const known = this.#candidates.get(key);
    if (known?.uid === uid && known.providerID === providerID && isSameReadiness(known.readiness, readiness)) {
      // A person has let it go, or the autoscaler wants it away.
      if ((known.hold || this.#reads.isPaced(key)) && !this.#breaker.isLargeShare(uid)) this.#queue.add(key);
      return;
    }
    const now = this.#deps.clock.monotonic();
    const candidate: Omit<Candidate, 'evidence' | 'hold'> = { uid, providerID, readiness };
    if (known?.uid === uid && known.providerID === providerID && known.readiness.transition === readiness.transition) {
      // The kubelet has been heard: what was proved before is void, but there is no hurry to ask again.
      this.#candidates.begin(key, candidate, now);
      return;
    }
    this.#dropCandidate(key);
    const newborn = this.#newborns.get(key);
    this.#newborns.delete(key);
    const isSame = newborn?.uid === uid && newborn.transition === readiness.transition;
    const answer = isSame ? this.#runsSince(newborn.since, uid) : undefined;
    if (!isSame || !answer) {
      // Proofs of absence count from now, not from when the newborn was first seen.
      this.#candidates.begin(key, candidate, now);
      this.#ask(key, node, now);
      return;
    }
    this.#candidates.begin(key, candidate, newborn.since);
    this.#candidates.learn(key, withLookUp(noEvidence(newborn.since), answer));
    this.#rounds.askLater(key, uid, RECHECK_MS, true);
  }

  #ask(key: string, node: Node, now: number): void {
    const ref = refOfNode(node);
    if (now - (this.#askedAt.get(ref.uid) ?? -Infinity) < ASKED_LATELY_MS) {
      this.#rounds.askLater(key, ref.uid);
      return;
    }
    this.#askedAt.set(ref.uid, now);
    this.#rounds.ask(key, ref, 'normal');
  }

  /** What the node controller was told since then, if it was that the machine runs: as good as an answer of our own. */
  #runsSince(since: number, uid: string): DatedAnswer | undefined {
    const answer = this.#deps.lookups.snapshot.get(uid, 'state');
    if (!answer || answer.asOf < since || answer.result.kind !== 'found') return undefined;
    return answer.result.instance.state === 'running' ? answer : undefined;
  }

  /** For the breaker. Only nodes that could ever be deleted count: nodes of others make no fraction smaller. */
  #see(node: Node, plan: LifecyclePlan): void {
    const { uid = '', labels = {}, annotations = {} } = node.metadata ?? {};
    const isOurs = plan.kind !== 'nothing' || plan.reason === 'ready';
    if (!isOurs || (!node.spec?.providerID && this.#options.unknownNodeDeletionMs === 0)) {
      this.#breaker.forget(uid);
      return;
    }
    const marked = node.spec?.taints?.some(({ key }) => key === toBeDeletedTaintKey) ?? false;
    this.#breaker.see(uid, {
      zone: labels[zoneLabel.stable] ?? labels[zoneLabel.beta],
      exempt: marked || annotations[allowDeletionAnnotation] === 'true',
      ready: readinessOf(node).ready && !isUninitialized(node),
    });
  }

  #forget(key: string, node: Node): void {
    const uid = node.metadata?.uid ?? '';
    this.#journal.plan(subjectOf('Node', node), []);
    this.#dropCandidate(key);
    this.#newborns.delete(key);
    this.#askedAt.delete(uid);
    this.#breaker.forget(uid);
    this.#places.forget(uid);
    this.#told.forget(uid);
    this.#deps.lookups.snapshot.forget(uid);
  }

  #dropCandidate(key: string): void {
    if (!this.#candidates.get(key)) return;
    this.#candidates.end(key);
    this.#inVain.delete(key);
    this.#rounds.forget(key);
    this.#reads.forget(key);
  }

  #refOfCandidate(key: string): NodeRef | undefined {
    const node = this.#deps.store.get(key);
    return node && this.#candidates.get(key) ? refOfNode(node) : undefined;
  }

  #lookedUp(key: string): void {
    const candidate = this.#candidates.get(key);
    const answer = candidate && this.#rounds.take(key, candidate.uid);
    if (!answer) return;
    this.#candidates.learn(key, withLookUp(candidate.evidence, answer));
    this.#queue.add(key);
  }

  #readRequest(key: string): ReadRequest | undefined {
    const candidate = this.#candidates.get(key);
    const node = this.#deps.store.get(key);
    if (!candidate || !node || this.#plan(node, candidate).kind !== 'read') return undefined;
    return { node: refOfNode(node), notBefore: candidate.evidence.since };
  }

  #wasRead(key: string, answer: DatedAnswer | undefined): void {
    const candidate = this.#candidates.get(key);
    if (!candidate) return;
    if (answer) this.#candidates.learn(key, withRead(candidate.evidence, answer, this.#deps.clock.monotonic()));
    this.#queue.add(key);
  }

  #late(key: string): void {
    const candidate = this.#candidates.get(key);
    const node = this.#deps.store.get(key);
    if (!candidate || !node || this.#plan(node, candidate).kind !== 'read') return;
    this.#candidates.setHold(key, candidate.hold ?? 'unproved');
    this.#told.tell(node, unprovedNote(key, NO_TURN));
  }

  /** From memory alone. */
  explain(key: string): Finding | undefined {
    const { clock, store } = this.#deps;
    const node = store.get(key);
    if (!node) return undefined;
    const candidate = this.#candidates.get(key);
    const plan = this.#plan(node, candidate);
    const now = clock.monotonic();
    const { deletionGraceMs, unknownNodeDeletionMs } = this.#options;
    return {
      controller: 'cloud-node-lifecycle-controller',
      about: [node.metadata?.uid ?? ''],
      observed: candidate ? factsOfEvidence(candidate.evidence, now) : [],
      planned: factsOfLifecyclePlan({
        plan,
        graceMs: node.spec?.providerID ? deletionGraceMs : Math.max(deletionGraceMs, unknownNodeDeletionMs),
        inMs: this.#rounds.askedInMs(key),
        now,
      }),
    };
  }

  *list(): Iterable<Standing> {
    for (const key of this.#candidates.keys()) {
      const node = this.#deps.store.get(key);
      if (node) yield standingOf(node, this.#plan(node, this.#candidates.get(key)).kind, this.explain(key));
    }
  }

  #plan(node: Node, candidate: Candidate | undefined): LifecyclePlan {
    const { clock } = this.#deps;
    return planNodeLifecycle({
      node,
      evidence: candidate?.evidence,
      now: clock.monotonic(),
      wallNow: clock.now(),
      options: this.#options,
      surroundings: candidate && this.#surroundingsOf(candidate),
    });
  }

  #surroundingsOf({ uid, evidence }: Candidate): Surroundings {
    const place = evidence.firstAbsence?.place;
    return {
      isLargeShare: this.#breaker.isLargeShare(uid),
      witnessAsOf: this.#places.foundAsOf(place),
      anyReady: this.#breaker.anyReady,
      isOwnPlace: this.#places.isOwn(uid, place),
    };
  }

  async #reconcile(key: string, context: ReconcileContext): Promise<ReconcileResult | void> {
    const node = this.#deps.store.get(key);
    if (!node) return;
    const candidate = this.#candidates.get(key);
    const plan = this.#plan(node, candidate);
    if (plan.kind === 'remove-shutdown-taint') {
      await this.#writeTaint(key, node, plan.kind, context);
      return;
    }
    if (!candidate) {
      // A newborn that has grown old without being initialised.
      if (plan.kind === 'look-up') this.#observe(key, node);
      // It is younger by the wall clock than by the one that wakes us.
      if (plan.kind === 'wait') return { requeueAfterMs: Math.max(SOONEST_MS, plan.afterMs) };
      return;
    }
    switch (plan.kind) {
      case 'nothing':
        return;
      case 'look-up':
        this.#rounds.askLater(key, candidate.uid);
        return;
      case 'read':
        this.#reads.ask(key);
        return;
      case 'hold':
        this.#hold(key, node, candidate, plan);
        return;
      case 'wait':
        this.#wait(key, node, candidate, plan, context.logger);
        return;
      case 'add-shutdown-taint':
        this.#inVain.delete(key);
        await this.#writeTaint(key, node, plan.kind, context);
        if (this.#candidates.get(key)?.uid === candidate.uid) this.#rounds.askLater(key, candidate.uid);
        return;
      case 'delete':
        return await this.#delete(key, candidate, context);
    }
  }

  #wait(key: string, node: Node, { uid }: Candidate, plan: LifecyclePlan & { kind: 'wait' }, logger: Logger): void {
    const error = plan.error ? { error: plan.error } : {};
    this.#journal.plan({ kind: 'Node', name: key, uid }, []);
    // The grace period is no back-off: its end is not to be missed.
    if (plan.reason === 'grace') this.#rounds.used(key);
    const waits = this.#rounds.askLater(key, uid, plan.afterMs);
    logger.verbose(plan.error ? 2 : 4, 'The node is not Ready and is kept', { reason: plan.reason, waits, ...error });
    const why = plan.reason === 'unproved' ? NO_PROOF : plan.error?.message;
    const inVain = why === undefined ? 0 : (this.#inVain.get(key) ?? 0) + 1;
    this.#inVain.set(key, inVain);
    const told = inVain >= WAITS_BEFORE_TOLD ? why : undefined;
    this.#candidates.setHold(key, told !== undefined && plan.reason !== 'look-up-failed' ? 'unproved' : undefined);
    if (told !== undefined) this.#told.tell(node, unprovedNote(key, told));
  }

  #hold(key: string, node: Node, { uid }: Candidate, plan: LifecyclePlan & { kind: 'hold' }): void {
    this.#candidates.setHold(key, plan.hold);
    this.#inVain.delete(key);
    // The end of the proof is not to be missed.
    this.#rounds.used(key);
    this.#rounds.askLater(key, uid, plan.afterMs);
    this.#askWitnesses();
    const note = heldNote(node.metadata?.name ?? '', plan.hold);
    if (this.#told.tell(node, note)) this.#deps.logger.warn(note.message);
  }

  /** Nodes that are Ready have machines: a cloud that does not know them is not believed about the others. */
  #askWitnesses(): void {
    const { clock, lookups, random, store } = this.#deps;
    const now = clock.monotonic();
    if (!this.#breaker.anyReady || now - this.#askedWitnessAt < WITNESS_MS) return;
    this.#askedWitnessAt = now;
    const ready = Array.from(store.values()).filter(
      (node) => ownerOfNode(node, this.#options) === 'ours' && readinessOf(node).ready,
    );
    const first = Math.floor(random() * ready.length);
    for (const node of [...ready.slice(first), ...ready.slice(0, first)].slice(0, WITNESSES)) {
      const options = { need: 'state', signal: this.#signal, priority: 'normal' } as const;
      // What is found comes by the snapshot; a look-up that fails is no witness.
      lookups.lookUp(refOfNode(node), options).catch(() => {});
    }
  }

  async #writeTaint(key: string, node: Node, kind: TaintWrite, { logger, signal }: ReconcileContext): Promise<void> {
    const isWanted = (live: Node): boolean => this.#plan(live, this.#candidates.get(key)).kind === kind;
    const write = (): Promise<boolean> => writeShutdownTaint(node, kind, { nodes: this.#nodes, signal, isWanted });
    const summary = kind === 'add-shutdown-taint' ? 'add the shutdown taint' : 'remove the shutdown taint';
    const action = { kind, summary, write: { object: node, patch: taintPatch(node, kind) } };
    if (!(await this.#journal.perform(subjectOf('Node', node), [action], write, notWritten))) return;
    const added = kind === 'add-shutdown-taint';
    this.#metrics.shutdownTaints.inc({ action: added ? 'added' : 'removed' });
    logger.info(added ? 'Shutdown taint added: the machine is shut down' : 'Shutdown taint removed: the node is Ready');
  }

  async #readLive(key: string, signal: AbortSignal): Promise<Node | undefined> {
    try {
      return await this.#nodes.get({ name: key }, { signal });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** The store may be behind: a node that the server shows otherwise than the one that was judged is not deleted. */
  async #delete(key: string, candidate: Candidate, context: ReconcileContext): Promise<ReconcileResult | void> {
    const { signal, logger } = context;
    const node = await this.#readLive(key, signal);
    // Whatever was learned while it was read counts too.
    const current = this.#candidates.get(key);
    if (!node || !current || current.uid !== candidate.uid) return;
    const sameNode = node.metadata?.uid === current.uid && node.spec?.providerID === current.providerID;
    if (!sameNode || !isSameReadiness(readinessOf(node), current.readiness)) {
      logger.verbose(2, 'The node has changed since its machine was found to be missing; it is kept');
      this.#rounds.askLater(key, current.uid);
      return;
    }
    const plan = this.#plan(node, current);
    this.#see(node, plan);
    if (plan.kind === 'hold') {
      this.#hold(key, node, current, plan);
      return;
    }
    if (plan.kind !== 'delete') {
      this.#rounds.askLater(key, current.uid);
      return;
    }
    this.#candidates.setHold(key, undefined);
    const { first, second } = plan;
    const action = { kind: 'delete', summary: `delete the node, as its machine does not exist: ${second.proof}` };
    const subject = subjectOf('Node', node);
    const failureOf = (answer: 'deleted' | 'gone' | 'conflict'): string | undefined =>
      answer === 'conflict' ? 'the node has changed meanwhile' : undefined;
    const outcome = await this.#journal.perform(subject, [action], () => this.#request(node, signal), failureOf);
    if (!outcome) this.#rounds.askLater(key, current.uid);
    if (outcome === 'conflict') return { requeueAfterMs: WRITE_BACKOFF.baseMs };
    if (outcome === 'deleted') {
      const proofs = { first: first.proof, second: second.proof };
      logger.info('Deleted the node: its machine does not exist', { node: key, ...proofs });
    }
  }

  async #request(node: Node, signal: AbortSignal): Promise<'deleted' | 'gone' | 'conflict'> {
    const tell = (about: Node, note: EventNote): void => void this.#told.tell(about, note);
    try {
      const outcome = await deleteNode(node, { nodes: this.#nodes, breaker: this.#breaker, signal, tell });
      this.#metrics.deletions.inc({ outcome });
      return outcome;
    } catch (error) {
      this.#metrics.deletions.inc({ outcome: 'error' });
      throw error;
    }
  }
}

/** What `writeShutdownTaint` says by `false`. */
function notWritten(written: boolean): string | undefined {
  return written ? undefined : 'the node has changed meanwhile, or is gone';
}
