/** What the flags say about the ranges that nodes get. */
import type { Cidr } from '@outrigger/cloud-provider';
import { parseClusterCidrs } from '../ip/cluster-cidrs.ts';
import { CidrSet } from './cidr-set.ts';

export interface IpamRangeFlags {
  /** `--cluster-cidr`. */
  readonly clusterCidr: string;
  /** `--node-cidr-mask-size`, 0 when it is not set; as the two below. */
  readonly nodeCidrMaskSize: number;
  readonly nodeCidrMaskSizeIpv4: number;
  readonly nodeCidrMaskSizeIpv6: number;
  /** `--service-cluster-ip-range`. */
  readonly serviceClusterIpRange: string;
}

export interface IpamRanges {
  readonly sets: readonly CidrSet[];
  /** Ranges that no node gets. */
  readonly reserved: readonly Cidr[];
}

/** Empty sets of ranges, by kube-controller-manager's rules for its flags. Throws a `RangeError` that names the flag. */
export function readIpamRanges(flags: IpamRangeFlags): IpamRanges {
  const clusters = parseWith('--cluster-cidr', flags.clusterCidr);
  if (clusters.length === 0)
    throw new RangeError('--cluster-cidr is not set: there is nothing to allocate pod CIDRs from');
  const reserved = parseWith('--service-cluster-ip-range', flags.serviceClusterIpRange);
  const bits = maskSizes(clusters, flags);
  const sets = clusters.map((cluster) => {
    try {
      return new CidrSet(cluster, bits[cluster.family]);
    } catch (error) {
      throw new RangeError(`--node-cidr-mask-size: ${(error as Error).message}`, { cause: error });
    }
  });
  // Also those that no cluster range touches: ranges are added while the program runs.
  return { sets, reserved };
}

function parseWith(flag: string, text: string): readonly Cidr[] {
  try {
    return parseClusterCidrs(text);
  } catch (error) {
    throw new RangeError(`${flag}: ${(error as Error).message}`, { cause: error });
  }
}

function maskSizes(
  clusters: readonly Cidr[],
  { nodeCidrMaskSize: both, nodeCidrMaskSizeIpv4: four, nodeCidrMaskSizeIpv6: six }: IpamRangeFlags,
): Readonly<Record<4 | 6, number>> {
  if (both !== 0 && clusters.length > 1) {
    throw new RangeError(
      '--node-cidr-mask-size: two families have two sizes, set --node-cidr-mask-size-ipv4 and --node-cidr-mask-size-ipv6',
    );
  }
  if (both !== 0 && (four !== 0 || six !== 0)) {
    throw new RangeError(
      '--node-cidr-mask-size: cannot be set together with --node-cidr-mask-size-ipv4 or --node-cidr-mask-size-ipv6',
    );
  }
  for (const [family, size] of [
    [4, four],
    [6, six],
  ] as const) {
    if (size !== 0 && clusters.every((cluster) => cluster.family !== family)) {
      throw new RangeError(`--node-cidr-mask-size-ipv${family}: --cluster-cidr has no IPv${family} range`);
    }
  }
  return { 4: both || four || 24, 6: both || six || 64 };
}
