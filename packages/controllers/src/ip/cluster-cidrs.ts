/** `--cluster-cidr`: the ranges of the pods. */
import { parseCidr, type Cidr } from '@outrigger/cloud-provider';

/**
 * One range, or one of each family, comma-separated; none for an empty text. Throws a `RangeError` that says what is wrong.
 * Upstream takes at most two, as dual stack, too.
 */
export function parseClusterCidrs(text: string): readonly Cidr[] {
  const cidrs = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => {
      const cidr = parseCidr(part);
      if (!cidr)
        throw new RangeError(`${JSON.stringify(part)} is not a CIDR range: write it as 10.0.0.0/8 or fd00::/48`);
      return cidr;
    });
  const [first, second] = cidrs;
  if (cidrs.length > 2 || (first && second && first.family === second.family)) {
    throw new RangeError('must be one CIDR range, or one of IPv4 and one of IPv6');
  }
  return cidrs;
}
