/** What somebody is woken or told for. Each alert has a page `docs/runbooks/<name>.md`. */

export interface Alert {
  readonly name: string;
  /** PromQL. */
  readonly expr: string;
  /** How long it holds before anybody is told. */
  readonly for: string;
  /** `critical`: new nodes stay unusable, or nothing is looked after. `warning`: something waits for a person. */
  readonly severity: 'critical' | 'warning';
  /** One line; `{{ $labels.x }}` and `{{ $value }}` are Prometheus' templates. */
  readonly summary: string;
}

/** The label that Prometheus gives to what it scrapes through our Service: its name. */
export const JOB = 'outrigger-cloud-controller-manager';

const OURS = `job="${JOB}"`;

/** Codes of cloud calls that failed by the cloud or by our rights; throttling has an alert of its own. */
const FAILED =
  'code=~"unavailable|timeout|error|unauthenticated|forbidden|quota|configuration|http-401|http-403|http-501"';

/** One share of two counters, by the label that both have. */
function share(part: string, whole: string, by: string): string {
  return `sum by (${by}) (rate(${part})) / sum by (${by}) (rate(${whole}))`;
}

export const alerts: readonly Alert[] = [
  {
    name: 'OutriggerDown',
    expr: `absent(up{${OURS}} == 1)`,
    for: '5m',
    severity: 'critical',
    summary:
      'No cloud-controller-manager can be scraped: new nodes stay tainted, load balancers and routes stay as they are.',
  },
  {
    name: 'OutriggerNoLeader',
    expr: `max by (name) (leader_election_master_status{${OURS}}) == 0`,
    for: '2m',
    severity: 'critical',
    summary: 'No replica holds the Lease {{ $labels.name }}: nothing is reconciled.',
  },
  {
    name: 'OutriggerLeaderChangesOften',
    expr: `sum by (name) (changes(leader_election_master_status{${OURS}}[1h])) > 6`,
    for: '5m',
    severity: 'warning',
    summary: 'The leader of the Lease {{ $labels.name }} changed {{ $value }} times within an hour.',
  },
  {
    name: 'OutriggerLeaseRenewalsFailing',
    expr: `sum by (pod) (rate(rest_client_requests_total{${OURS}, method="PUT", code!~"2.."}[5m])) > 0.05`,
    for: '5m',
    severity: 'warning',
    summary: 'Renewals of the Lease fail on {{ $labels.pod }}, which stops leading if they continue to fail.',
  },
  {
    name: 'OutriggerApiRequestsFailing',
    expr: `${share(`rest_client_requests_total{${OURS}, code=~"5..|<error>|401|403"}[10m]`, `rest_client_requests_total{${OURS}}[10m]`, 'pod')} > 0.1`,
    for: '10m',
    severity: 'warning',
    summary: 'More than a tenth of the requests of {{ $labels.pod }} to the API server fail.',
  },
  {
    name: 'OutriggerNodesUninitialized',
    expr: `max(outrigger_node_uninitialized_seconds{${OURS}}) > 600`,
    for: '1m',
    severity: 'warning',
    summary: 'A node has not been initialized for {{ $value | humanizeDuration }}: no Pod can be scheduled to it.',
  },
  {
    name: 'OutriggerNodeDeletionsHeld',
    expr: `max(outrigger_node_deletions_held{${OURS}}) > 0`,
    for: '10m',
    severity: 'warning',
    summary:
      '{{ $value }} nodes seem to have lost their machines. They are not deleted: they are too many at once, or their machines cannot be read.',
  },
  {
    name: 'OutriggerRouteRemovalsHeld',
    expr: `max(outrigger_route_removals_held{${OURS}}) > 0`,
    for: '10m',
    severity: 'warning',
    summary: '{{ $value }} routes seem to belong to no node. They are not deleted because there are too many at once.',
  },
  {
    name: 'OutriggerOrphanRemovalsHeld',
    expr: `max by (kind) (outrigger_orphan_removals_held{${OURS}}) > 0`,
    for: '30m',
    severity: 'warning',
    summary: '{{ $value }} orphans ({{ $labels.kind }}) are not deleted because there are too many at once.',
  },
  {
    name: 'OutriggerOrphans',
    expr: `max by (kind) (outrigger_orphans{${OURS}}) > 0`,
    for: '1h',
    severity: 'warning',
    summary:
      '{{ $value }} orphans ({{ $labels.kind }}) in the cloud belong to no object of the cluster, and cost money.',
  },
  {
    name: 'OutriggerOrphanSearchIncomplete',
    expr: `sum(increase(outrigger_orphan_passes_total{${OURS}, result="partial"}[1h])) > 0 unless sum(increase(outrigger_orphan_passes_total{${OURS}, result="complete"}[1h])) > 0`,
    for: '1h',
    severity: 'warning',
    summary: 'No search for orphans has been complete for an hour.',
  },
  {
    name: 'OutriggerKubeletServingDenied',
    expr: `sum by (reason) (increase(outrigger_kubelet_serving_requests_total{${OURS}, result="denied"}[15m])) > 0`,
    for: '0m',
    severity: 'warning',
    summary:
      'A kubelet asked for a serving certificate that is not for its own machine, and was denied ({{ $labels.reason }}).',
  },
  {
    name: 'OutriggerKubeletServingPending',
    expr: `max by (reason) (outrigger_kubelet_serving_requests_pending{${OURS}}) > 0`,
    for: '15m',
    severity: 'warning',
    summary: '{{ $value }} requests of kubelets for serving certificates stay pending ({{ $labels.reason }}).',
  },
  {
    name: 'OutriggerCloudCallsFailing',
    expr: `${share(`cloudprovider_api_requests_total{${OURS}, ${FAILED}}[10m]`, `cloudprovider_api_requests_total{${OURS}}[10m]`, 'provider')} > 0.1`,
    for: '10m',
    severity: 'critical',
    summary: '{{ $value | humanizePercentage }} of the requests to the cloud {{ $labels.provider }} fail.',
  },
  {
    name: 'OutriggerCloudCallsThrottled',
    expr: `${share(`cloudprovider_api_throttled_requests_total{${OURS}}[15m]`, `cloudprovider_api_requests_total{${OURS}}[15m]`, 'provider')} > 0.05`,
    for: '15m',
    severity: 'warning',
    summary:
      'The cloud {{ $labels.provider }} refuses {{ $value | humanizePercentage }} of the requests because there are too many.',
  },
  {
    name: 'OutriggerCloudBudgetExhausted',
    expr: `histogram_quantile(0.9, sum by (le, provider) (rate(cloudprovider_api_budget_wait_seconds_bucket{${OURS}, priority!="background"}[10m]))) > 16`,
    for: '15m',
    severity: 'warning',
    summary:
      'One in ten requests to the cloud {{ $labels.provider }} waits for the call budget for {{ $value | humanizeDuration }} or longer.',
  },
  {
    name: 'OutriggerProviderNotOpen',
    expr: `max by (provider) (outrigger_provider_open{${OURS}}) == 0`,
    for: '10m',
    severity: 'critical',
    summary: 'The provider {{ $labels.provider }} cannot be opened: nothing is reconciled in its cloud.',
  },
  {
    name: 'OutriggerServiceSyncFailing',
    expr: `sum by (part) (increase(outrigger_load_balancer_actions_total{${OURS}, result="failed"}[30m])) > 2 or sum by (part) (label_replace(increase(controller_runtime_reconcile_errors_total{${OURS}, controller=~"service-lb-controller(@.*)?"}[30m]), "part", "any", "", "")) > 2`,
    for: '15m',
    severity: 'warning',
    summary:
      'Changes of load balancers failed {{ $value | humanize }} times within half an hour (part: {{ $labels.part }}).',
  },
  {
    name: 'OutriggerRoutesFailing',
    expr: `sum by (operation) (increase(outrigger_route_operations_total{${OURS}, result="failed"}[30m])) > 2`,
    for: '15m',
    severity: 'warning',
    summary: 'Routes cannot be changed ({{ $labels.operation }}): Pods on some nodes may not be reachable.',
  },
  {
    name: 'OutriggerReconcilesFailing',
    expr: `${share(`controller_runtime_reconcile_errors_total{${OURS}}[30m]`, `controller_runtime_reconcile_total{${OURS}}[30m]`, 'controller')} > 0.2`,
    for: '15m',
    severity: 'warning',
    summary: '{{ $value | humanizePercentage }} of the reconciliations of {{ $labels.controller }} fail.',
  },
  {
    name: 'OutriggerPodCidrsExhausted',
    expr: `sum(increase(outrigger_node_ipam_cidr_not_available_total{${OURS}}[30m])) > 0`,
    for: '0m',
    severity: 'critical',
    summary: 'A node got no pod CIDR: the cluster range is exhausted.',
  },
  {
    name: 'OutriggerPodCidrsRunningOut',
    expr: `max by (clusterCIDR) (node_ipam_controller_cidrset_usage_cidrs{${OURS}}) > 0.9`,
    for: '15m',
    severity: 'warning',
    summary: '{{ $value | humanizePercentage }} of the pod CIDRs of {{ $labels.clusterCIDR }} are allocated.',
  },
  {
    name: 'OutriggerOtherAllocator',
    expr: `max(outrigger_node_ipam_refusing{${OURS}}) == 1`,
    // A sign of the other one counts for ten minutes; after a hand-over that is all there is to it.
    for: '20m',
    severity: 'critical',
    summary: 'Another component allocates pod CIDRs: this program allocates none to new nodes.',
  },
  {
    name: 'OutriggerReloadRefused',
    expr: `min by (pod, file) (outrigger_reload_successful{${OURS}}) == 0`,
    for: '5m',
    severity: 'warning',
    summary: '{{ $labels.pod }} refused the new {{ $labels.file }}: the old one stays in use until the next restart.',
  },
  {
    name: 'OutriggerServingCertificateExpires',
    expr: `min by (pod, listener) (outrigger_serving_certificate_expiration_timestamp_seconds{${OURS}}) - time() < 7 * 86400`,
    for: '1h',
    severity: 'warning',
    summary:
      'The certificate that {{ $labels.pod }} serves (listener: {{ $labels.listener }}) expires in {{ $value | humanizeDuration }}.',
  },
  {
    name: 'OutriggerEventLoopBlocked',
    expr: `max by (pod) (nodejs_eventloop_lag_p99_seconds{${OURS}}) > 1`,
    for: '10m',
    severity: 'warning',
    summary:
      'The event loop of {{ $labels.pod }} is blocked for {{ $value | humanizeDuration }} at a time: it may lose the Lease.',
  },
  {
    name: 'OutriggerWatchesBreaking',
    expr: `sum by (pod, resource) (rate(outrigger_watch_errors_total{${OURS}}[15m])) > 0.1`,
    for: '15m',
    severity: 'warning',
    summary: 'Watches of {{ $labels.resource }} fail repeatedly on {{ $labels.pod }}: changes are noticed late.',
  },
];
