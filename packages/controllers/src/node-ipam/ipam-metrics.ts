/** Metrics of node IPAM. The first four are upstream's, with the name that one of them has there. */
import type { Counter, Metrics } from '@outrigger/kube';
import type { CidrSet } from './cidr-set.ts';

export interface IpamMetrics {
  readonly allocations: Counter;
  readonly releases: Counter;
  readonly notAvailable: Counter;
}

/** `refuses`: whether somebody else allocates; without it nothing is said about that. Both are asked at each scrape, until `signal` aborts. */
export function createIpamMetrics(
  metrics: Metrics,
  sets: () => readonly CidrSet[],
  signal: AbortSignal,
  refuses?: () => boolean,
): IpamMetrics {
  const labels = ['clusterCIDR'];
  const most = metrics.gauge({
    name: 'node_ipam_controller_cirdset_max_cidrs',
    help: 'Maximum number of CIDRs that can be allocated.',
    labels,
  });
  const usage = metrics.gauge({
    name: 'node_ipam_controller_cidrset_usage_cidrs',
    help: 'Gauge measuring percentage of allocated CIDRs.',
    labels,
  });
  const refusing = metrics.gauge({
    name: 'outrigger_node_ipam_refusing',
    help: 'Whether nothing is allocated because another component allocates pod CIDRs: 1 or 0.',
  });
  metrics.onCollect(() => {
    if (refuses) refusing.set(refuses() ? 1 : 0);
    for (const { cluster, size, used } of sets()) {
      most.set(size, { clusterCIDR: cluster.text });
      usage.set(used / size, { clusterCIDR: cluster.text });
    }
  }, signal);
  return {
    allocations: metrics.counter({
      name: 'node_ipam_controller_cidrset_cidrs_allocations_total',
      help: 'Counter measuring total number of CIDR allocations.',
      labels,
    }),
    releases: metrics.counter({
      name: 'node_ipam_controller_cidrset_cidrs_releases_total',
      help: 'Counter measuring total number of CIDR releases.',
      labels,
    }),
    notAvailable: metrics.counter({
      name: 'outrigger_node_ipam_cidr_not_available_total',
      help: 'Nodes that got no pod CIDR because the cluster CIDR is exhausted, each counted when it is reported.',
    }),
  };
}
