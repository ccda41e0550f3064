/** What a second VIP, which is had at creation or never, rules out later. Pure. */
import { CloudError, type IPFamily, type LoadBalancerWarning } from '@outrigger/cloud-provider';
import { familyIn } from '../desired/address-families.ts';
import { carriesPackets } from '../desired/octavia-features.ts';
import type { DesiredTree } from '../desired/desired-tree.ts';
import type { ObservedLoadBalancer } from '../observed-tree.ts';

const EVERYWHERE: readonly string[] = ['0.0.0.0/0', '::/0'];

/**
 * What is wanted, as a load balancer with these VIPs can have it. A list of everywhere, which is written where the Service wants one
 * family, holds nobody off: beside a second VIP, from the time when it wanted two, there is none. Where the second VIP could not be
 * had, the members are those of one.
 */
export function treeOnVips(tree: DesiredTree, { additionalVips, vipAddress }: ObservedLoadBalancer): DesiredTree {
  if (additionalVips.length === 0) return vipAddress ? treeOnOneVip(tree, familyIn(vipAddress)) : tree;
  const listeners = tree.listeners.map((one) =>
    one.allowedCidrs?.every((cidr) => EVERYWHERE.includes(cidr)) ? { ...one, allowedCidrs: [] } : one,
  );
  return { ...tree, listeners };
}

/** Octavia answers 501 to members whose family has no VIP where packets are not carried from one to the other (`amphora_driver/v2`). */
export function treeOnOneVip(tree: DesiredTree, family: IPFamily): DesiredTree {
  const { additionalVips, provider } = tree.loadBalancer;
  if (additionalVips.length === 0) return tree;
  const listeners = tree.listeners.map((one) => {
    if (!carriesPackets(provider, one.protocol)) return one;
    const members = one.pool.members.filter(({ address }) => familyIn(address) === family);
    return { ...one, pool: { ...one.pool, members } };
  });
  return { ...tree, listeners };
}

/**
 * Octavia of Zed took `allowed_cidrs` on a load balancer with two VIPs, ended in ERROR, and could not even delete it by cascade:
 * the pair is never sent.
 */
export function secondVipRefusal({ listeners }: DesiredTree, there: ObservedLoadBalancer): CloudError | undefined {
  const { additionalVips, id } = there;
  if (additionalVips.length > 0 && listeners.some(({ allowedCidrs = [] }) => allowedCidrs.length > 0)) {
    const text = `the load balancer ${id} has an address of each family, and source ranges on it would break it permanently; remove them, or recreate the Service with one family`;
    return new CloudError('unsupported', text);
  }
  return undefined;
}

export function secondVipWarnings(
  { loadBalancer }: DesiredTree,
  { additionalVips, id }: ObservedLoadBalancer,
): readonly LoadBalancerWarning[] {
  const [missing] = additionalVips.length === 0 ? loadBalancer.additionalVips : [];
  if (!missing) return [];
  const message = `The load balancer ${id} has no ${missing.family} address: it got none when it was created, and cannot get one later; recreate the Service to get one`;
  return [{ reason: 'NoSecondAddress', message }];
}
