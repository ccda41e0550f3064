/** What can go wrong between a client and a server. */
import type { RequestInfo } from './request-info.ts';

export type Fault =
  /** The request waits before it reaches the server. */
  | { readonly type: 'latency'; readonly ms: number }
  /** TCP reset of the connection; the request does not reach the server. Other requests on the connection die with it. */
  | { readonly type: 'reset' }
  /** The connection stays up, takes bytes and answers nothing any more, not even a PING. The server sees nothing. */
  | { readonly type: 'freeze' }
  /** This request is never answered and does not reach the server; its connection is well. */
  | { readonly type: 'hang' }
  /** The proxy answers, with a `Status` body; the request does not reach the server. */
  | {
      readonly type: 'status';
      readonly code: number;
      /** `StatusReason`. Default: the usual one of the code. */
      readonly reason?: string;
      readonly message?: string;
      /** Sent as the header `Retry-After`, and in `details.retryAfterSeconds`. */
      readonly retryAfterSeconds?: number;
    }
  /** So many whole lines of the answer, or messages of a watch in protobuf (default 0), half of the next one, then the connection ends. */
  | { readonly type: 'half-line'; readonly afterLines?: number }
  /** A watch ends after so many lines, or messages in protobuf, properly (`end`, the default) or by TCP reset. */
  | { readonly type: 'cut-watch'; readonly afterEvents: number; readonly how?: 'end' | 'reset' }
  /** The first answer to each path that this rule sees passes and is remembered; the later ones are that answer again. */
  | { readonly type: 'stale-list' }
  /** The server does it and says so; the client gets a TCP reset instead. Answers that are errors pass. */
  | { readonly type: 'lose-answer' };

/** A request as a rule sees it. */
export interface FaultRequest extends RequestInfo {
  readonly method: string;
  /** With query. */
  readonly path: string;
  readonly userAgent: string;
}

/** Which requests a rule is for; all that is given must hold. */
export interface FaultMatch {
  readonly method?: string;
  /** `list`, `watch`, `patch` … */
  readonly verb?: string;
  /** Plural: `nodes`. */
  readonly resource?: string;
  /** Against path and query. */
  readonly path?: RegExp;
  readonly userAgent?: RegExp;
  readonly when?: (request: FaultRequest) => boolean;
  /** Only from the n-th match on, counting from 1. Default: 1. */
  readonly nth?: number;
  /** At most so often. Default: with `nth` once, otherwise always. */
  readonly times?: number;
}

export interface FaultRuleOptions {
  /** Default: every request. */
  readonly match?: FaultMatch;
  readonly fault: Fault;
}

/** A rule in force. */
export class FaultRule {
  readonly fault: Fault;
  readonly #match: FaultMatch;
  #seen = 0;
  #hits = 0;
  #removed = false;
  /** Answers that `stale-list` repeats, by path. */
  readonly remembered: Map<string, RememberedAnswer> = new Map();

  constructor(options: FaultRuleOptions) {
    this.fault = options.fault;
    this.#match = options.match ?? {};
  }

  /** How often it has struck. */
  get hits(): number {
    return this.#hits;
  }

  /** It strikes no more. */
  remove(): void {
    this.#removed = true;
  }

  /** Whether it strikes this request; counts. */
  strikes(request: FaultRequest): boolean {
    if (this.#removed || !this.#fits(request)) return false;
    this.#seen++;
    const { nth = 1, times = this.#match.nth === undefined ? Infinity : 1 } = this.#match;
    if (this.#seen < nth || this.#hits >= times) return false;
    this.#hits++;
    return true;
  }

  #fits(request: FaultRequest): boolean {
    const { method, verb, resource, path, userAgent, when } = this.#match;
    return (
      (method === undefined || method === request.method) &&
      (verb === undefined || verb === request.verb) &&
      (resource === undefined || resource === request.resource) &&
      (path === undefined || request.path.search(path) >= 0) &&
      (userAgent === undefined || request.userAgent.search(userAgent) >= 0) &&
      (when === undefined || when(request))
    );
  }
}

export interface RememberedAnswer {
  readonly status: number;
  readonly headers: Record<string, string | string[]>;
  readonly body: Buffer;
}

const REASONS: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  410: 'Expired',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

/** The body of a `status` fault. */
export function statusOf(fault: Fault & { readonly type: 'status' }): Record<string, unknown> {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: fault.message ?? `injected fault: ${fault.code}`,
    reason: fault.reason ?? REASONS[fault.code] ?? '',
    ...(fault.retryAfterSeconds !== undefined && { details: { retryAfterSeconds: fault.retryAfterSeconds } }),
    code: fault.code,
  };
}
