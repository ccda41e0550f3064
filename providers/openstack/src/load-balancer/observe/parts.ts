/** From what the lists say to the parts of the contract. Pure. */
import { canonicalAddress, type LoadBalancerPart, type Owner } from '@outrigger/cloud-provider';
import type { WireFloatingIP, WirePort, WireSecurityGroup } from '../neutron-wire.ts';
import type {
  floatingIPIn,
  FloatingNetwork,
  Lateness,
  MemberWithoutGroup,
  ObservedChildren,
  ObservedFloatingIP,
  ObservedLoadBalancer,
  PartKind,
  securityGroupIn,
} from '../observed-tree.ts';
import type { ProvisioningStatus, WireLoadBalancer } from '../octavia-wire.ts';
import { hasNeutronTags, markOf, ownersIn, type OwnerMark } from '../ownership.ts';
import type { Relation, ServiceIdentity } from '../service-identity.ts';
import type { Lists } from './read-lists.ts';

export interface Related {
  readonly wire: WireLoadBalancer;
  readonly relation: Relation;
}

interface Around {
  readonly children: ObservedChildren | undefined;
  readonly late: Lateness;
  readonly floatingIPs: readonly WireFloatingIP[];
  readonly floatingNetwork: FloatingNetwork | undefined;
}

export function loadBalancerPart(
  { wire, relation }: Related,
  { owner, service }: ServiceIdentity,
  { children, floatingNetwork, late, floatingIPs }: Around,
): LoadBalancerPart {
  const asked = canonicalAddress(service.requestedIP ?? '');
  const requested = floatingIPs.find((one) => one.floating_ip_address === asked);
  const loadBalancer: ObservedLoadBalancer = {
    id: wire.id,
    name: wire.name,
    status: wire.provisioning_status,
    late,
    createdAt: wire.created_at ?? '',
    tags: wire.tags ?? [],
    vipAddress: wire.vip_address,
    vipPortId: wire.vip_port_id,
    vipSubnetId: wire.vip_subnet_id,
    ...(wire.provider && { provider: wire.provider }),
    additionalVips: (wire.additional_vips ?? []).map((one) => ({
      address: one.ip_address,
      subnetId: one.subnet_id,
    })),
    floatingIPs: floatingIPs
      .filter((one) => one.port_id !== null && one.port_id === wire.vip_port_id)
      .map(floatingIPOf),
    requestedFloatingIP: requested ? floatingIPOf(requested) : null,
    ...(floatingNetwork && { floatingNetwork }),
    ...(children && { children }),
  };
  const kind: PartKind = relation === 'shared' ? 'shared-load-balancer' : 'load-balancer';
  const whose = relation === 'own' || relation === 'shared' ? owner : ownersIn(wire.tags ?? []).owner;
  const { additionalVips, floatingIPs: attached, vipAddress } = loadBalancer;
  const vips = [...(vipAddress === null ? [] : [vipAddress]), ...additionalVips.map(({ address }) => address)];
  return {
    kind,
    id: wire.id,
    owner: whose,
    state: stateOf(wire.provisioning_status),
    attributes: { loadBalancer },
    addresses: [...vips, ...attached.map(({ address }) => address)],
  };
}

export function floatingIPPart(
  wire: WireFloatingIP,
  mark: OwnerMark | undefined,
  { loadBalancerOwner, triedTags }: { readonly loadBalancerOwner: Owner | undefined; readonly triedTags: boolean },
): LoadBalancerPart {
  const floatingIP: ReturnType<typeof floatingIPIn> = {
    ...floatingIPOf(wire),
    description: wire.description ?? '',
    keep: mark?.keep ?? false,
    tagged: triedTags || isTagged(wire, mark?.owner),
    loadBalancerOwner: loadBalancerOwner ?? null,
  };
  const kind: PartKind = 'floating-ip';
  return { kind, id: wire.id, owner: mark?.owner, state: 'ready', attributes: { floatingIP } };
}

interface AroundGroup {
  readonly owner: Owner | undefined;
  readonly ports: readonly WirePort[];
  readonly without: readonly MemberWithoutGroup[];
  readonly triedTags: boolean;
}

export function securityGroupPart(
  wire: WireSecurityGroup,
  { owner, ports, triedTags, without }: AroundGroup,
): LoadBalancerPart {
  const securityGroup: ReturnType<typeof securityGroupIn> = {
    id: wire.id,
    description: wire.description ?? '',
    tagged: triedTags || isTagged(wire, owner),
    rules: (wire.security_group_rules ?? [])
      .filter((rule) => rule.direction === 'ingress' && !rule.remote_group_id)
      .map((rule) => ({
        id: rule.id,
        protocol: rule.protocol?.toLowerCase() ?? 'any',
        family: rule.ethertype === 'IPv6' ? 'IPv6' : 'IPv4',
        portMin: rule.port_range_min,
        portMax: rule.port_range_max,
        cidr: rule.remote_ip_prefix,
      })),
    ports: ports
      .filter((port) => port.security_groups.includes(wire.id))
      .map((port) => ({ id: port.id, addresses: port.fixed_ips.map((one) => one.ip_address) })),
    without,
  };
  const kind: PartKind = 'security-group';
  return { kind, id: wire.id, owner, state: 'ready', attributes: { securityGroup } };
}

/** A Neutron without tags does not show any. */
function isTagged({ tags }: WireFloatingIP | WireSecurityGroup, owner: Owner | undefined): boolean {
  return owner === undefined || tags === undefined || hasNeutronTags(tags, owner);
}

/** All that carries this cluster's ID; without what hangs below. */
export function ownedParts(
  { floatingIPs, loadBalancers, securityGroups }: Lists,
  clusterId: string,
): readonly LoadBalancerPart[] {
  const parts: LoadBalancerPart[] = [];
  const add = (
    kind: PartKind,
    id: string,
    owner: Owner | undefined,
    state: LoadBalancerPart['state'],
    name: string,
  ): void => {
    if (owner?.clusterId === clusterId) parts.push({ kind, id, owner, state, attributes: { name } });
  };
  for (const { id, name, provisioning_status: status, tags = [] } of loadBalancers) {
    const { owner, sharers } = ownersIn(tags);
    add('load-balancer', id, owner, stateOf(status), name);
    for (const sharer of sharers) add('shared-load-balancer', id, sharer, stateOf(status), name);
  }
  for (const { description = '', floating_ip_address: address, id, tags = [] } of floatingIPs) {
    add('floating-ip', id, markOf(description, tags)?.owner, 'ready', address);
  }
  for (const { description = '', id, name, tags = [] } of securityGroups) {
    add('security-group', id, markOf(description, tags)?.owner, 'ready', name);
  }
  return parts;
}

function floatingIPOf(wire: WireFloatingIP): ObservedFloatingIP {
  const { floating_ip_address: address, floating_network_id: networkId, id, port_forwardings = [] } = wire;
  const forwards = port_forwardings.length > 0 && { forwards: true as const };
  return { id, address, networkId, portId: wire.port_id, ...forwards, revision: wire.revision_number };
}

function stateOf(status: ProvisioningStatus): LoadBalancerPart['state'] {
  switch (status) {
    case 'ACTIVE':
      return 'ready';
    case 'ERROR':
      return 'failed';
    case 'PENDING_DELETE':
    case 'DELETED':
      return 'deleting';
    default:
      return 'pending';
  }
}
