/** The nodes behind one port of a Service. */
import { canonicalIp, familyOf, type BackEnd, type IPFamily, type ServicePort } from '@outrigger/cloud-provider';
import type { BackEndAddress, DesiredMember } from './desired-tree.ts';

export interface MemberOptions {
  /** Each node is one member, by the first of these that it has an address of; or, with `each`, one for every family. */
  readonly families: readonly IPFamily[];
  readonly each: boolean;
  /** Of members of the first family. */
  readonly subnetId: string | undefined;
  readonly monitorPort: number | undefined;
}

/** By name: what comes of nodes is the same in whatever order they come. */
export function byName(backEnds: readonly BackEnd[]): readonly BackEnd[] {
  return backEnds.toSorted((a, b) => (a.node.name < b.node.name ? -1 : 1));
}

/** A node without an address of the family gets no traffic, and so with a second node of the same address: Octavia takes one. */
export function membersOf(
  { nodePort }: ServicePort,
  sorted: readonly BackEnd[],
  { families, each, subnetId, monitorPort }: MemberOptions,
): readonly DesiredMember[] {
  if (nodePort === undefined || nodePort === 0) return [];
  const members = new Map<string, DesiredMember>();
  for (const backEnd of sorted) {
    const found = families.map((family) => ({ family, address: addressOf(backEnd, family) }));
    const usable = found.filter(({ address }) => address !== undefined && !members.has(address));
    for (const { family, address = '' } of each ? usable : usable.slice(0, 1)) {
      members.set(address, {
        name: backEnd.node.name,
        address,
        port: nodePort,
        ...(monitorPort !== undefined && { monitorPort }),
        ...(subnetId !== undefined && family === families[0] && { subnetId }),
      });
    }
  }
  return [...members.values()];
}

/** The first node that has an address of the family, by which the nodes' own subnet is found. */
export function firstAddress(sorted: readonly BackEnd[], family: IPFamily): BackEndAddress | undefined {
  for (const backEnd of sorted) {
    const address = addressOf(backEnd, family);
    const { name, providerID } = backEnd.node;
    if (address !== undefined) return { nodeName: name, ...(providerID !== undefined && { providerID }), address };
  }
  return undefined;
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
