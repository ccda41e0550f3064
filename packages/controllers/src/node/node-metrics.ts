/** Metrics of the node controller. The first two are upstream's, with its buckets. */
import { exponentialBuckets, type Counter, type Histogram, type Metrics, type Node } from '@outrigger/kube';
import { isUninitialized } from './taints.ts';

export interface NodeMetrics {
  readonly taintRemovalDelay: Histogram;
  readonly initialSyncDelay: Histogram;
  readonly labelDifferences: Counter;
  readonly waits: Counter;
}

/** 1 s to 17 min. */
const BUCKETS = exponentialBuckets(1, 4, 6);

export function createNodeMetrics(metrics: Metrics): NodeMetrics {
  return {
    taintRemovalDelay: metrics.histogram({
      name: 'node_controller_cloud_provider_taint_removal_delay_seconds',
      help: 'Seconds after the creation of a node when its uninitialized taint was removed.',
      buckets: BUCKETS,
    }),
    initialSyncDelay: metrics.histogram({
      name: 'node_controller_initial_node_sync_delay_seconds',
      help: 'Seconds after the creation of a node when it was first synchronized with the cloud.',
      buckets: BUCKETS,
    }),
    labelDifferences: metrics.counter({
      name: 'outrigger_node_label_differences_total',
      help: 'Labels of initialized nodes found to differ from the cloud, each counted when it is reported.',
      labels: ['label'],
    }),
    waits: metrics.counter({
      name: 'outrigger_node_initialization_waits_total',
      help: 'Answers of the cloud after which an uninitialized node kept its taint, by reason.',
      labels: ['reason'],
    }),
  };
}

/** How long nodes have waited, whatever for: read from `nodes` at each scrape. `now`: wall clock, milliseconds. */
export function watchUninitialized(
  metrics: Metrics,
  nodes: () => Iterable<Node>,
  now: () => number,
  signal: AbortSignal,
): void {
  const oldest = metrics.gauge({
    name: 'outrigger_node_uninitialized_seconds',
    help: 'Seconds since the creation of the oldest node that still has the uninitialized taint; 0 when none has it.',
  });
  metrics.onCollect(() => {
    let created = Infinity;
    for (const node of nodes()) {
      const since = Date.parse(node.metadata?.creationTimestamp ?? '');
      if (since < created && isUninitialized(node)) created = since;
    }
    oldest.set(Number.isFinite(created) ? Math.max(0, (now() - created) / 1000) : 0);
  }, signal);
}
