/** The Grafana dashboard: rows of panels over the queries below. */
import { JOB } from './alerts.ts';

type Unit = 'short' | 's' | 'bytes' | 'percentunit' | 'reqps' | 'ops';

interface Panel {
  readonly title: string;
  /** Query → legend. */
  readonly queries: Readonly<Record<string, string>>;
  readonly unit: Unit;
  /** `stat`: one number now. Default: over time. */
  readonly kind?: 'stat';
}

const OURS = `job="${JOB}", pod=~"$pod"`;
/** Of what only the leader counts: whoever that was. */
const LED = `job="${JOB}"`;
const RATE = '[$__rate_interval]';

function quantile(q: number, histogram: string, by: string, labels = LED): string {
  return `histogram_quantile(${q}, sum by (le, ${by}) (rate(${histogram}_bucket{${labels}}${RATE})))`;
}

const rows: Readonly<Record<string, readonly Panel[]>> = {
  'At a glance': [
    { title: 'Replicas', kind: 'stat', unit: 'short', queries: { [`sum(max by (pod) (up{${LED}}))`]: 'up' } },
    {
      title: 'Leaders',
      kind: 'stat',
      unit: 'short',
      queries: { [`sum by (name) (leader_election_master_status{${LED}})`]: '{{name}}' },
    },
    {
      title: 'Oldest node that waits',
      kind: 'stat',
      unit: 's',
      queries: { [`max(outrigger_node_uninitialized_seconds{${LED}})`]: 'waits' },
    },
    {
      title: 'Held back by breakers',
      kind: 'stat',
      unit: 'short',
      queries: {
        [`max(outrigger_node_deletions_held{${LED}})`]: 'nodes',
        [`max(outrigger_route_removals_held{${LED}})`]: 'routes',
        [`sum(max by (kind) (outrigger_orphan_removals_held{${LED}}))`]: 'orphans',
      },
    },
    {
      title: 'Orphans',
      kind: 'stat',
      unit: 'short',
      queries: { [`max by (kind) (outrigger_orphans{${LED}})`]: '{{kind}}' },
    },
    {
      title: 'Nodes and Services seen',
      kind: 'stat',
      unit: 'short',
      queries: { [`max by (resource) (outrigger_store_objects{${LED}})`]: '{{resource}}' },
    },
  ],
  Nodes: [
    {
      title: 'From creation to initialization',
      unit: 's',
      queries: {
        [`histogram_quantile(0.5, sum by (le) (rate(node_controller_cloud_provider_taint_removal_delay_seconds_bucket{${LED}}${RATE})))`]:
          'median',
        [`histogram_quantile(0.99, sum by (le) (rate(node_controller_cloud_provider_taint_removal_delay_seconds_bucket{${LED}}${RATE})))`]:
          '99 %',
      },
    },
    {
      title: 'Answers after which a node waits on',
      unit: 'ops',
      queries: { [`sum by (reason) (rate(outrigger_node_initialization_waits_total{${LED}}${RATE}))`]: '{{reason}}' },
    },
    {
      title: 'Nodes deleted and tainted',
      unit: 'ops',
      queries: {
        [`sum by (outcome) (rate(outrigger_node_deletions_total{${LED}}${RATE}))`]: 'deletion: {{outcome}}',
        [`sum by (action) (rate(outrigger_node_shutdown_taints_total{${LED}}${RATE}))`]: 'shutdown taint: {{action}}',
      },
    },
    {
      title: 'Node ranges in use',
      unit: 'percentunit',
      queries: { [`max by (clusterCIDR) (node_ipam_controller_cidrset_usage_cidrs{${LED}})`]: '{{clusterCIDR}}' },
    },
  ],
  'Load balancers and routes': [
    {
      title: 'Actions on load balancers',
      unit: 'ops',
      queries: {
        [`sum by (action, result) (rate(outrigger_load_balancer_actions_total{${LED}}${RATE}))`]:
          '{{action}}: {{result}}',
      },
    },
    {
      title: 'From a change of nodes to all load balancers',
      unit: 's',
      queries: {
        [`histogram_quantile(0.99, sum by (le) (rate(service_controller_nodesync_latency_seconds_bucket{${LED}}${RATE})))`]:
          '99 %',
      },
    },
    {
      title: 'Routes',
      unit: 'ops',
      queries: {
        [`sum by (operation, result) (rate(outrigger_route_operations_total{${LED}}${RATE}))`]:
          '{{operation}}: {{result}}',
      },
    },
    {
      title: 'Searches for orphans, and removals',
      unit: 'ops',
      queries: {
        [`sum by (result) (rate(outrigger_orphan_passes_total{${LED}}${RATE}))`]: 'search: {{result}}',
        [`sum by (kind, result) (rate(outrigger_orphan_removals_total{${LED}}${RATE}))`]:
          'removal of {{kind}}: {{result}}',
      },
    },
  ],
  Cloud: [
    {
      title: 'Requests by result',
      unit: 'reqps',
      queries: {
        [`sum by (provider, code) (rate(cloudprovider_api_requests_total{${LED}}${RATE}))`]: '{{provider}}: {{code}}',
      },
    },
    {
      title: 'Requests by operation',
      unit: 'reqps',
      queries: { [`sum by (operation) (rate(cloudprovider_api_requests_total{${LED}}${RATE}))`]: '{{operation}}' },
    },
    {
      title: 'How long requests take, 99 %',
      unit: 's',
      queries: { [quantile(0.99, 'cloudprovider_api_request_duration_seconds', 'operation')]: '{{operation}}' },
    },
    {
      title: 'Throttled, and waiting for the budget',
      unit: 'short',
      queries: {
        [`sum by (operation) (rate(cloudprovider_api_throttled_requests_total{${LED}}${RATE}))`]:
          'throttled: {{operation}}',
        [quantile(0.99, 'cloudprovider_api_budget_wait_seconds', 'priority')]: 'wait in s: {{priority}}',
      },
    },
    {
      title: 'Nodes in one look-up, median',
      unit: 'short',
      queries: { [quantile(0.5, 'cloudprovider_lookup_batch_size', 'provider')]: '{{provider}}' },
    },
    {
      title: 'Requests in flight',
      unit: 'short',
      queries: { [`sum by (provider) (cloudprovider_api_in_flight_requests{${LED}})`]: '{{provider}}' },
    },
  ],
  Controllers: [
    {
      title: 'Reconciliations by result',
      unit: 'ops',
      queries: {
        [`sum by (controller, result) (rate(controller_runtime_reconcile_total{${LED}}${RATE}))`]:
          '{{controller}}: {{result}}',
      },
    },
    {
      title: 'How long they take, 99 %',
      unit: 's',
      queries: { [quantile(0.99, 'controller_runtime_reconcile_time_seconds', 'controller')]: '{{controller}}' },
    },
    {
      title: 'Actions of plans by result',
      unit: 'ops',
      queries: {
        [`sum by (controller, action, result) (rate(outrigger_actions_total{${LED}}${RATE}))`]:
          '{{controller}}: {{action}} {{result}}',
      },
    },
    { title: 'Keys that wait', unit: 'short', queries: { [`sum by (name) (workqueue_depth{${LED}})`]: '{{name}}' } },
    {
      title: 'How long keys wait, 99 %',
      unit: 's',
      queries: { [quantile(0.99, 'workqueue_queue_duration_seconds', 'name')]: '{{name}}' },
    },
    {
      title: 'Events',
      unit: 'ops',
      queries: { [`sum by (type, outcome) (rate(outrigger_events_total{${LED}}${RATE}))`]: '{{type}}: {{outcome}}' },
    },
  ],
  'Kubernetes API': [
    {
      title: 'Requests by result',
      unit: 'reqps',
      queries: { [`sum by (method, code) (rate(rest_client_requests_total{${OURS}}${RATE}))`]: '{{method}} {{code}}' },
    },
    {
      title: 'How long requests take, 99 %',
      unit: 's',
      queries: { [quantile(0.99, 'rest_client_request_duration_seconds', 'verb', OURS)]: '{{verb}}' },
    },
    {
      title: 'Lists and broken watches',
      unit: 'ops',
      queries: {
        [`sum by (resource) (rate(outrigger_store_lists_total{${OURS}}${RATE}))`]: 'list: {{resource}}',
        [`sum by (resource, phase) (rate(outrigger_watch_errors_total{${OURS}}${RATE}))`]:
          '{{phase}} broke: {{resource}}',
      },
    },
  ],
  Processes: [
    {
      title: 'CPU',
      unit: 'percentunit',
      queries: { [`sum by (pod) (rate(process_cpu_seconds_total{${OURS}}${RATE}))`]: '{{pod}}' },
    },
    {
      title: 'Memory',
      unit: 'bytes',
      queries: {
        [`sum by (pod) (process_resident_memory_bytes{${OURS}})`]: '{{pod}}',
        [`sum by (pod) (nodejs_heap_size_used_bytes{${OURS}})`]: '{{pod}}: heap',
      },
    },
    {
      title: 'Event-loop delay, 99 %',
      unit: 's',
      queries: { [`max by (pod) (nodejs_eventloop_lag_p99_seconds{${OURS}})`]: '{{pod}}' },
    },
    {
      title: 'Health checks that fail',
      unit: 'ops',
      queries: {
        [`sum by (pod, name) (rate(kubernetes_healthchecks_total{${OURS}, status="error"}${RATE}))`]:
          '{{pod}}: {{name}}',
      },
    },
    {
      title: 'Files in force',
      unit: 'short',
      queries: { [`min by (pod, file) (outrigger_reload_successful{${OURS}})`]: '{{pod}}: {{file}}' },
    },
  ],
};

const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };
const WIDTH = 24;
const HEIGHT = 8;
const STAT_HEIGHT = 4;

/** The JSON that Grafana imports. */
export function dashboard(): object {
  const panels: object[] = [];
  let y = 0;
  for (const [title, shown] of Object.entries(rows)) {
    panels.push({
      id: panels.length + 1,
      type: 'row',
      title,
      collapsed: false,
      gridPos: { x: 0, y, w: WIDTH, h: 1 },
      panels: [],
    });
    y += 1;
    const small = shown.every(({ kind }) => kind === 'stat');
    const [perLine, height] = small ? [shown.length, STAT_HEIGHT] : [3, HEIGHT];
    for (const [i, panel] of shown.entries()) {
      const w = WIDTH / perLine;
      panels.push(
        panelOf(panel, panels.length + 1, {
          x: (i % perLine) * w,
          y: y + Math.floor(i / perLine) * height,
          w,
          h: height,
        }),
      );
    }
    y += Math.ceil(shown.length / perLine) * height;
  }
  return {
    uid: 'outrigger',
    title: 'Outrigger: cloud-controller-manager',
    tags: ['kubernetes', 'outrigger'],
    editable: true,
    schemaVersion: 39,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    templating: {
      list: [
        { name: 'datasource', type: 'datasource', query: 'prometheus', label: 'Data source' },
        {
          name: 'pod',
          label: 'Pod',
          type: 'query',
          datasource: DATASOURCE,
          query: `label_values(up{${LED}}, pod)`,
          refresh: 2,
          multi: true,
          includeAll: true,
          allValue: '.*',
          current: { text: 'All', value: '$__all' },
        },
      ],
    },
    panels,
  };
}

function panelOf({ kind, queries, title, unit }: Panel, id: number, gridPos: object): object {
  return {
    id,
    type: kind ?? 'timeseries',
    title,
    datasource: DATASOURCE,
    gridPos,
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    targets: Object.entries(queries).map(([expr, legendFormat], i) => ({
      refId: String.fromCodePoint(65 + i),
      datasource: DATASOURCE,
      expr,
      legendFormat,
    })),
  };
}
