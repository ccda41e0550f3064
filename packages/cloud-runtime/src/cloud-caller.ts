/** Behind `CallContext.call`: every request of a provider is admitted, guarded, sent, counted, traced, and sent again. */
import { tracingChannel, type TracingChannel } from 'node:diagnostics_channel';
import {
  CloudError,
  isCloudError,
  type CallPriority,
  type CloudErrorEffect,
  type CloudOperation,
  type PredecessorMetrics,
} from '@outrigger/cloud-provider';
import { exponentialBuckets, noMetrics, type Clock, type Leadership, type Metrics } from '@outrigger/kube';
import { CallBudget, DEFAULT_BUCKET, type Admission, type CallBudgetOptions } from './call-budget.ts';
import { CallLog, type CallRecord } from './call-log.ts';
import { retryAfterOf, statusOf } from './http-answer.ts';
import { mayHaveHadEffect, noteEffect } from './request-effect.ts';
import { LONGEST_RETRY_AFTER_MS, retryAfterMsOf } from './retry-after.ts';
import type { Secrets } from './secrets.ts';
import { isTimeout, sendRequest, type SentRequest } from './sent-request.ts';

/** What subscribers of the tracing channel `outrigger:cloud:call` get, for each send. */
export interface CloudCallTrace {
  readonly provider: string;
  readonly operation: string;
  /** `CloudOperation.bucket`, which is the service in a cloud of several; `default` where the provider names none. */
  readonly bucket: string;
  readonly priority: CallPriority;
  readonly attempt: number;
  /** What came of it, as the metrics have it: `ok`, the code of a `CloudError`, `http-404` … Set before `asyncEnd` and `error`. */
  code?: string;
}

/** `node:diagnostics_channel` tracing channel: start, end, asyncStart, asyncEnd, error. No cost without subscribers. */
export const CLOUD_CALL_CHANNEL = 'outrigger:cloud:call';

export interface CloudCallerOptions {
  readonly providerName: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly secrets: Secrets;
  readonly metrics?: Metrics | undefined;
  /** Of a predecessor, whose names are counted too. Default: none. */
  readonly predecessor?: PredecessorMetrics['requests'];
  /** Under which requests are sent: refuses those that may not start, and waits for those that have. Default: nothing is refused. */
  readonly leadership?: RequestLeadership | undefined;
  readonly budget?: CallBudgetOptions | undefined;
  /** Told of each request that has ended. Must not throw. Default: nobody is. */
  readonly onRequest?: ((request: EndedRequest) => void) | undefined;
}

/** A request to the cloud that has ended, as the log of calls has it. */
export interface EndedRequest extends CallRecord {
  /** `CloudOperation.bucket`; `default` where the provider names none. */
  readonly bucket: string;
}

/** What of a `Leadership` requests to the cloud need. */
export type RequestLeadership = Pick<Leadership, 'perform' | 'outcomeUnknown'>;

const never = new AbortController().signal;
const unled: RequestLeadership = { perform: (work) => work(never), outcomeUnknown: () => {} };

export interface CallLimits {
  readonly signal: AbortSignal;
  readonly priority: CallPriority;
  /** It changes nothing in the cloud, and is cut off at once when `signal` aborts. Default: false. */
  readonly reads?: boolean | undefined;
  /** UIDs of the objects for whose sake it is sent. */
  readonly about?: readonly string[] | undefined;
  /** How often it is sent at most, the first included, where that is less than the budget's. Default: the budget's. */
  readonly maxAttempts?: number | undefined;
}

const DEFAULT_ATTEMPTS = 5;
const BACKOFF_BASE_MS = 200;
const BACKOFF_MAX_MS = 20_000;

/** What came of one send. */
type Outcome<T> =
  | { readonly kind: 'answer'; readonly answer: T; readonly code: string; readonly retryAfterMs?: number | undefined }
  | {
      readonly kind: 'error';
      readonly error: unknown;
      readonly code: string;
      readonly retryAfterMs?: number | undefined;
    };

export class CloudCaller {
  readonly log: CallLog = new CallLog();
  readonly #options: CloudCallerOptions;
  readonly #budget: CallBudget;
  readonly #maxAttempts: number;
  readonly #metrics: ReturnType<typeof createCallMetrics>;
  readonly #notePredecessors: ReturnType<typeof predecessorCounter>;
  readonly #trace: TracingChannel<string, CloudCallTrace> = tracingChannel<string, CloudCallTrace>(CLOUD_CALL_CHANNEL);

  constructor(options: CloudCallerOptions) {
    this.#options = options;
    this.#budget = new CallBudget(options.clock, options.budget);
    this.#maxAttempts = options.budget?.maxAttempts ?? DEFAULT_ATTEMPTS;
    this.#metrics = createCallMetrics(options.metrics ?? noMetrics);
    this.#notePredecessors = predecessorCounter(options.metrics ?? noMetrics, options.predecessor);
  }

  async call<T>(operation: CloudOperation, send: (signal: AbortSignal) => Promise<T>, limits: CallLimits): Promise<T> {
    const most = Math.min(this.#maxAttempts, limits.maxAttempts ?? this.#maxAttempts);
    let effect: CloudErrorEffect = 'none';
    for (let attempt = 1; ; attempt++) {
      const outcome = await this.#sendOnce(operation, send, limits, attempt);
      const mayHave = outcome.kind === 'error' ? mayHaveHadEffect(outcome.error) : outcome.code === 'unavailable';
      if (mayHave) effect = 'unknown';
      const repeat = operation.idempotent === true && attempt < most && isPassing(outcome.code);
      if (!repeat) {
        if (outcome.kind === 'answer') return outcome.answer;
        noteEffect(outcome.error, effect);
        throw outcome.error;
      }
      if (outcome.kind === 'answer') await discard(outcome.answer);
      await this.#options.clock.sleep(this.#backoffMs(attempt, outcome.retryAfterMs), limits.signal);
    }
  }

  async #sendOnce<T>(
    operation: CloudOperation,
    send: (signal: AbortSignal) => Promise<T>,
    limits: CallLimits,
    attempt: number,
  ): Promise<Outcome<T>> {
    const { clock, leadership = unled, providerName: provider } = this.#options;
    const { signal, reads = false } = limits;
    const askedAt = clock.monotonic();
    const admission = await this.#budget.admit(operation, limits.priority, signal);
    const release = (): void => {
      admission.release();
      this.#metrics.inFlight.set(this.#budget.inFlight, { provider });
    };
    this.#metrics.wait.observe((clock.monotonic() - askedAt) / 1000, { provider, priority: limits.priority });
    const outcome = Promise.withResolvers<Outcome<T>>();
    let sent = false;
    let over: SentRequest<T>['over'] | undefined;
    // Not waited for: the caller may leave before the request is over. A former leader is refused here, last before the send,
    // however long it waited for the budget.
    const performed = leadership.perform(async (ended) => {
      signal.throwIfAborted();
      this.#metrics.inFlight.set(this.#budget.inFlight, { provider });
      const begin = (): Promise<T> => {
        const request = sendRequest(send, { clock, signal, ended, reads });
        sent = true;
        void request.settled.then(release);
        over = request.over;
        return request.answer;
      };
      this.#measure(operation, begin, limits, attempt, admission).then(outcome.resolve, outcome.reject);
      if ((await over) === 'unknown') leadership.outcomeUnknown(operation.name);
    });
    performed.catch((error: unknown) => {
      if (!sent) release();
      outcome.reject(error);
    });
    return outcome.promise;
  }

  async #measure<T>(
    operation: CloudOperation,
    send: () => Promise<T>,
    { signal, priority, about }: CallLimits,
    attempt: number,
    admission: Admission,
  ): Promise<Outcome<T>> {
    const { clock, secrets, providerName: provider } = this.#options;
    const startedAt = clock.now();
    const { bucket = DEFAULT_BUCKET, name } = operation;
    const trace: CloudCallTrace = { provider, operation: name, bucket, priority, attempt };
    const settled = Promise.withResolvers<Outcome<T>>();
    const settle = (outcome: Outcome<T>): void => {
      trace.code = outcome.code;
      settled.resolve(outcome);
    };
    // Resolves to nothing: there may be a secret in an answer, which subscribers have no need of.
    const run = async (): Promise<void> => {
      try {
        const answer = await send();
        settle({ kind: 'answer', answer, ...codeOfAnswer(answer, clock.now()) });
      } catch (error) {
        secrets.redactError(error);
        settle({ kind: 'error', error, ...codeOfError(error, signal) });
        throw error;
      }
    };
    await (this.#trace.hasSubscribers ? this.#trace.tracePromise(run, trace) : run()).catch(() => undefined);
    const outcome = await settled.promise;
    const { code, retryAfterMs } = outcome;
    if (code === 'throttled') {
      admission.bucket.slowDown(admission.sentAt, retryAfterMs);
      this.#metrics.throttled.inc({ provider, operation: operation.name });
    }
    const durationMs = clock.monotonic() - admission.sentAt;
    this.#metrics.duration.observe(durationMs / 1000, { provider, operation: operation.name, code });
    this.#metrics.requests.inc({ provider, operation: operation.name, code });
    this.#notePredecessors(operation.name, durationMs / 1000, code !== 'ok');
    const record = { operation: operation.name, startedAt, durationMs, code, priority, attempt };
    this.log.add(record, about);
    this.#options.onRequest?.({ ...record, bucket });
    return outcome;
  }

  /** Half of it left to chance, so that requests which failed together do not come back together. */
  #backoffMs(attempt: number, retryAfterMs: number | undefined): number {
    const backoff = Math.min(BACKOFF_MAX_MS, BACKOFF_BASE_MS * 2 ** (attempt - 1));
    return Math.max(Math.min(retryAfterMs ?? 0, LONGEST_RETRY_AFTER_MS), backoff * (1 - this.#options.random() / 2));
  }
}

/** What may be gone when the request is sent again. */
function isPassing(code: string): boolean {
  return code === 'throttled' || code === 'unavailable';
}

function codeOfAnswer(
  answer: unknown,
  now: number,
): { readonly code: string; readonly retryAfterMs?: number | undefined } {
  const status = statusOf(answer);
  if (status === 429) return { code: 'throttled', retryAfterMs: retryAfterOf(answer, now) };
  if (status !== undefined && status >= 500 && status !== 501) {
    return { code: 'unavailable', retryAfterMs: retryAfterOf(answer, now) };
  }
  return { code: status !== undefined && status >= 400 ? `http-${status}` : 'ok' };
}

function codeOfError(
  error: unknown,
  signal: AbortSignal,
): { readonly code: string; readonly retryAfterMs?: number | undefined } {
  if (signal.aborted) {
    return { code: isTimeout(signal.reason) ? 'timeout' : 'aborted' };
  }
  if (!isCloudError(error)) return { code: 'error' };
  return { code: error.code, retryAfterMs: retryAfterMsOf(error) };
}

/** A `Response` that nobody reads would keep its connection. */
async function discard(answer: unknown): Promise<void> {
  const { body } = answer as Partial<Response>;
  await body?.cancel().catch(() => undefined);
}

function createCallMetrics(metrics: Metrics): {
  readonly duration: ReturnType<Metrics['histogram']>;
  readonly wait: ReturnType<Metrics['histogram']>;
  readonly requests: ReturnType<Metrics['counter']>;
  readonly throttled: ReturnType<Metrics['counter']>;
  readonly inFlight: ReturnType<Metrics['gauge']>;
} {
  return {
    duration: metrics.histogram({
      name: 'cloudprovider_api_request_duration_seconds',
      help: 'Time of one request to the cloud, without the wait for the budget.',
      labels: ['provider', 'operation', 'code'],
      buckets: exponentialBuckets(0.01, 2, 13),
    }),
    wait: metrics.histogram({
      name: 'cloudprovider_api_budget_wait_seconds',
      help: 'Time for which a request waited for the call budget.',
      labels: ['provider', 'priority'],
      buckets: exponentialBuckets(0.001, 4, 9),
    }),
    requests: metrics.counter({
      name: 'cloudprovider_api_requests_total',
      help: 'Requests sent to the cloud, repeats included.',
      labels: ['provider', 'operation', 'code'],
    }),
    throttled: metrics.counter({
      name: 'cloudprovider_api_throttled_requests_total',
      help: 'Requests that the cloud refused because there were too many.',
      labels: ['provider', 'operation'],
    }),
    inFlight: metrics.gauge({
      name: 'cloudprovider_api_in_flight_requests',
      help: 'Requests to the cloud that have been sent and not answered.',
      labels: ['provider'],
    }),
  };
}

/** client_golang's own (`prometheus.DefBuckets`). */
const DEFAULT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

function predecessorCounter(
  metrics: Metrics,
  predecessor: PredecessorMetrics['requests'],
): (operation: string, seconds: number, failed: boolean) => void {
  if (!predecessor) return () => {};
  const { nameOf, prefix } = predecessor;
  const labels = ['request'] as const;
  const duration = metrics.histogram({
    name: `${prefix}_request_duration_seconds`,
    help: 'Time of one request to the cloud, by the name that a predecessor gave it.',
    labels,
    buckets: DEFAULT_BUCKETS,
  });
  const total = metrics.counter({
    name: `${prefix}_requests_total`,
    help: 'Requests to the cloud, by the name that a predecessor gave them.',
    labels,
  });
  const errors = metrics.counter({
    name: `${prefix}_request_errors_total`,
    help: 'Requests to the cloud that failed, by the name that a predecessor gave them.',
    labels,
  });
  return (operation, seconds, failed) => {
    const request = nameOf(operation);
    if (request === undefined) return;
    duration.observe(seconds, { request });
    total.inc({ request });
    if (failed) errors.inc({ request });
  };
}

/** What a provider that is closed says to late callers. */
export function closedError(name: string): CloudError {
  return new CloudError('unavailable', `the provider ${name} is closed`);
}
