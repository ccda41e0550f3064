/** The addresses from which a Service may be reached. Upstream: `GetLoadBalancerSourceRanges` in `service/helpers`. */
import { CloudError, parseCidr, quote, refuseLonger } from '@outrigger/cloud-provider';
import type { Service } from '@outrigger/kube';
import { sourceRangesAnnotation } from './well-known-names.ts';

/** Clouds take fewer. */
const MOST_RANGES = 4_096;
/** Of the annotation: all of them, as long as ranges of IPv6 can be. */
const LONGEST_LIST = MOST_RANGES * 64;

/**
 * The field, or else the annotation, each range in its network form and once (`10.0.0.1/24` → `10.0.0.0/24`), sorted. Empty:
 * from anywhere. Throws a `CloudError` `invalid` for what is no range: a Service must never be open wider than it says.
 */
export function sourceRangesOf(service: Service): readonly string[] {
  const field = service.spec?.loadBalancerSourceRanges ?? [];
  const annotation = service.metadata?.annotations?.[sourceRangesAnnotation]?.trim() ?? '';
  if (field.length === 0) refuseLonger(`annotation ${sourceRangesAnnotation}`, annotation, LONGEST_LIST);
  const given = field.length > 0 ? field : annotation === '' ? [] : annotation.split(',');
  const where = field.length > 0 ? 'spec.loadBalancerSourceRanges' : `annotation ${sourceRangesAnnotation}`;
  if (given.length > MOST_RANGES) {
    throw new CloudError('invalid', `${where} has more than ${MOST_RANGES} ranges; name fewer and larger ones`);
  }
  const ranges = new Set(given.map((range) => networkOf(range.trim(), where)));
  // Open to all of one family only is a limit where the Service has both.
  const families = service.spec?.ipFamilies ?? ['IPv4'];
  if (families.every((family) => ranges.has(family === 'IPv6' ? '::/0' : '0.0.0.0/0'))) return [];
  return [...ranges].toSorted();
}

function networkOf(range: string, where: string): string {
  const cidr = parseCidr(range);
  if (cidr) return cidr.text;
  throw new CloudError('invalid', `${where}: ${quote(range)} is not an IP range such as 10.0.0.0/24`);
}
