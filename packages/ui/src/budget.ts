/** Requests to the cloud over time, from counters that only grow, or begin anew with another leader. */
import type { BudgetStatus, Reading } from '@outrigger/status';
import type { BudgetSample } from './view-types.ts';

const MINUTE_MS = 60_000;
/** As many as the chart has columns. */
const KEPT = 120;

export class Budget {
  #samples: readonly BudgetSample[] = [];
  #last: { readonly at: number; readonly requests: number; readonly throttled: number } | undefined;

  /** `at`: milliseconds since the Unix epoch. What could not be read leaves the samples as they are. */
  add(at: number, reading: Reading<readonly BudgetStatus[]>): readonly BudgetSample[] {
    if (!('value' in reading)) return this.#samples;
    const sum = (of: (one: BudgetStatus) => number): number => reading.value.reduce((total, one) => total + of(one), 0);
    const now = { at, requests: sum(({ requests }) => requests), throttled: sum(({ throttled }) => throttled) };
    const before = this.#last;
    this.#last = now;
    // Another process counts from 0.
    if (!before || at <= before.at || now.requests < before.requests) return this.#samples;
    const perMinute = (count: number): number => Math.round((count * MINUTE_MS * 10) / (at - before.at)) / 10;
    const sample = {
      at,
      perMinute: perMinute(now.requests - before.requests),
      throttledPerMinute: perMinute(Math.max(0, now.throttled - before.throttled)),
    };
    this.#samples = [...this.#samples, sample].slice(-KEPT);
    return this.#samples;
  }
}
