/** The addresses from which a Service may be reached. Upstream: `GetLoadBalancerSourceRanges` in `service/helpers`. */
import { CloudError, parseCidr } from '@outrigger/cloud-provider';
import type { Service } from '@outrigger/kube';
import { sourceRangesAnnotation } from './well-known-names.ts';

/**
 * The field, or else the annotation, each range in its network form and once (`10.0.0.1/24` → `10.0.0.0/24`), sorted. Empty:
 * from anywhere. Throws a `CloudError` `invalid` for what is no range: a Service must never be open wider than it says.
 */
export function sourceRangesOf(service: Service): readonly string[] {
  const field = service.spec?.loadBalancerSourceRanges ?? [];
  const annotation = service.metadata?.annotations?.[sourceRangesAnnotation]?.trim() ?? '';
  const given = field.length > 0 ? field : annotation === '' ? [] : annotation.split(',');
  const where = field.length > 0 ? 'spec.loadBalancerSourceRanges' : `annotation ${sourceRangesAnnotation}`;
  const ranges = new Set(given.map((range) => networkOf(range.trim(), where)));
  // Open to all of one family only is a limit where the Service has both.
  const families = service.spec?.ipFamilies ?? ['IPv4'];
  if (families.every((family) => ranges.has(family === 'IPv6' ? '::/0' : '0.0.0.0/0'))) return [];
  return [...ranges].toSorted();
}

function networkOf(range: string, where: string): string {
  const cidr = parseCidr(range);
  if (cidr) return cidr.text;
  throw new CloudError('invalid', `${where}: ${JSON.stringify(range)} is not an IP range such as 10.0.0.0/24`);
}
