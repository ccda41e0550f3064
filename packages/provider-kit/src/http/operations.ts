/** Operations that a cloud begins with one request and ends by itself: the host polls, and hears how each has ended. */
import {
  isCloudError,
  type CallContext,
  type Clock,
  type CloudErrorCode,
  type LoadBalancerActionResult,
  type PartName,
} from '@outrigger/cloud-provider';

export interface BegunOperation {
  /** The cloud's own name of it, or its path. */
  readonly handle: string;
  /** Milliseconds. Default: 1,000. */
  readonly pollAfterMs?: number | undefined;
  /** The part that it makes. */
  readonly made?: PartName | undefined;
}

const DEFAULT_POLL_MS = 1_000;
/** Of the question, not of the operation. */
const PASSING: readonly CloudErrorCode[] = ['throttled', 'timeout', 'unauthenticated', 'unavailable'];
/** Of Services that are gone nobody asks any more. */
const MOST_REMEMBERED = 10_000;

/**
 * Remembers what was begun for whom, as an operation that failed is often seen in nothing but itself: the part is not made, and nobody
 * says why. In memory alone: after a restart, `observe` has only the parts.
 */
export class Operations {
  readonly #look: (handle: string, call: CallContext) => Promise<'running' | 'done'>;
  readonly #begun = new Map<string, string>();

  /** `look` asks the cloud about one; rejects with how it failed. `not-found`: the cloud knows it no more, so it has ended. */
  constructor(look: (handle: string, call: CallContext) => Promise<'running' | 'done'>) {
    this.#look = look;
  }

  /** In `apply`, when a request has begun one. `uid`: of the Service. */
  begin(uid: string, { handle, made, pollAfterMs = DEFAULT_POLL_MS }: BegunOperation): LoadBalancerActionResult {
    this.#begun.delete(handle);
    this.#begun.set(handle, uid);
    const [oldest] = this.#begun.keys();
    if (this.#begun.size > MOST_REMEMBERED && oldest !== undefined) this.#begun.delete(oldest);
    return { kind: 'pending', handle, pollAfterMs, ...(made && { made }) };
  }

  /**
   * In `observe`, for one Service: resolves to whether any still runs, rejects with how one has failed, once. One that could not be
   * asked about is asked about again.
   */
  async settle(uid: string, call: CallContext): Promise<boolean> {
    let runs = false;
    for (const [handle, owner] of this.#begun) {
      if (owner !== uid) continue;
      const state = await this.#ask(handle, call);
      if (state === 'running') runs = true;
      else this.#begun.delete(handle);
      if (typeof state === 'object') throw state.error;
    }
    return runs;
  }

  async #ask(handle: string, call: CallContext): Promise<'running' | 'done' | { readonly error: unknown }> {
    try {
      return await this.#look(handle, call);
    } catch (error) {
      if (isCloudError(error, 'not-found')) return 'done';
      if (PASSING.some((code) => isCloudError(error, code)) || call.signal.aborted) throw error;
      return { error };
    }
  }
}

/** Asks until there is an answer, for what has to be waited for within one call. Rejects when the call's signal aborts. */
export async function pollUntil<T>(
  look: () => Promise<T | undefined>,
  {
    clock,
    call,
    everyMs = DEFAULT_POLL_MS,
  }: { readonly clock: Clock; readonly call: CallContext; readonly everyMs?: number },
): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    await clock.sleep(everyMs, call.signal);
  }
}
