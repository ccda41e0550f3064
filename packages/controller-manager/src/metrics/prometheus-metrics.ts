/** `Metrics` over the Prometheus client library, with a registry of its own: nothing here is global. */
import {
  onAbort,
  type Counter,
  type Gauge,
  type Histogram,
  type Labels,
  type MetricDefinition,
  type Metrics,
} from '@outrigger/kube';
import * as prometheus from '@prometheus-io/client';
import { collectLinuxProcess } from './linux-process.ts';

type Kind = 'counter' | 'gauge' | 'histogram';

interface Registered {
  readonly kind: Kind;
  readonly labels: readonly string[];
  readonly metric: Counter | Gauge | Histogram;
}

const NO_LABELS: Labels = {};

export class PrometheusMetrics implements Metrics {
  readonly #registry = new prometheus.Registry();
  readonly #metrics = new Map<string, Registered>();
  readonly #collectors = new Set<{ readonly collect: () => void }>();

  /** `processMetrics`: also CPU, memory, file descriptors, event-loop delay and garbage collection of this process. */
  constructor(options: { readonly processMetrics?: boolean } = {}) {
    // Its names for CPU, memory and file descriptors are those of Go's process collector: dashboards go on working.
    if (!options.processMetrics) return;
    prometheus.collectDefaultMetrics({ register: this.#registry });
    collectLinuxProcess(this.#registry);
  }

  counter(definition: MetricDefinition): Counter {
    return this.#register('counter', definition, (configuration) => {
      const counter = new prometheus.Counter(configuration);
      return { inc: (labels = NO_LABELS, value = 1) => counter.inc(labels, value) };
    });
  }

  gauge(definition: MetricDefinition): Gauge {
    return this.#register('gauge', definition, (configuration) => {
      const gauge = new prometheus.Gauge(configuration);
      return { set: (value, labels = NO_LABELS) => gauge.set(labels, value) };
    });
  }

  histogram(definition: MetricDefinition & { readonly buckets: readonly number[] }): Histogram {
    return this.#register('histogram', definition, (configuration) => {
      const histogram = new prometheus.Histogram({ ...configuration, buckets: [...definition.buckets] });
      return { observe: (value, labels = NO_LABELS) => histogram.observe(labels, value) };
    });
  }

  onCollect(collect: () => void, signal?: AbortSignal): void {
    if (signal?.aborted) return;
    const entry = { collect };
    this.#collectors.add(entry);
    if (signal) onAbort(signal, () => this.#collectors.delete(entry));
  }

  /** The Prometheus text format, version 0.0.4. A collector that throws costs its own gauges only. */
  async render(): Promise<string> {
    for (const { collect } of this.#collectors) {
      try {
        collect();
      } catch {
        // The values of the last scrape stay; a scrape must not fail for one part of the program.
      }
    }
    return await this.#registry.metrics();
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  #register<M extends Counter | Gauge | Histogram>(
    kind: Kind,
    definition: MetricDefinition,
    make: (configuration: { name: string; help: string; labelNames: string[]; registers: prometheus.Registry[] }) => M,
  ): M {
    const { name, help, labels = [] } = definition;
    const known = this.#metrics.get(name);
    if (known !== undefined) {
      if (known.kind !== kind || known.labels.join() !== labels.join()) {
        throw new TypeError(
          `metric ${name} is a ${known.kind} with labels [${known.labels.join()}], not a ${kind} with [${labels.join()}]`,
        );
      }
      return known.metric as M;
    }
    const metric = make({ name, help, labelNames: [...labels], registers: [this.#registry] });
    this.#metrics.set(name, { kind, labels, metric });
    return metric;
  }
}
