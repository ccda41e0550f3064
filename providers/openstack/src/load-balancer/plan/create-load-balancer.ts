/** The POST by which a load balancer is made, with all that hangs below it unless that is too much for one body. Pure. */
import type { DesiredTree, VipWish } from '../desired/desired-tree.ts';
import type { ChangeOf, PlannedRequest } from './change.ts';
import { populatedListeners } from './octavia-bodies.ts';
import { postRequest } from './octavia-requests.ts';
import type { NetworkLookUp, Reference } from './references.ts';
import { treeOnOneVip } from './second-vip.ts';

/** Members and source ranges of all listeners: some 2 MB. */
const MOST_IN_ONE_BODY = 20_000;

/**
 * Where no second VIP is to be had it is made with one, and the plan warns of it from then on. The members that need the second come once
 * it is there.
 */
export function loadBalancerCreation(wanted: DesiredTree, tags: readonly string[]): ChangeOf<'create-load-balancer'> {
  const tree = treeOnOneVip(wanted, wanted.loadBalancer.vip.family);
  const { additionalVips, vip } = tree.loadBalancer;
  const single = { ...tree, loadBalancer: { ...tree.loadBalancer, additionalVips: [] } };
  return {
    op: 'create-load-balancer',
    request: requestOf(tree, tags),
    ...(additionalVips.length > 0 && { otherwise: requestOf(single, tags) }),
    ...(vip.subnetOf && { nodes: vip.subnetOf }),
  };
}

function requestOf(tree: DesiredTree, tags: readonly string[]): PlannedRequest {
  const { availabilityZone, description, flavorId, names, provider, serial } = tree.loadBalancer;
  const { body, subnet } = placeOf(tree.loadBalancer);
  return postRequest('loadbalancers', {
    name: names.loadBalancer,
    description,
    provider,
    ...(flavorId !== undefined && { flavor_id: flavorId }),
    ...(availabilityZone !== undefined && { availability_zone: availabilityZone }),
    ...body,
    tags,
    ...(!serial &&
      sizeOf(tree) <= MOST_IN_ONE_BODY && {
        listeners: populatedListeners(tree.listeners, tags, { family: tree.loadBalancer.vip.family, id: subnet }),
      }),
  });
}

const sizeOf = ({ listeners }: DesiredTree): number =>
  listeners.reduce((sum, { allowedCidrs = [], pool }) => sum + pool.members.length + allowedCidrs.length, 0);

/** Where its virtual IPs lie, and the subnet of members that name none: the VIP's, where it is known. */
function placeOf({ additionalVips, vip }: DesiredTree['loadBalancer']): {
  readonly body: Readonly<Record<string, unknown>>;
  readonly subnet: string | Reference | undefined;
} {
  const { address, networkId, portId } = vip;
  const subnet = vip.subnetId ?? (portId ? undefined : soughtSubnet(vip));
  const network: NetworkLookUp = networkId ? { id: networkId } : portId ? { ofPort: portId } : { ofSubnet: subnet };
  const others = additionalVips.map((one) => ({
    subnet_id: one.subnetId ?? { lookUp: { family: one.family, network } },
  }));
  const where = portId
    ? { vip_port_id: portId }
    : subnet === undefined
      ? { vip_network_id: networkId }
      : { vip_subnet_id: subnet };
  return {
    body: {
      ...where,
      // Of a port with several addresses it says which.
      ...(address !== undefined && { vip_address: address }),
      ...(others.length > 0 && { additional_vips: others }),
    },
    subnet,
  };
}

/** Of a network alone Octavia takes an IPv4 subnet where there is one. */
function soughtSubnet({ family, networkId, subnetOf }: VipWish): Reference | undefined {
  if (networkId) return family === 'IPv6' ? { lookUp: { family, network: { id: networkId } } } : undefined;
  return subnetOf && { lookUp: { subnetOf: 'nodes' } };
}
