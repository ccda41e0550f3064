/** What a fake cloud does wrong, and when, as a test says it. */
import type { FakeRequest } from './fake-request.ts';

/** Which requests a rule hits, and what happens to them. All conditions must hold; without any, it hits each request. */
export interface FakeFault {
  readonly method?: string;
  /** The path as sent, or what it must match. */
  readonly path?: string | RegExp;
  /** `POST /servers`, or the model's own name of it. */
  readonly operation?: string;
  readonly account?: string;
  readonly when?: (request: FakeRequest) => boolean;
  /** The n-th request that fits, from 1. Default: each. */
  readonly nth?: number;
  /** How many it hits at most. Default: no limit. */
  readonly times?: number;

  /** Waits before anything else is done. By the fake's clock. */
  readonly delayMs?: number;
  /** Answered in place of what would be. */
  readonly status?: number;
  /** With `status`: the error's code. Default: `fault`. */
  readonly code?: string;
  /** With `status`: the body. A string is sent as it is. Default: an error in the cloud's own shape. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly retryAfterSeconds?: number;
  /** The connection is closed in place of an answer. */
  readonly drops?: boolean;
  /** With `status` or `drops`: what was asked for is done all the same, so that the answer is lost. Default: false. */
  readonly takesEffect?: boolean;
  /** The answer is cut off in its middle, is no text of its form, or is a list of nothing. */
  readonly spoils?: 'truncated' | 'garbage' | 'empty-list';
  /** What it begins fails when its time is over. */
  readonly failsLater?: { readonly code: string; readonly message: string };
}

interface Armed {
  readonly fault: FakeFault;
  seen: number;
  hits: number;
}

/** The rules in force. The first that hits a request counts. */
export class FakeFaults {
  #armed: Armed[] = [];

  /** Adds a rule; the function that it gives back takes it away. */
  add(fault: FakeFault): () => void {
    const armed = { fault, seen: 0, hits: 0 };
    this.#armed.push(armed);
    return () => void (this.#armed = this.#armed.filter((one) => one !== armed));
  }

  /** In place of all that were. */
  set(...faults: readonly FakeFault[]): void {
    this.#armed = faults.map((fault) => ({ fault, seen: 0, hits: 0 }));
  }

  /** For the fake itself. */
  next(request: FakeRequest): FakeFault | undefined {
    for (const armed of this.#armed) {
      const { fault } = armed;
      if (!fits(fault, request)) continue;
      armed.seen++;
      if (fault.nth !== undefined && armed.seen !== fault.nth) continue;
      if (fault.times !== undefined && armed.hits >= fault.times) continue;
      armed.hits++;
      return fault;
    }
    return undefined;
  }
}

function fits({ account, method, operation, path, when }: FakeFault, request: FakeRequest): boolean {
  if (method !== undefined && method !== request.method) return false;
  if (operation !== undefined && operation !== request.operation) return false;
  if (account !== undefined && account !== request.account) return false;
  if (typeof path === 'string' && path !== request.path) return false;
  if (path instanceof RegExp && request.path.search(path) === -1) return false;
  return when?.(request) ?? true;
}
