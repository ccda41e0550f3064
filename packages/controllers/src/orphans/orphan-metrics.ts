/** Metrics of the orphan controller. */
import type { Counter, Gauge, Metrics } from '@outrigger/kube';

export interface OrphanMetrics {
  readonly orphans: Gauge;
  readonly held: Gauge;
  readonly passes: Counter;
  readonly removals: Counter;
}

export function createOrphanMetrics(metrics: Metrics): OrphanMetrics {
  return {
    orphans: metrics.gauge({
      name: 'outrigger_orphans',
      help: 'What carries the identity of this cluster in the cloud and has no Kubernetes object behind it, by kind: route, or the kind of a part of a load balancer.',
      labels: ['kind'],
    }),
    held: metrics.gauge({
      name: 'outrigger_orphan_removals_held',
      help: 'Load balancers and routes that seem to be orphans and are not removed, because more are than --orphan-max-fraction allows.',
      labels: ['kind'],
    }),
    passes: metrics.counter({
      name: 'outrigger_orphan_passes_total',
      help: 'Searches for orphans, by result: complete, or partial.',
      labels: ['result'],
    }),
    removals: metrics.counter({
      name: 'outrigger_orphan_removals_total',
      help: 'Load balancers and routes that were removed as orphans, or should have been, by result.',
      labels: ['kind', 'result'],
    }),
  };
}
