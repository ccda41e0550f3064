/**
 * The life of a controller manager: wait for leadership, build what only a leader needs, run the controllers, and leave
 * in order. It decides when things start and end and nothing else; what they are is the program's.
 */
import type { Clock, Logger, Metrics } from '@outrigger/kube';

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

export interface ControllerManagerOptions<T extends LeadershipTerm = LeadershipTerm> {
  /** In logs and metrics: `cloud-controller-manager`. */
  readonly name: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Aborts when the process is asked to stop. */
  readonly stop: AbortSignal;
  /** Waits for leadership; rejects when the signal aborts. Without it (`--leader-elect=false`) work starts at once. */
  readonly acquire?: (signal: AbortSignal) => Promise<T>;
  /** Builds the controllers. The signal aborts when the manager stops or leadership is lost; `term` is what `acquire` gave. */
  readonly lead: (signal: AbortSignal, term: T | undefined) => Promise<LeaderWork>;
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

/** Runs until `stop` aborts, leadership is lost, or a controller fails. Never throws. */
export async function runControllerManager<T extends LeadershipTerm>(
  options: ControllerManagerOptions<T>,
): Promise<ManagerEnd> {
  const { logger, stop } = options;
  let term: T | undefined;
  try {
    term = await options.acquire?.(stop);
  } catch (error) {
    if (stop.aborted) return { kind: 'stopped' };
    logger.error('Leader election failed', { error });
    return { kind: 'failed', error };
  }
  const end = await lead(options, term);
  if (end.kind === 'leadership-lost') logger.error('Leadership lost: exiting');
  else await term?.release();
  return end;
}

async function lead<T extends LeadershipTerm>(
  options: ControllerManagerOptions<T>,
  term: T | undefined,
): Promise<ManagerEnd> {
  const lost = term?.signal;
  const { logger, stop } = options;
  const failure = new AbortController();
  const signal = AbortSignal.any([stop, failure.signal, ...(lost === undefined ? [] : [lost])]);
  let work: LeaderWork;
  try {
    work = await options.lead(signal, term);
  } catch (error) {
    if (lost?.aborted) return { kind: 'leadership-lost' };
    if (stop.aborted) return { kind: 'stopped' };
    logger.error('Start failed', { error });
    return { kind: 'failed', error };
  }
  const failures: unknown[] = [];
  const fail = (error: unknown): void => {
    failures.push(error);
    failure.abort(error);
  };
  const ends = work.controllers.map((controller) => runOne(options, controller, signal, fail));
  await aborted(signal);
  if (!lost?.aborted) await within(options, 'controllers', Promise.all(ends));
  // A former leader closes what it has as well, but does not wait long: nothing that it could still say would be sent.
  const bound = lost?.aborted ? { ...options, stopTimeoutMs: LOST_TIMEOUT_MS } : options;
  await within(bound, 'closing', Promise.resolve(work[Symbol.asyncDispose]()));
  if (lost?.aborted) return { kind: 'leadership-lost' };
  return failures.length === 0 ? { kind: 'stopped' } : { kind: 'failed', error: failures[0] };
}

async function runOne(
  { logger, metrics, name: manager }: Pick<ControllerManagerOptions, 'logger' | 'metrics' | 'name'>,
  controller: RunningController,
  signal: AbortSignal,
  fail: (error: unknown) => void,
): Promise<void> {
  const { name } = controller;
  const running = metrics.gauge({
    name: 'running_managed_controllers',
    help: 'Whether a controller of this manager is running: 1 or 0',
    labels: ['name', 'manager'],
  });
  logger.info('Controller started', { controller: name });
  running.set(1, { name, manager });
  try {
    await controller.run(signal);
    if (!signal.aborted) fail(new Error(`controller ${name} ended although nothing asked it to`));
  } catch (error) {
    if (!signal.aborted) {
      logger.error('Controller failed: stopping', { controller: name, error });
      fail(error);
    }
  } finally {
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
      logger.error('Not all has ended in time; leaving it', { what, timeout: `${stopTimeoutMs}ms` });
    }
  } catch (error) {
    logger.error('Closing failed', { what, error });
  } finally {
    timer?.cancel();
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
