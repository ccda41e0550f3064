/**
 * Pod CIDRs of both families as routes of one route table to the primary network interfaces of nodes. Entry point: `createAwsRoutes`.
 *
 * AWS keeps no owner with a route, so none is called `owned` here: the host decides, by destination and machine. A route leads to an
 * interface and not to an instance, as AWS refuses an instance that has several. The interface takes packets for others before the
 * route is made: where the route is, it works.
 */
import {
  CloudError,
  isCloudError,
  parseCidr,
  type CallContext,
  type NodeRef,
  type Route,
  type RouteRequest,
  type Routes,
} from '@outrigger/cloud-provider';
import { routesOneByOne } from '@outrigger/provider-kit';
import { awsCodeOf } from '../client/aws-errors.ts';
import type { Route as TableRoute } from '../client/generated/ec2.ts';
import type { ClusterFacts } from '../cluster/own-cluster.ts';
import { instanceIdIn } from '../instances/asked-instance.ts';
import { instancesByIds, type OneById } from '../instances/described-instances.ts';
import { whyNotOwn } from '../instances/own-instance.ts';
import { interfacesById, interfacesOf, type InstanceInterface } from './network-interfaces.ts';
import { readRouteTable, type FoundRouteTable, type RouteTableOptions } from './route-table.ts';

/** At a time. AWS takes five changes a second once a burst of 50 is used up. */
const PARALLEL = 5;

export interface AwsRoutesSetup extends RouteTableOptions {
  /** The prefix of provider IDs. Default: `aws`. */
  readonly name?: string;
}

export function createAwsRoutes(setup: AwsRoutesSetup): Routes {
  const routes = new RouteTableRoutes(setup);
  const instanceIdOf = (providerID: string | undefined) => instanceIdIn(providerID, nameOf(setup));
  const oneByOne = routesOneByOne({
    unmarked: true,
    nextHop: 'instance',
    parallel: PARALLEL,
    list: (call) => routes.list(call),
    create: (request, call) => routes.create(request, call),
    replace: (request, call) => routes.replace(request, call),
    delete: (route, call) => routes.delete(route, call),
    leadsTo: ({ blackhole, targetProviderID }, { node }) => {
      const wanted = instanceIdOf(node.providerID);
      return !blackhole && wanted !== undefined && instanceIdOf(targetProviderID) === wanted;
    },
  });
  return {
    ...oneByOne,
    async create(requests, call) {
      if (requests.length === 0) return [];
      await routes.prepare(requests, call);
      return oneByOne.create(requests, call);
    },
  };
}

/** What one call of the contract has read. */
class Look {
  readonly table: FoundRouteTable;
  readonly routes: readonly Route[];
  /** By instance, for the routes that the call makes. */
  readonly primary: Map<string, InstanceInterface> = new Map();
  /** What EC2 says of these instances, and what the cluster is as far as that is known. */
  readonly instances: Map<string, OneById> = new Map();
  facts: Partial<ClusterFacts> = {};
  /** By interface: its check is being switched off. */
  readonly opened: Map<string, Promise<unknown>> = new Map();

  constructor(table: FoundRouteTable, routes: readonly Route[]) {
    this.table = table;
    this.routes = routes;
  }
}

interface RouteInput extends ReturnType<typeof destinationOf> {
  readonly RouteTableId: string;
  readonly NetworkInterfaceId: string;
}

interface Machine {
  readonly providerId: string;
  /** The interface is never another machine's. */
  readonly isForLife: boolean;
}

class RouteTableRoutes {
  readonly #setup: AwsRoutesSetup;
  readonly #looks = new WeakMap<CallContext, Promise<Look>>();
  /** Of interfaces and instances that routes lead to: known still when they are gone, as the host knows whose a route is by its machine. */
  readonly #machines = new Map<string, Machine>();
  /** By destination: the interface of a route that was made and that no list has shown yet. */
  readonly #made = new Map<string, string>();

  constructor(setup: AwsRoutesSetup) {
    this.#setup = setup;
  }

  async list(call: CallContext): Promise<readonly Route[]> {
    return (await this.#look(call)).routes;
  }

  /** What `create` needs of the instances, for all at once. */
  async prepare(requests: readonly RouteRequest[], call: CallContext): Promise<void> {
    const ids = requests.flatMap(({ node }) => this.#instanceIdOf(node.providerID) ?? []);
    const { client } = this.#setup;
    const [look, interfaces, instances, facts] = await Promise.all([
      this.#look(call),
      interfacesOf(client, ids, call),
      instancesByIds(client.ec2, ids, call),
      this.#facts(call),
    ]);
    for (const one of interfaces) if (one.isPrimary) look.primary.set(one.instanceId, one);
    for (const [id, one] of instances) look.instances.set(id, one);
    look.facts = facts;
  }

  async create({ destination, node }: RouteRequest, call: CallContext): Promise<void> {
    const { hop, input } = await this.#target(destination, node, call);
    try {
      await this.#setup.client.ec2(call, 'CreateRoute', input);
    } catch (error) {
      if (awsCodeOf(error) !== 'RouteAlreadyExists') throw error;
      // A list of AWS may be older than what was made.
      if (this.#made.get(destination) !== hop.id) {
        const why = `there is a route to ${destination} by now, which the list of ${input.RouteTableId} did not have`;
        throw new CloudError('conflict', why, { cause: error });
      }
    }
    this.#remember(destination, hop, node);
  }

  /** In place of the one that is there: at no time is there none. */
  async replace({ destination, node }: RouteRequest, call: CallContext): Promise<void> {
    const { hop, input } = await this.#target(destination, node, call);
    await this.#setup.client.ec2(call, 'ReplaceRoute', input);
    this.#remember(destination, hop, node);
  }

  /** AWS removes by destination alone: what has taken the place of the route meanwhile stays. */
  async delete({ id, destination }: Route, call: CallContext): Promise<void> {
    const { routes, table } = await this.#look(call);
    if (!routes.some((route) => route.id === id)) return;
    await this.#setup.client.ec2(call, 'DeleteRoute', {
      RouteTableId: table.RouteTableId,
      ...destinationOf(destination),
    });
    this.#made.delete(destination);
  }

  /** Where the route will lead, once its interface takes packets for others. */
  async #target(
    destination: string,
    node: NodeRef,
    call: CallContext,
  ): Promise<{ readonly hop: InstanceInterface; readonly input: RouteInput }> {
    const { facts, instances, opened, primary, table } = await this.#look(call);
    const instanceId = this.#instanceIdOf(node.providerID);
    if (instanceId === undefined) {
      throw new CloudError(
        'invalid',
        `the provider ID of node ${node.name} names no instance that a route can lead to`,
      );
    }
    const instance = instances.get(instanceId);
    if (instance instanceof Error) throw instance;
    const hop = primary.get(instanceId);
    if (!hop || !instance || instance === 'not-found') {
      const why = `EC2 shows no network interface of instance ${instanceId} for the route ${destination} to lead to`;
      throw new CloudError('not-found', `${why}: it is gone, or so young that it is not in every answer yet`);
    }
    // The table is the cluster's: a route can lead to its own VPC alone.
    const refusal = whyNotOwn(node, instance, { ...facts, ...(table.VpcId && { vpcId: table.VpcId }) });
    if (refusal) throw new CloudError('invalid', refusal.message, { cause: refusal });
    if (hop.sourceDestCheck) {
      const opening = opened.get(hop.id) ?? this.#takeForOthers(hop.id, call);
      opened.set(hop.id, opening);
      await opening;
    }
    const input = { RouteTableId: table.RouteTableId, NetworkInterfaceId: hop.id, ...destinationOf(destination) };
    return { hop, input };
  }

  #takeForOthers(id: string, call: CallContext): Promise<unknown> {
    return this.#setup.client.ec2(call, 'ModifyNetworkInterfaceAttribute', {
      NetworkInterfaceId: id,
      SourceDestCheck: { Value: false },
    });
  }

  #remember(destination: string, { id, instanceId, zone }: InstanceInterface, node: NodeRef): void {
    this.#made.set(destination, id);
    const providerId = node.providerID ?? this.#providerIdOf(instanceId, zone);
    this.#machines.set(id, { providerId, isForLife: true });
  }

  /** With a route table by its ID nothing else needs to know which cluster this is. */
  async #facts(call: CallContext): Promise<Partial<ClusterFacts>> {
    try {
      const { tags } = await this.#setup.cluster.learn(call);
      return { tags };
    } catch (error) {
      if (isCloudError(error, 'configuration')) return {};
      throw error;
    }
  }

  #instanceIdOf(providerId: string | undefined): string | undefined {
    return instanceIdIn(providerId, nameOf(this.#setup));
  }

  #providerIdOf(instanceId: string, zone: string): string {
    return `${nameOf(this.#setup)}:///${zone}/${instanceId}`;
  }

  /** Read once for each call of the contract. */
  #look(call: CallContext): Promise<Look> {
    const known = this.#looks.get(call);
    if (known) return known;
    const look = this.#read(call);
    this.#looks.set(call, look);
    return look;
  }

  async #read(call: CallContext): Promise<Look> {
    const table = await readRouteTable(this.#setup, call);
    const there = (table.Routes ?? []).flatMap((route) => {
      const destination = route.DestinationCidrBlock ?? route.DestinationIpv6CidrBlock;
      return destination === undefined ? [] : [{ route, destination: parseCidr(destination)?.text ?? destination }];
    });
    const alive = await this.#learn(
      there.map(({ route }) => route),
      call,
    );
    for (const { destination } of there) this.#made.delete(destination);
    const routes = there.map(({ destination, route }): Route => {
      const hop = hopOf(route);
      return {
        id: `${destination} via ${hop ?? gatewayOf(route)}`,
        destination,
        targetProviderID: hop === undefined ? undefined : this.#machines.get(hop)?.providerId,
        // AWS calls one to an instance that is stopped so, too: that one leads to its machine, which comes back.
        blackhole: route.State === 'blackhole' && !(hop !== undefined && alive.has(hop)),
        ownership: 'unmarked',
      };
    });
    return new Look(table, routes);
  }

  /**
   * Finds out whose the interfaces are that routes lead to, and resolves with those that were seen now. The primary one of an instance is its
   * own for life: once known, it is asked for again only where its route leads nowhere.
   */
  async #learn(routes: readonly TableRoute[], call: CallContext): Promise<ReadonlySet<string>> {
    const { client } = this.#setup;
    const hops = routes.flatMap((route) => hopOf(route) ?? []);
    const asked = routes.flatMap((route) => {
      const hop = hopOf(route);
      const isKnown = route.State !== 'blackhole' && this.#machines.get(hop ?? '')?.isForLife === true;
      return hop === undefined || isKnown ? [] : [hop];
    });
    const [byId, byInstance] = await Promise.all([
      interfacesById(client, asked.filter(isInterface), call),
      // EC2 names the interface of a route to an instance too; what answers in its place may not.
      interfacesOf(
        client,
        asked.filter((hop) => !isInterface(hop)),
        call,
      ),
    ]);
    const seen = [
      ...byId.map((one) => ({ ...one, hop: one.id, isForLife: one.isPrimary })),
      ...byInstance.map((one) => ({ ...one, hop: one.instanceId, isForLife: true })),
    ];
    for (const { hop, instanceId, isForLife, zone } of seen) {
      const known = this.#machines.get(hop)?.providerId;
      const isSame = known !== undefined && this.#instanceIdOf(known) === instanceId;
      this.#machines.set(hop, { providerId: isSame ? known : this.#providerIdOf(instanceId, zone), isForLife });
    }
    const needed = new Set([...hops, ...this.#made.values()]);
    for (const hop of this.#machines.keys()) if (!needed.has(hop)) this.#machines.delete(hop);
    return new Set(seen.map(({ hop }) => hop));
  }
}

/** An interface, or an instance; `undefined`: a gateway, an endpoint. */
function hopOf({ InstanceId: instanceId, NetworkInterfaceId: id }: TableRoute): string | undefined {
  return id || instanceId || undefined;
}

function isInterface(hop: string): boolean {
  return hop.startsWith('eni-');
}

/** For people, and to tell two routes apart. */
function gatewayOf(route: TableRoute): string {
  const { EgressOnlyInternetGatewayId, GatewayId, NatGatewayId, TransitGatewayId, VpcPeeringConnectionId } = route;
  const ids = [GatewayId, NatGatewayId, TransitGatewayId, VpcPeeringConnectionId, EgressOnlyInternetGatewayId];
  return ids.find((id) => id) ?? 'a target of another kind';
}

function destinationOf(destination: string): {
  readonly DestinationCidrBlock?: string;
  readonly DestinationIpv6CidrBlock?: string;
} {
  return parseCidr(destination)?.family === 6
    ? { DestinationIpv6CidrBlock: destination }
    : { DestinationCidrBlock: destination };
}

function nameOf({ name = 'aws' }: AwsRoutesSetup): string {
  return name;
}
