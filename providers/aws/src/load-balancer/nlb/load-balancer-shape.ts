/** What a Network Load Balancer is to be: from what the Service asks for, and as AWS takes and shows it. Pure. */
import { CloudError, type LoadBalancerPart } from '@outrigger/cloud-provider';
import type { Attributes } from '@outrigger/provider-kit';
import type { SubnetMapping } from '../../client/generated/elbv2.ts';
import type { ServiceSettings } from '../annotations/service-settings.ts';
import { SHARED_GROUP } from '../frame.ts';
import type { Settings } from '../observe/settings-memory.ts';
import type { Tags } from '../ownership.ts';
import type { NodeRules } from '../security-groups/node-rules.ts';

/** A subnet that it is in, with the address that the Service has asked for there. */
export interface Zone {
  readonly subnet: string;
  readonly eip?: string;
  readonly address?: string;
}

const ADDRESSES = { eip: 'Elastic IPs', address: 'private addresses' };

export interface Shape {
  readonly scheme: 'internet-facing' | 'internal';
  readonly ipAddressType: 'ipv4' | 'dualstack';
  readonly zones: readonly Zone[];
  /** Of UDP over IPv6. */
  readonly sourceNat: 'on' | 'off';
  readonly securityGroups: readonly string[] | undefined;
  /**
   * For it alone, in the groups of nodes, where it has no security group; else none: those of cloud-provider-aws go once nodes let the
   * shared group in. `null`: nodes are left alone.
   */
  readonly nodeRules: NodeRules | null;
  readonly settings: Settings;
  readonly tags: Tags;
}

/** Those of AWS: what a new one has. */
export const USUAL: Settings = {
  'load_balancing.cross_zone.enabled': 'false',
  'access_logs.s3.enabled': 'false',
};

/** What `wanted` has said. */
export function shapeIn(attributes: Attributes): Shape {
  return attributes as unknown as Shape;
}

/** `undefined`: its own group is not there yet. */
export function groupsOf(
  { groups }: ServiceSettings,
  own: string | undefined,
  usesShared: boolean,
): readonly string[] | undefined {
  const shared = usesShared ? [SHARED_GROUP] : [];
  if (groups.named.length > 0) return [...groups.named, ...shared].toSorted();
  return own === undefined ? undefined : [own, ...groups.extra, ...shared].toSorted();
}

/** UDP of IPv6 clients goes to targets of IPv6, and that needs addresses for the translation of theirs. */
export function needsSourceNat({ families, listeners }: ServiceSettings): boolean {
  return families.includes('IPv6') && listeners.some(({ protocol }) => protocol === 'UDP' || protocol === 'TCP_UDP');
}

export function zonesOf(
  { eipAllocations, privateAddresses }: ServiceSettings,
  subnets: readonly string[],
): readonly Zone[] {
  for (const [what, addresses] of Object.entries({
    [ADDRESSES.eip]: eipAllocations,
    [ADDRESSES.address]: privateAddresses,
  })) {
    if (addresses.length > 0 && addresses.length !== subnets.length) {
      const message = `${addresses.length} ${what} for ${subnets.length} subnets: name one for each of ${subnets.join(', ')}`;
      throw new CloudError('invalid', message);
    }
  }
  return subnets.map((subnet, i) => {
    const [eip, address] = [eipAllocations[i], privateAddresses[i]];
    return { subnet, ...(eip !== undefined && { eip }), ...(address !== undefined && { address }) };
  });
}

/**
 * With the addresses that `part` has in these subnets: AWS gives a load balancer its addresses when it comes into a zone, and no others after
 * that. Throws `unsupported` where others are asked for, and `retry-after` while AWS may just not show them yet.
 */
export function withPresentAddresses(
  zones: readonly Zone[],
  scheme: Shape['scheme'],
  part: LoadBalancerPart | undefined,
): readonly Zone[] {
  // Of another scheme, it is made again.
  if (part?.attributes['scheme'] !== scheme) return zones;
  const there = part.attributes['zones'] as readonly Zone[];
  return zones.map((zone) => {
    const now = there.find(({ subnet }) => subnet === zone.subnet);
    if (!now) return zone;
    for (const name of ['eip', 'address'] as const) {
      // While it is being made, AWS may not show them yet.
      if (zone[name] === undefined || zone[name] === now[name] || (!now[name] && part.state !== 'ready')) continue;
      if (!now[name] && part.attributes['mayHaveMore'] === true) {
        const wait = `AWS may not show yet whether the load balancer has ${ADDRESSES[name]} in subnet ${zone.subnet}`;
        throw new CloudError('retry-after', wait, { retryAfterMs: 30_000 });
      }
      const message = now[name]
        ? `the load balancer has another address in subnet ${zone.subnet}, and AWS changes none: ask for that one, or create the Service again`
        : `the load balancer was made without ${ADDRESSES[name]}, and AWS gives it none in subnet ${zone.subnet} now: remove the annotation, or create the Service again`;
      throw new CloudError('unsupported', message);
    }
    return { ...now, ...zone };
  });
}

/** With the addresses that they were given lately, which AWS may show later than the zones. */
export function withGivenAddresses(zones: readonly Zone[], given: readonly Zone[] = []): readonly Zone[] {
  return zones.map((zone) => ({ ...given.find(({ subnet }) => subnet === zone.subnet), ...zone }));
}

export function attributesOf({ accessLogs, crossZone }: ServiceSettings): Settings {
  return {
    'load_balancing.cross_zone.enabled': `${crossZone}`,
    'access_logs.s3.enabled': `${accessLogs !== undefined}`,
    // Without logs AWS takes no empty bucket, and what stands there does nothing.
    ...(accessLogs && {
      'access_logs.s3.bucket': accessLogs.bucket,
      'access_logs.s3.prefix': accessLogs.prefix,
    }),
  };
}

/** Of all that AWS shows, what a Service can set. */
export function managedOf(all: Settings): Settings {
  const isLogged = all['access_logs.s3.enabled'] === 'true';
  const names = [...Object.keys(USUAL), ...(isLogged ? ['access_logs.s3.bucket', 'access_logs.s3.prefix'] : [])];
  return Object.fromEntries(names.map((name) => [name, all[name] ?? '']));
}

export function mappingOf({ address, eip, subnet }: Zone): SubnetMapping {
  return {
    SubnetId: subnet,
    ...(eip !== undefined && { AllocationId: eip }),
    ...(address !== undefined && { PrivateIPv4Address: address }),
  };
}

export function subnetsOf(zones: unknown): readonly string[] {
  return ((zones ?? []) as readonly Zone[]).map(({ subnet }) => subnet);
}
