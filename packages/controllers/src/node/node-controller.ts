// Over 400 lines: one state machine over each node and what the cloud says of it; what can be said without it is in the files beside it.
/** The cloud-node-controller: brings what the cloud knows to the nodes. Entry point: `createNodeController`. */
import type { InstanceAnswer, NodeRef } from '@outrigger/cloud-provider';
import type { HintedMachines } from '@outrigger/cloud-runtime';
import {
  createWorkQueue,
  exponentialBackoff,
  isConflict,
  isInvalid,
  isNotFound,
  resources,
  runController,
  keyOfObject,
  type Logger,
  type Node,
  type ReconcileContext,
  type ResourceClient,
  type ResourceEvent,
  type WorkQueue,
} from '@outrigger/kube';
import { factOfAnswer } from '../answer-words.ts';
import { endsBeforeAbort } from '../ends-before-abort.ts';
import { standingOf, type Explains, type Finding, type Standing } from '../finding.ts';
import { noJournal, subjectOf, type ControllerJournal } from '../journal.ts';
import { LookUpRounds } from '../look-up-rounds.ts';
import { hintedNodes } from '../hinted-nodes.ts';
import { refOfNode } from '../node-ref.ts';
import { ToldEvents } from '../told-events.ts';
import { WrittenVersions } from '../written-versions.ts';
import type { IdleReason, NodeAction, NodePlan } from './actions.ts';
import { applyWrites } from './apply.ts';
import { MachineTags } from './machine-tags.ts';
import type { NodeControllerDependencies } from './node-dependencies.ts';
import { createNodeMetrics, watchUninitialized, type NodeMetrics } from './node-metrics.ts';
import { factsOfNode, factsOfNodePlan, notedWrites, plannedWrites } from './node-words.ts';
import type { PlanOptions } from './observed.ts';
import { planNode } from './plan.ts';
import { runRefreshSchedule } from './refresh-schedule.ts';
import { isUninitialized } from './taints.ts';
import { tellSetAside } from '../set-aside.ts';
import { Twins } from './twins.ts';

/** After a write that failed. A node is never given up. */
const WRITE_BACKOFF = { baseMs: 50, maxMs: 300_000 };

/**
 * Nodes come in crowds, and a write takes as long as the API server is busy. With eight at a time, 25 that joined while others wrote much took
 * four such times; with one each, about as long as a client that does nothing else.
 */
const DEFAULT_WORKERS = 32;
const DEFAULT_PERIOD_MS = 300_000;
const NAME = 'cloud-node-controller';

export interface NodeController extends Explains {
  /** Runs until `signal` aborts, and resolves when the last write has ended. Once only. */
  run(signal: AbortSignal): Promise<void>;
}

/** Makes the controller; nothing is read or written before `run`. */
export function createNodeController(dependencies: NodeControllerDependencies): NodeController {
  let current: Run | undefined;
  return {
    run: (signal) => (current = new Run(dependencies, signal)).run(),
    explain: (key) => current?.explain(key),
    list: () => current?.list() ?? [],
  };
}

class Run {
  readonly #deps: NodeControllerDependencies;
  readonly #signal: AbortSignal;
  readonly #nodes: ResourceClient<Node>;
  readonly #queue: WorkQueue<string>;
  readonly #rounds: LookUpRounds;
  readonly #told: ToldEvents;
  readonly #written: WrittenVersions;
  /** Keys whose last write found the store out of date twice: their next pass reads the server. */
  readonly #readLive = new Set<string>();
  /** Keys with an answer to act on, that wait for the store to see our own last write. */
  readonly #deferred = new Set<string>();
  readonly #twins: Twins;
  /** From registration until they were initialised, by this process; in milliseconds. */
  readonly #took = new Map<string, number>();
  readonly #metrics: NodeMetrics;
  readonly #journal: ControllerJournal;
  readonly #planOptions: PlanOptions;
  readonly #tags: MachineTags | undefined;

  constructor(deps: NodeControllerDependencies, signal: AbortSignal) {
    const { client, clock, events, logger, lookups, metrics, random, options } = deps;
    this.#deps = deps;
    this.#signal = signal;
    this.#nodes = client.of(resources.nodes);
    this.#twins = new Twins((providerID) => lookups.machineOf(providerID));
    this.#queue = createWorkQueue({
      name: NAME,
      clock,
      metrics,
      rateLimiter: exponentialBackoff({ ...WRITE_BACKOFF, random }),
    });
    this.#told = new ToldEvents(events, clock);
    this.#written = new WrittenVersions({ clock, signal, onBelieved: (key) => this.#believe(key) });
    this.#metrics = createNodeMetrics(metrics);
    watchUninitialized(
      metrics,
      () => deps.store.values(),
      () => clock.now(),
      signal,
    );
    this.#journal = deps.journal ?? noJournal;
    const { provider } = deps;
    this.#tags = provider && new MachineTags({ clock, journal: this.#journal, provider, signal, told: this.#told });
    this.#planOptions = {
      providerName: options.providerName,
      unmanaged: options.unmanaged,
      runsRoutes: options.runsRoutes ?? false,
      nodeSyncedEvents: options.nodeSyncedEvents ?? false,
      maintenanceConditions: options.maintenanceConditions,
    };
    this.#rounds = new LookUpRounds({
      lookups,
      clock,
      logger,
      signal,
      need: 'metadata',
      nodeOf: (key) => this.#nodeToAsk(key),
      onAnswer: (key) => this.#enqueue(key),
    });
  }

  async run(): Promise<void> {
    const { store, clock, logger, lookups, metrics, random, options } = this.#deps;
    if (!(await endsBeforeAbort(store.whenSynced(this.#signal), this.#signal))) return;
    const unsubscribe = store.subscribe((change) => this.#changed(change));
    const stopHints = lookups.hints?.subscribe((hinted) => this.#hinted(hinted));
    try {
      await Promise.all([
        runController({
          name: NAME,
          queue: this.#queue,
          reconciler: { reconcile: (key, context) => this.#reconcile(key, context) },
          workers: options.concurrentNodeSyncs ?? DEFAULT_WORKERS,
          clock,
          logger,
          metrics,
          signal: this.#signal,
          onSetAside: tellSetAside(store, this.#deps.events),
        }),
        runRefreshSchedule({
          clock,
          signal: this.#signal,
          random,
          periodMs: options.nodeStatusUpdateFrequencyMs ?? DEFAULT_PERIOD_MS,
          batchSize: options.batchSize ?? 500,
          due: () => this.#dueForRefresh(),
          ask: (key) => this.#askToRefresh(key),
        }),
      ]);
    } finally {
      unsubscribe();
      stopHints?.();
      this.#queue.shutDown();
    }
  }

  /** Runs for each heartbeat of each node: reads memory, and asks or enqueues only where there is something to do. */
  #changed(change: ResourceEvent<Node>): void {
    const { key } = change;
    this.#twins.note(key, change.type === 'delete' ? undefined : change.object);
    if (change.type === 'delete') {
      this.#forget(key, change.previous);
      return;
    }
    const node = change.object;
    if (change.type === 'update' && change.previous.metadata?.uid !== node.metadata?.uid)
      this.#forget(key, change.previous);
    if (this.#written.isBehind(key, node)) return;
    if (this.#journal.dryRun && this.#planNow(node).kind !== 'act') this.#journal.plan(subjectOf('Node', node), []);
    if (this.#deferred.delete(key)) this.#enqueue(key);
    const plan = this.#plan(node);
    // All nodes of the first list are asked about in one turn: the look-ups take them into as few batches as there can be.
    if (plan.kind === 'look-up') this.#rounds.ask(key, refOfNode(node), 'normal');
    else if (plan.kind === 'act') this.#queue.add(key);
  }

  /** Those that the cloud is asked about anyway are asked about now. */
  #hinted(hinted: HintedMachines): void {
    for (const node of hintedNodes(this.#deps.store.values(), hinted)) {
      const key = node.metadata?.name ?? '';
      const isWaiting = this.#plan(node).kind === 'look-up';
      if (isWaiting || this.#isRefreshed(node)) this.#rounds.askNow(key, refOfNode(node), 'normal');
    }
  }

  /** As if the store had just heard of it: what it shows is no longer taken to be old. */
  #believe(key: string): void {
    const object = this.#deps.store.get(key);
    if (object) this.#changed({ type: 'add', key, object });
  }

  #forget(key: string, node: Node): void {
    const uid = node.metadata?.uid ?? '';
    this.#journal.plan(subjectOf('Node', node), []);
    this.#rounds.forget(key);
    this.#written.forget(key);
    this.#readLive.delete(key);
    this.#deferred.delete(key);
    this.#took.delete(key);
    this.#told.forget(uid);
    this.#tags?.forget(uid);
    this.#deps.lookups.snapshot.forget(uid);
  }

  /** From memory alone: with what the cloud said last, whether that was acted on or not. */
  explain(key: string): Finding | undefined {
    const { clock, lookups, store } = this.#deps;
    const node = store.get(key);
    if (!node) return undefined;
    const answer = lookups.snapshot.get(node.metadata?.uid ?? '', 'metadata');
    return {
      controller: NAME,
      about: [node.metadata?.uid ?? ''],
      observed: [
        ...factsOfNode(node, clock.now()),
        ...(answer ? [factOfAnswer(answer, clock.monotonic())] : [{ text: 'It has not been looked up in the cloud.' }]),
        ...(answer?.notes ?? []).map((text) => ({ text })),
      ],
      planned: factsOfNodePlan(this.#planNow(node), this.#rounds.askedInMs(key)),
    };
  }

  *list(): Iterable<Standing> {
    for (const node of this.#deps.store.values()) {
      const key = keyOfObject(node);
      const { kind: state } = this.#planNow(node);
      const tookMs = this.#took.get(key);
      const line = state === 'nothing' ? undefined : standingOf(node, state, this.explain(key));
      if (line) yield line;
      else if (tookMs !== undefined) yield { name: key, controller: NAME, state, planned: [], tookMs };
    }
  }

  #planNow(node: Node): NodePlan {
    const answer = this.#deps.lookups.snapshot.get(node.metadata?.uid ?? '', 'metadata');
    return this.#planWith(node, answer);
  }

  #planWith(node: Node, answer: InstanceAnswer | undefined): NodePlan {
    const { clock, store } = this.#deps;
    const withProviderID = (ids: readonly string[]): readonly Node[] =>
      this.#twins.of(ids).flatMap((name) => store.get(name) ?? []);
    return planNode({ node, answer, now: clock.now(), options: this.#planOptions, withProviderID });
  }

  #enqueue(key: string): void {
    const node = this.#deps.store.get(key);
    // New nodes before refreshes.
    if (node) this.#queue.add(key, { priority: isUninitialized(node) ? 1 : 0 });
  }

  #plan(node: Node, key?: string): NodePlan {
    const answer = key === undefined ? undefined : this.#rounds.answer(key, node.metadata?.uid ?? '');
    return this.#planWith(node, answer);
  }

  async #reconcile(key: string, context: ReconcileContext): Promise<void> {
    const stored = this.#deps.store.get(key);
    if (!stored) return;
    const live = this.#readLive.has(key);
    if (!live && this.#written.isBehind(key, stored)) {
      this.#deferred.add(key);
      return;
    }
    try {
      const node = live ? await this.#read(key, context.signal) : stored;
      try {
        await this.#bring(key, node, context);
      } catch (error) {
        if (!isOutOfDate(error)) throw error;
        context.logger.verbose(4, 'The node has changed since it was read; retrying', { error });
        this.#readLive.add(key);
        await this.#bring(key, await this.#read(key, context.signal), context);
      }
      this.#readLive.delete(key);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      context.logger.verbose(4, 'The node is gone');
    }
  }

  #read(key: string, signal: AbortSignal): Promise<Node> {
    return this.#nodes.get({ name: key }, { signal });
  }

  async #bring(key: string, node: Node, context: ReconcileContext): Promise<void> {
    const plan = this.#plan(node, key);
    switch (plan.kind) {
      case 'look-up':
        this.#rounds.ask(key, refOfNode(node), 'normal');
        return;
      case 'wait':
        this.#wait(key, node, plan, context.logger);
        return;
      case 'nothing':
        this.#leaveAlone(key, node, plan.reason, context.logger);
        return;
      case 'act':
        if (await this.#act(key, node, plan.actions, context)) this.#rounds.used(key);
        return;
    }
  }

  #leaveAlone(key: string, node: Node, reason: IdleReason, logger: Logger): void {
    const uid = node.metadata?.uid ?? '';
    const result = this.#rounds.answer(key, uid)?.result;
    if (result?.kind === 'failed') logger.verbose(2, 'The node could not be refreshed', { error: result.error });
    else logger.verbose(5, 'Nothing to do for the node', { reason });
    // It still has its taint: without a later round each heartbeat would ask again.
    if (reason === 'implemented-elsewhere') this.#rounds.askLater(key, uid);
    else this.#rounds.used(key);
  }

  #wait(key: string, node: Node, plan: NodePlan & { readonly kind: 'wait' }, logger: Logger): void {
    const uid = node.metadata?.uid ?? '';
    const result = this.#rounds.answer(key, uid)?.result;
    const error = result?.kind === 'failed' ? { error: result.error } : {};
    const waits = this.#rounds.askLater(key, uid, plan.retryAfterMs);
    this.#metrics.waits.inc({ reason: plan.reason });
    logger.verbose(2, 'The node keeps its taint', { reason: plan.reason, waits, ...error });
    if (plan.other) this.#told.tell(plan.other.node, plan.other.note);
    if (waits >= plan.tellAfter && this.#told.tell(node, plan.note)) logger.warn(plan.note.message, error);
  }

  /** Returns whether it was done. */
  async #act(
    key: string,
    node: Node,
    actions: readonly NodeAction[],
    { signal, logger }: ReconcileContext,
  ): Promise<boolean> {
    const subject = subjectOf('Node', node);
    if (this.#journal.dryRun && actions.some(({ kind }) => kind !== 'event')) {
      this.#journal.plan(subject, plannedWrites(node, actions));
      // It will carry its taint until somebody else has done this.
      if (isUninitialized(node)) this.#rounds.askLater(key, node.metadata?.uid ?? '');
      else this.#rounds.used(key);
      return false;
    }
    // Before the store shows it: another node may be about to get the same.
    const given = actions.flatMap((action) => (action.kind === 'patch-object' ? (action.providerID ?? []) : []))[0];
    if (given !== undefined) this.#twins.note(key, { ...node, spec: { ...node.spec, providerID: given } });
    await applyWrites(node, actions, {
      nodes: this.#nodes,
      signal,
      onWritten: (metadata) => this.#written.note(key, metadata),
      onResult: (action, error) => this.#journal.note(subject, notedWrites([action]), error && { error }),
    });
    if (actions.some((action) => action.kind === 'patch-object' && action.removeTaint)) this.#initialised(node, logger);
    for (const action of actions) {
      if (action.kind === 'tag-machine') void this.#tags?.put(node, action);
      if (action.kind !== 'event' || !this.#told.tell(node, action.note)) continue;
      for (const { key: label } of action.differences ?? []) this.#metrics.labelDifferences.inc({ label });
    }
    return true;
  }

  #initialised(node: Node, logger: Logger): void {
    const seconds = (this.#deps.clock.now() - Date.parse(node.metadata?.creationTimestamp ?? '')) / 1000;
    logger.info('The node is initialized', Number.isNaN(seconds) ? {} : { sinceCreation: `${seconds.toFixed(1)}s` });
    if (Number.isNaN(seconds)) return;
    this.#took.set(keyOfObject(node), seconds * 1000);
    this.#metrics.taintRemovalDelay.observe(seconds);
    this.#metrics.initialSyncDelay.observe(seconds);
  }

  /** For a round: the node as it is now, if it still needs to be asked about. */
  #nodeToAsk(key: string): NodeRef | undefined {
    const node = this.#deps.store.get(key);
    return node && this.#plan(node).kind === 'look-up' ? refOfNode(node) : undefined;
  }

  #dueForRefresh(): readonly string[] {
    const keys: string[] = [];
    for (const node of this.#deps.store.values()) {
      const key = node.metadata?.name ?? '';
      if (this.#isRefreshed(node)) keys.push(key);
    }
    return keys.sort();
  }

  #askToRefresh(key: string): void {
    const node = this.#deps.store.get(key);
    if (!node || !this.#isRefreshed(node)) return;
    // Initialised a moment ago: the cloud has just been asked.
    const { nodeStatusUpdateFrequencyMs: period = DEFAULT_PERIOD_MS } = this.#deps.options;
    if (this.#rounds.ageOfUsed(key) > period / 2) this.#rounds.ask(key, refOfNode(node), 'background');
  }

  /** Whether this node is ours and initialised: only those are asked about periodically. */
  #isRefreshed(node: Node): boolean {
    const plan = this.#plan(node);
    return plan.kind === 'act' || (plan.kind === 'nothing' && plan.reason === 'up-to-date');
  }
}

function isOutOfDate(error: unknown): boolean {
  return isConflict(error) || isInvalid(error);
}
