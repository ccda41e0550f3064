/** Work that must end in time, even if it does not look at its signal. */
import { onAbort, raceAbort } from './abort.ts';
import type { Clock, Timer } from './clock.ts';

export interface Deadline {
  readonly clock: Clock;
  /** Milliseconds from now, or from the last time that the work got on. */
  readonly timeoutMs: number;
  /** Milliseconds from now, however the work gets on. Default: without end. */
  readonly mostMs?: number | undefined;
  /** What did not end in time, for the error: `GET /version`. */
  readonly what: string;
  /** Ends the work too, with its own reason. */
  readonly signal?: AbortSignal | undefined;
  /** The error when time has run out, made from the `TimeoutError` that the work's signal aborted with. Default: that one. */
  readonly late?: ((timeout: Error) => Error) | undefined;
}

/**
 * Runs `work` with a signal that aborts when `signal` does or with a `TimeoutError` after `timeoutMs`, and rejects at that very moment,
 * whether the work heeds it or not. Nothing is started on a signal that has aborted. Work that gets on may say so (`getsOn`): then its
 * time begins anew.
 */
export async function withDeadline<T>(
  { clock, mostMs, timeoutMs, what, signal, late }: Deadline,
  work: (signal: AbortSignal, getsOn: () => void) => T | PromiseLike<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const deadline = startDeadline(clock, timeoutMs, what, mostMs);
  const { controller } = deadline;
  const either = controller.signal;
  // Not `AbortSignal.any`: what it leaves with a signal that lives long goes only when the garbage is collected.
  const forget = signal && onAbort(signal, () => controller.abort(signal.reason));
  try {
    return await raceAbort(work(either, deadline.restart), either);
  } catch (error) {
    const { timeout } = deadline;
    if (timeout && either.reason === timeout) throw late?.(timeout) ?? timeout;
    throw error;
  } finally {
    deadline.cancel();
    forget?.();
  }
}

/** A signal that aborts with a `TimeoutError` after `delayMs` on `clock`, and a way to take that back. */
export function deadlineSignal(
  clock: Clock,
  delayMs: number,
  what: string,
): { readonly signal: AbortSignal; cancel(): void } {
  const deadline = startDeadline(clock, delayMs, what);
  return { signal: deadline.controller.signal, cancel: () => deadline.cancel() };
}

interface StartedDeadline {
  readonly controller: AbortController;
  /** What it has aborted with. */
  timeout: Error | undefined;
  readonly restart: () => void;
  cancel(): void;
}

function startDeadline(clock: Clock, delayMs: number, what: string, mostMs = Infinity): StartedDeadline {
  const controller = new AbortController();
  const ends = clock.monotonic() + mostMs;
  const start = (afterMs: number): Timer => clock.setTimer(afterMs, end, { unref: true });
  const end = (): void => {
    started.timeout = new DOMException(`${what}: no answer within ${delayMs} ms`, 'TimeoutError');
    controller.abort(started.timeout);
  };
  let timer: Timer | undefined = start(Math.min(delayMs, mostMs));
  const started: StartedDeadline = {
    controller,
    timeout: undefined,
    restart: () => {
      if (!timer || controller.signal.aborted) return;
      timer.cancel();
      timer = start(Math.min(delayMs, Math.max(0, ends - clock.monotonic())));
    },
    cancel: () => {
      timer?.cancel();
      timer = undefined;
    },
  };
  return started;
}
