/** Routers: their interfaces, and the extra routes that a cluster's pods need. */
import type { Identifiers } from '../identifiers.ts';
import { parseAddress, parseRange } from '../ip-range.ts';
import { Collection, type StandardAttributes } from './collection.ts';
import { badRequest, neutronRefusal } from './neutron-error.ts';
import type { FakeNetwork, FakeSubnet, Networks } from './networks.ts';
import type { Ports } from './ports.ts';

export interface ExtraRoute {
  readonly destination: string;
  readonly nexthop: string;
}

export interface FakeRouter extends StandardAttributes {
  readonly name: string;
  readonly admin_state_up: boolean;
  readonly status: string;
  readonly external_gateway_info: { readonly network_id: string } | null;
  readonly routes: readonly ExtraRoute[];
}

export interface NewRouter {
  readonly name: string;
  readonly project_id: string;
  readonly external?: FakeNetwork;
  readonly subnets?: readonly FakeSubnet[];
}

export interface RoutersOptions {
  readonly ids: Identifiers;
  readonly networks: Networks;
  readonly ports: Ports;
}

export class Routers {
  /** Neutron's `max_routes`. */
  maxRoutes = 30;
  readonly routers: Collection<FakeRouter>;
  readonly #options: RoutersOptions;

  constructor(options: RoutersOptions) {
    this.#options = options;
    this.routers = new Collection({
      ids: options.ids,
      kind: 'Router',
      notFound: (id) => `Router ${id} could not be found`,
    });
  }

  /** With an interface in each subnet, at the subnet's gateway address. */
  add({ name, project_id, external, subnets = [] }: NewRouter): FakeRouter {
    const { ports } = this.#options;
    const router = this.routers.add({
      name,
      project_id,
      admin_state_up: true,
      status: 'ACTIVE',
      external_gateway_info: external ? { network_id: external.id } : null,
      routes: [],
    });
    for (const subnet of subnets) this.addInterface(router, subnet);
    if (external) {
      // Neutron's own: in no project, so that nobody but an admin sees it.
      ports.add({
        network_id: external.id,
        project_id: '',
        device_id: router.id,
        device_owner: 'network:router_gateway',
        port_security_enabled: false,
      });
    }
    return router;
  }

  /** At the subnet's gateway address. */
  addInterface(router: FakeRouter, subnet: FakeSubnet): void {
    this.#options.ports.add({
      network_id: subnet.network_id,
      project_id: router.project_id,
      device_id: router.id,
      device_owner: 'network:router_interface',
      port_security_enabled: false,
      fixed_ips: [{ subnet_id: subnet.id, ...(subnet.gateway_ip === null ? {} : { ip_address: subnet.gateway_ip }) }],
    });
  }

  /** The router that leads from a subnet to an external network. */
  between(subnetId: string, externalNetworkId: string): FakeRouter | undefined {
    const { ports } = this.#options;
    return this.routers
      .all()
      .filter((router) => router.external_gateway_info?.network_id === externalNetworkId)
      .find((router) =>
        ports.ports
          .where('device_id', router.id)
          .some(({ fixed_ips }) => fixed_ips.some(({ subnet_id }) => subnet_id === subnetId)),
      );
  }

  /** Exact doubles are one; another next hop for the same destination is added (neutron/db/extraroute_db.py). */
  addRoutes(router: FakeRouter, added: readonly ExtraRoute[]): FakeRouter {
    return this.setRoutes(router, [...router.routes, ...added]);
  }

  /** What is not there is no error. */
  removeRoutes(router: FakeRouter, removed: readonly ExtraRoute[]): FakeRouter {
    const gone = new Set(removed.map(keyOf));
    return this.setRoutes(
      router,
      router.routes.filter((route) => !gone.has(keyOf(route))),
    );
  }

  /** All or nothing: one that cannot be, and none is changed. */
  setRoutes(router: FakeRouter, wanted: readonly ExtraRoute[]): FakeRouter {
    const unique = new Map(wanted.map((route) => [keyOf(route), route]));
    const routes = [...unique.values()].map(({ destination, nexthop }) => ({ destination, nexthop }));
    this.#validate(router, routes);
    return this.routers.change(router.id, { routes: routes.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)) });
  }

  #validate(router: FakeRouter, routes: readonly ExtraRoute[]): void {
    const { ports, networks } = this.#options;
    if (routes.length > this.maxRoutes) {
      // 400, not 409 (seen on Zed).
      throw neutronRefusal(
        400,
        'RoutesExhausted',
        `Unable to complete operation for ${router.id}. The number of routes exceeds the maximum ${this.maxRoutes}.`,
      );
    }
    const fixed = ports.ports.where('device_id', router.id).flatMap(({ fixed_ips }) => fixed_ips);
    const own = new Set(fixed.map(({ ip_address }) => ip_address));
    const subnets = fixed.flatMap(({ subnet_id }) => networks.subnets.get(subnet_id) ?? []);
    for (const { nexthop, destination } of routes) {
      if (!parseAddress(nexthop)) throw badRequest(`'${nexthop}' is not a valid IP address`);
      if (!subnets.some((subnet) => networks.contains(subnet, nexthop))) {
        throw invalid(routes, 'the nexthop is not connected with router');
      }
      if (own.has(nexthop)) throw invalid(routes, 'the nexthop is used by router');
      if (!parseRange(destination)) {
        throw neutronRefusal(400, 'AddrFormatError', `invalid IPNetwork ${destination}`);
      }
    }
  }
}

const keyOf = ({ destination, nexthop }: ExtraRoute): string => `${destination} ${nexthop}`;

function invalid(routes: readonly ExtraRoute[], reason: string): Error {
  const shown = routes.map(({ destination, nexthop }) => `{'destination': '${destination}', 'nexthop': '${nexthop}'}`);
  return neutronRefusal(400, 'InvalidRoutes', `Invalid format for routes: [${shown.join(', ')}], ${reason}`);
}
