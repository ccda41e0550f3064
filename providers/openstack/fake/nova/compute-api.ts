/** Nova's API, as far as a cloud provider asks it. */
import type { FakeRequest, FakeResponse } from '../fake-http.ts';
import { RouteTable, type Arrival } from '../route-table.ts';
import type { Compute } from './compute.ts';
import { microversionOf, type Microversion } from './microversion.ts';
import { novaRefusal } from './nova-error.ts';
import type { FakeServer } from './server.ts';
import { linksOf, viewServer, viewServerOfDownCell, type ServerAddresses } from './server-view.ts';
import { listServers } from './servers-query.ts';

export interface ServerNetworks {
  readonly addresses: ServerAddresses;
  readonly securityGroups: readonly string[];
}

export interface ComputeApiOptions {
  readonly compute: Compute;
  /** What neutron has for a server. */
  readonly networksOf: (server: FakeServer) => ServerNetworks;
}

export function computeRoutes({ compute, networksOf }: ComputeApiOptions): RouteTable {
  const versioned =
    (handler: (arrival: Arrival, version: Microversion) => FakeResponse) =>
    (arrival: Arrival): FakeResponse => {
      const version = microversionOf(arrival.request, compute.maxMicroversion);
      const response = handler(arrival, version);
      return {
        ...response,
        headers: {
          'openstack-api-version': `compute 2.${version}`,
          'x-openstack-nova-api-version': `2.${version}`,
          vary: 'OpenStack-API-Version, X-OpenStack-Nova-API-Version',
          ...response.headers,
        },
      };
    };
  const root = ({ origin }: FakeRequest): string => `${origin}/compute`;

  const detail = ({ request, caller }: Arrival, version: Microversion): FakeResponse => {
    const { servers, unknown, next } = listServers(compute, request.query, caller, version);
    const context = { root: root(request), version };
    return {
      status: 200,
      body: {
        servers: [
          ...servers.map((server) => viewServer(server, { ...context, ...networksOf(server) })),
          ...unknown.map((server) => viewServerOfDownCell(server, context, true)),
        ],
        ...links(request, next, '/v2.1/servers/detail'),
      },
    };
  };
  const brief = ({ request, caller }: Arrival, version: Microversion): FakeResponse => {
    const { servers, unknown, next } = listServers(compute, request.query, caller, version);
    return {
      status: 200,
      body: {
        servers: [
          ...servers.map((server) => ({ id: server.id, name: server.name, links: linksOf(server, root(request)) })),
          ...unknown.map((server) => ({ id: server.id, status: 'UNKNOWN', links: linksOf(server, root(request)) })),
        ],
        ...links(request, next, '/v2.1/servers'),
      },
    };
  };
  const show = ({ request, caller, params }: Arrival, version: Microversion): FakeResponse => {
    const server = compute.server(params['id'] ?? '');
    if (!server || (server.projectId !== caller.projectId && !caller.roles.includes('admin'))) {
      throw novaRefusal(404, `Instance ${params['id']} could not be found.`);
    }
    const context = { root: root(request), version };
    if (compute.isDown(server)) {
      if (version >= 69) return { status: 200, body: { server: viewServerOfDownCell(server, context, false) } };
      throw novaRefusal(500, `Cell ${server.cell} is not responding and hence instance info is not available.`);
    }
    const view = viewServer(server, { ...context, ...networksOf(server) });
    return { status: 200, body: { server: version >= 71 ? { ...view, server_groups: [] } : view } };
  };
  /** From 2.21 on, of servers that are gone too (nova/api/openstack/compute/instance_actions.py). */
  const actions = ({ caller, params }: Arrival, version: Microversion): FakeResponse => {
    const id = params['id'] ?? '';
    const there = compute.server(id);
    const server = there ?? (version >= 21 ? compute.removed(id) : undefined);
    if (!server || (server.projectId !== caller.projectId && !caller.roles.includes('admin'))) {
      throw novaRefusal(404, `Instance ${id} could not be found.`);
    }
    const done = [...(there ? [] : [['delete', server.updated]]), ['create', server.created]];
    return {
      status: 200,
      body: {
        instanceActions: done.map(([action, start]) => ({
          action,
          instance_uuid: id,
          request_id: `req-${id}`,
          user_id: server.userId,
          project_id: server.projectId,
          start_time: start,
          message: null,
          ...(version >= 58 ? { updated_at: start } : {}),
        })),
      },
    };
  };
  const flavor = ({ request, params }: Arrival, version: Microversion): FakeResponse => {
    const found = compute.flavors.get(params['id'] ?? '');
    if (!found) throw novaRefusal(404, `Flavor ${params['id']} could not be found.`);
    return {
      status: 200,
      body: {
        flavor: {
          ...found,
          swap: version >= 75 ? 0 : '',
          'OS-FLV-DISABLED:disabled': false,
          'OS-FLV-EXT-DATA:ephemeral': 0,
          'os-flavor-access:is_public': true,
          rxtx_factor: 1,
          links: [
            { rel: 'self', href: `${root(request)}/v2.1/flavors/${found.id}` },
            { rel: 'bookmark', href: `${root(request)}/flavors/${found.id}` },
          ],
          ...(version >= 55 ? { description: null } : {}),
          ...(version >= 61 ? { extra_specs: {} } : {}),
        },
      },
    };
  };
  const document = ({ request }: Arrival): unknown => ({
    id: 'v2.1',
    status: 'CURRENT',
    version: `2.${compute.maxMicroversion}`,
    min_version: '2.1',
    updated: '2013-07-23T11:33:21Z',
    links: [
      { rel: 'self', href: `${root(request)}/v2.1/` },
      { rel: 'describedby', type: 'text/html', href: 'http://docs.openstack.org/' },
    ],
    'media-types': [{ base: 'application/json', type: 'application/vnd.openstack.compute+json;version=2.1' }],
  });
  const one = (arrival: Arrival): FakeResponse => ({ status: 200, body: { version: document(arrival) } });
  return new RouteTable()
    .on('GET /', (arrival) => ({ status: 200, body: { versions: [document(arrival)] } }), { isPublic: true })
    .on('GET /v2.1', one, { isPublic: true })
    .on('GET /v2.1/', one, { isPublic: true })
    .on('GET /v2.1/servers', versioned(brief))
    .on('GET /v2.1/servers/detail', versioned(detail))
    .on('GET /v2.1/servers/{id}', versioned(show))
    .on('GET /v2.1/servers/{id}/os-instance-actions', versioned(actions))
    .on('GET /v2.1/flavors/{id}', versioned(flavor));
}

/** `servers_links`: the query as it was, with another marker. */
function links({ query, origin }: FakeRequest, next: string | undefined, path: string): object {
  if (next === undefined) return {};
  const following = new URLSearchParams(query);
  following.set('marker', next);
  return { servers_links: [{ rel: 'next', href: `${origin}/compute${path}?${following.toString()}` }] };
}
