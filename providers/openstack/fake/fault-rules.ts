/** Failures by rule: what a test arms, and which rule hits a request. */
import type { FakeRequest, FakeService } from './fake-http.ts';

export type FaultEffect =
  /** Answers `status`, with the service's own shape of an error, and does no work. */
  | { readonly effect: 'status'; readonly status: number; readonly retryAfterSeconds?: number; readonly body?: unknown }
  /** A proxy's HTML page in place of the service's answer. */
  | { readonly effect: 'proxy'; readonly status: number }
  /** Does the work; then the connection breaks before the answer. */
  | { readonly effect: 'lost' }
  /** The connection breaks before any work. */
  | { readonly effect: 'refused' }
  /** Does the work, and sends the first half of the answer's bytes. */
  | { readonly effect: 'cut' }
  /** A list without entries, and without a next page. */
  | { readonly effect: 'empty' }
  /** Takes so long more, in milliseconds. */
  | { readonly effect: 'slow'; readonly delayMs: number }
  /** Never answers, until the client gives up. */
  | { readonly effect: 'hang' }
  /** Runs `run` before the request is served: a cell is lost between two pages. */
  | { readonly effect: 'run'; readonly run: () => void };

export type FaultRule = FaultEffect & {
  readonly service?: FakeService;
  /** Requests whose operation starts like this: `GET /servers`. Default: all. */
  readonly operation?: string;
  /** Further condition: `(request) => request.query.has('marker')` is every page but the first. */
  readonly when?: (request: FakeRequest) => boolean;
  /** The n-th request that the rule sees, from 1. Default: each. */
  readonly nth?: number;
  /** From 0 to 1, by the fake's own random source. Default: 1. */
  readonly probability?: number;
  /** How many requests it hits at most. Default: no limit. */
  readonly times?: number;
};

interface Armed {
  readonly rule: FaultRule;
  seen: number;
  hits: number;
}

export class FaultRules {
  readonly #random: () => number;
  #armed: readonly Armed[] = [];

  constructor(random: () => number) {
    this.#random = random;
  }

  /** Replaces all rules. */
  set(...rules: readonly FaultRule[]): void {
    this.#armed = rules.map((rule) => ({ rule, seen: 0, hits: 0 }));
  }

  /** The first rule that hits this request. */
  next(operation: string, request: FakeRequest): FaultRule | undefined {
    for (const armed of this.#armed) {
      const { rule } = armed;
      if (rule.service !== undefined && rule.service !== request.service) continue;
      if (rule.operation !== undefined && !operation.startsWith(rule.operation)) continue;
      if (rule.when !== undefined && !rule.when(request)) continue;
      armed.seen++;
      if (rule.nth !== undefined && armed.seen !== rule.nth) continue;
      if (rule.times !== undefined && armed.hits >= rule.times) continue;
      if (rule.probability !== undefined && this.#random() >= rule.probability) continue;
      armed.hits++;
      return rule;
    }
    return undefined;
  }
}
