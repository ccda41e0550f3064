/** Failures by rule, and the rate limit. */
import type { Clock } from '@outrigger/cloud-provider';
import type { FaultRule } from './cloud-model.ts';

interface Armed {
  readonly rule: FaultRule;
  seen: number;
  hits: number;
}

export class Faults {
  readonly #random: () => number;
  #armed: readonly Armed[] = [];

  constructor(random: () => number) {
    this.#random = random;
  }

  set(rules: readonly FaultRule[]): void {
    this.#armed = rules.map((rule) => ({ rule, seen: 0, hits: 0 }));
  }

  /** The rule that hits this request. */
  next(operation: string): FaultRule | undefined {
    for (const armed of this.#armed) {
      const { rule } = armed;
      if (rule.operation !== undefined && !operation.startsWith(rule.operation)) continue;
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

/** The cloud's own rate limit. */
export class RateLimit {
  readonly #clock: Clock;
  #tokens = Number.POSITIVE_INFINITY;
  #at: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#at = clock.monotonic();
  }

  /** Seconds until the next request would be served; 0 when this one is. */
  take({ qps, burst }: { readonly qps: number; readonly burst: number }): number {
    const now = this.#clock.monotonic();
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#at) / 1000) * qps);
    this.#at = now;
    if (this.#tokens < 1) return (1 - this.#tokens) / qps;
    this.#tokens--;
    return 0;
  }
}
