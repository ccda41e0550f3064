/** Metrics as the machinery needs them. `@outrigger/controller-manager` implements this over a Prometheus client library. */

/** What a metric is. Names and labels follow upstream Kubernetes where upstream has the metric. */
export interface MetricDefinition {
  readonly name: string;
  readonly help: string;
  /** Label names, in order. */
  readonly labels?: readonly string[];
}

/** Values for all of the metric's label names. */
export type Labels = Readonly<Record<string, string>>;

export interface Counter {
  /** Adds `value`, 1 unless told. */
  inc(labels?: Labels, value?: number): void;
}

export interface Gauge {
  set(value: number, labels?: Labels): void;
}

export interface Histogram {
  observe(value: number, labels?: Labels): void;
}

/** Makes metrics. Asking again for a name that exists gives the same metric; asking with other labels throws. */
export interface Metrics {
  counter(definition: MetricDefinition): Counter;
  gauge(definition: MetricDefinition): Gauge;
  histogram(definition: MetricDefinition & { readonly buckets: readonly number[] }): Histogram;
  /** Calls `collect` before each scrape, until `signal` aborts, for gauges that are cheaper to read than to keep. Default: for ever. */
  onCollect(collect: () => void, signal?: AbortSignal): void;
}

/** Counts nothing. */
export const noMetrics: Metrics = {
  counter: () => ({ inc: () => {} }),
  gauge: () => ({ set: () => {} }),
  histogram: () => ({ observe: () => {} }),
  onCollect: () => {},
};

/** `count` bucket bounds from `start`, each `factor` times the one before (client_golang's `ExponentialBuckets`). */
export function exponentialBuckets(start: number, factor: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, i) => start * factor ** i);
}
