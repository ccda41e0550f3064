/** Metrics of the service controller; names and buckets are upstream's, but for those that begin with `outrigger`. */
import { exponentialBuckets, type Counter, type Histogram, type Metrics } from '@outrigger/kube';

export interface ServiceMetrics {
  readonly syncs: Counter;
  readonly nodeSyncErrors: Counter;
  readonly givenUp: Counter;
  readonly nodeSyncLatency: Histogram;
  readonly updateLatency: Histogram;
}

/** By what a step counts. */
export const COUNTERS = { sync: 'syncs', 'node-sync-error': 'nodeSyncErrors', 'given-up': 'givenUp' } as const;

/** 1 s to 4.6 hours. */
const BUCKETS = exponentialBuckets(1, 2, 15);

export function createServiceMetrics(metrics: Metrics): ServiceMetrics {
  return {
    syncs: metrics.counter({
      name: 'service_controller_loadbalancer_sync_total',
      help: 'Times that a load balancer was configured, because of a change of its Service or of nodes.',
    }),
    nodeSyncErrors: metrics.counter({
      name: 'service_controller_nodesync_error_total',
      help: 'Times that a load balancer could not be configured after a change of nodes.',
    }),
    givenUp: metrics.counter({
      name: 'outrigger_deleted_services_given_up_total',
      help: 'Deleted Services whose clean-up was given up; the search for orphans finds what they have left.',
    }),
    nodeSyncLatency: metrics.histogram({
      name: 'service_controller_nodesync_latency_seconds',
      help: 'Seconds from a settled change of nodes until all load balancers had it.',
      buckets: BUCKETS,
    }),
    updateLatency: metrics.histogram({
      name: 'service_controller_update_loadbalancer_host_latency_seconds',
      help: 'Seconds from a settled change of nodes until one load balancer had it.',
      buckets: BUCKETS,
    }),
  };
}
