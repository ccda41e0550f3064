/**
 * For each alert of `deploy/monitoring/prometheus-rule.yml`: series that bring it about, when it is not told yet, when it is, and the words
 * that a person then reads. Series are in promtool's notation, one value a minute: `1x3` is four times 1, `0+6x30` counts up by 6.
 */

export interface AlertCase {
  readonly alert: string;
  /** By metric and labels, without those of the target but `pod`. */
  readonly series: Readonly<Record<string, string>>;
  /** Minutes after the first value. Absent: never within the series. */
  readonly told?: {
    readonly notYet: number;
    readonly at: number;
    readonly labels?: Readonly<Record<string, string>>;
    readonly summary: string;
  };
}

const LEASE = 'name="cloud-controller-manager"';
const REQUESTS = 'rest_client_requests_total';
const CLOUD = 'cloudprovider_api_requests_total';
const WAIT = 'cloudprovider_api_budget_wait_seconds_bucket';
const PASSES = 'outrigger_orphan_passes_total';
const ERRORS = 'controller_runtime_reconcile_errors_total';
const RECONCILED = 'controller_runtime_reconcile_total';

export const alertCases: readonly AlertCase[] = [
  {
    alert: 'OutriggerDown',
    series: { 'up{pod="a"}': '1x10 0x20', 'up{pod="b"}': '1x5 0x25' },
    told: {
      notYet: 15,
      at: 17,
      summary:
        'No cloud-controller-manager can be scraped: new nodes stay tainted, load balancers and routes stay as they are.',
    },
  },
  { alert: 'OutriggerDown', series: { 'up{pod="a"}': '0x160', 'up{pod="b"}': '1x160' } },
  {
    alert: 'OutriggerNoLeader',
    series: {
      [`leader_election_master_status{pod="a",${LEASE}}`]: '1x5 0x20',
      [`leader_election_master_status{pod="b",${LEASE}}`]: '0x25',
    },
    told: {
      notYet: 7,
      at: 9,
      labels: { name: 'cloud-controller-manager' },
      summary: 'No replica holds the Lease cloud-controller-manager: nothing is reconciled.',
    },
  },
  {
    alert: 'OutriggerLeaderChangesOften',
    series: { [`leader_election_master_status{pod="a",${LEASE}}`]: '0 1 0 1 0 1 0 1 0 1x60' },
    told: {
      notYet: 11,
      at: 13,
      labels: { name: 'cloud-controller-manager' },
      summary: 'The leader of the Lease cloud-controller-manager changed 9 times within an hour.',
    },
  },
  {
    // A rollout of three replicas.
    alert: 'OutriggerLeaderChangesOften',
    series: {
      [`leader_election_master_status{pod="a",${LEASE}}`]: '1 0 0 0x60',
      [`leader_election_master_status{pod="b",${LEASE}}`]: '0 1 0 0x60',
      [`leader_election_master_status{pod="c",${LEASE}}`]: '0 0 1 1x60',
    },
  },
  {
    alert: 'OutriggerLeaseRenewalsFailing',
    series: {
      [`${REQUESTS}{pod="a",method="PUT",code="409"}`]: '0+6x30',
      [`${REQUESTS}{pod="b",method="PUT",code="200"}`]: '0+6x30',
    },
    told: {
      notYet: 7,
      at: 10,
      labels: { pod: 'a' },
      summary: 'Renewals of the Lease fail on a, which stops leading if they continue to fail.',
    },
  },
  {
    alert: 'OutriggerApiRequestsFailing',
    series: {
      [`${REQUESTS}{pod="a",method="GET",code="503"}`]: '0+10x60',
      [`${REQUESTS}{pod="a",method="GET",code="200"}`]: '0+40x60',
      [`${REQUESTS}{pod="b",method="GET",code="404"}`]: '0+50x60',
    },
    told: {
      notYet: 10,
      at: 12,
      labels: { pod: 'a' },
      summary: 'More than a tenth of the requests of a to the API server fail.',
    },
  },
  {
    alert: 'OutriggerNodesUninitialized',
    series: { 'outrigger_node_uninitialized_seconds{pod="a"}': '0+60x30' },
    told: {
      notYet: 11,
      at: 12,
      summary: 'A node has not been initialized for 12m 0s: no Pod can be scheduled to it.',
    },
  },
  {
    alert: 'OutriggerNodeDeletionsHeld',
    series: { 'outrigger_node_deletions_held{pod="a"}': '0x5 3x30' },
    told: {
      notYet: 15,
      at: 17,
      summary:
        '3 nodes seem to have lost their machines. They are not deleted: they are too many at once, or their machines cannot be read.',
    },
  },
  {
    alert: 'OutriggerRouteRemovalsHeld',
    series: { 'outrigger_route_removals_held{pod="a"}': '0x5 4x30' },
    told: {
      notYet: 15,
      at: 17,
      summary: '4 routes seem to belong to no node. They are not deleted because there are too many at once.',
    },
  },
  {
    alert: 'OutriggerOrphanRemovalsHeld',
    series: {
      'outrigger_orphan_removals_held{pod="a",kind="route"}': '0x5 2x60',
      'outrigger_orphan_removals_held{pod="a",kind="address"}': '0x60',
    },
    told: {
      notYet: 35,
      at: 37,
      labels: { kind: 'route' },
      summary: '2 orphans (route) are not deleted because there are too many at once.',
    },
  },
  {
    alert: 'OutriggerOrphans',
    series: { 'outrigger_orphans{pod="a",kind="load-balancer"}': '0x5 2x120' },
    told: {
      notYet: 65,
      at: 67,
      labels: { kind: 'load-balancer' },
      summary: '2 orphans (load-balancer) in the cloud belong to no object of the cluster, and cost money.',
    },
  },
  {
    alert: 'OutriggerOrphanSearchIncomplete',
    series: { [`${PASSES}{pod="a",result="partial"}`]: '0+1x200', [`${PASSES}{pod="a",result="complete"}`]: '5x200' },
    told: { notYet: 60, at: 63, summary: 'No search for orphans has been complete for an hour.' },
  },
  {
    alert: 'OutriggerOrphanSearchIncomplete',
    series: { [`${PASSES}{pod="a",result="partial"}`]: '0+1x200', [`${PASSES}{pod="a",result="complete"}`]: '0+1x200' },
  },
  {
    alert: 'OutriggerKubeletServingDenied',
    series: {
      'outrigger_kubelet_serving_requests_total{pod="a",result="denied",reason="foreign-name"}': '0x10 1x60',
      'outrigger_kubelet_serving_requests_total{pod="a",result="approved",reason=""}': '0+1x60',
    },
    told: {
      notYet: 9,
      at: 13,
      labels: { reason: 'foreign-name' },
      summary:
        'A kubelet asked for a serving certificate that is not for its own machine, and was denied (foreign-name).',
    },
  },
  {
    alert: 'OutriggerKubeletServingPending',
    series: {
      'outrigger_kubelet_serving_requests_pending{pod="a",reason="cloud-unknown"}': '0x5 3x60',
      'outrigger_kubelet_serving_requests_pending{pod="a",reason="no-node"}': '0x60',
    },
    told: {
      notYet: 19,
      at: 23,
      labels: { reason: 'cloud-unknown' },
      summary: '3 requests of kubelets for serving certificates stay pending (cloud-unknown).',
    },
  },
  {
    alert: 'OutriggerCloudCallsFailing',
    series: {
      [`${CLOUD}{pod="a",provider="memory",code="http-501"}`]: '0+2x60',
      [`${CLOUD}{pod="a",provider="memory",code="timeout"}`]: '0+1x60',
      [`${CLOUD}{pod="a",provider="memory",code="http-200"}`]: '0+12x60',
      [`${CLOUD}{pod="a",provider="other",code="http-404"}`]: '0+12x60',
    },
    told: {
      notYet: 10,
      at: 12,
      labels: { provider: 'memory' },
      summary: '20% of the requests to the cloud memory fail.',
    },
  },
  {
    alert: 'OutriggerCloudCallsThrottled',
    series: {
      'cloudprovider_api_throttled_requests_total{pod="a",provider="memory"}': '0+1x60',
      [`${CLOUD}{pod="a",provider="memory",code="http-200"}`]: '0+10x60',
    },
    told: {
      notYet: 15,
      at: 17,
      labels: { provider: 'memory' },
      summary: 'The cloud memory refuses 10% of the requests because there are too many.',
    },
  },
  {
    alert: 'OutriggerCloudBudgetExhausted',
    series: {
      [`${WAIT}{pod="a",provider="memory",priority="normal",le="16.384"}`]: '0+5x60',
      [`${WAIT}{pod="a",provider="memory",priority="normal",le="65.536"}`]: '0+10x60',
      [`${WAIT}{pod="a",provider="memory",priority="normal",le="+Inf"}`]: '0+10x60',
    },
    told: {
      notYet: 15,
      at: 17,
      labels: { provider: 'memory' },
      summary: 'One in ten requests to the cloud memory waits for the call budget for 55.71s or longer.',
    },
  },
  {
    // What may wait, may wait.
    alert: 'OutriggerCloudBudgetExhausted',
    series: {
      [`${WAIT}{pod="a",provider="memory",priority="background",le="16.384"}`]: '0x60',
      [`${WAIT}{pod="a",provider="memory",priority="background",le="65.536"}`]: '0+10x60',
      [`${WAIT}{pod="a",provider="memory",priority="background",le="+Inf"}`]: '0+10x60',
    },
  },
  {
    alert: 'OutriggerProviderNotOpen',
    series: {
      'outrigger_provider_open{pod="a",provider="north"}': '0x30',
      'outrigger_provider_open{pod="a",provider="south"}': '1x30',
    },
    told: {
      notYet: 9,
      at: 11,
      labels: { provider: 'north' },
      summary: 'The provider north cannot be opened: nothing is reconciled in its cloud.',
    },
  },
  {
    alert: 'OutriggerServiceSyncFailing',
    series: {
      'outrigger_load_balancer_actions_total{pod="a",part="address",action="create",result="failed"}': '0+1x60',
      'outrigger_load_balancer_actions_total{pod="a",part="firewall",action="create",result="done"}': '0+1x60',
    },
    told: {
      notYet: 16,
      at: 45,
      labels: { part: 'address' },
      summary: 'Changes of load balancers failed 30 times within half an hour (part: address).',
    },
  },
  {
    // With several providers the controller is called after each.
    alert: 'OutriggerServiceSyncFailing',
    series: {
      [`${ERRORS}{pod="a",controller="service-lb-controller@north"}`]: '0+1x60',
      [`${ERRORS}{pod="a",controller="node"}`]: '0+9x60',
    },
    told: {
      notYet: 16,
      at: 45,
      labels: { part: 'any' },
      summary: 'Changes of load balancers failed 30 times within half an hour (part: any).',
    },
  },
  {
    alert: 'OutriggerRoutesFailing',
    series: {
      'outrigger_route_operations_total{pod="a",operation="create",result="failed"}': '0+1x60',
      'outrigger_route_operations_total{pod="a",operation="delete",result="done"}': '0+1x60',
    },
    told: {
      notYet: 16,
      at: 45,
      labels: { operation: 'create' },
      summary: 'Routes cannot be changed (create): Pods on some nodes may not be reachable.',
    },
  },
  {
    alert: 'OutriggerReconcilesFailing',
    series: {
      [`${ERRORS}{pod="a",controller="node"}`]: '0+1x60',
      [`${RECONCILED}{pod="a",controller="node",result="error"}`]: '0+1x60',
      [`${RECONCILED}{pod="a",controller="node",result="success"}`]: '0+2x60',
      [`${RECONCILED}{pod="a",controller="route",result="success"}`]: '0+9x60',
    },
    told: {
      notYet: 15,
      at: 17,
      labels: { controller: 'node' },
      summary: '33.33% of the reconciliations of node fail.',
    },
  },
  {
    alert: 'OutriggerPodCidrsExhausted',
    series: { 'outrigger_node_ipam_cidr_not_available_total{pod="a"}': '0x5 1x30' },
    told: { notYet: 5, at: 6, summary: 'A node got no pod CIDR: the cluster range is exhausted.' },
  },
  {
    alert: 'OutriggerPodCidrsRunningOut',
    series: {
      'node_ipam_controller_cidrset_usage_cidrs{pod="a",clusterCIDR="10.64.0.0/16"}': '0.9x5 0.95x30',
      'node_ipam_controller_cidrset_usage_cidrs{pod="a",clusterCIDR="fd00::/56"}': '0.5x35',
    },
    told: {
      notYet: 20,
      at: 22,
      labels: { clusterCIDR: '10.64.0.0/16' },
      summary: '95% of the pod CIDRs of 10.64.0.0/16 are allocated.',
    },
  },
  {
    alert: 'OutriggerOtherAllocator',
    series: { 'outrigger_node_ipam_refusing{pod="a"}': '0x5 1x30' },
    told: {
      notYet: 25,
      at: 27,
      summary: 'Another component allocates pod CIDRs: this program allocates none to new nodes.',
    },
  },
  {
    alert: 'OutriggerReloadRefused',
    series: {
      'outrigger_reload_successful{pod="a",file="cloud-config"}': '1x5 0x30',
      'outrigger_reload_successful{pod="b",file="cloud-config"}': '1x35',
    },
    told: {
      notYet: 10,
      at: 12,
      labels: { pod: 'a', file: 'cloud-config' },
      summary: 'a refused the new cloud-config: the old one stays in use until the next restart.',
    },
  },
  {
    alert: 'OutriggerServingCertificateExpires',
    // The test begins at the epoch: a day is left of the one, ten of the other.
    series: {
      'outrigger_serving_certificate_expiration_timestamp_seconds{pod="a",listener="webhook"}': '864000x5 90000x90',
      'outrigger_serving_certificate_expiration_timestamp_seconds{pod="a",listener="secure"}': '864000x95',
    },
    told: {
      notYet: 60,
      at: 70,
      labels: { pod: 'a', listener: 'webhook' },
      summary: 'The certificate that a serves (listener: webhook) expires in 23h 50m 0s.',
    },
  },
  {
    alert: 'OutriggerEventLoopBlocked',
    series: { 'nodejs_eventloop_lag_p99_seconds{pod="a"}': '0.02x5 1.5x30' },
    told: {
      notYet: 15,
      at: 17,
      labels: { pod: 'a' },
      summary: 'The event loop of a is blocked for 1.5s at a time: it may lose the Lease.',
    },
  },
  {
    alert: 'OutriggerWatchesBreaking',
    series: { 'outrigger_watch_errors_total{pod="a",resource="nodes",phase="watch",remedy="relist"}': '0+12x60' },
    told: {
      notYet: 22,
      at: 25,
      labels: { pod: 'a', resource: 'nodes' },
      summary: 'Watches of nodes fail repeatedly on a: changes are noticed late.',
    },
  },
];
