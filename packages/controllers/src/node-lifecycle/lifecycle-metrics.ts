/** Metrics of the node lifecycle controller. */
import type { Counter, Gauge, Metrics } from '@outrigger/kube';

export interface LifecycleMetrics {
  readonly deletions: Counter;
  readonly held: Gauge;
  readonly unproved: Gauge;
  readonly shutdownTaints: Counter;
}

export function createLifecycleMetrics(metrics: Metrics): LifecycleMetrics {
  return {
    deletions: metrics.counter({
      name: 'outrigger_node_deletions_total',
      help: 'Nodes deleted because their machine does not exist, by outcome of the request.',
      labels: ['outcome'],
    }),
    held: metrics.gauge({
      name: 'outrigger_node_deletions_held',
      help: 'Nodes that seem to be gone and need a longer proof, because more are than --node-deletion-max-fraction.',
    }),
    unproved: metrics.gauge({
      name: 'outrigger_node_deletions_unproved',
      help: 'Nodes of these that are not deleted however long it lasts: the cloud knows no Ready node either, or may be asked in the wrong place.',
    }),
    shutdownTaints: metrics.counter({
      name: 'outrigger_node_shutdown_taints_total',
      help: 'Shutdown taints put on nodes and taken away.',
      labels: ['action'],
    }),
  };
}
