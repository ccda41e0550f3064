/**
 * The life of a controller manager: wait for leadership, build what only a leader needs, run the controllers, and leave
 * in order. It decides when things start and end and nothing else; what they are is the program's.
 */
import { asError, heldAs, onAbort, whenAborted, type Clock, type Logger, type Metrics } from '@outrigger/kube';
import type { HealthChecks } from '../serving/health-checks.ts';

/** Something that runs until it is told to stop. */
export interface RunningController {
  readonly name: string;
  /** Resolves soon after `signal` aborts, when nothing of it is in flight. Ending or throwing before that fails the manager. */
  run(signal: AbortSignal): Promise<void>;
}

/** What is built once leadership is there. Disposed of after the controllers have ended, while the lease is still held. */
export interface LeaderWork extends AsyncDisposable {
  readonly controllers: readonly RunningController[];
}

/** One stretch of being the leader: what of kube's `Leadership` the life of the process depends on. */
export interface LeadershipTerm {
  /** Aborts when the term ends. */
  readonly signal: AbortSignal;
  /** Gives the lease back, so that the next one need not wait for it to expire. Never throws. */
  release(): Promise<void>;
}

/** What runs while a lock is held. */
export interface LockedWork<T extends LeadershipTerm = LeadershipTerm> {
  /** Waits for the lock; rejects when the signal aborts. Without it (`--leader-elect=false`) work starts at once. */
  readonly acquire?: (signal: AbortSignal) => Promise<T>;
  /** Builds the controllers. The signal aborts when the manager stops or loses a lock; `term` is what `acquire` gave. */
  readonly lead: (signal: AbortSignal, term: T | undefined) => Promise<LeaderWork>;
}

export interface ControllerManagerOptions<T extends LeadershipTerm = LeadershipTerm> extends LockedWork<T> {
  /** In logs and metrics: `cloud-controller-manager`. */
  readonly name: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Has a check for each controller, by its name, from when it is started until it has ended as asked. Default: none. */
  readonly health?: Pick<HealthChecks, 'add'> | undefined;
  /** Aborts when the process is asked to stop. */
  readonly stop: AbortSignal;
  /**
   * What runs under a second lock (leader migration). It is sought once the first one is held and its work is built, so
   * that no replica has the one while another has the other; losing either ends the manager, and it is given back first.
   */
  readonly migrated?: LockedWork<T> | undefined;
  /** Longest wait for controllers to end, and again for what they used to close. Default: 20,000. */
  readonly stopTimeoutMs?: number;
}

/** What a manager that has lost leadership gives itself to close connections and files. */
const LOST_TIMEOUT_MS = 1_000;

/** How it ended. */
export type ManagerEnd =
  /** As asked: everything ended and the lease was given back. */
  | { readonly kind: 'stopped' }
  /** Another one may lead already: the process must end now, without a word to the cluster. */
  | { readonly kind: 'leadership-lost' }
  | { readonly kind: 'failed'; readonly error: unknown };

/** 0 for a clean stop, 1 for everything else. */
export function exitCodeOf(end: ManagerEnd): 0 | 1 {
  return end.kind === 'stopped' ? 0 : 1;
}

/** Runs until `stop` aborts, a lock is lost, or a controller fails. Never throws. */
export async function runControllerManager<T extends LeadershipTerm>(
  options: ControllerManagerOptions<T>,
): Promise<ManagerEnd> {
  const { logger, migrated } = options;
  const run = new ManagerRun(options);
  await run.untilTaken(run.take(options));
  const migrating = migrated === undefined || run.signal.aborted ? Promise.resolve() : run.take(migrated);
  const end = await run.untilEnded(migrating);
  if (end.kind === 'leadership-lost') logger.error('Leadership lost: exiting');
  else await run.release();
  return end;
}

/** One life: the locks that it holds, and what runs under them. */
class ManagerRun<T extends LeadershipTerm> {
  /** Aborts when all has to end, for whatever reason. */
  readonly signal: AbortSignal;
  readonly #options: ControllerManagerOptions<T>;
  readonly #lost = new AbortController();
  readonly #failure = new AbortController();
  readonly #failures: unknown[] = [];
  readonly #terms: T[] = [];
  readonly #works: LeaderWork[] = [];
  readonly #ends: Promise<void>[] = [];
  #closing = false;

  constructor(options: ControllerManagerOptions<T>) {
    this.#options = options;
    this.signal = AbortSignal.any([options.stop, this.#failure.signal, this.#lost.signal]);
  }

  /** Waits for a lock and starts what runs under it. Never throws: what goes wrong ends the manager. */
  async take({ acquire, lead }: LockedWork<T>): Promise<void> {
    const { logger } = this.#options;
    let doing = 'Leader election failed';
    try {
      const term = await acquire?.(this.signal);
      if (term) this.#hold(term);
      if (this.signal.aborted) return;
      doing = 'Start failed';
      const work = await lead(this.signal, term);
      if (this.#closing) return await work[Symbol.asyncDispose]();
      this.#works.push(work);
      if (this.signal.aborted) return;
      for (const controller of work.controllers) {
        this.#ends.push(runOne(this.#options, controller, this.signal, (error) => this.#fail(error)));
      }
    } catch (error) {
      if (this.signal.aborted) return;
      logger.error(doing, { error });
      this.#fail(error);
    }
  }

  /** A start that does not look at its signal is not waited for for ever. */
  async untilTaken(taking: Promise<void>): Promise<void> {
    const enough = whenAborted(this.signal).then(() => within(this.#bound, 'start', taking));
    await Promise.race([taking, enough]);
  }

  /** `migrating`: the work under the second lock, until it has started. */
  async untilEnded(migrating: Promise<void>): Promise<ManagerEnd> {
    await whenAborted(this.signal);
    const lost = this.#lost.signal;
    const ended = migrating.then(() => Promise.all(this.#ends));
    if (!lost.aborted) await within(this.#options, 'controllers', ended);
    this.#closing = true;
    for (const work of this.#works.toReversed()) {
      await within(this.#bound, 'closing', Promise.resolve(work[Symbol.asyncDispose]()));
    }
    if (lost.aborted) return { kind: 'leadership-lost' };
    return this.#failures.length === 0 ? { kind: 'stopped' } : { kind: 'failed', error: this.#failures[0] };
  }

  /** The last lock first: who takes the first one next finds the second free. */
  async release(): Promise<void> {
    for (const term of this.#terms.toReversed()) await term.release();
  }

  /** A former leader closes what it has as well, but does not wait long: nothing that it could still say would be sent. */
  get #bound(): Pick<ControllerManagerOptions, 'clock' | 'logger' | 'stopTimeoutMs'> {
    const lost = this.#lost.signal.aborted;
    return lost ? { ...this.#options, stopTimeoutMs: LOST_TIMEOUT_MS } : this.#options;
  }

  #hold(term: T): void {
    this.#terms.push(term);
    const { signal } = term;
    if (signal.aborted) this.#lost.abort(signal.reason);
    else onAbort(signal, () => this.#lost.abort(signal.reason));
  }

  #fail(error: unknown): void {
    this.#failures.push(error);
    this.#failure.abort(error);
  }
}

async function runOne(
  options: Pick<ControllerManagerOptions, 'clock' | 'health' | 'logger' | 'metrics' | 'name'>,
  controller: RunningController,
  signal: AbortSignal,
  fail: (error: unknown) => void,
): Promise<void> {
  const { health, logger, metrics, name: manager } = options;
  const { name } = controller;
  const running = metrics.gauge({
    name: 'running_managed_controllers',
    help: 'Whether a controller of this manager is running: 1 or 0',
    labels: ['name', 'manager'],
  });
  let failure: Error | undefined;
  let forget: (() => void) | undefined;
  logger.info('Controller started', { controller: name });
  running.set(1, { name, manager });
  try {
    forget = health?.add({
      name,
      check: () => {
        if (failure) throw failure;
      },
    });
    await heldAs(name, options, () => controller.run(signal));
    if (!signal.aborted) throw new Error(`controller ${name} ended unexpectedly`);
  } catch (error) {
    if (!signal.aborted) {
      failure = asError(error);
      logger.error('Controller failed: stopping', { controller: name, error });
      fail(error);
    }
  } finally {
    // One that has failed is shown for as long as the others take to end.
    if (failure === undefined) forget?.();
    running.set(0, { name, manager });
    logger.verbose(2, 'Controller ended', { controller: name });
  }
}

/** Waits for `work`, but not for ever: a process that cannot end cleanly must end all the same. */
async function within(
  options: Pick<ControllerManagerOptions, 'clock' | 'logger' | 'stopTimeoutMs'>,
  what: string,
  work: Promise<unknown>,
): Promise<void> {
  const { clock, logger, stopTimeoutMs = 20_000 } = options;
  let timer: { cancel(): void } | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = clock.setTimer(stopTimeoutMs, () => resolve('late'));
  });
  try {
    if ((await Promise.race([work, late])) === 'late') {
      logger.error('Not everything has ended in time; exiting', { what, timeout: `${stopTimeoutMs}ms` });
    }
  } catch (error) {
    logger.error('Closing failed', { what, error });
  } finally {
    timer?.cancel();
  }
}
