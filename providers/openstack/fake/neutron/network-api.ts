/** Neutron's API, as far as a cloud provider asks it. */
import { Refusal, bodyOf } from '../fake-http.ts';
import { RouteTable } from '../route-table.ts';
import { badRequest, neutronRefusal } from './neutron-error.ts';
import { addFloatingIpRoutes } from './floating-ip-routes.ts';
import type { NetworkExtensions } from './network-extensions.ts';
import type { Networking } from './networking.ts';
import type { FakePort, NewPort } from './ports.ts';
import { addResourceRoutes } from './resource-routes.ts';
import { addRouterRoutes } from './router-routes.ts';
import { addSecurityGroupRoutes } from './security-group-routes.ts';
import { addTrunkRoutes } from './trunks.ts';

/** Eventlet's `url_length_limit`, which neutron's server has: the whole first line. */
const LONGEST_REQUEST_LINE = 8192;

export function networkRoutes(networking: Networking, extensions: NetworkExtensions): RouteTable {
  const routes = new RouteTable();
  routes.on(
    'GET /',
    ({ request }) => ({
      status: 200,
      body: {
        versions: [
          { id: 'v2.0', status: 'CURRENT', links: [{ rel: 'self', href: `${request.origin}/network/v2.0/` }] },
        ],
      },
    }),
    { isPublic: true },
  );
  routes.on('GET /v2.0/extensions', () => ({
    status: 200,
    body: {
      extensions: [...extensions.aliases].map((alias) => ({
        name: alias,
        alias,
        description: '',
        updated: '2020-01-01T00:00:00-00:00',
        links: [],
      })),
    },
  }));
  addNetworkRoutes(routes, networking);
  addPortRoutes(routes, networking);
  addFloatingIpRoutes(routes, networking);
  addSecurityGroupRoutes(routes, networking);
  addRouterRoutes(routes, networking, extensions);
  addTrunkRoutes(routes, networking.trunks, extensions);
  return routes;
}

/** What a request line that is too long is answered with, before anyone reads it; `undefined` where it is not. */
export function tooLong(method: string, target: string): Refusal | undefined {
  const line = `${method} ${target} HTTP/1.1\r\n`;
  return line.length > LONGEST_REQUEST_LINE ? new Refusal({ status: 414, text: '' }) : undefined;
}

function addNetworkRoutes(routes: RouteTable, { networks }: Networking): void {
  addResourceRoutes(routes, {
    plural: 'networks',
    singular: 'network',
    collection: networks.networks,
    filters: ['admin_state_up', 'router:external', 'is_default', 'mtu'],
    view: (network) => ({
      ...network,
      availability_zone_hints: [],
      availability_zones: [],
      ipv4_address_scope: null,
      ipv6_address_scope: null,
      l2_adjacency: true,
      ...(network['router:external'] ? { is_default: network.is_default ?? false } : {}),
    }),
  });
  addResourceRoutes(routes, {
    plural: 'subnets',
    singular: 'subnet',
    collection: networks.subnets,
    filters: ['network_id', 'ip_version', 'cidr', 'enable_dhcp', 'gateway_ip', 'ipv6_ra_mode', 'ipv6_address_mode'],
    view: (subnet) => ({ ...subnet, subnetpool_id: null, host_routes: [], dns_nameservers: [], service_types: [] }),
  });
}

const PORT_FILTERS = ['network_id', 'mac_address', 'admin_state_up', 'device_id', 'device_owner'];

const viewPort = (port: FakePort): object => ({
  ...port,
  extra_dhcp_opts: [],
  'binding:vnic_type': 'normal',
  ip_allocation: 'immediate',
});

function addPortRoutes(routes: RouteTable, { ports, networks }: Networking): void {
  addResourceRoutes(routes, {
    plural: 'ports',
    singular: 'port',
    collection: ports.ports,
    filters: PORT_FILTERS,
    view: viewPort,
    matches: {
      security_groups: (port, value) => port.security_groups.includes(value),
      // `fixed_ips=subnet_id=…` and `fixed_ips=ip_address=…`.
      fixed_ips: (port, value) => {
        const [name = '', wanted] = value.split('=');
        if (name !== 'subnet_id' && name !== 'ip_address') throw badRequest(`Invalid filter on fixed_ips: ${value}`);
        return port.fixed_ips.some((each) => each[name] === wanted);
      },
    },
  });
  routes
    .on('POST /v2.0/ports', ({ request, caller }) => {
      const given = bodyOf(request, 'port');
      if (!given) throw badRequest('Resource body required');
      if ('tags' in given) throw badRequest("Attribute 'tags' not allowed in POST");
      networks.networks.visible(String(given['network_id']), caller);
      const port = ports.add({ status: 'DOWN', ...(given as unknown as NewPort), project_id: caller.projectId });
      return { status: 201, body: { port: viewPort(port) } };
    })
    .on('PUT /v2.0/ports/{id}', ({ request, params, caller }) => {
      const port = ports.ports.visible(params['id'] ?? '', caller);
      ports.ports.checkRevision(port, request);
      return { status: 200, body: { port: viewPort(ports.change(port, bodyOf(request, 'port') ?? {})) } };
    })
    .on('DELETE /v2.0/ports/{id}', ({ params, caller }) => {
      const port = ports.ports.visible(params['id'] ?? '', caller);
      if (port.device_owner.startsWith('network:router_')) {
        throw neutronRefusal(
          409,
          'ServicePortInUse',
          `Port ${port.id} cannot be deleted directly via the port API: has device owner ${port.device_owner}.`,
        );
      }
      ports.remove(port.id);
      return { status: 204 };
    });
}
