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
      help: 'Nodes whose machines seem to be missing and that stay, because they are more than --node-deletion-max-fraction or their machines cannot be read.',
    }),
    unproved: metrics.gauge({
      name: 'outrigger_node_deletions_unproved',
      help: 'Of these, nodes that are not deleted as long as this lasts: reads fail, the cloud finds no Ready node either, or it may be the wrong account, project or region.',
    }),
    shutdownTaints: metrics.counter({
      name: 'outrigger_node_shutdown_taints_total',
      help: 'Shutdown taints added to nodes and removed.',
      labels: ['action'],
    }),
  };
}
