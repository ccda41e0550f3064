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
        'What allocates the pod CIDRs of nodes. RangeAllocator: this program, from --cluster-cidr. CloudAllocator, IPAMFromCloud: the cloud. IPAMFromCluster: this program, which also configures them in the cloud.',
    },
    nodeCidrMaskSize: {
      type: maskSize,
      default: 0,
      usage: 'Mask size of pod CIDRs in a single-stack cluster. If not set: 24 for IPv4, 64 for IPv6.',
    },
    nodeCidrMaskSizeIpv4: {
      type: maskSize,
      default: 0,
      usage: 'Mask size of IPv4 pod CIDRs. If not set: 24.',
    },
    nodeCidrMaskSizeIpv6: {
      type: maskSize,
      default: 0,
      usage: 'Mask size of IPv6 pod CIDRs. If not set: 64.',
    },
    serviceClusterIpRange: {
      type: string,
      default: '',
      usage: 'CIDR range for Services, or one per IP family: a,b. No pod CIDR is allocated from it.',
    },
    additionalClusterCidrsFile: {
      type: string,
      default: '',
      usage:
        'File with additional cluster CIDRs, one per line, which is reloaded when it changes: pod CIDRs are allocated from them, and routes created, as from --cluster-cidr. A CIDR can be removed only when no node uses any of it.',
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
