/** `/v2.0/floatingips`. */
import { bodyOf, isAdmin } from '../fake-http.ts';
import type { RouteTable } from '../route-table.ts';
import type { FakeFloatingIp, NewFloatingIp } from './floating-ips.ts';
import { badRequest, neutronRefusal } from './neutron-error.ts';
import type { Networking } from './networking.ts';
import { addResourceRoutes } from './resource-routes.ts';

const FILTERS = ['router_id', 'port_id', 'floating_network_id', 'floating_ip_address', 'fixed_ip_address'];

export function addFloatingIpRoutes(routes: RouteTable, { floatingIps, networks, ports }: Networking): void {
  const { floatingIps: collection } = floatingIps;
  const view = (item: FakeFloatingIp): object => {
    const port = item.port_id === null ? undefined : ports.ports.get(item.port_id);
    return {
      ...item,
      port_details: port
        ? {
            name: port.name,
            network_id: port.network_id,
            mac_address: port.mac_address,
            admin_state_up: port.admin_state_up,
            status: port.status,
            device_id: port.device_id,
            device_owner: port.device_owner,
          }
        : null,
      port_forwardings: item.port_forwardings ?? [],
    };
  };
  addResourceRoutes(routes, { plural: 'floatingips', singular: 'floatingip', collection, filters: FILTERS, view });
  routes
    .on('POST /v2.0/floatingips', ({ request, caller }) => {
      const given = bodyOf(request, 'floatingip') as NewFloatingIp | undefined;
      if (!given) throw badRequest('Resource body required');
      // Tags are put afterwards, never given at birth (seen on Zed).
      if ('tags' in given) throw badRequest("Attribute 'tags' not allowed in POST");
      if (given.floating_ip_address !== undefined && !isAdmin(caller)) {
        throw neutronRefusal(
          403,
          'PolicyNotAuthorized',
          '(rule:create_floatingip and rule:create_floatingip:floating_ip_address) is disallowed by policy',
        );
      }
      networks.networks.visible(given.floating_network_id, caller);
      if (typeof given.port_id === 'string') ports.ports.visible(given.port_id, caller);
      const made = floatingIps.add({ ...given, project_id: caller.projectId });
      return { status: 201, body: { floatingip: view(made) } };
    })
    .on('PUT /v2.0/floatingips/{id}', ({ request, params, caller }) => {
      const item = collection.visible(params['id'] ?? '', caller);
      collection.checkRevision(item, request);
      const change = (bodyOf(request, 'floatingip') ?? {}) as { port_id?: string | null; description?: string };
      if (typeof change.port_id === 'string') ports.ports.visible(change.port_id, caller);
      return { status: 200, body: { floatingip: view(floatingIps.change(item, change)) } };
    })
    .on('DELETE /v2.0/floatingips/{id}', ({ request, params, caller }) => {
      const item = collection.visible(params['id'] ?? '', caller);
      collection.checkRevision(item, request);
      floatingIps.refuseForwarding(item);
      floatingIps.remove(item.id);
      return { status: 204 };
    });
}
