/** `/v2.0/lbaas/healthmonitors`. */
import type { RouteTable } from '../route-table.ts';
import { checkPoolIsMutable } from './member-routes.ts';
import { addMonitor } from './octavia-births.ts';
import { notFound } from './octavia-error.ts';
import { listShown } from './octavia-list.ts';
import type { FakeHealthMonitor, FakePool, OctaviaObject } from './octavia-objects.ts';
import { checkMonitor } from './octavia-rules.ts';
import { isVisible } from './octavia-store.ts';
import type { Octavia } from './octavia.ts';
import { ownerOf } from './pool-routes.ts';
import { attributesOf } from './request-attributes.ts';

const ROOT = '/v2.0/lbaas/healthmonitors';
const KIND = 'Health Monitor';

export function addMonitorRoutes(routes: RouteTable, octavia: Octavia): void {
  const { store, views, provisioning, settings } = octavia;
  const poolOf = ({ poolId }: FakeHealthMonitor): FakePool => {
    const pool = store.pools.get(poolId);
    if (!pool) throw notFound('Pool', poolId);
    return pool;
  };
  const begin = (
    pool: FakePool,
    change: {
      created?: readonly OctaviaObject[];
      touched?: readonly OctaviaObject[];
      removed?: readonly OctaviaObject[];
    },
  ): void => {
    const loadBalancer = ownerOf(octavia, pool);
    provisioning.begin({
      loadBalancer,
      durationMs: settings.updateMs,
      ...change,
      above: [pool, ...store.listenersOfPool(pool.id)],
      settles: store.listenersOf(loadBalancer.id),
    });
  };
  routes
    .on(`GET ${ROOT}`, ({ request, caller }) => {
      const all = [...store.monitors.values()].filter((each) => isVisible(each, caller));
      return listShown('healthmonitors', all, (each) => views.monitor(each), request);
    })
    .on(`GET ${ROOT}/{id}`, ({ params, caller }) => {
      const found = store.visible(store.monitors, KIND, params['id'] ?? '', caller);
      return { status: 200, body: { healthmonitor: views.monitor(found) } };
    })
    .on(`POST ${ROOT}`, ({ request, caller }) => {
      const given = attributesOf(request, 'healthmonitor POST');
      const id = (given['pool_id'] as string | undefined) ?? '';
      const pool = store.visible(store.pools, 'Pool', id, caller);
      checkPoolIsMutable(octavia, pool);
      const monitor = addMonitor(octavia, ownerOf(octavia, pool), pool, given, caller);
      begin(pool, { created: [monitor] });
      return { status: 201, body: { healthmonitor: views.monitor(monitor) } };
    })
    .on(`PUT ${ROOT}/{id}`, ({ request, params, caller }) => {
      const found = store.visible(store.monitors, KIND, params['id'] ?? '', caller);
      const pool = poolOf(found);
      const next: FakeHealthMonitor = { ...found, ...attributesOf(request, 'healthmonitor PUT') };
      checkPoolIsMutable(octavia, pool);
      checkMonitor(next, pool, ownerOf(octavia, pool));
      Object.assign(found, next);
      begin(pool, { touched: [found] });
      return { status: 200, body: { healthmonitor: views.monitor(found) } };
    })
    .on(`DELETE ${ROOT}/{id}`, ({ params, caller }) => {
      const found = store.visible(store.monitors, KIND, params['id'] ?? '', caller);
      const pool = poolOf(found);
      checkPoolIsMutable(octavia, pool);
      begin(pool, { removed: [found] });
      return { status: 204 };
    });
}
