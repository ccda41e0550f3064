/** What a second VIP, which is had at creation or never, rules out later. Pure. */
import { CloudError, type IPFamily, type LoadBalancerWarning, type PartName } from '@outrigger/cloud-provider';
import { familyIn } from '../desired/address-families.ts';
import { carriesPackets } from '../desired/octavia-features.ts';
import type { DesiredTree } from '../desired/desired-tree.ts';
import { notForThis } from '../foreign-things.ts';
import type { ObservedLoadBalancer } from '../observed-tree.ts';
import type { ServingContext } from './serving-context.ts';

export const EVERYWHERE: readonly string[] = ['0.0.0.0/0', '::/0'];

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
  const { floatingIP } = tree;
  // Neutron gives none to a port without an IPv4 address (400).
  return { ...tree, listeners, floatingIP: family === 'IPv4' ? floatingIP : { kind: 'none', keep: floatingIP.keep } };
}

interface PlacedTree {
  readonly tree: DesiredTree;
  /** What the second VIP uses by the Service's leave. */
  readonly used: readonly PartName[];
  readonly refused?: CloudError;
}

/**
 * What is to be made, with the second VIP where it may lie. The Service has leave for the port or subnet that it has named, and by that none for
 * what is beside it in the network. Where no such subnet was seen, or it has no leave and only prefers two families, there is one VIP.
 */
export function placeSecondVip({ desired, tree }: Pick<ServingContext, 'desired' | 'tree'>): PlacedTree {
  const { additionalVips, vip } = tree.loadBalancer;
  const isPlace = (id: string | undefined): boolean => tree.places.some((one) => one.id === id);
  if (additionalVips.length === 0 || vip.networkId || !isPlace(vip.portId ?? vip.subnetId)) return { tree, used: [] };
  const place = desired.others?.find(({ id, kind }) => kind === 'subnet' && !isPlace(id));
  const { loadBalancer, ...rest } = treeOnOneVip(tree, vip.family);
  const used = place?.mayUse ? [place] : [];
  const vips = used.flatMap(({ id }) => additionalVips.map((one) => ({ ...one, subnetId: id })));
  const placed: DesiredTree = { ...rest, loadBalancer: { ...loadBalancer, additionalVips: vips } };
  if (!place || place.mayUse || desired.service.ipFamilyPolicy !== 'RequireDualStack') return { tree: placed, used };
  const what = `the ${additionalVips[0]?.family} subnet in the network of the ${vip.portId ? 'port' : 'subnet'} that an annotation names`;
  return { tree: placed, used: [], refused: notForThis(what, desired.service.namespace) };
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
