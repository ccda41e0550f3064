/** Upstream's workqueue metrics: https://github.com/kubernetes/component-base/blob/v0.36.3/metrics/prometheus/workqueue/metrics.go */
import { exponentialBuckets, type Metrics } from '../metrics.ts';

/** What only needs to be known when somebody looks. Times are monotonic milliseconds. */
export interface QueueState {
  readonly depth: number;
  readonly now: number;
  readonly startedAt: Iterable<number>;
}

/** Durations in milliseconds. */
export interface QueueMetrics {
  added(): void;
  taken(waitedMs: number): void;
  worked(tookMs: number): void;
  retried(): void;
  /** The state is read no longer. */
  close(): void;
}

const BUCKETS = exponentialBuckets(10e-9, 10, 10);

export function createQueueMetrics(metrics: Metrics, name: string, state: () => QueueState): QueueMetrics {
  const labels = { name };
  const named = { labels: ['name'] };
  const adds = metrics.counter({
    name: 'workqueue_adds_total',
    help: 'Keys that became ready to be worked on.',
    ...named,
  });
  const retries = metrics.counter({
    name: 'workqueue_retries_total',
    help: 'Keys added with a delay: back-off after a failure, or a requeue.',
    ...named,
  });
  const queued = metrics.histogram({
    name: 'workqueue_queue_duration_seconds',
    help: 'How long a key was ready before a worker took it.',
    buckets: BUCKETS,
    ...named,
  });
  const work = metrics.histogram({
    name: 'workqueue_work_duration_seconds',
    help: 'How long a worker took for a key.',
    buckets: BUCKETS,
    ...named,
  });
  const depth = metrics.gauge({ name: 'workqueue_depth', help: 'Keys that are ready and not yet taken.', ...named });
  const unfinished = metrics.gauge({
    name: 'workqueue_unfinished_work_seconds',
    help: 'Sum of the time that keys now worked on have taken so far. A steady rise tells how many workers hang.',
    ...named,
  });
  const longest = metrics.gauge({
    name: 'workqueue_longest_running_processor_seconds',
    help: 'How long the slowest of the keys now worked on has taken so far.',
    ...named,
  });
  const life = new AbortController();
  const collect = (): void => {
    const { depth: size, now, startedAt } = state();
    let sum = 0;
    let max = 0;
    for (const start of startedAt) {
      sum += now - start;
      max = Math.max(max, now - start);
    }
    depth.set(size, labels);
    unfinished.set(sum / 1000, labels);
    longest.set(max / 1000, labels);
  };
  metrics.onCollect(collect, life.signal);
  return {
    added: () => adds.inc(labels),
    taken: (waitedMs) => queued.observe(waitedMs / 1000, labels),
    worked: (tookMs) => work.observe(tookMs / 1000, labels),
    retried: () => retries.inc(labels),
    close: () => {
      life.abort();
      for (const gauge of [depth, unfinished, longest]) gauge.set(0, labels);
    },
  };
}
