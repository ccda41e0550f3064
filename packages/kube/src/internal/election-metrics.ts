/** Upstream's metrics of leader election. */
import type { Metrics } from '../metrics.ts';

export interface ElectionMetrics {
  leads(yes: boolean): void;
  slowpath(): void;
}

export function createElectionMetrics(metrics: Metrics, name: string): ElectionMetrics {
  const status = metrics.gauge({
    name: 'leader_election_master_status',
    help: 'Whether this process holds the lease of that name: 1 leader, 0 not.',
    labels: ['name'],
  });
  const slowpath = metrics.counter({
    name: 'leader_election_slowpath_total',
    help: 'Renewals that had to read the lease first.',
    labels: ['name'],
  });
  status.set(0, { name });
  return { leads: (yes) => status.set(yes ? 1 : 0, { name }), slowpath: () => slowpath.inc({ name }) };
}
