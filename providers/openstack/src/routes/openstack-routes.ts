/**
 * Pod CIDRs as extra routes of one Neutron router. Entry point: `OpenStackRoutes`.
 *
 * Neutron keeps no owner with a route, so none is called `owned` here: the host decides, by destination and next hop. A route
 * is there only when the port of its next hop lets the pods' addresses through: the pair comes before the route, and goes before it.
 */
import {
  canonicalAddress,
  CloudError,
  isCloudError,
  quote,
  type CallContext,
  type NodeRef,
  type Route,
  type RouteList,
  type RouteRequest,
  type RouteResult,
  type Routes,
} from '@outrigger/cloud-provider';
import type { ApiClient } from '../client/api-client.ts';
import { serverIn } from '../instances/provider-ids.ts';
import { changePairs, writePairs } from './address-pairs.ts';
import { aimRoutes, type Aim } from './aim-routes.ts';
import { canonicalDestination, canonicalHop, extraRouteOf, routeOf } from './extra-route.ts';
import { findHopPorts, findServersOfSubports, isSubport, serverOfPort } from './hop-ports.ts';
import { inHalves } from './in-halves.ts';
import type { ExtraRoute, HopPort } from './neutron-router.ts';
import { RouterRoutes, type RouteChange } from './router-routes.ts';

export interface OpenStackRoutesOptions {
  readonly client: ApiClient;
  /** The provider's name, by which its provider IDs are known. */
  readonly name: string;
  /** `router-id` of `[Route]`. */
  readonly routerId: string;
}

/** A route that is on its way, in its place of the batch. */
interface Step {
  readonly index: number;
  readonly route: ExtraRoute;
  readonly ports: readonly HopPort[];
}

export class OpenStackRoutes implements Routes {
  readonly batchSize = 50;
  readonly unmarked = true;
  readonly #client: ApiClient;
  readonly #name: string;
  readonly #router: RouterRoutes;

  constructor({ client, name, routerId }: OpenStackRoutesOptions) {
    this.#client = client;
    this.#name = name;
    this.#router = new RouterRoutes(client, routerId);
  }

  async list(call: CallContext): Promise<RouteList> {
    return { routes: (await this.#router.read(call)).map(routeOf) };
  }

  async create(requests: readonly RouteRequest[], call: CallContext): Promise<readonly RouteResult[]> {
    const aims = aimRoutes(requests, await this.#router.read(call));
    const results = aims.map(plannedResult);
    const refused = await this.#write('add', await this.#stepsOf(aims, results, call), results, call);
    await this.#takeBackPairs(refused, call);
    return results;
  }

  async delete(routes: readonly Route[], call: CallContext): Promise<readonly RouteResult[]> {
    const results = routes.map(({ id, ownership }): RouteResult => {
      if (ownership === 'owned') return { kind: 'done' };
      const why = `the route ${id} of the router ${this.#router.id} is not known to be this cluster's: it is left alone`;
      return { kind: 'failed', error: new CloudError('not-owned', why) };
    });
    const owned = routes.flatMap((route, index) =>
      route.ownership === 'owned' ? [{ index, route: extraRouteOf(route) }] : [],
    );
    if (owned.length === 0) return results;
    const there = await this.#router.read(call);
    const leaving = owned.filter(({ route }) => there.some((other) => isSame(other, route)));
    const staying = there.filter((route) => !leaving.some((other) => isSame(other.route, route)));
    const ports = await this.#ports(leaving, call);
    const steps = leaving.map(({ index, route }): Step => {
      const own = ports?.get(canonicalHop(route)) ?? [];
      return { index, route, ports: own.filter((port) => !staying.some((other) => leadsTo(port, other, route))) };
    });
    await this.#write('remove', steps, results, call);
    return results;
  }

  /** The pairs, then the routes whose pairs are as they should be. Returns those that Neutron has refused for what they are. */
  async #write(
    change: RouteChange,
    steps: readonly Step[],
    results: RouteResult[],
    call: CallContext,
  ): Promise<readonly Step[]> {
    await this.#writePairs(change, steps, results, call);
    const open = steps.filter(({ index }) => results[index]?.kind === 'done');
    const outcomes = await inHalves(open, (some) =>
      this.#router.write(
        change,
        some.map(({ route }) => route),
        call,
      ),
    );
    for (const [i, { index }] of open.entries()) fail(results, index, outcomes[i]);
    return open.filter((_, i) => isRefused(outcomes[i]));
  }

  /** What is to be done, with the ports. A next hop that is no port of the node's server fails here. */
  async #stepsOf(aims: readonly Aim[], results: RouteResult[], call: CallContext): Promise<readonly Step[]> {
    const open = aims.flatMap((aim, index) => (aim.kind === 'failed' ? [] : [{ ...aim, index }]));
    const ports = await this.#ports(open, call);
    if (!ports) return open.map(({ index, route }) => ({ index, route, ports: [] }));
    const portsAt = (route: ExtraRoute): readonly HopPort[] => ports.get(canonicalHop(route)) ?? [];
    const onTrunks = open.filter(({ route }) => portsAt(route).some(isSubport));
    const servers = onTrunks.flatMap(({ node }) => this.#serverOf(node) ?? []);
    const ofSubports = await findServersOfSubports(this.#client, servers, call);
    return open.flatMap(({ index, node, route }) => {
      const server = this.#serverOf(node);
      const isOwn = (port: HopPort): boolean =>
        server !== undefined && (isSubport(port) ? ofSubports.get(port.id) : serverOfPort(port)) === server;
      const own = portsAt(route).filter(isOwn);
      if (own.length > 0) return [{ index, route, ports: own }];
      const where = `on the networks of the router ${this.#router.id}`;
      const why =
        server === undefined
          ? this.#whyUnknown(node)
          : `no port of the server of node ${node.name} with the address ${route.nexthop} is ${where}: attach its network to the router`;
      fail(results, index, new CloudError('not-found', why));
      return [];
    });
  }

  /** An address that another server has by now, or a kubelet has made up, must not get this node's pods. Read as `askedServer` does. */
  #serverOf({ providerID = '' }: NodeRef): string | undefined {
    return serverIn(providerID.includes('://') ? providerID : `${this.#name}://${providerID}`, this.#name);
  }

  #whyUnknown({ name: nodeName, providerID }: NodeRef): string {
    if (!providerID) {
      return `node ${nodeName} has no provider ID, by which the port for its route would be known: it gets one when it is initialized`;
    }
    const forms = `${this.#name}:///<id> nor ${this.#name}://<region>/<id>`;
    return `node ${nodeName}: the provider ID ${quote(providerID)} is neither ${forms}, by which the port for its route would be known: register the node with one of these`;
  }

  /** By next hop; `undefined` in a cloud without `allowed-address-pairs`, where no port needs anything. */
  async #ports(
    steps: readonly Pick<Step, 'route'>[],
    call: CallContext,
  ): Promise<ReadonlyMap<string, readonly HopPort[]> | undefined> {
    if (!(await this.#client.networkExtensions(call)).has('allowed-address-pairs')) return undefined;
    const hops = steps.map(({ route }) => canonicalHop(route));
    return findHopPorts(this.#client, this.#router.id, hops, call);
  }

  /** One write a port, however many of its routes are in the batch. What fails is noted with the routes concerned. */
  async #writePairs(
    change: RouteChange,
    steps: readonly Step[],
    results: RouteResult[],
    call: CallContext,
  ): Promise<void> {
    const byId = new Map(steps.flatMap(({ ports }) => ports.map((port) => [port.id, port] as const)));
    await Promise.all(
      Array.from(byId.values(), async (port) => {
        const own = steps.filter(({ ports }) => ports.some(({ id }) => id === port.id));
        const outcomes = await inHalves(own, (some) =>
          writePairs(this.#client, port, { [change]: some.map(({ route }) => canonicalDestination(route)) }, call),
        );
        for (const [i, { index }] of own.entries()) fail(results, index, outcomes[i]);
      }),
    );
  }

  /** Those that came with routes which Neutron has refused: nobody would look for them again. What fails here is left to the next try. */
  async #takeBackPairs(steps: readonly Step[], call: CallContext): Promise<void> {
    if (steps.length === 0) return;
    const now = await this.#ports(steps, call).catch(() => undefined);
    const made = steps.map((step) => {
      const lacking = new Set(step.ports.filter((port) => lacksPair(port, step.route)).map(({ id }) => id));
      return { ...step, ports: (now?.get(canonicalHop(step.route)) ?? []).filter(({ id }) => lacking.has(id)) };
    });
    await this.#writePairs('remove', made, [], call);
  }
}

/** What comes of it if all goes well. */
function plannedResult(aim: Aim): RouteResult {
  if (aim.kind === 'failed') return aim;
  return { kind: aim.kind === 'add' ? 'done' : 'exists' };
}

/** The first failure counts. */
function fail(results: RouteResult[], index: number, error: Error | undefined): void {
  if (error && results[index] && results[index].kind !== 'failed') results[index] = { kind: 'failed', error };
}

function isRefused(error: Error | undefined): boolean {
  return isCloudError(error, 'invalid') || isCloudError(error, 'quota');
}

function isSame(a: ExtraRoute, b: ExtraRoute): boolean {
  return a.destination === b.destination && a.nexthop === b.nexthop;
}

/** The range leads to this port yet: by a second spelling, or by another address of the same port. */
function leadsTo({ fixed_ips: ips }: HopPort, staying: ExtraRoute, leaving: ExtraRoute): boolean {
  if (canonicalDestination(staying) !== canonicalDestination(leaving)) return false;
  const hop = canonicalHop(staying);
  return ips.some(({ ip_address: text }) => canonicalAddress(text) === hop);
}

/** As it was read. */
function lacksPair({ allowed_address_pairs: pairs = [] }: HopPort, route: ExtraRoute): boolean {
  return changePairs(pairs, { add: [canonicalDestination(route)] }) !== undefined;
}
