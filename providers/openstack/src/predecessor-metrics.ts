/** What cloud-provider-openstack calls the same in its metrics (its `docs/metrics.md`, `pkg/metrics`). */
import type { PredecessorMetrics } from '@outrigger/cloud-provider';

/** By the collection that a request is about. */
const RESOURCES: Readonly<Record<string, string>> = {
  extensions: 'network_extension',
  floatingips: 'floating_ip',
  healthmonitors: 'loadbalancer_healthmonitor',
  listeners: 'loadbalancer_listener',
  loadbalancers: 'loadbalancer',
  members: 'loadbalancer_member',
  networks: 'network',
  pools: 'loadbalancer_pool',
  ports: 'port',
  routers: 'router',
  'security-group-rules': 'security_group_rule',
  'security-groups': 'security_group',
  servers: 'server',
  subnets: 'subnet',
};

const VERBS: Readonly<Record<string, string>> = { POST: 'create', PUT: 'update', DELETE: 'delete' };

/** `GET /v2.0/lbaas/loadbalancers/{id}`: `loadbalancer_get`. Of what it never asks for, nothing. */
export function requestNameOf(operation: string): string | undefined {
  const [method = '', path = ''] = operation.split(' ');
  const segments = (path.split('?')[0] ?? '').split('/').filter((one) => one !== '' && one !== 'detail');
  const at = segments.findLastIndex((one) => one in RESOURCES);
  const resource = RESOURCES[segments[at] ?? ''];
  const rest = segments.slice(at + 1);
  if (resource === undefined || rest.includes('tags')) return undefined;
  // All members of a pool at once.
  if (resource === 'loadbalancer_member' && method === 'PUT' && rest.length === 0) return 'loadbalancer_members_update';
  const verb = method === 'GET' ? (rest.length === 0 ? 'list' : 'get') : VERBS[method];
  return verb && `${resource}_${verb}`;
}

export const predecessorMetrics: PredecessorMetrics = {
  requests: { prefix: 'openstack_api', nameOf: requestNameOf },
  reconciles: {
    prefix: 'cloudprovider_openstack_reconcile',
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 7.5, 10, 12.5, 15, 17.5, 20, 22.5, 25, 27.5, 30, 50, 75, 100, 1000],
  },
};
