/** `/v2.0/lbaas/pools`, without their members. */
import type { Caller } from '../fake-http.ts';
import type { RouteTable } from '../route-table.ts';
import { addPool, addPoolChildren } from './octavia-births.ts';
import { invalid, notFound } from './octavia-error.ts';
import { listShown } from './octavia-list.ts';
import type { FakeListener, FakeLoadBalancer, FakePool } from './octavia-objects.ts';
import { checkPool } from './octavia-rules.ts';
import { candidates } from './octavia-store.ts';
import type { Octavia } from './octavia.ts';
import { attributesOf, type Attributes } from './request-attributes.ts';

const ROOT = '/v2.0/lbaas/pools';
const KIND = 'Pool';

export function addPoolRoutes(routes: RouteTable, octavia: Octavia): void {
  const { store, views, provisioning, settings } = octavia;
  const change = (pool: FakePool, { isEnd }: { readonly isEnd: boolean }): void => {
    const loadBalancer = ownerOf(octavia, pool);
    provisioning.begin({
      loadBalancer,
      durationMs: settings.updateMs,
      touched: isEnd ? [] : [pool],
      removed: isEnd ? store.poolTree(pool) : [],
      above: store.listenersOfPool(pool.id),
      settles: store.listenersOf(loadBalancer.id),
    });
  };
  routes
    .on(`GET ${ROOT}`, (asked) => {
      const kept = candidates(store.pools, (id) => store.poolsOf(id), asked);
      return listShown('pools', kept, (each) => views.pool(each), asked.request);
    })
    .on(`GET ${ROOT}/{id}`, ({ params, caller }) => {
      const found = store.visible(store.pools, KIND, params['id'] ?? '', caller);
      return { status: 200, body: { pool: views.pool(found) } };
    })
    .on(`POST ${ROOT}`, ({ request, caller }) => {
      const given = attributesOf(request, 'pool POST');
      const { loadBalancer, listener } = parentOf(octavia, given, caller);
      provisioning.checkMutable(loadBalancer);
      const pool = addPool(octavia, loadBalancer, listener, given, caller);
      addPoolChildren(octavia, loadBalancer, pool, given, caller);
      provisioning.begin({
        loadBalancer,
        durationMs: settings.updateMs,
        created: store.poolTree(pool),
        above: listener ? [listener] : [],
        settles: store.listenersOf(loadBalancer.id),
      });
      return { status: 201, body: { pool: views.pool(pool) } };
    })
    .on(`PUT ${ROOT}/{id}`, ({ request, params, caller }) => {
      const found = store.visible(store.pools, KIND, params['id'] ?? '', caller);
      const given = attributesOf(request, 'pool PUT');
      const loadBalancer = ownerOf(octavia, found);
      provisioning.checkMutable(loadBalancer);
      const next: FakePool = { ...found, ...given };
      checkPool(next, loadBalancer);
      Object.assign(found, next);
      change(found, { isEnd: false });
      return { status: 200, body: { pool: views.pool(found) } };
    })
    .on(`DELETE ${ROOT}/{id}`, ({ params, caller }) => {
      const found = store.visible(store.pools, KIND, params['id'] ?? '', caller);
      provisioning.checkMutable(ownerOf(octavia, found));
      change(found, { isEnd: true });
      return { status: 204 };
    });
}

export function ownerOf({ store }: Octavia, { loadBalancerId }: FakePool): FakeLoadBalancer {
  const found = store.loadBalancers.get(loadBalancerId);
  if (!found) throw notFound('Load Balancer', loadBalancerId);
  return found;
}

function parentOf(
  { store }: Octavia,
  given: Attributes,
  caller: Caller,
): { readonly loadBalancer: FakeLoadBalancer; readonly listener: FakeListener | undefined } {
  const idIn = (name: string): string | undefined => (given[name] as string | null | undefined) ?? undefined;
  const listenerId = idIn('listener_id');
  const listener =
    listenerId === undefined ? undefined : store.visible(store.listeners, 'Listener', listenerId, caller);
  const id = idIn('loadbalancer_id') ?? listener?.loadBalancerId;
  if (id === undefined) throw invalid('Must provide at least one of: loadbalancer_id, listener_id');
  return { loadBalancer: store.visible(store.loadBalancers, 'Load Balancer', id, caller), listener };
}
