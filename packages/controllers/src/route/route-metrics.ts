/** Metrics of the route controller. The first is upstream's. */
import type { Counter, Gauge, Metrics } from '@outrigger/kube';

export interface RouteMetrics {
  readonly syncs: Counter;
  readonly operations: Counter;
  readonly held: Gauge;
}

export function createRouteMetrics(metrics: Metrics): RouteMetrics {
  return {
    syncs: metrics.counter({
      name: 'route_controller_route_sync_total',
      help: 'Lists of the routes, by what triggered them (node_change: earlier than the period) and their outcome (error, changed: routes are to be created or deleted, noop).',
      labels: ['outcome', 'trigger'],
    }),
    operations: metrics.counter({
      name: 'outrigger_route_operations_total',
      help: 'Routes created and deleted, by result.',
      labels: ['operation', 'result'],
    }),
    held: metrics.gauge({
      name: 'outrigger_route_removals_held',
      help: 'Routes of deleted nodes that are kept because there are so many of them.',
    }),
  };
}
