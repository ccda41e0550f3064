/** By which address each node is known. Pure. */
import type { DesiredLoadBalancer } from '@outrigger/cloud-provider';

/** Provider IDs of the back ends, by address. */
export function providerIDsOf({ backEnds }: Pick<DesiredLoadBalancer, 'backEnds'>): ReadonlyMap<string, string> {
  return new Map(
    backEnds.flatMap(({ addresses, node: { providerID } }) =>
      providerID === undefined ? [] : addresses.map(({ address }) => [address, providerID] as const),
    ),
  );
}
