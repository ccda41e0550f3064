/**
 * Look-ups as group commit: keys gather while one look-up is in flight, the next takes them all, up to the provider's batch
 * size; many wait for no look-up of the first few. No timer, no tuning flag, and a look-up holds no worker: start it, return, and
 * be woken by `snapshot.subscribe`.
 */
import {
  asError,
  CloudError,
  type CallContext,
  type CallPriority,
  type InstanceNeed,
  type Instances,
  type NodeRef,
  PROVIDER_ID_LENGTH,
} from '@outrigger/cloud-provider';
import { batchSizeOf, type DatedAnswer } from './answer-defaults.ts';
import { onAbort, type Clock, type Logger, type Metrics } from '@outrigger/kube';
import { checkAnswers, checkRead } from './instance-answers-check.ts';
import { createInstanceHints, type InstanceHints } from './instance-hints.ts';
import { InstanceAnswers, type InstanceSnapshot } from './instance-snapshot.ts';
import { LookUpLane, type AnswerWaiter, type Batch, type LookUpEntry } from './look-up-lane.ts';
import type { MakeCallContext } from './make-call-context.ts';
import { callInTime } from './call-in-time.ts';

export interface LookUpOptions {
  readonly need: InstanceNeed;
  /** Gives up waiting for this one answer; the look-up goes on for the others. */
  readonly signal: AbortSignal;
  /** `clock.monotonic()`: an answer that rests on a request sent before this is `failed`, code `unavailable`. Default: none is. */
  readonly notBefore?: number;
  /**
   * Default: `normal`. A `normal` one that needs `metadata` is that of a node which joins, or whose machine the cloud says has changed: it counts as
   * `critical`. Those travel in batches beside the others', and wait neither for them nor behind slow writes for a place in the call budget.
   */
  readonly priority?: CallPriority;
}

export interface ReadOptions extends LookUpOptions {
  /** How often each request is sent at most, for one who reads again by itself. Default: the call budget's. */
  readonly maxAttempts?: number;
}

/** The look-ups of one provider. */
export interface InstanceLookups extends AsyncDisposable {
  /**
   * Asks about a node in the next batch; one already in flight is never joined, its answer may be older than the question.
   * Equal questions about one node (by UID) share an answer. Never rejects for what the cloud said: that is in the answer
   * (`failed`). Rejects with the signal's reason, and with `unavailable` once disposed.
   */
  lookUp(node: NodeRef, options: LookUpOptions): Promise<DatedAnswer>;
  /** Reads one machine directly (`Instances.read`), beside the batches: what a deletion rests on. As `lookUp` otherwise; priority `critical` unless told. */
  read(node: NodeRef, options: ReadOptions): Promise<DatedAnswer>;
  /**
   * What the provider says names the machine in this provider ID (`Instances.machineOf`); the ID itself where it says nothing. Never throws.
   */
  machineOf(providerID: string): string;
  readonly snapshot: InstanceSnapshot;
  /** Of machines that may have changed. Absent: the provider gives none. */
  readonly hints?: InstanceHints | undefined;
}

export interface InstanceLookupsOptions {
  readonly instances: Instances;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly callContext: MakeCallContext;
  readonly metrics?: Metrics;
  /** Label value of the metrics. Default: empty. */
  readonly providerName?: string;
  /** A batch or a read that takes longer is given up as `timeout`. Default: 60,000. */
  readonly callTimeoutMs?: number;
}

const DEFAULT_CALL_TIMEOUT_MS = 60_000;

export function createInstanceLookups(options: InstanceLookupsOptions): InstanceLookups {
  return new BatchedLookups(options);
}

/** One call of the contract. */
interface Asked {
  readonly what: string;
  readonly nodes: readonly NodeRef[];
  readonly priority: CallPriority;
  readonly maxAttempts?: number | undefined;
}

class BatchedLookups implements InstanceLookups {
  readonly hints: InstanceHints | undefined;
  readonly #options: InstanceLookupsOptions;
  readonly #answers: InstanceAnswers;
  /**
   * Two calls each at most: many do not wait for the first few. A node that joins waits neither
   * behind a refresh of the whole cluster nor behind the states of nodes that stop being
   * Ready and become so again: a kubelet may do that every second.
   */
  readonly #urgent: LookUpLane;
  readonly #others: LookUpLane;
  readonly #closed = new AbortController();
  readonly #running = new Set<Promise<unknown>>();
  /** Nodes that are being read directly, by UID; each read has its own mark. */
  readonly #reads = new Map<string, Set<{ forgotten: boolean }>>();
  /** The last batch has failed: each is one request until one succeeds. Those who ask do so again by themselves. */
  #failing = false;
  readonly #batchSizes: ReturnType<Metrics['histogram']> | undefined;

  constructor(options: InstanceLookupsOptions) {
    this.#options = options;
    this.hints = createInstanceHints({ ...options, signal: this.#closed.signal });
    this.#answers = new InstanceAnswers(options.logger, (uid) => this.#forget(uid));
    const run = (batch: Batch): Promise<void> => this.#track(this.#runBatch(batch));
    this.#urgent = new LookUpLane(batchSizeOf(options.instances), run);
    this.#others = new LookUpLane(batchSizeOf(options.instances), run);
    this.#batchSizes = options.metrics?.histogram({
      name: 'cloudprovider_lookup_batch_size',
      help: 'Nodes in one batched look-up.',
      labels: ['provider'],
      buckets: [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000],
    });
  }

  get snapshot(): InstanceSnapshot {
    return this.#answers;
  }

  machineOf(providerID: string): string {
    if (providerID.length > PROVIDER_ID_LENGTH) return providerID;
    try {
      return this.#options.instances.machineOf?.(providerID) ?? providerID;
    } catch {
      return providerID;
    }
  }

  lookUp(node: NodeRef, { need, signal, notBefore, priority = 'normal' }: LookUpOptions): Promise<DatedAnswer> {
    return new Promise((resolve, reject) => {
      if (signal.aborted || this.#closed.signal.aborted) {
        reject((signal.aborted ? signal.reason : this.#closed.signal.reason) as Error);
        return;
      }
      const urgent = isUrgent(need, priority);
      const lane = urgent ? this.#urgent : this.#others;
      const giveUp = (reason: Error): void => {
        stop();
        lane.leave(entry, waiter);
        reject(reason);
      };
      const stops = [signal, this.#closed.signal].map((one) => onAbort(one, () => giveUp(one.reason as Error)));
      const stop = (): void => {
        for (const forget of stops) forget();
      };
      const waiter: AnswerWaiter = {
        notBefore,
        settle: (answer) => {
          stop();
          resolve(refuseOlder(node, answer, notBefore));
        },
      };
      const entry = lane.add(node, need, urgent ? 'critical' : priority, waiter);
    });
  }

  read(
    node: NodeRef,
    { need, signal, notBefore, priority = 'critical', maxAttempts }: ReadOptions,
  ): Promise<DatedAnswer> {
    const { clock, instances } = this.#options;
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    if (this.#closed.signal.aborted) return Promise.reject(this.#closed.signal.reason as Error);
    const mark = this.#markRead(node.uid);
    const work = async (): Promise<DatedAnswer> => {
      const sentAt = clock.monotonic();
      let answer: DatedAnswer;
      try {
        const given = await this.#callInTime(
          { what: `read of node ${node.name}`, nodes: [node], priority, maxAttempts },
          signal,
          (call) => instances.read(node, need, call),
        );
        answer = checkRead(node, given, sentAt, clock.monotonic());
      } catch (error) {
        signal.throwIfAborted();
        this.#closed.signal.throwIfAborted();
        answer = failed(error, sentAt);
      }
      if (!mark.forgotten) this.#answers.store(node, need, answer);
      return refuseOlder(node, answer, notBefore);
    };
    return this.#track(work().finally(() => this.#unmark(node.uid, mark)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const name = this.#options.providerName;
    this.#closed.abort(
      new CloudError('unavailable', `the look-ups${name ? ` of the provider ${name}` : ''} are closed`),
    );
    await Promise.allSettled(this.#running);
  }

  #track<T>(work: Promise<T>): Promise<T> {
    this.#running.add(work);
    const forget = (): void => void this.#running.delete(work);
    work.then(forget, forget);
    return work;
  }

  /** A whole call that fails fails for its batch alone. */
  async #runBatch({ entries, need, priority, controller }: Batch): Promise<void> {
    const { clock, instances, providerName = '' } = this.#options;
    const nodes = entries.map(({ node }) => node);
    const sentAt = clock.monotonic();
    this.#batchSizes?.observe(nodes.length, { provider: providerName });
    let answers: readonly DatedAnswer[];
    try {
      const given = await this.#callInTime(
        { what: `look-up of ${nodes.length} nodes`, nodes, priority, maxAttempts: this.#failing ? 1 : undefined },
        controller.signal,
        (call) => instances.lookUp(nodes, need, call),
      );
      answers = checkAnswers(nodes, given, sentAt, clock.monotonic());
      this.#failing = false;
    } catch (error) {
      // What nobody waits for is not worth an entry; a failure by our own closing is no news of the cloud.
      if (controller.signal.aborted || this.#closed.signal.aborted) return;
      this.#failing = true;
      const answer = failed(error, sentAt);
      answers = nodes.map(() => answer);
    }
    for (const [index, entry] of entries.entries()) {
      const answer = answers[index];
      if (answer) this.#settle(entry, need, answer);
    }
  }

  #settle(entry: LookUpEntry, need: InstanceNeed, answer: DatedAnswer): void {
    if (!entry.forgotten) this.#answers.store(entry.node, need, answer);
    for (const waiter of entry.waiters) waiter.settle(answer);
    entry.waiters.clear();
  }

  /** Cuts a provider that never answers, even one that does not look at its signal. */
  #callInTime<T>(
    { what, nodes, priority, maxAttempts }: Asked,
    caller: AbortSignal,
    send: (call: CallContext) => Promise<T>,
  ): Promise<T> {
    const { clock, callContext, callTimeoutMs = DEFAULT_CALL_TIMEOUT_MS } = this.#options;
    const about = nodes.map(({ uid }) => uid);
    const stop = AbortSignal.any([caller, this.#closed.signal]);
    const late = `${what}: the provider did not answer within ${callTimeoutMs} ms`;
    return callInTime(
      { clock, timeoutMs: callTimeoutMs, what, signal: stop, late },
      (signal) => callContext({ signal, priority, about, maxAttempts, reads: true }),
      send,
    );
  }

  #markRead(uid: string): { forgotten: boolean } {
    const mark = { forgotten: false };
    const marks = this.#reads.get(uid);
    if (marks) marks.add(mark);
    else this.#reads.set(uid, new Set([mark]));
    return mark;
  }

  #unmark(uid: string, mark: { forgotten: boolean }): void {
    const marks = this.#reads.get(uid);
    marks?.delete(mark);
    if (marks?.size === 0) this.#reads.delete(uid);
  }

  #forget(uid: string): void {
    for (const mark of this.#reads.get(uid) ?? []) mark.forgotten = true;
    for (const lane of [this.#urgent, this.#others]) {
      for (const entry of lane.entries()) if (entry.node.uid === uid) entry.forgotten = true;
    }
  }
}

function isUrgent(need: InstanceNeed, priority: CallPriority): boolean {
  return priority === 'critical' || (priority === 'normal' && need === 'metadata');
}

function failed(error: unknown, asOf: number): DatedAnswer {
  return { asOf, result: { kind: 'failed', error: asError(error) } };
}

function refuseOlder(node: NodeRef, answer: DatedAnswer, notBefore: number | undefined): DatedAnswer {
  if (notBefore === undefined || answer.asOf >= notBefore || answer.result.kind === 'failed') return answer;
  const message = `the answer for node ${node.name} is from a cache and older than asked for`;
  return { asOf: answer.asOf, result: { kind: 'failed', error: new CloudError('unavailable', message) } };
}
