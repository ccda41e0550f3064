/** What the leader counts: deletions and removals that it holds back, what is left in the cloud, and what asking it costs. Pure. */
import type { BudgetStatus, DeletionsStatus, OrphanStatus, RoutesStatus } from './cluster-status.ts';
import type { MetricSamples } from './metric-samples.ts';
import { counted, type Tell } from './tell-problem.ts';

export function deletionsOf(metrics: MetricSamples, tell: Tell): DeletionsStatus {
  const held = metrics.sum('outrigger_node_deletions_held');
  const unproved = metrics.sum('outrigger_node_deletions_unproved');
  if (held > 0) {
    const never = unproved > 0 ? ` ${unproved} of them are not deleted however long it lasts.` : '';
    tell({
      severity: 'warning',
      section: 'deletions',
      message: `${counted(held, 'node')} seem to have lost their machine, and are not deleted yet: they are many, or their machines cannot be read.${never}`,
      remedy:
        'Check with other tools whether the machines exist. If they do, correct the cloud config; if they are gone, wait for the proof, or allow the deletion.',
      commands: [
        'kubectl get events --all-namespaces --field-selector=reason=NodeDeletionHeld',
        'kubectl annotate node NAME outrigger.dev/allow-node-deletion=true',
      ],
      runbook: 'OutriggerNodeDeletionsHeld',
    });
  }
  return { held, unproved };
}

export function routesOf(metrics: MetricSamples, tell: Tell): RoutesStatus {
  const removalsHeld = metrics.sum('outrigger_route_removals_held');
  if (removalsHeld > 0) {
    tell({
      severity: 'warning',
      section: 'routes',
      message: `${counted(removalsHeld, 'route')} of deleted nodes are kept: too many at once.`,
      remedy: 'Check whether these nodes are really gone.',
      commands: ['kubectl get events --all-namespaces --field-selector=reason=RouteRemovalHeld'],
      runbook: 'OutriggerRouteRemovalsHeld',
    });
  }
  return { removalsHeld };
}

export function orphansOf(metrics: MetricSamples, tell: Tell): readonly OrphanStatus[] {
  const orphans = metrics
    .valuesOf('outrigger_orphans', 'kind')
    .map((kind) => ({
      kind,
      count: metrics.sum('outrigger_orphans', { kind }),
      held: metrics.sum('outrigger_orphan_removals_held', { kind }),
    }))
    .filter(({ count }) => count > 0);
  const total = orphans.reduce((sum, { count }) => sum + count, 0);
  const held = orphans.reduce((sum, one) => sum + one.held, 0);
  if (total > 0) {
    tell({
      severity: 'warning',
      section: 'orphans',
      message: `${counted(total, 'resource')} in the cloud ${total === 1 ? 'belongs' : 'belong'} to this cluster and to no Kubernetes object: ${orphans.map(({ count, kind }) => `${count} ${kind}`).join(', ')}.`,
      remedy: 'Remove what is not needed in the cloud, or set --orphan-policy=delete; the Events name them.',
      commands: ['kubectl get events --all-namespaces --field-selector=involvedObject.name=kube-system'],
      runbook: held > 0 ? 'OutriggerOrphanRemovalsHeld' : 'OutriggerOrphans',
    });
  }
  return orphans;
}

export function budgetOf(metrics: MetricSamples): readonly BudgetStatus[] {
  const REQUESTS = 'cloudprovider_api_requests_total';
  const WAITS = 'cloudprovider_api_budget_wait_seconds';
  // The least bucket of a second or more.
  const second = metrics
    .valuesOf(`${WAITS}_bucket`, 'le')
    .filter((le) => Number(le) >= 1)
    .toSorted((a, b) => Number(a) - Number(b))[0];
  return metrics.valuesOf(REQUESTS, 'provider').map((provider) => ({
    provider,
    requests: metrics.sum(REQUESTS, { provider }),
    failed: metrics
      .of(REQUESTS)
      .filter(({ labels }) => labels['provider'] === provider && labels['code'] !== 'ok')
      .reduce((sum, { value }) => sum + value, 0),
    throttled: metrics.sum('cloudprovider_api_throttled_requests_total', { provider }),
    inFlight: metrics.sum('cloudprovider_api_in_flight_requests', { provider }),
    waited:
      metrics.sum(`${WAITS}_count`, { provider }) - metrics.sum(`${WAITS}_bucket`, { provider, le: second ?? '+Inf' }),
  }));
}
