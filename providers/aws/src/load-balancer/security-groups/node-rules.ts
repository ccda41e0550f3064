/**
 * The rules by which nodes let in a Network Load Balancer that has no security group, described as cloud-provider-aws does it: who may reach a node
 * port, from where health is asked, and what path MTU discovery needs of each client, which all load balancers share. Pure.
 */
import { parseCidr } from '@outrigger/cloud-provider';
import type { IpPermission } from '../../client/generated/ec2.ts';
import type { ServiceSettings } from '../annotations/service-settings.ts';
import { checkRuleCount, describedRulesIn, protocolsOf, type DescribedRule, type RuleText } from './rules.ts';

/** What one load balancer needs in each group of nodes. */
export type NodeRules = Readonly<Record<RuleText, 'client' | 'health'>>;

/** What the groups of nodes have for one load balancer. */
export interface SeenNodeRules {
  /** Those that every group of its targets has, whosever they are; `null`: all that it needs, as it has no target. */
  readonly everywhere: readonly RuleText[] | null;
  /** Those that any group has for it alone. */
  readonly own: readonly RuleText[];
}

interface RuleChanges {
  readonly add: readonly DescribedRule[];
  readonly remove: readonly RuleText[];
}

const PREFIX = 'kubernetes.io/rule/nlb/';
const MTU = `${PREFIX}mtu`;
const KUBE_PROXY = 'tcp 10256-';

/** `subnetRanges`: of the subnets that it is in. Throws `invalid` for too many. */
export function nodeRulesOf(
  {
    health,
    listeners,
    sourceRanges,
    targetGroupAttributes,
  }: Pick<ServiceSettings, 'health' | 'listeners' | 'sourceRanges' | 'targetGroupAttributes'>,
  subnetRanges: readonly string[],
): NodeRules {
  const isHidden = targetGroupAttributes['preserve_client_ip.enabled'] === 'false';
  const clients = isHidden ? [...sourceRanges, ...subnetRanges] : sourceRanges;
  const rules: Record<RuleText, 'client' | 'health'> = {};
  checkRuleCount(listeners.flatMap(({ targetProtocol }) => protocolsOf(targetProtocol)).length, clients);
  for (const { nodePort, targetProtocol } of listeners) {
    const port = health.port ?? nodePort;
    for (const range of subnetRanges) rules[`tcp ${port}-${port} ${range}`] ??= 'health';
    for (const protocol of protocolsOf(targetProtocol))
      for (const range of clients) rules[`${protocol} ${nodePort}-${nodePort} ${range}`] = 'client';
  }
  // Whoever may be a client may ask about health too.
  const isOpen = (rule: RuleText): boolean =>
    ['0.0.0.0/0', '::/0'].some((all) => rules[`${portsOf(rule)} ${all}`] === 'client' && sameFamily(rule, all));
  return Object.fromEntries(Object.entries(rules).filter(([rule, kind]) => kind === 'client' || !isOpen(rule)));
}

/** Whether nodes have what it needs, and nothing else for it. */
export function hasNodeRules({ everywhere, own }: SeenNodeRules, wanted: NodeRules): boolean {
  return Object.keys(wanted).every((rule) => everywhere?.includes(rule) ?? true) && own.every((rule) => rule in wanted);
}

/** `groups`: of its targets. */
export function seenNodeRules(
  groups: readonly (readonly IpPermission[])[],
  all: readonly (readonly IpPermission[])[],
  loadBalancer: string,
): SeenNodeRules {
  const [first = [], ...others] = groups.map((one) => describedRulesIn(one).map(({ rule }) => rule));
  return {
    everywhere:
      groups.length === 0 ? null : first.filter((rule) => others.every((rules) => rules.includes(rule))).toSorted(),
    own: [...new Set(all.flatMap((one) => goingIn(ownedRulesIn(one), loadBalancer)))].toSorted(),
  };
}

export function ownRulesIn(permissions: readonly IpPermission[], loadBalancer: string): NodeRules {
  return Object.fromEntries(
    ownedRulesIn(permissions).flatMap(({ kind, name, rule }) => (kind && name === loadBalancer ? [[rule, kind]] : [])),
  );
}

/** `rules`: of one group of nodes. */
export function ruleChanges(rules: readonly DescribedRule[], loadBalancer: string, wanted: NodeRules): RuleChanges {
  const there = ownedRules(rules);
  const isGone = Object.keys(wanted).length === 0;
  const add = Object.entries(wanted)
    .filter(([rule]) => there.every((one) => one.rule !== rule))
    .map(([rule, kind]) => ({ rule, description: `${PREFIX}${kind}=${loadBalancer}` }));
  const going = goingIn(there, loadBalancer);
  const gone = there.filter(
    ({ name, rule }) => name === loadBalancer && (isGone || (going.includes(rule) && !(rule in wanted))),
  );
  if (add.length + gone.length === 0) return { add, remove: [] };
  const clients = there.filter(({ kind, name }) => kind === 'client' && name !== loadBalancer);
  const own = Object.keys(wanted).filter((rule) => wanted[rule] === 'client');
  const needed = new Set([...clients.map(({ rule }) => rule), ...own].map(mtuRuleFor));
  const mtu = [...needed].filter((rule) => there.every((one) => one.rule !== rule));
  const idle = there.filter(({ description, rule }) => description === MTU && !needed.has(rule));
  return {
    add: [
      ...add,
      ...mtu.map((rule) => ({ rule, description: MTU })),
      ...(isGone ? inherited(there, loadBalancer) : []),
    ],
    remove: [...gone, ...idle].map(({ rule }) => rule),
  };
}

/** A port that is asked about the health of all (kube-proxy's) has one rule, of the load balancer that came first: with it, the next one gets it. */
function inherited(there: readonly OwnedRule[], loadBalancer: string): readonly DescribedRule[] {
  const heir = heirOf(there, loadBalancer);
  return sharedIn(there, loadBalancer).map((rule) => ({ rule, description: `${PREFIX}health=${heir}` }));
}

/** Rules for it that nobody else can need. Of ports that are not kube-proxy's none stays: a Service may name one after the other. */
function goingIn(there: readonly OwnedRule[], loadBalancer: string): readonly RuleText[] {
  const shared = sharedIn(there, loadBalancer).filter((rule) => rule.startsWith(KUBE_PROXY));
  return there.filter(({ name, rule }) => name === loadBalancer && !shared.includes(rule)).map(({ rule }) => rule);
}

/** Rules for its health that another one may need too: not those of its own node ports. */
function sharedIn(there: readonly OwnedRule[], loadBalancer: string): readonly RuleText[] {
  if (heirOf(there, loadBalancer) === undefined) return [];
  const own = there.filter(({ name }) => name === loadBalancer);
  const ports = own.filter(({ kind }) => kind === 'client').map(({ rule }) => rule.split(' ')[1]);
  return own
    .filter(({ kind, rule }) => kind === 'health' && !ports.includes(rule.split(' ')[1]))
    .map(({ rule }) => rule);
}

/** Another one that has no rule for health itself. */
function heirOf(there: readonly OwnedRule[], loadBalancer: string): string | undefined {
  const served = new Set(there.map(({ kind, name }) => (kind === 'health' ? name : loadBalancer)));
  return there.find(({ kind, name }) => kind === 'client' && name !== loadBalancer && !served.has(name))?.name;
}

type OwnedRule = DescribedRule & RuleOwner;

const ownedRulesIn = (permissions: readonly IpPermission[]): readonly OwnedRule[] =>
  ownedRules(describedRulesIn(permissions));

const ownedRules = (rules: readonly DescribedRule[]): readonly OwnedRule[] =>
  rules.map((one) => ({ ...one, ...ownerOf(one.description) }));

/** Whether it is for load balancers alone, by its description. */
export const isNodeRule = ({ description }: DescribedRule): boolean => description.startsWith(PREFIX);

interface RuleOwner {
  readonly kind?: 'client' | 'health';
  readonly name?: string;
}

function ownerOf(description: string): RuleOwner {
  const [kind = '', name] = description.startsWith(PREFIX) ? description.slice(PREFIX.length).split('=') : [];
  return name !== undefined && (kind === 'client' || kind === 'health') ? { kind, name } : {};
}

const sourceOf = (rule: RuleText): string => rule.split(' ').at(-1) ?? '';
const portsOf = (rule: RuleText): string => rule.split(' ').slice(0, 2).join(' ');
const isIPv6 = (range: string): boolean => parseCidr(range)?.family === 6;
const sameFamily = (rule: RuleText, range: string): boolean => isIPv6(sourceOf(rule)) === isIPv6(range);

function mtuRuleFor(rule: RuleText): RuleText {
  const source = sourceOf(rule);
  return `${isIPv6(source) ? 'icmpv6 2-0' : 'icmp 3-4'} ${source}`;
}
