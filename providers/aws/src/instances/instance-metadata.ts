/** What EC2 says of a machine, as an instance of the contract. Pure. */
import { formatProviderID, type Instance, type NodeRef } from '@outrigger/cloud-provider';
import type { IpFamily } from '@outrigger/provider-kit';
import type { Instance as Ec2Instance, NetworkInterface } from '../client/generated/ec2.ts';
import { hasClusterTag, tagValue, type ClusterTags } from '../cluster/cluster-tags.ts';
import { fargateAddresses, interfacesOf, nodeAddresses } from './node-addresses.ts';

export interface MetadataOptions {
  readonly region: string;
  readonly families: readonly IpFamily[];
  readonly zoneId: string | undefined;
  /** Of the network topology, as far as it is known. */
  readonly labels: Readonly<Record<string, string>>;
  /** What instances of the cluster should have besides. */
  readonly tags: Readonly<Record<string, string>>;
  /** `undefined`: not known, or not needed. */
  readonly cluster: ClusterTags | undefined;
}

/** A node keeps the ID that it has; all but the instance's own ID in it is for people. */
export function providerIDOf(node: NodeRef, { InstanceId = '', Placement }: Ec2Instance, name: string): string {
  return node.providerID || formatProviderID(name, InstanceId && `/${Placement?.AvailabilityZone ?? ''}/${InstanceId}`);
}

/** `stopping`, and what is not known, is still running. */
export function stateOf({ State }: Ec2Instance): Instance['state'] {
  return State?.Name === 'stopped' ? 'shutdown' : 'running';
}

/** Throws `invalid` for an address that is none. */
export function metadataOf(
  node: NodeRef,
  instance: Ec2Instance,
  { cluster, families, labels, region, tags, zoneId }: MetadataOptions,
): Omit<Instance, 'providerID' | 'state'> {
  const { InstanceType, Placement, Tags } = instance;
  const addresses = nodeAddresses(instance, families);
  // Of the cluster's own alone: a kubelet chooses the provider ID of its node, and with it the instance.
  const isOwn = cluster !== undefined && hasClusterTag(Tags, cluster);
  const missing = Object.entries(isOwn ? tags : {}).filter(([key, value]) => tagValue(Tags, key) !== value);
  return {
    ...(isCalled(instance, node.name) && { name: node.name }),
    ...(InstanceType && { type: InstanceType }),
    ...(Placement?.AvailabilityZone && { zone: Placement.AvailabilityZone }),
    region,
    ...(addresses.length > 0 && { addresses }),
    podCidrs: podCidrsOf(instance),
    ...(missing.length > 0 && { missingTags: Object.fromEntries(missing) }),
    labels: { ...labels, ...zoneLabel(zoneId) },
  };
}

export function fargateMetadata(
  { AvailabilityZone, ...rest }: NetworkInterface,
  { families, region, zoneId }: Pick<MetadataOptions, 'families' | 'region' | 'zoneId'>,
): Omit<Instance, 'providerID' | 'state'> {
  const addresses = fargateAddresses(rest, families);
  return {
    ...(AvailabilityZone && { zone: AvailabilityZone }),
    region,
    ...(addresses.length > 0 && { addresses }),
    labels: zoneLabel(zoneId),
  };
}

function zoneLabel(zoneId: string | undefined): Readonly<Record<string, string>> {
  return zoneId === undefined ? {} : { 'topology.k8s.aws/zone-id': zoneId };
}

/** By EC2: its private DNS name, its ID as a resource name, or its tag `Name`. */
export function isCalled(
  instance: Pick<Ec2Instance, 'InstanceId' | 'PrivateDnsName' | 'Tags'>,
  nodeName: string,
): boolean {
  const { InstanceId, PrivateDnsName, Tags } = instance;
  const [label] = nodeName.split('.');
  return PrivateDnsName === nodeName || InstanceId === label || tagValue(Tags, 'Name') === nodeName;
}

/** Prefixes that are delegated to its network interfaces, those of the primary one first. */
function podCidrsOf(instance: Ec2Instance): readonly string[] {
  return interfacesOf(instance).flatMap(({ Ipv4Prefixes = [], Ipv6Prefixes = [] }) => [
    ...Ipv4Prefixes.flatMap(({ Ipv4Prefix }) => Ipv4Prefix ?? []),
    ...Ipv6Prefixes.flatMap(({ Ipv6Prefix }) => Ipv6Prefix ?? []),
  ]);
}
