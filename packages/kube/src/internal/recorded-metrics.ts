/** `Metrics` that remembers, for the unit tests of this package. */
import { onAbort } from '../abort.ts';
import type { Labels, Metrics } from '../metrics.ts';

export interface RecordedMetrics extends Metrics {
  /** The value of a counter or gauge, the number of observations of a histogram. 0 when there is none. */
  value(name: string, labels?: Labels): number;
  /** What was observed by a histogram. */
  observations(name: string): readonly number[];
  /** What a scrape does first. */
  collect(): void;
  /** How many are called by it. */
  readonly collectors: number;
}

export function recordMetrics(): RecordedMetrics {
  const values = new Map<string, number>();
  const observed = new Map<string, number[]>();
  const collectors = new Set<() => void>();
  const id = (name: string, labels: Labels = {}): string =>
    `${name}${JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)))}`;
  return {
    counter: ({ name }) => ({
      inc: (labels, value = 1) => void values.set(id(name, labels), (values.get(id(name, labels)) ?? 0) + value),
    }),
    gauge: ({ name }) => ({ set: (value, labels) => void values.set(id(name, labels), value) }),
    histogram: ({ name }) => ({
      observe: (value, labels) => {
        values.set(id(name, labels), (values.get(id(name, labels)) ?? 0) + 1);
        const list = observed.get(name) ?? [];
        list.push(value);
        observed.set(name, list);
      },
    }),
    onCollect: (collect, signal) => {
      collectors.add(collect);
      if (signal) onAbort(signal, () => collectors.delete(collect));
    },
    value: (name, labels) => values.get(id(name, labels)) ?? 0,
    observations: (name) => observed.get(name) ?? [],
    get collectors() {
      return collectors.size;
    },
    collect: () => {
      for (const collect of collectors) collect();
    },
  };
}
