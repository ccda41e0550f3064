/** One list of each kind, which all Services of a batch are looked up in: of what is looked at, and not all that Octavia and Neutron say. */
import type { CallContext, IPFamily } from '@outrigger/cloud-provider';
import type { ApiClient, Query } from '../../client/api-client.ts';
import { listOf } from '../../client/operation.ts';
import { asQuery, chunksOf } from '../../client/query-chunks.ts';
import { readIfThere } from '../../client/read-one.ts';
import type { WireFloatingIP, WirePort, WireSecurityGroup, WireSubnet } from '../neutron-wire.ts';
import type { WireLoadBalancer } from '../octavia-wire.ts';

export interface Lists {
  readonly loadBalancers: readonly WireLoadBalancer[];
  readonly floatingIPs: readonly WireFloatingIP[];
  readonly securityGroups: readonly WireSecurityGroup[];
}

/** What is read of each: the rest (a load balancer's listeners, a group's rules) is most of what a large project answers. */
const COLUMNS = {
  loadbalancers: [
    'id',
    'name',
    'provisioning_status',
    'tags',
    'created_at',
    'provider',
    'vip_address',
    'vip_port_id',
    'vip_subnet_id',
    'vip_network_id',
    'additional_vips',
  ] satisfies readonly (keyof WireLoadBalancer)[],
  floatingips: [
    'id',
    'floating_ip_address',
    'floating_network_id',
    'port_id',
    'description',
    'tags',
    'revision_number',
    'port_forwardings',
  ] satisfies readonly (keyof WireFloatingIP)[],
  'security-groups': ['id', 'name', 'description', 'tags'] satisfies readonly (keyof WireSecurityGroup)[],
};

const columnsOf = (collection: keyof typeof COLUMNS): Query => asQuery('fields', COLUMNS[collection]);

/**
 * All of the project: what a predecessor made is found by its name, and only part of ours has its tags yet. Groups are without their
 * rules.
 */
export async function readLists(
  client: ApiClient,
  call: CallContext,
  loadBalancersRead: Promise<readonly WireLoadBalancer[]> = listLoadBalancers(client, [], call),
): Promise<Lists> {
  const [loadBalancers, floatingIPs, securityGroups] = await Promise.all([
    loadBalancersRead,
    client.list<WireFloatingIP>(call, listOf('network', '/v2.0/floatingips', columnsOf('floatingips'))),
    listSecurityGroups(client, columnsOf('security-groups'), call),
  ]);
  return { loadBalancers, floatingIPs, securityGroups };
}

export function listLoadBalancers(
  client: ApiClient,
  filter: Query,
  call: CallContext,
): Promise<readonly WireLoadBalancer[]> {
  const query = [...filter, ...columnsOf('loadbalancers')];
  return client.list<WireLoadBalancer>(call, listOf('load-balancer', '/v2.0/lbaas/loadbalancers', query));
}

/** With their rules, those that are still there. */
export async function readSecurityGroups(
  client: ApiClient,
  ids: readonly string[],
  call: CallContext,
): Promise<readonly WireSecurityGroup[]> {
  const found: WireSecurityGroup[] = [];
  for (const some of chunksOf(ids)) found.push(...(await listSecurityGroups(client, asQuery('id', some), call)));
  return found;
}

function listSecurityGroups(client: ApiClient, query: Query, call: CallContext): Promise<readonly WireSecurityGroup[]> {
  return client.list<WireSecurityGroup>(call, listOf('network', '/v2.0/security-groups', query));
}

/** One by its ID; `undefined` where Octavia itself says that there is none. */
export async function readLoadBalancer(
  client: ApiClient,
  id: string,
  call: CallContext,
): Promise<WireLoadBalancer | undefined> {
  const there = await readIfThere<WireLoadBalancer>(client, ['load-balancer', '/v2.0/lbaas/loadbalancers'], id, call);
  return there?.provisioning_status === 'DELETED' ? undefined : there;
}

/** The ports that have one of the groups. */
export async function readPortsOfGroups(
  client: ApiClient,
  groupIds: readonly string[],
  call: CallContext,
): Promise<readonly WirePort[]> {
  const ports = new Map<string, WirePort>();
  for (const some of chunksOf(groupIds)) {
    for (const port of await listPorts(client, asQuery('security_groups', some), call)) ports.set(port.id, port);
  }
  return [...ports.values()];
}

export function listPorts(client: ApiClient, query: Query, call: CallContext): Promise<readonly WirePort[]> {
  return client.list<WirePort>(call, listOf('network', '/v2.0/ports', query));
}

export function listSubnets(client: ApiClient, query: Query, call: CallContext): Promise<readonly WireSubnet[]> {
  return client.list<WireSubnet>(call, listOf('network', '/v2.0/subnets', query));
}

/** A further VIP lies in the only one. */
export function listSubnetsOf(
  client: ApiClient,
  networkId: string,
  family: IPFamily,
  call: CallContext,
): Promise<readonly WireSubnet[]> {
  const query = [
    ['network_id', networkId],
    ['ip_version', family === 'IPv6' ? '6' : '4'],
  ] as const;
  return listSubnets(client, query, call);
}

/** The CIDRs of subnets, which never change. */
export class SubnetCidrs {
  readonly #known = new Map<string, string>();

  /** Of one that has been read. */
  of(id: string): string | undefined {
    return this.#known.get(id);
  }

  /** Without those that Neutron does not know, by which nothing is proved. */
  async read(client: ApiClient, ids: Iterable<string>, call: CallContext): Promise<Readonly<Record<string, string>>> {
    const cidrs = [...new Set(ids)].toSorted().map(async (id): Promise<readonly (readonly [string, string])[]> => {
      const cidr = await this.#read(client, id, call);
      return cidr === undefined ? [] : [[id, cidr]];
    });
    return Object.fromEntries((await Promise.all(cidrs)).flat());
  }

  async #read(client: ApiClient, id: string, call: CallContext): Promise<string | undefined> {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const there = await readIfThere<WireSubnet>(client, ['network', '/v2.0/subnets'], id, call);
    if (there) this.#known.set(id, there.cidr);
    return there?.cidr;
  }
}
