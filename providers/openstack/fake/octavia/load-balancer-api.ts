/** Octavia's API, as far as a cloud provider asks it. */
import { RouteTable } from '../route-table.ts';
import { addListenerRoutes } from './listener-routes.ts';
import { addLoadBalancerRoutes } from './load-balancer-routes.ts';
import { addMemberRoutes } from './member-routes.ts';
import { addMonitorRoutes } from './monitor-routes.ts';
import { listShown } from './octavia-list.ts';
import type { Octavia } from './octavia.ts';
import { addPoolRoutes } from './pool-routes.ts';

export function loadBalancerRoutes(octavia: Octavia): RouteTable {
  const { settings } = octavia;
  const routes = new RouteTable();
  routes
    .on(
      'GET /',
      ({ request }) => ({
        status: 200,
        body: {
          versions: Array.from({ length: settings.apiMinor + 1 }, (_, minor) => ({
            id: `v2.${minor}`,
            status: minor === settings.apiMinor ? 'CURRENT' : 'SUPPORTED',
            updated: '2022-08-29T00:00:00Z',
            links: [{ href: `${request.origin}/load-balancer/v2`, rel: 'self' }],
          })),
        },
      }),
      { isPublic: true },
    )
    .on('GET /v2.0/lbaas/providers', () => ({
      status: 200,
      body: { providers: settings.providers.map((name) => ({ name, description: `The ${name} driver.` })) },
    }))
    .on('GET /v2.0/lbaas/flavors', ({ request }) => {
      const flavors = [...settings.flavors].map(([id, name]) => ({
        id,
        name,
        description: '',
        enabled: true,
        flavor_profile_id: id,
      }));
      return listShown('flavors', flavors, (each) => each, request);
    })
    .on('GET /v2.0/lbaas/availabilityzones', ({ request }) => {
      const zones = [...settings.availabilityZones].map((name) => ({
        name,
        description: '',
        enabled: true,
        availability_zone_profile_id: octavia.ids.uuid(),
      }));
      return listShown('availability_zones', zones, (each) => each, request);
    });
  addLoadBalancerRoutes(routes, octavia);
  addListenerRoutes(routes, octavia);
  addPoolRoutes(routes, octavia);
  addMemberRoutes(routes, octavia);
  addMonitorRoutes(routes, octavia);
  return routes;
}
