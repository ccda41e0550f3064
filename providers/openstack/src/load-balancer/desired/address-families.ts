/** Which IP families a Service gets, and from where each may be reached. */
import {
  CloudError,
  parseCidr,
  quote,
  type IPFamily,
  type LoadBalancerService,
  type LoadBalancerWarning,
} from '@outrigger/cloud-provider';
import { cloudOf } from './service-options.ts';
import type { OctaviaFeatures } from './octavia-features.ts';

export interface AddressFamilies {
  /** Of the VIP. */
  readonly first: IPFamily;
  /** Of the additional VIP. */
  readonly second?: IPFamily;
}

export const familiesIn = ({ first, second }: AddressFamilies): readonly IPFamily[] =>
  second === undefined ? [first] : [first, second];

/** Of an address or a range. */
export const familyIn = (text: string): IPFamily => (text.includes(':') ? 'IPv6' : 'IPv4');

const ANYWHERE: Readonly<Record<IPFamily, string>> = { IPv4: '0.0.0.0/0', IPv6: '::/0' };

/**
 * Two families are one load balancer with two VIPs. Not where source ranges would be its `allowed_cidrs`: Octavia accepts both
 * together, and the load balancer ends in ERROR, which not even a cascade delete gets out of [Zed]. The Service gets the first
 * family then, and a person is told: also with RequireDualStack, which CPO passes over; what it serves has to be served on.
 */
export function addressFamilies(
  { ipFamilies, ipFamilyPolicy, sourceRanges }: LoadBalancerService,
  features: OctaviaFeatures,
  warn: (warning: LoadBalancerWarning) => void,
): AddressFamilies {
  const [first = 'IPv4', second] = ipFamilies;
  if (second === undefined) return { first };
  const why = !features.additionalVips
    ? `two addresses to a load balancer need Octavia API 2.26, and this is ${features.version}`
    : sourceRanges.length > 0 && features.accessLists
      ? 'a load balancer with two addresses cannot have source ranges: it would end in ERROR; use one family, or no ranges'
      : undefined;
  if (why === undefined) return { first, second };
  warn({
    reason: 'LoadBalancerSingleStack',
    message: `Only ${first} is served, and ipFamilyPolicy is ${ipFamilyPolicy}: ${why}`,
  });
  return { first };
}

export interface Sources {
  /** For each listener, as in `DesiredListener.allowedCidrs`. */
  readonly allowedCidrs: readonly string[] | undefined;
  /** Where the members see clients' own addresses: what they let in. Sorted. */
  readonly ranges: readonly string[];
}

/**
 * Throws `invalid` for what is no range, and `unsupported` where nothing would hold clients off: CPO serves such a Service open to
 * all, with an Event. Without ranges the list is that of everywhere, as CPO writes it.
 */
export function sourcesOf(
  { sourceRanges }: LoadBalancerService,
  addressFamilies: AddressFamilies,
  { features, manageSecurityGroups }: { readonly features: OctaviaFeatures; readonly manageSecurityGroups: boolean },
): Sources {
  const families = familiesIn(addressFamilies);
  const ranges =
    sourceRanges.length === 0 ? families.map((one) => ANYWHERE[one]).toSorted() : rangesIn(sourceRanges, families);
  if (!features.accessLists) {
    // OVN keeps the client's address, so that the group on the members' ports can tell.
    if (sourceRanges.length === 0 || (features.provider === 'ovn' && manageSecurityGroups)) {
      return { allowedCidrs: undefined, ranges };
    }
    const remedy = features.provider === 'ovn' ? '; with manage-security-groups=true the members’ ports do' : '';
    throw new CloudError('unsupported', `loadBalancerSourceRanges: ${cloudOf(features)} has no access lists${remedy}`);
  }
  return { allowedCidrs: families.length === 1 ? ranges : [], ranges };
}

/** Ranges of a family that the load balancer has no address of let nobody in, and Octavia refuses them. */
function rangesIn(texts: readonly string[], families: readonly IPFamily[]): readonly string[] {
  const all = texts.map((text) => {
    const range = parseCidr(text.trim());
    if (range === undefined)
      throw new CloudError('invalid', `source range ${quote(text)} is not a range such as 10.0.0.0/24`);
    return range;
  });
  const served = all.filter(({ family }) => families.includes(`IPv${family}`));
  if (served.length === 0) {
    const message = `no source range is of family ${families.join(' or ')}: ${texts.join(', ')} would block all clients`;
    throw new CloudError('invalid', message);
  }
  return [...new Set(served.map(({ text }) => text))].toSorted();
}
