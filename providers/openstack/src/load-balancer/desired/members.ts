/** The nodes behind one port of a Service. */
import {
  canonicalIp,
  familyOf,
  parseProviderID,
  type BackEnd,
  type IPFamily,
  type ServicePort,
} from '@outrigger/cloud-provider';
import { VALUES_IN_QUERY } from '../../client/query-chunks.ts';
import type { BackEndAddress, DesiredMember } from './desired-tree.ts';

interface MemberOptions {
  /** Each node is one member, by the first of these that it has an address of; or, with `each`, one for every family. */
  readonly families: readonly IPFamily[];
  readonly each: boolean;
  /** Of members of the first family. */
  readonly subnetId: string | undefined;
  readonly monitorPort: number | undefined;
}

/** A node, with the address by which it is reached in each of the load balancer's families. */
export interface MemberNode {
  readonly name: string;
  readonly createdAt: number | undefined;
  readonly providerID: string | undefined;
  readonly addresses: Readonly<Partial<Record<IPFamily, string | undefined>>>;
}

/** By name: what comes of nodes is the same in whatever order they come. */
export function memberNodes(backEnds: readonly BackEnd[], families: readonly IPFamily[]): readonly MemberNode[] {
  return backEnds
    .map((backEnd) => ({
      name: backEnd.node.name,
      createdAt: backEnd.node.createdAt,
      providerID: backEnd.node.providerID,
      addresses: Object.fromEntries(families.map((family) => [family, addressOf(backEnd, family)])),
    }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** A node without an address of the family gets no traffic, and so with a second node of the same address: Octavia takes one. */
export function membersOf(
  { nodePort }: Pick<ServicePort, 'nodePort'>,
  nodes: readonly MemberNode[],
  { families, each, subnetId, monitorPort }: MemberOptions,
): readonly DesiredMember[] {
  if (nodePort === undefined || nodePort === 0) return [];
  const members = new Map<string, DesiredMember>();
  for (const { name, addresses } of nodes) {
    for (const family of families) {
      const address = addresses[family];
      if (address === undefined || members.has(address)) continue;
      members.set(address, {
        name,
        address,
        port: nodePort,
        ...(monitorPort !== undefined && { monitorPort }),
        ...(subnetId !== undefined && family === families[0] && { subnetId }),
      });
      if (!each) break;
    }
  }
  return [...members.values()];
}

/** As many as one request of Neutron's takes: a cluster of thousands lies where these do. */
const MOST_ASKED = VALUES_IN_QUERY;
/** After all others. */
const UNKNOWN_AGE = Number.MAX_SAFE_INTEGER;

/**
 * The oldest nodes that have an address of the family, by which the nodes' own subnet is found: who registers a node does not choose where
 * load balancers are made. Where there are servers of nova, these alone.
 */
export function oldestAddresses(nodes: readonly MemberNode[], family: IPFamily): readonly BackEndAddress[] {
  const reached = nodes
    .toSorted((a, b) => (a.createdAt ?? UNKNOWN_AGE) - (b.createdAt ?? UNKNOWN_AGE))
    .flatMap(({ addresses, name, providerID }): readonly BackEndAddress[] => {
      const address = addresses[family];
      if (address === undefined) return [];
      return [{ nodeName: name, ...(providerID !== undefined && { providerID }), address }];
    });
  const servers = reached.filter(({ providerID }) => providerID !== undefined);
  return (servers.length > 0 ? servers : reached).slice(0, MOST_ASKED);
}

/** A provider ID of somebody else's says nothing of nova's servers. */
export function ofKnownServers(backEnds: readonly BackEnd[], providerName: string): readonly BackEnd[] {
  const isForeign = ({ node: { providerID } }: BackEnd): boolean =>
    providerID !== undefined && parseProviderID(providerID, providerName) === undefined;
  if (!backEnds.some(isForeign)) return backEnds;
  return backEnds.map((one) => (isForeign(one) ? { ...one, node: { ...one.node, providerID: undefined } } : one));
}

/** The first internal address of the family, else the first external one (CPO's `nodeAddressForLB`). */
export function addressOf({ addresses }: BackEnd, family: IPFamily): string | undefined {
  for (const type of ['InternalIP', 'ExternalIP'] as const) {
    for (const one of addresses) {
      const ip = one.type === type ? canonicalIp(one.address) : undefined;
      if (ip !== undefined && `IPv${familyOf(ip)}` === family) return ip;
    }
  }
  return undefined;
}
