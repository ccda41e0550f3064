/** A controller: a queue of keys, drained by N workers, each calling one `Reconciler`. Entry point: `runController`. */
import { onAbort } from './abort.ts';
import type { Clock } from './clock.ts';
import { createControllerMetrics, type ControllerMetrics } from './internal/controller-metrics.ts';
import type { Logger } from './logger.ts';
import type { Metrics } from './metrics.ts';
import { isTerminalError } from './terminal-error.ts';
import type { WorkQueue } from './workqueue.ts';

/** What a reconcile gets. */
export interface ReconcileContext {
  /** Aborts when the controller stops or leadership is lost. */
  readonly signal: AbortSignal;
  /** Knows the controller and the key. */
  readonly logger: Logger;
  /** How often this key has failed in a row. */
  readonly attempt: number;
}

/** `requeueAfterMs`: look again then, although nothing went wrong. 0: at once, behind the keys that wait. */
export interface ReconcileResult {
  readonly requeueAfterMs?: number;
}

/**
 * Brings one object from what is to what should be. Called with a key, never with an object: read it from the store.
 * Throwing means: try again with back-off. A `TerminalError` means: not until something changes.
 *
 * **A look-up holds no worker.** Workers bound writes, so a reconcile that needs a slow answer (a cloud, DNS) does not
 * wait for it: it starts the look-up, returns nothing, and lets the answer put the key back into the queue.
 *
 * ```ts
 * async reconcile(key: string): Promise<void> {
 *   const answer = snapshot.get(key);
 *   if (!answer) return lookups.start(key, () => queue.add(key)); // also on failure: the next pass reads the error
 *   await apply(plan(store.get(key), answer));
 * }
 * ```
 *
 * `add` while this very reconcile still runs is safe: the key is handed out again after it. Returning nothing clears the
 * key's back-off, so a look-up that failed is thrown by the pass that reads it, which is what backs off.
 */
export interface Reconciler<K> {
  reconcile(key: K, context: ReconcileContext): Promise<ReconcileResult | void>;
}

export interface ControllerOptions<K> {
  /** Of the controller, for logs and the `controller` label of the metrics. */
  readonly name: string;
  readonly queue: WorkQueue<K>;
  readonly reconciler: Reconciler<K>;
  /** Reconciles at a time, at least 1. */
  readonly workers: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Stops the controller. */
  readonly signal: AbortSignal;
  /** How long to wait, after `signal` aborts, for the reconciles that run. Default: 30,000. */
  readonly stopTimeoutMs?: number;
}

/** How many of the keys that would not stop are named. */
const NAMED_KEYS = 10;

/**
 * Runs until `signal` aborts (or the queue is shut down and empty): from then on no reconcile starts, and those that run
 * are waited for, `stopTimeoutMs` at most. What a reconciler throws never ends the controller. Rejects with a
 * `RangeError` when `workers` is not a positive whole number.
 */
export async function runController<K>(options: ControllerOptions<K>): Promise<void> {
  const { name, queue, workers, clock, signal, stopTimeoutMs = 30_000 } = options;
  if (!Number.isInteger(workers) || workers < 1) {
    throw new RangeError(`controller ${name}: workers must be a whole number of at least 1, got ${workers}`);
  }
  const logger = options.logger.with({ controller: name });
  const metrics = createControllerMetrics(options.metrics, name, workers);
  const running = new Set<K>();
  logger.verbose(2, 'Starting controller', { workers });

  const work = async (): Promise<void> => {
    for (;;) {
      const key = await queue.get(signal);
      if (key === undefined) return;
      // The signal may abort between the hand-over and this turn.
      if (signal.aborted) return queue.done(key);
      running.add(key);
      metrics.active(running.size);
      try {
        await reconcileOnce(key, options, logger, metrics);
      } finally {
        running.delete(key);
        metrics.active(running.size);
        queue.done(key);
      }
    }
  };

  const stopped = Promise.all(Array.from({ length: workers }, work));
  const patience = new AbortController();
  const outOfPatience = Promise.withResolvers<void>();
  const wait = (): void => {
    const giveUp = (): void => {
      logger.error('Controller stopped without waiting any longer for reconciles that run', {
        keys: [...running].slice(0, NAMED_KEYS),
        count: running.size,
        waitedMs: stopTimeoutMs,
      });
      outOfPatience.resolve();
    };
    void clock.sleep(stopTimeoutMs, patience.signal).then(giveUp, () => {});
  };
  const forget = onAbort(signal, wait);
  if (signal.aborted) wait();
  try {
    await Promise.race([stopped, outOfPatience.promise]);
  } finally {
    forget();
    patience.abort(new DOMException('the workers have stopped', 'AbortError'));
    logger.verbose(2, 'Stopped controller');
  }
}

async function reconcileOnce<K>(
  key: K,
  options: ControllerOptions<K>,
  controllerLogger: Logger,
  metrics: ControllerMetrics,
): Promise<void> {
  const { queue, reconciler, clock, signal } = options;
  const logger = controllerLogger.with({ key });
  const attempt = queue.requeues(key);
  const startedAt = clock.monotonic();
  try {
    const requeueAfterMs = (await reconciler.reconcile(key, { signal, logger, attempt }))?.requeueAfterMs;
    if (requeueAfterMs !== undefined && !(requeueAfterMs >= 0)) {
      throw new RangeError(`reconcile returned requeueAfterMs ${requeueAfterMs}; it must be 0 or more`);
    }
    queue.forget(key);
    if (requeueAfterMs !== undefined) queue.add(key, { delayMs: requeueAfterMs });
    metrics.finished(requeueAfterMs === undefined ? 'success' : 'requeue_after', clock.monotonic() - startedAt);
  } catch (thrown) {
    const error = thrown instanceof Error ? thrown : new Error(`not an Error was thrown: ${String(thrown)}`);
    if (signal.aborted) {
      // The abort itself makes most calls throw. Whatever it was, the next process starts from what is there.
      logger.verbose(2, 'Reconcile ended by the stop of the controller', { error });
      metrics.finished('stopped', clock.monotonic() - startedAt);
    } else if (isTerminalError(thrown)) {
      logger.error('Reconcile failed; not tried again until something changes', { error });
      queue.forget(key);
      metrics.finished('terminal', clock.monotonic() - startedAt);
    } else {
      logger.error('Reconcile failed; will be tried again', { error, attempt: attempt + 1 });
      queue.addRateLimited(key);
      metrics.finished('error', clock.monotonic() - startedAt);
    }
  }
}
