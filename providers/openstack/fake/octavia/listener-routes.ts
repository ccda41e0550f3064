/** `/v2.0/lbaas/listeners`. */
import type { RouteTable } from '../route-table.ts';
import { addListener, addPool, addPoolChildren, checkDefaultPool } from './octavia-births.ts';
import { notFound, octaviaRefusal } from './octavia-error.ts';
import { listShown } from './octavia-list.ts';
import type { FakeListener, FakeLoadBalancer, OctaviaObject } from './octavia-objects.ts';
import { checkListener } from './octavia-rules.ts';
import { candidates } from './octavia-store.ts';
import type { Octavia } from './octavia.ts';
import { attributesOf, checkAttributes, type Attributes } from './request-attributes.ts';

const ROOT = '/v2.0/lbaas/listeners';
const KIND = 'Listener';

/** What `null` in a PUT leads back to. */
const DEFAULTS: Attributes = {
  allowed_cidrs: null,
  default_pool_id: null,
  default_tls_container_ref: null,
  insert_headers: {},
  connection_limit: -1,
  timeout_client_data: 50_000,
  timeout_member_connect: 5000,
  timeout_member_data: 50_000,
  timeout_tcp_inspect: 0,
  name: '',
  description: '',
  tags: [],
};

export function addListenerRoutes(routes: RouteTable, octavia: Octavia): void {
  const { store, views, provisioning, settings } = octavia;
  const ownerOf = ({ loadBalancerId }: FakeListener): FakeLoadBalancer => {
    const found = store.loadBalancers.get(loadBalancerId);
    if (!found) throw notFound('Load Balancer', loadBalancerId);
    return found;
  };
  routes
    .on(`GET ${ROOT}`, (asked) => {
      const kept = candidates(store.listeners, (id) => store.listenersOf(id), asked);
      return listShown('listeners', kept, (each) => views.listener(each), asked.request);
    })
    .on(`GET ${ROOT}/{id}`, ({ params, caller }) => {
      const found = store.visible(store.listeners, KIND, params['id'] ?? '', caller);
      return { status: 200, body: { listener: views.listener(found) } };
    })
    .on(`POST ${ROOT}`, ({ request, caller }) => {
      const given = attributesOf(request, 'listener POST');
      const id = (given['loadbalancer_id'] as string | undefined) ?? '';
      const loadBalancer = store.visible(store.loadBalancers, 'Load Balancer', id, caller);
      provisioning.checkMutable(loadBalancer);
      const { default_pool: inner, ...own } = given;
      const listener = addListener(octavia, loadBalancer, own, caller);
      const created: OctaviaObject[] = [listener];
      if (inner != null) {
        const attributes = checkAttributes('pool child', inner as Attributes);
        const pool = addPool(octavia, loadBalancer, listener, attributes, caller);
        addPoolChildren(octavia, loadBalancer, pool, attributes, caller);
        created.push(...store.poolTree(pool));
      }
      provisioning.begin({
        loadBalancer,
        durationMs: settings.updateMs,
        created,
        settles: store.listenersOf(loadBalancer.id),
      });
      return { status: 201, body: { listener: views.listener(listener) } };
    })
    .on(`PUT ${ROOT}/{id}`, ({ request, params, caller }) => {
      const found = store.visible(store.listeners, KIND, params['id'] ?? '', caller);
      const given = attributesOf(request, 'listener PUT');
      const loadBalancer = ownerOf(found);
      provisioning.checkMutable(loadBalancer);
      const next: FakeListener = { ...found };
      for (const [name, value] of Object.entries(given))
        Object.assign(next, { [name]: value ?? DEFAULTS[name] ?? null });
      const container = next.default_tls_container_ref;
      if (container !== null && !settings.tlsContainers.has(container)) {
        throw octaviaRefusal(400, `Could not retrieve certificate: ['${container}']`);
      }
      checkListener(next, loadBalancer, store.listenersOf(loadBalancer.id));
      if (next.default_pool_id !== null) checkDefaultPool(octavia, next, next.default_pool_id);
      Object.assign(found, next);
      provisioning.begin({
        loadBalancer,
        durationMs: settings.updateMs,
        touched: [found],
      });
      return { status: 200, body: { listener: views.listener(found) } };
    })
    .on(`DELETE ${ROOT}/{id}`, ({ params, caller }) => {
      const found = store.visible(store.listeners, KIND, params['id'] ?? '', caller);
      const loadBalancer = ownerOf(found);
      provisioning.checkMutable(loadBalancer);
      provisioning.begin({
        loadBalancer,
        durationMs: settings.updateMs,
        removed: [found],
      });
      return { status: 204 };
    });
}
