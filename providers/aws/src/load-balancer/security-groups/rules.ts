/**
 * Rules of security groups as texts, `tcp 80-80 10.0.0.0/8`: a plan is JSON, and two lists of texts are compared as they are. `all` stands
 * for every protocol and port; of `icmp` and `icmpv6` the numbers are type and code.
 */
import { CloudError, parseCidr } from '@outrigger/cloud-provider';
import type { IpPermission } from '../../client/generated/ec2.ts';
import type { Listener } from '../annotations/listeners.ts';
import type { ServiceSettings } from '../annotations/service-settings.ts';

export type RuleText = string;

/** Of AWS, for one family of addresses at a network interface, whatever its quotas are raised to. */
const MOST_RULES = 1_000;

/** Throws `invalid` before they are multiplied: each number alone may be large. `ports`: each protocol of one counts. */
export function checkRuleCount(ports: number, ranges: readonly string[]): void {
  const ofIPv6 = ranges.filter((range) => range.includes(':')).length;
  const count = ports * Math.max(ofIPv6, ranges.length - ofIPv6);
  if (count <= MOST_RULES) return;
  const message = `${ports} ports and ${ranges.length} source ranges need ${count} rules of a security group, and AWS allows ${MOST_RULES} at most: ask for fewer ports or source ranges`;
  throw new CloudError('invalid', message);
}

/** Who may reach the load balancer: its ports, and what path MTU discovery needs. Sorted. Throws `invalid` for too many. */
export function rulesOf({
  listeners,
  sourceRanges,
}: Pick<ServiceSettings, 'listeners' | 'sourceRanges'>): readonly RuleText[] {
  const ports = listeners.flatMap(({ port, protocol }) => protocolsOf(protocol).map((one) => `${one} ${port}-${port}`));
  checkRuleCount(ports.length, sourceRanges);
  const all = sourceRanges.flatMap((range) => {
    const isIPv6 = parseCidr(range)?.family === 6;
    return [...ports, isIPv6 ? 'icmpv6 2-0' : 'icmp 3-4'].map((port) => `${port} ${range}`);
  });
  return [...new Set(all)].toSorted();
}

/** Of EC2, for one of a listener. */
export function protocolsOf(protocol: Listener['protocol']): readonly string[] {
  return protocol === 'TCP_UDP' ? ['tcp', 'udp'] : [protocol === 'UDP' ? 'udp' : 'tcp'];
}

/** Each source of a permission is a rule. Sorted. */
export function rulesIn(permissions: readonly IpPermission[] | undefined): readonly RuleText[] {
  return [...new Set(describedRulesIn(permissions).map(({ rule }) => rule))].toSorted();
}

/** A rule, and what is said of it. */
export interface DescribedRule {
  readonly rule: RuleText;
  readonly description: string;
}

export function describedRulesIn(permissions: readonly IpPermission[] = []): readonly DescribedRule[] {
  return permissions.flatMap((permission) => {
    const { IpRanges = [], Ipv6Ranges = [], PrefixListIds = [], UserIdGroupPairs = [] } = permission;
    const said = (source: string | undefined, description = ''): readonly DescribedRule[] =>
      source === undefined ? [] : [{ rule: textOf(permission, source), description }];
    return [
      ...IpRanges.flatMap(({ CidrIp, Description }) => said(CidrIp, Description)),
      ...Ipv6Ranges.flatMap(({ CidrIpv6, Description }) => said(canonical(CidrIpv6), Description)),
      ...PrefixListIds.flatMap(({ Description, PrefixListId }) => said(PrefixListId, Description)),
      ...UserIdGroupPairs.flatMap(({ Description, GroupId }) => said(GroupId, Description)),
    ];
  });
}

const canonical = (range: string | undefined): string | undefined =>
  range === undefined ? undefined : (parseCidr(range)?.text ?? range);

function textOf({ FromPort, IpProtocol, ToPort }: IpPermission, source: string): RuleText {
  const protocol = NAMES.get(IpProtocol ?? '') ?? IpProtocol ?? 'all';
  return protocol === 'all' ? `all ${source}` : `${protocol} ${FromPort ?? -1}-${ToPort ?? -1} ${source}`;
}

/** EC2 shows some protocols by number. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ['-1', 'all'],
  ['6', 'tcp'],
  ['17', 'udp'],
  ['1', 'icmp'],
  ['58', 'icmpv6'],
]);

const RULE = /^(?:all|(?<protocol>\S+) (?<from>-?\d+)-(?<to>-?\d+)) (?<source>\S+)$/u;

/** As EC2 takes it. Throws an `Error` for what is no text of a rule. */
export function permissionOf(text: RuleText, description?: string): IpPermission {
  const { from, protocol = '-1', source = '', to } = RULE.exec(text)?.groups ?? {};
  if (source === '') throw new Error(`${text} is no rule`);
  const ports = protocol === '-1' ? {} : { FromPort: Number(from), ToPort: Number(to) };
  return { IpProtocol: protocol, ...ports, ...sourceOf(source, description) };
}

function sourceOf(source: string, description: string | undefined): Partial<IpPermission> {
  const said = description === undefined ? {} : { Description: description };
  if (source.startsWith('sg-')) return { UserIdGroupPairs: [{ GroupId: source, ...said }] };
  if (source.startsWith('pl-')) return { PrefixListIds: [{ PrefixListId: source, ...said }] };
  return source.includes(':')
    ? { Ipv6Ranges: [{ CidrIpv6: source, ...said }] }
    : { IpRanges: [{ CidrIp: source, ...said }] };
}
