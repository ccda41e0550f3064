/** By which address each node is known. Pure. */
import type { DesiredLoadBalancer } from '@outrigger/cloud-provider';

/** A node, as an action knows it. */
export interface MemberNode {
  readonly nodeName: string;
  readonly providerID?: string;
}

/** The back ends by address. */
export function nodesByAddress({ backEnds }: Pick<DesiredLoadBalancer, 'backEnds'>): ReadonlyMap<string, MemberNode> {
  return new Map(
    backEnds.flatMap(({ addresses, node: { name: nodeName, providerID } }) =>
      addresses.map(({ address }) => [address, { nodeName, ...(providerID !== undefined && { providerID }) }] as const),
    ),
  );
}
