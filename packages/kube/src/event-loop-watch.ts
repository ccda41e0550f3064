/**
 * Notices when the event loop is held, by whomever: while it is, answers, probes and renewals of the Lease wait. What a reconcile holds
 * is laid to its key by `runController`, and what else a controller or a webhook does to that one by `heldAs`; for the rest, and to find out
 * whose it is, the program runs this once. The message of each hold has the words `held the event loop`.
 */
import type { Clock } from './clock.ts';
import {
  COMPUTED_MS,
  followAwaits,
  HELD_MS,
  holdersFound,
  processorTime,
  runHeld,
  type ProcessorTime,
} from './internal/loop-holders.ts';
import type { LogFields, Logger } from './logger.ts';
import type { Metrics } from './metrics.ts';
import { heldCounter } from './internal/controller-metrics.ts';

export interface EventLoopWatchOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Ends it. */
  readonly signal: AbortSignal;
  /** Processor time of the thread, in milliseconds. Default: that of the process's. */
  readonly processorTime?: ProcessorTime;
}

export interface HeldAsOptions extends Omit<EventLoopWatchOptions, 'signal'> {
  /** For the log. */
  readonly about?: LogFields;
  /** Is told of each hold, after the log. */
  readonly onHeld?: () => void;
}

/**
 * Runs a controller so that what it does outside of reconciles is laid to it as well, in the log and in
 * `outrigger_event_loop_held_total`: when a store tells it of a change, whose object the log names, and, while `watchEventLoop` times all
 * awaits, behind an await. Or a webhook's review of one object, of which `about` tells in the log.
 */
export function heldAs<T>(
  controller: string,
  { about, clock, logger, metrics, onHeld: tell, processorTime: processor = processorTime }: HeldAsOptions,
  run: () => Promise<T>,
): Promise<T> {
  const held = heldCounter(metrics);
  const onHeld = (heldMs: number, at?: LogFields): void => {
    held.inc({ controller });
    logger.error('A controller or webhook held the event loop outside of reconciles', {
      ...about,
      ...at,
      controller,
      held: `${Math.round(heldMs)}ms`,
    });
    tell?.();
  };
  return runHeld(run, onHeld, { clock, processor });
}

const BEAT_MS = 500;
/** How long what is done behind an await is timed, after the event loop was held by nobody knows whom. */
const FOLLOW_MS = 600_000;

/**
 * Until `signal` aborts. A hold of a second that nobody has to answer for is logged and counted as
 * `outrigger_event_loop_held_total{controller=""}`, unless the process did not run at all; for ten minutes from then on all awaits are
 * timed, so that the next one is laid to its reconcile or its controller.
 */
export async function watchEventLoop(options: EventLoopWatchOptions): Promise<void> {
  const { clock, logger, metrics, signal, processorTime: processor = processorTime } = options;
  const held = heldCounter(metrics);
  let follow: { readonly stop: () => void; until: number } | undefined;
  try {
    while (!signal.aborted) {
      const [from, computedFrom, foundBefore] = [clock.monotonic(), processor(), holdersFound()];
      await clock.sleep(BEAT_MS, signal);
      const now = clock.monotonic();
      const lateMs = now - from - BEAT_MS;
      if (follow && now > follow.until) {
        follow.stop();
        follow = undefined;
      }
      if (lateMs < HELD_MS || holdersFound() > foundBefore) continue;
      const computedMs = Math.round(processor() - computedFrom);
      if (computedMs < COMPUTED_MS) {
        logger.warn('The process was not run for a while: its processor is taken, or limited', {
          late: `${Math.round(lateMs)}ms`,
          computed: `${computedMs}ms`,
        });
        continue;
      }
      held.inc({ controller: '' });
      logger.warn('An unknown task held the event loop', {
        held: `${Math.round(lateMs)}ms`,
        computed: `${computedMs}ms`,
      });
      follow ??= { stop: followAwaits(clock, processor), until: 0 };
      follow.until = now + FOLLOW_MS;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    follow?.stop();
  }
}
