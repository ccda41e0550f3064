/** Node IPAM. The flags are kube-controller-manager's. */
import { readIpamRanges } from '@outrigger/controllers';
import { FlagError, integer, oneOf, string, type FlagGroup } from '@outrigger/controller-manager';
import type { CloudOptions } from './cloud-flags.ts';

export interface IpamOptions {
  cidrAllocatorType: 'RangeAllocator' | 'CloudAllocator' | 'IPAMFromCluster' | 'IPAMFromCloud';
  nodeCidrMaskSize: number;
  nodeCidrMaskSizeIpv4: number;
  nodeCidrMaskSizeIpv6: number;
  serviceClusterIpRange: string;
  additionalClusterCidrsFile: string;
}

const maskSize = integer({ min: 0, max: 128 });

export const ipamFlags: FlagGroup<IpamOptions> = {
  title: 'Node IPAM controller',
  flags: {
    cidrAllocatorType: {
      type: oneOf(['RangeAllocator', 'CloudAllocator', 'IPAMFromCluster', 'IPAMFromCloud']),
      default: 'RangeAllocator',
      usage:
        'Who chooses the pod CIDRs of nodes. RangeAllocator: this program, from --cluster-cidr. CloudAllocator, IPAMFromCloud: the cloud. IPAMFromCluster: this program, and the cloud is told.',
    },
    nodeCidrMaskSize: {
      type: maskSize,
      default: 0,
      usage: 'Mask size of a pod CIDR in a cluster of one family. When it is not set: 24 for IPv4, 64 for IPv6.',
    },
    nodeCidrMaskSizeIpv4: {
      type: maskSize,
      default: 0,
      usage: 'Mask size of an IPv4 pod CIDR. When it is not set: 24.',
    },
    nodeCidrMaskSizeIpv6: {
      type: maskSize,
      default: 0,
      usage: 'Mask size of an IPv6 pod CIDR. When it is not set: 64.',
    },
    serviceClusterIpRange: {
      type: string,
      default: '',
      usage: 'CIDR range of the Services, or one of each family: a,b. No node gets a pod CIDR within it.',
    },
    additionalClusterCidrsFile: {
      type: string,
      default: '',
      usage:
        'File of further cluster ranges, one a line, that is read again while the program runs: nodes get pod CIDRs, and those get routes, from them too. A range goes only when no node has a part of it.',
    },
  },
};

/** Whether this program gives nodes ranges of the cluster ranges. */
export function usesClusterRanges({ cidrAllocatorType }: Pick<IpamOptions, 'cidrAllocatorType'>): boolean {
  return cidrAllocatorType === 'RangeAllocator' || cidrAllocatorType === 'IPAMFromCluster';
}

export const IPAM_CONTROLLER = 'node-ipam-controller';
export const IPAM_ALIAS = 'nodeipam';

/** Throws a `FlagError` for what the controller could not work with. Charts pass these flags to programs that do not run it. */
export function checkIpam(cloud: Readonly<CloudOptions>, ipam: Readonly<IpamOptions>): void {
  const isChosen = cloud.controllers.some((name) => name === IPAM_CONTROLLER || name === IPAM_ALIAS);
  if (!isChosen || !cloud.allocateNodeCidrs) return;
  if (!usesClusterRanges(ipam)) return;
  try {
    readIpamRanges({ ...ipam, clusterCidr: cloud.clusterCidr });
  } catch (error) {
    throw new FlagError('invalid-flag', (error as Error).message);
  }
}
