/** `/v2.0/routers`, and their extra routes. */
import { bodyOf, type FakeRequest } from '../fake-http.ts';
import type { RouteTable, Arrival } from '../route-table.ts';
import { badRequest, neutronRefusal } from './neutron-error.ts';
import type { Networking } from './networking.ts';
import type { NetworkExtensions } from './network-extensions.ts';
import type { FakePort } from './ports.ts';
import { addResourceRoutes } from './resource-routes.ts';
import type { ExtraRoute, FakeRouter } from './routers.ts';

export function addRouterRoutes(
  routes: RouteTable,
  { routers, ports }: Networking,
  extensions: NetworkExtensions,
): void {
  const { routers: collection } = routers;
  const gatewayOf = (router: FakeRouter): FakePort | undefined =>
    ports.ports.where('device_id', router.id).find(({ device_owner }) => device_owner === 'network:router_gateway');
  const view = (router: FakeRouter): object => {
    const gateway = gatewayOf(router);
    return {
      ...router,
      external_gateway_info: router.external_gateway_info && {
        ...router.external_gateway_info,
        external_fixed_ips: gateway?.fixed_ips ?? [],
        enable_snat: true,
      },
      availability_zones: [],
      availability_zone_hints: [],
      flavor_id: null,
    };
  };
  // What only `add_extraroutes` and `remove_extraroutes` show.
  const wholeView = (router: FakeRouter): object => ({
    ...view(router),
    gw_port_id: gatewayOf(router)?.id ?? null,
    distributed: false,
    ha: false,
    ha_vr_id: 0,
  });
  addResourceRoutes(routes, {
    plural: 'routers',
    singular: 'router',
    collection,
    filters: ['admin_state_up'],
    view,
  });
  const batch = (change: (router: FakeRouter, given: readonly ExtraRoute[]) => FakeRouter) => (arrival: Arrival) => {
    if (!extensions.aliases.has('extraroute-atomic')) {
      throw neutronRefusal(404, 'HTTPNotFound', 'The resource could not be found.');
    }
    const router = collection.visible(arrival.params['id'] ?? '', arrival.caller);
    const given = routesOf(arrival.request);
    if (!given) throw badRequest("Invalid input for routes. Reason: 'routes' is missing.");
    return { status: 200, body: { router: wholeView(change(router, given)) } };
  };
  routes
    .on(
      'PUT /v2.0/routers/{id}/add_extraroutes',
      batch((router, given) => routers.addRoutes(router, given)),
    )
    .on(
      'PUT /v2.0/routers/{id}/remove_extraroutes',
      batch((router, given) => routers.removeRoutes(router, given)),
    )
    .on('PUT /v2.0/routers/{id}', ({ request, params, caller }) => {
      const router = collection.visible(params['id'] ?? '', caller);
      collection.checkRevision(router, request);
      const { routes: _, ...rest } = bodyOf(request, 'router') ?? {};
      const given = routesOf(request);
      if (given) routers.setRoutes(router, given);
      return { status: 200, body: { router: view(collection.change(router.id, rest)) } };
    });
}

const routesOf = (request: FakeRequest): readonly ExtraRoute[] | undefined =>
  bodyOf(request, 'router')?.['routes'] as readonly ExtraRoute[] | undefined;
