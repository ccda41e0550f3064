/** The kubelet-serving-approver: approves the serving certificates of kubelets that the cloud confirms. Entry point: `createKubeletServingApprover`. */
import type { InstanceLookups } from '@outrigger/cloud-runtime';
import {
  createWorkQueue,
  exponentialBackoff,
  isNotFound,
  resources,
  runController,
  type CertificateSigningRequest,
  type KubeObject,
  type Node,
  type ReconcileContext,
  type ReconcileResult,
  type ResourceEvent,
  type Store,
  type WorkQueue,
} from '@outrigger/kube';
import type { ControllerDependencies } from '../controller-dependencies.ts';
import type { Explains, Finding } from '../finding.ts';
import { endsBeforeAbort } from '../ends-before-abort.ts';
import { noJournal, subjectOf, type ControllerJournal } from '../journal.ts';
import { refOfNode } from '../node-ref.ts';
import { Twins } from '../node/twins.ts';
import { queuedState } from '../planned-action.ts';
import { tellSetAside } from '../set-aside.ts';
import { ToldEvents } from '../told-events.ts';
import { isUnmanaged } from '../unmanaged-nodes.ts';
import { WrittenVersions } from '../written-versions.ts';
import { createApproverMetrics, type ApproverMetrics } from './approver-metrics.ts';
import { NodeReads } from './node-reads.ts';
import { planServingRequest, type ServingOptions, type ServingPlan, type WaitReason } from './plan.ts';
import { decisionText, factsOfRequest, factsOfServingPlan, waitingText } from './serving-words.ts';
import type { ServingRequest } from './serving-request.ts';
import { isDecided } from './trim-request.ts';

const NAME = 'kubelet-serving-approver';
const WRITERS = 4;
const WRITE_BACKOFF = { baseMs: 1_000, maxMs: 300_000 };
/** Between two looks at a request that stays pending; doubled with each. */
const FIRST_WAIT_MS = 5_000;
const LONGEST_WAIT_MS = 300_000;
/** What passes by itself, as that a new node is not initialised yet, is not worth an Event: this is after 15 s. */
const TOLD_FROM_WAIT = 3;

export interface KubeletServingApproverDependencies extends ControllerDependencies {
  /** Of the signer's requests; others are left alone. */
  readonly store: Store<CertificateSigningRequest>;
  readonly nodes: Store<Node>;
  readonly lookups: Pick<InstanceLookups, 'machineOf' | 'read'>;
  readonly options: ServingOptions;
}

export interface KubeletServingApprover extends Explains {
  /** Runs until `signal` aborts, and resolves when the last write has ended. Once only. */
  run(signal: AbortSignal): Promise<void>;
}

/** Makes the controller; nothing is read or written before `run`. */
export function createKubeletServingApprover(dependencies: KubeletServingApproverDependencies): KubeletServingApprover {
  let current: Run | undefined;
  return {
    explain: (key) => current?.explain(key),
    run: async (signal) => {
      // The parser of PKCS #10 takes memory and time to load: only who approves has it.
      const { readServingRequest } = await import('./serving-request.ts');
      current = new Run(dependencies, readServingRequest, signal);
      await current.run();
    },
  };
}

/** A request that is not decided. */
interface Pending {
  readonly uid: string;
  readonly asked: ServingRequest;
  /** Only answers of reads count that began when so many others had. */
  begun: number;
  /** Looks that ended with waiting. */
  waits: number;
  waitsFor: WaitReason | undefined;
  /** What it waits for, a clause. */
  problem: string | undefined;
}

class Run {
  readonly #deps: KubeletServingApproverDependencies;
  readonly #read: (csr: CertificateSigningRequest) => ServingRequest;
  readonly #signal: AbortSignal;
  readonly #queue: WorkQueue<string>;
  readonly #reads: NodeReads;
  readonly #twins: Twins;
  readonly #pending = new Map<string, Pending>();
  /** Names of pending requests, by name of the node. */
  readonly #ofNode = new Map<string, Set<string>>();
  readonly #waiting = new Map<WaitReason, number>();
  readonly #written: WrittenVersions;
  readonly #told: ToldEvents;
  readonly #journal: ControllerJournal;
  readonly #metrics: ApproverMetrics;

  constructor(
    deps: KubeletServingApproverDependencies,
    read: (csr: CertificateSigningRequest) => ServingRequest,
    signal: AbortSignal,
  ) {
    const { clock, events, logger, lookups, metrics, random } = deps;
    this.#deps = deps;
    this.#read = read;
    this.#signal = signal;
    this.#told = new ToldEvents(events, clock);
    this.#written = new WrittenVersions({ clock, signal, onBelieved: (key) => this.#queue.add(key) });
    this.#journal = deps.journal ?? noJournal;
    this.#metrics = createApproverMetrics(metrics);
    this.#twins = new Twins((providerID) => lookups.machineOf(providerID));
    this.#reads = new NodeReads({ lookups, clock, logger, signal, onAnswer: (node) => this.#wake(node) });
    this.#queue = createWorkQueue({
      name: NAME,
      clock,
      metrics,
      rateLimiter: exponentialBackoff<string>({ ...WRITE_BACKOFF, random }),
      // However many requests one kubelet makes, those of the others take turns with them.
      groupOf: (key) => deps.store.get(key)?.spec.username ?? '',
    });
  }

  async run(): Promise<void> {
    const { clock, events, logger, metrics, nodes, store } = this.#deps;
    const synced = Promise.all([store.whenSynced(this.#signal), nodes.whenSynced(this.#signal)]);
    if (!(await endsBeforeAbort(synced, this.#signal))) return;
    const stops = [
      nodes.subscribe((change) => this.#nodeChanged(change)),
      store.subscribe((change) => this.#changed(change)),
    ];
    try {
      await runController({
        name: NAME,
        queue: this.#queue,
        reconciler: { reconcile: (key, context) => this.#reconcile(key, context) },
        workers: WRITERS,
        clock,
        logger,
        metrics,
        signal: this.#signal,
        onSetAside: tellSetAside(store, events),
      });
    } finally {
      for (const stop of stops) stop();
      this.#queue.shutDown();
    }
  }

  /** From memory alone: with what the cloud said last. */
  explain(key: string): Finding | undefined {
    const { clock, nodes, store } = this.#deps;
    const csr = store.get(key);
    if (!csr) return undefined;
    const pending = this.#knownPending(key, csr);
    const asked = pending?.asked ?? this.#read(csr);
    const node = asked.kind === 'not-a-kubelet' ? undefined : nodes.get(asked.nodeName);
    const ref = node && refOfNode(node);
    return {
      controller: NAME,
      about: [csr.metadata?.uid ?? '', ...(ref ? [ref.uid] : [])],
      observed: factsOfRequest(csr, asked, {
        node,
        answer: ref && this.#reads.answer(ref, 0),
        wallNow: clock.now(),
        now: clock.monotonic(),
      }),
      planned: factsOfServingPlan(this.#plan(csr, asked, pending?.begun ?? this.#reads.begun), {
        problem: pending?.waitsFor && pending.problem,
        state: queuedState(this.#queue, key, ref !== undefined && this.#reads.isAsked(ref)),
      }),
    };
  }

  #plan(csr: CertificateSigningRequest, asked: ServingRequest, begun: number): ServingPlan {
    const { clock, nodes, options } = this.#deps;
    const node = asked.kind === 'not-a-kubelet' ? undefined : nodes.get(asked.nodeName);
    return planServingRequest({
      csr,
      asked,
      node,
      answer: node && this.#reads.answer(refOfNode(node), begun),
      withProviderID: (ids) => this.#twins.of(ids).flatMap((name) => nodes.get(name) ?? []),
      now: clock.now(),
      options,
    });
  }

  #changed(change: ResourceEvent<CertificateSigningRequest>): void {
    const { key } = change;
    // What was told of one whose decision the watch has brought first too.
    if (change.type === 'delete') this.#told.forget(change.previous.metadata?.uid ?? '');
    if (change.type === 'delete' || isDecided(change.object)) this.#forget(key);
    else this.#queue.add(key);
  }

  /** A heartbeat is no news. */
  #nodeChanged(change: ResourceEvent<Node>): void {
    const { key } = change;
    const node = change.type === 'delete' ? undefined : change.object;
    this.#twins.note(key, node);
    const before = change.type === 'add' ? undefined : change.previous;
    if (change.type === 'delete') this.#told.forget(change.previous.metadata?.uid ?? '');
    else if (this.#ownershipOf(before) !== this.#ownershipOf(node)) this.#wake(key);
  }

  /** What of a node decides whether its requests are judged here, and by which machine. */
  #ownershipOf(node: Node | undefined): string | undefined {
    return node && [node.metadata?.uid, node.spec?.providerID, isUnmanaged(node, this.#deps.options)].join(' ');
  }

  #wake(nodeName: string): void {
    for (const key of this.#ofNode.get(nodeName) ?? []) this.#queue.add(key);
  }

  #forget(key: string): void {
    const pending = this.#pending.get(key);
    this.#queue.forget(key);
    this.#written.forget(key);
    if (!pending) return;
    this.#waitFor(pending, undefined);
    this.#pending.delete(key);
    this.#told.forget(pending.uid);
    if (pending.asked.kind === 'not-a-kubelet') return;
    const others = this.#ofNode.get(pending.asked.nodeName);
    others?.delete(key);
    if (others?.size === 0) this.#ofNode.delete(pending.asked.nodeName);
  }

  async #reconcile(key: string, context: ReconcileContext): Promise<ReconcileResult | void> {
    const { nodes, store } = this.#deps;
    const csr = store.get(key);
    if (!csr || this.#written.isBehind(key, csr)) return undefined;
    const pending = this.#pendingOf(key, csr);
    const { asked } = pending;
    const node = asked.kind === 'not-a-kubelet' ? undefined : nodes.get(asked.nodeName);
    const plan = this.#plan(csr, asked, pending.begun);
    if (plan.kind !== 'approve' && plan.kind !== 'deny')
      this.#journal.plan(subjectOf('CertificateSigningRequest', csr), []);
    switch (plan.kind) {
      case 'nothing':
        this.#waitFor(pending, undefined);
        // Whose the node is may still change.
        if (plan.reason !== 'another-provider' && plan.reason !== 'unmanaged') this.#forget(key);
        return undefined;
      case 'read':
        return this.#ask(csr, pending, plan.node);
      case 'wait':
        // What is to change is not in the answer that is held: the next look has the machine read again.
        pending.begun = this.#reads.begun;
        return this.#wait(csr, pending, plan, node);
      default:
        try {
          return await this.#decide(key, csr, plan, { ...context, node });
        } catch (error) {
          // The next try may be minutes later: the machine is read again for it.
          pending.begun = this.#reads.begun;
          throw error;
        }
    }
  }

  #knownPending(key: string, { metadata }: CertificateSigningRequest): Pending | undefined {
    const known = this.#pending.get(key);
    return known?.uid === (metadata?.uid ?? '') ? known : undefined;
  }

  #pendingOf(key: string, csr: CertificateSigningRequest): Pending {
    const known = this.#knownPending(key, csr);
    if (known) return known;
    this.#forget(key);
    const { uid = '' } = csr.metadata ?? {};
    const { begun } = this.#reads;
    const pending: Pending = { uid, asked: this.#read(csr), begun, waits: 0, waitsFor: undefined, problem: undefined };
    this.#pending.set(key, pending);
    if (pending.asked.kind !== 'not-a-kubelet') {
      const { nodeName } = pending.asked;
      this.#ofNode.set(nodeName, (this.#ofNode.get(nodeName) ?? new Set()).add(key));
    }
    return pending;
  }

  /** Holds no worker: the answer puts the key back. */
  #ask(csr: CertificateSigningRequest, pending: Pending, node: Node): ReconcileResult | undefined {
    const waitMs = this.#reads.ask(refOfNode(node));
    if (waitMs === 0) return undefined;
    const problem = 'its kubelet makes more requests than its machine is read for';
    this.#wait(csr, pending, { reason: 'too-many-reads', problem }, node);
    return { requeueAfterMs: waitMs };
  }

  #wait(
    csr: CertificateSigningRequest,
    pending: Pending,
    { problem, reason }: Pick<Extract<ServingPlan, { kind: 'wait' }>, 'reason' | 'problem'>,
    node: Node | undefined,
  ): ReconcileResult {
    this.#waitFor(pending, reason);
    pending.waits += 1;
    pending.problem = problem;
    const name = csr.metadata?.name ?? '';
    this.#deps.logger.verbose(2, 'A request for a serving certificate stays pending', { request: name, problem });
    if (pending.waits >= TOLD_FROM_WAIT) {
      const message = waitingText(name, problem);
      this.#told.tell(node ?? csr, { type: 'Warning', reason: 'ServingCertificatePending', message });
    }
    return { requeueAfterMs: Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (pending.waits - 1)) };
  }

  #waitFor(pending: Pending, reason: WaitReason | undefined): void {
    if (pending.waitsFor === reason) return;
    for (const [one, by] of [[pending.waitsFor, -1] as const, [reason, 1] as const]) {
      if (one === undefined) continue;
      const count = (this.#waiting.get(one) ?? 0) + by;
      this.#waiting.set(one, count);
      this.#metrics.pending.set(count, { reason: one });
    }
    pending.waitsFor = reason;
  }

  async #decide(
    key: string,
    csr: CertificateSigningRequest,
    plan: Extract<ServingPlan, { kind: 'approve' | 'deny' }>,
    { logger, node, signal }: Pick<ReconcileContext, 'logger' | 'signal'> & { readonly node: Node | undefined },
  ): Promise<void> {
    const { type, reason, message, summary } = decisionText(plan);
    const { resourceVersion } = csr.metadata ?? {};
    const status = { conditions: [{ type, status: 'True', reason, message }] };
    // The version that was judged: whoever decided in between is not overruled.
    const patch = { type: 'merge', body: { metadata: { resourceVersion }, status } } as const;
    const options = { subresource: 'approval', answer: 'metadata', signal } as const;
    let written: KubeObject | undefined;
    try {
      written = await this.#journal.perform(
        subjectOf('CertificateSigningRequest', csr),
        [{ kind: `${plan.kind}-request`, summary, write: { object: csr, patch } }],
        () => this.#deps.client.of(resources.certificateSigningRequests).patch({ name: key }, patch, options),
      );
    } catch (error) {
      if (isNotFound(error)) return;
      throw error;
    }
    if (!written) return;
    this.#written.note(key, written.metadata ?? {});
    this.#metrics.decided.inc({ result: type.toLowerCase(), reason: plan.kind === 'deny' ? plan.reason : '' });
    logger.info('Decided on a request for a serving certificate', { request: key, did: summary });
    if (plan.kind === 'deny') {
      const told = `Denied certificate signing request ${key}: ${plan.problem}.`;
      this.#told.tell(node ?? csr, { type: 'Warning', reason: 'ServingCertificateDenied', message: told });
    }
  }
}
