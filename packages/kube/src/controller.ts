/** A controller: a queue of keys, drained by N workers, each calling one `Reconciler`. Entry point: `runController`. */
import { onAbort } from './abort.ts';
import { asError } from './as-error.ts';
import type { Clock, Timer } from './clock.ts';
import { createControllerMetrics, type ControllerMetrics } from './internal/controller-metrics.ts';
import { HeldKeys } from './internal/held-keys.ts';
import { processorTime, runHeld, type ProcessorTime } from './internal/loop-holders.ts';
import { Parking, type ParkingOptions } from './internal/parking.ts';
import { WorkerTurn } from './internal/worker-turn.ts';
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
  /**
   * Waits for something slow without a worker: while `wait` runs, the worker has other keys. Then the reconcile waits for a worker again, in
   * turn with new keys (`WorkQueue.rejoin`), and goes on. The key stays its own all the time: nobody else works on it. `wait` ends by itself when `signal` aborts;
   * after an abort it goes on at once. `undefined`: as many wait so as may (`ControllerOptions.parking`), and `wait` was not called.
   */
  readonly park: <T>(wait: () => Promise<T>) => Promise<T> | undefined;
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
  /** How many reconciles may wait without a worker (`ReconcileContext.park`); a group has fewer places than it leaves free. Default: none. */
  readonly parking?: ParkingOptions<K>;
  /** Is told, in a sentence for people, that a key is set aside: an Event about its object should say so. */
  readonly onSetAside?: (key: K, message: string) => void;
  /** Processor time of the thread, in milliseconds. Default: that of the process's. */
  readonly processorTime?: ProcessorTime;
}

/** A reconcile that runs for so long is told, in milliseconds: calls to clouds are given up after one minute or two. */
const HANGING_MS = 300_000;
/** How many of the keys that would not stop are named. */
const NAMED_KEYS = 10;

/**
 * Runs until `signal` aborts (or the queue is shut down and empty): from then on no reconcile starts, and those that run
 * are waited for, `stopTimeoutMs` at most. What a reconciler throws never ends the controller. Rejects with a
 * `RangeError` when `workers` is not a positive whole number.
 *
 * A reconcile that holds the event loop for a second is logged and counted (`outrigger_event_loop_held_total`). A key that does so twice is
 * set aside, whatever changes: for a minute, doubled up to an hour each time that it does so again. The other keys go on.
 */
export async function runController<K>(options: ControllerOptions<K>): Promise<void> {
  const { name, queue, workers, clock, signal, stopTimeoutMs = 30_000 } = options;
  if (!Number.isInteger(workers) || workers < 1) {
    throw new RangeError(`controller ${name}: workers must be a whole number of at least 1, got ${workers}`);
  }
  const logger = options.logger.with({ controller: name });
  const metrics = createControllerMetrics(options.metrics, name, workers);
  const heldKeys = new HeldKeys<K>();
  const onHeld = (key: K, heldMs: number): void => {
    metrics.held();
    const asideMs = heldKeys.note(key, clock.monotonic());
    logger.error('A reconcile held the event loop', {
      key,
      held: `${Math.round(heldMs)}ms`,
      setAside: `${asideMs}ms`,
    });
    if (asideMs === 0) return;
    queue.add(key, { delayMs: asideMs });
    options.onSetAside?.(key, asideMessage(asideMs));
  };
  const parking = new Parking<K>(options.parking);
  const hanging = new Set<K>();
  /** Of each key that is worked on. */
  const turns = new Map<K, WorkerTurn>();
  let atWork = workers;
  logger.verbose(2, 'Starting controller', { workers });
  const tellActive = (): void => metrics.active(turns.size - parking.taken);

  const hangs = (key: K, parked: boolean): void => {
    hanging.add(key);
    metrics.hanging(hanging.size);
    // One that is parked has a place, others have a worker, which nobody else gets.
    logger.warn('A reconcile hangs: nothing else is done for its object', {
      key,
      parked,
      runs: `${HANGING_MS}ms`,
      hanging: hanging.size,
      workers,
    });
  };

  const reconcile = async (key: K, turn: WorkerTurn): Promise<void> => {
    const watch = (parked = false): Timer => clock.setTimer(HANGING_MS, () => hangs(key, parked), { unref: true });
    let timer = watch();
    const unwatch = (): void => {
      timer.cancel();
      if (hanging.delete(key)) metrics.hanging(hanging.size);
    };
    const parkIn = async <T>(leave: () => void, wait: () => Promise<T>): Promise<T> => {
      unwatch();
      timer = watch(true);
      tellActive();
      turn.giveBack();
      try {
        return await wait();
      } finally {
        // Who waits for a worker does not hang.
        unwatch();
        // Without workers nobody would hand it out.
        if (!signal.aborted && atWork > 0) {
          await turn.regained(signal, () => queue.rejoin(key));
        }
        leave();
        tellActive();
        timer = watch();
      }
    };
    const park = <T>(wait: () => Promise<T>): Promise<T> | undefined => {
      const leave = parking.enter(key);
      return leave && parkIn(leave, wait);
    };
    try {
      await reconcileOnce(key, options, { logger, metrics, onHeld, park });
    } finally {
      unwatch();
      turns.delete(key);
      tellActive();
      queue.done(key);
      turn.giveBack();
    }
  };

  const work = async (): Promise<void> => {
    for (;;) {
      const key = await queue.get(signal);
      if (key === undefined) return;
      const parked = turns.get(key);
      if (parked) {
        await parked.take();
        continue;
      }
      // The signal may abort between the hand-over and this turn.
      if (signal.aborted) return queue.done(key);
      const asideMs = heldKeys.asideMs(key, clock.monotonic());
      if (asideMs > 0) {
        queue.add(key, { delayMs: asideMs });
        queue.done(key);
        continue;
      }
      const turn = new WorkerTurn();
      turns.set(key, turn);
      tellActive();
      const taken = turn.take();
      turn.ended = reconcile(key, turn);
      await taken;
    }
  };

  const workUntilStopped = async (): Promise<void> => {
    try {
      await work();
    } finally {
      // Who asked for a worker while the last of them went would wait for ever.
      if (--atWork === 0) for (const turn of turns.values()) turn.goOn();
    }
  };
  const stop = async (): Promise<void> => {
    await Promise.all(Array.from({ length: workers }, workUntilStopped));
    await Promise.all(Array.from(turns.values(), ({ ended }) => ended));
  };
  const stopped = stop();
  const patience = new AbortController();
  const outOfPatience = Promise.withResolvers<void>();
  const wait = (): void => {
    const giveUp = (): void => {
      logger.error('Controller stopped without waiting any longer for reconciles that run', {
        keys: [...turns.keys()].slice(0, NAMED_KEYS),
        count: turns.size,
        waited: `${stopTimeoutMs}ms`,
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
  controller: {
    readonly logger: Logger;
    readonly metrics: ControllerMetrics;
    readonly onHeld: (key: K, heldMs: number) => void;
    readonly park: ReconcileContext['park'];
  },
): Promise<void> {
  const { queue, reconciler, clock, signal, processorTime: processor = processorTime } = options;
  const { metrics, park } = controller;
  const logger = controller.logger.with({ key });
  const attempt = queue.requeues(key);
  const startedAt = clock.monotonic();
  try {
    const reconciled = runHeld(
      () => reconciler.reconcile(key, { signal, logger, attempt, park }),
      (heldMs) => controller.onHeld(key, heldMs),
      { clock, processor },
    );
    const requeueAfterMs = (await reconciled)?.requeueAfterMs;
    if (requeueAfterMs !== undefined && !(requeueAfterMs >= 0)) {
      throw new RangeError(`reconcile returned requeueAfterMs ${requeueAfterMs}; it must be 0 or more`);
    }
    queue.forget(key);
    if (requeueAfterMs !== undefined) queue.add(key, { delayMs: requeueAfterMs });
    metrics.finished(requeueAfterMs === undefined ? 'success' : 'requeue_after', clock.monotonic() - startedAt);
  } catch (thrown) {
    const error = asError(thrown);
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

function asideMessage(asideMs: number): string {
  return `Reconciling this object blocked the program for more than a second, more than once. It is reconciled again in ${asideMs / 60_000} min, so that other objects do not wait for it. Shorten what is unusually large in it, such as an annotation.`;
}
