/** What is to be done about the security group of a Service (`manage-security-groups`). Pure. */
import {
  parseCidr,
  type DesiredLoadBalancer,
  type IPFamily,
  type LoadBalancerAction,
  type LoadBalancerPart,
  type LoadBalancerWarning,
} from '@outrigger/cloud-provider';
import { chunksOf } from '../../client/query-chunks.ts';
import { familyIn } from '../desired/address-families.ts';
import type { SecurityGroupWish } from '../desired/desired-tree.ts';
import {
  securityGroupIn,
  type ObservedChildren,
  type ObservedListener,
  type ObservedLoadBalancer,
  type ObservedRule,
  type ObservedSecurityGroup,
  type WhyWithout,
} from '../observed-tree.ts';
import { markedDescription } from '../ownership.ts';
import { actionOf, type MemberAddress } from './change.ts';
import { deletionOf, postNeutron } from './neutron-requests.ts';
import type { ServingContext } from './serving-context.ts';

/** `parts`: the Service's own groups: one, or what a lost answer has made twice. */
export interface SecurityGroupContext extends Pick<ServingContext, 'desired' | 'parts' | 'tree'> {
  readonly loadBalancer: ObservedLoadBalancer;
  /** The Service's own. */
  readonly listeners: readonly ObservedListener[];
  readonly subnetCidrs: ObservedChildren['subnetCidrs'];
}

export function planSecurityGroup(
  wish: SecurityGroupWish | undefined,
  context: SecurityGroupContext,
): readonly LoadBalancerAction[] {
  const { desired, parts, tree } = context;
  if (!wish) return parts.flatMap(removeGroup);
  const [first, ...twins] = parts.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  if (!first) {
    const name = tree.loadBalancer.names.securityGroup;
    const { owner } = desired;
    const description = markedDescription(wish.description, { owner, keep: false });
    const request = postNeutron('security-groups', { name, description });
    const change = { op: 'create-marked', collection: 'security-groups', request, owner } as const;
    return [actionOf('create', { kind: 'security-group' }, `create the security group ${name}`, change)];
  }
  const group = securityGroupIn(first);
  const wanted = new Set(tree.listeners.flatMap(({ pool }) => pool.members.map(({ address }) => address)));
  const having = new Set(group.ports.map(({ id }) => id));
  const opens = (twin: LoadBalancerPart): boolean =>
    securityGroupIn(twin).ports.some(
      ({ addresses, id }) => !having.has(id) && addresses.some((one) => wanted.has(one)),
    );
  const [idle, opening] = [twins.filter((twin) => !opens(twin)), twins.filter(opens)];
  return [
    ...diffRules(wish, group, context),
    ...idle.flatMap(removeGroup),
    ...diffPorts(group, wanted, desired),
    // By it alone a member has its traffic until the group is on the port too.
    ...opening.flatMap(removeGroup),
  ];
}

/** So many nodes are named: an Event has room for no more than a kilobyte. */
const MOST_NAMED = 3;

const CLOSED: readonly { readonly why: WhyWithout; readonly text: string }[] = [
  {
    why: 'strange',
    text: 'nova has no server there that is called as the node. Name the servers in nova like their nodes, or allow the node ports by another security group',
  },
  {
    why: 'unnamed',
    text: 'nova does not say the names of the servers there at present. It is asked again within half an hour, and when the Service or its nodes change; or allow the node ports by another security group',
  },
];

export function securityGroupWarnings({
  desired,
  parts,
  tree,
}: Pick<ServingContext, 'desired' | 'parts' | 'tree'>): readonly LoadBalancerWarning[] {
  const groups = tree.securityGroup ? parts.filter(({ kind }) => kind === 'security-group').map(securityGroupIn) : [];
  const having = new Set(groups.flatMap(({ ports }) => ports.flatMap(({ addresses }) => addresses)));
  const without = groups.flatMap((group) => group.without.filter(({ address }) => !having.has(address)));
  return CLOSED.flatMap(({ text, why }) => {
    const closed = new Set(without.flatMap((one) => (one.why === why ? [one.address] : [])));
    const names = desired.backEnds.flatMap(({ addresses, node }) =>
      addresses.some(({ address }) => closed.has(address)) ? [node.name] : [],
    );
    if (names.length === 0) return [];
    const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : '';
    const where = `${names.slice(0, MOST_NAMED).join(', ')}${more}`;
    const message = `The security group of the Service is not on the ports of ${where}: ${text}`;
    return [{ reason: 'NodePortsClosed', message }];
  });
}

/** Neutron refuses to delete a group that a port still has. */
export function removeGroup(part: LoadBalancerPart): readonly LoadBalancerAction[] {
  const { id, ports } = securityGroupIn(part);
  const deletion = deletionOf('security-groups', id);
  return [
    ...detachment(
      id,
      ports.map((port) => port.id),
    ),
    actionOf('delete', { kind: 'security-group', id }, `delete the security group ${id}`, deletion),
  ];
}

/** What an action may take is a minute: the last ports of a large cluster would never be reached. */
const PORTS_PER_ACTION = 20;

function detachment(groupId: string, allPortIds: readonly string[]): readonly LoadBalancerAction[] {
  const target = { kind: 'security-group', id: groupId } as const;
  return chunksOf(allPortIds, PORTS_PER_ACTION).map((portIds) => {
    const change = { op: 'detach-security-group', groupId, portIds } as const;
    return actionOf('update', target, `remove the security group from ${portIds.length} ports`, change);
  });
}

function diffRules(
  { rules }: SecurityGroupWish,
  group: ObservedSecurityGroup,
  context: SecurityGroupContext,
): readonly LoadBalancerAction[] {
  const sources = { IPv4: sourcesOf('IPv4', context), IPv6: sourcesOf('IPv6', context) };
  const wanted = rules.flatMap(({ cidr, family, port, protocol }): readonly Rule[] => {
    const cidrs = cidr === undefined ? sources[family].cidrs : [cidr];
    return cidrs.map((one) => ({ protocol, family, portMin: port, portMax: port, cidr: one }));
  });
  const keys = new Set(wanted.map((rule) => keyOf(rule)));
  const there = new Set(group.rules.map((rule) => keyOf(rule)));
  const target = { kind: 'security-group', id: group.id } as const;
  const seen = new Set<string>();
  const additions = wanted.flatMap((rule) => {
    const key = keyOf(rule);
    if (there.has(key) || seen.has(key)) return [];
    seen.add(key);
    const body = {
      security_group_id: group.id,
      direction: 'ingress',
      ethertype: rule.family,
      protocol: rule.protocol,
      port_range_min: rule.portMin,
      port_range_max: rule.portMax,
      remote_ip_prefix: rule.cidr,
    };
    const change = { op: 'neutron', request: postNeutron('security-group-rules', body) } as const;
    return [actionOf('update', target, `allow ${rule.protocol} ${rule.portMin} from ${rule.cidr}`, change)];
  });
  const doubtful = new Set(
    rules
      .filter(({ cidr, family }) => cidr === undefined && !sources[family].areKnown)
      .map(({ family, port, protocol }) => keyOf({ protocol, family, portMin: port, portMax: port, cidr: null })),
  );
  const removals = group.rules
    .filter((rule) => !keys.has(keyOf(rule)) && !doubtful.has(keyOf({ ...rule, cidr: null })))
    .map(({ cidr, id, portMin, protocol }) => {
      const summary = `no longer allow ${protocol} ${portMin ?? 'any'} from ${cidr ?? 'anywhere'}`;
      return actionOf('update', target, summary, deletionOf('security-group-rules', id));
    });
  return [...additions, ...removals];
}

type Rule = Omit<ObservedRule, 'id'>;

/** From where members are reached. They stay in the subnet in which they were made, whatever is wished for those to come. */
function sourcesOf(
  family: IPFamily,
  { listeners, loadBalancer: { additionalVips, vipSubnetId }, subnetCidrs }: SecurityGroupContext,
): { readonly cidrs: readonly string[]; readonly areKnown: boolean } {
  const members = listeners
    .flatMap(({ pool }) => pool?.members ?? [])
    .filter(({ address }) => familyIn(address) === family)
    .map(({ subnetId }) => subnetId);
  const ofVips = members.length === 0 || members.includes(null);
  const vips = ofVips ? [vipSubnetId, ...additionalVips.map(({ subnetId }) => subnetId)] : [];
  const ids = [...new Set([...members, ...vips].filter((id) => id !== null))];
  const cidrs = ids.flatMap((id) => subnetCidrs[id] ?? []);
  return { cidrs: cidrs.filter((cidr) => familyIn(cidr) === family), areKnown: cidrs.length === ids.length };
}

/** Neutron says no prefix where any is meant, and writes others as `inet_ntop` does. */
function keyOf({ cidr, family, portMax, portMin, protocol }: Rule): string {
  const range = cidr === null ? undefined : parseCidr(cidr);
  const source = range?.bits === 0 ? null : (range?.text ?? cidr);
  return JSON.stringify([protocol, family, portMin, portMax, source]);
}

/** `wanted`: addresses of members, whose ports have the group. */
export function diffPorts(
  group: ObservedSecurityGroup,
  wanted: ReadonlySet<string>,
  { backEnds }: Pick<DesiredLoadBalancer, 'backEnds'>,
): readonly LoadBalancerAction[] {
  const nodes = new Map(backEnds.flatMap(({ addresses, node }) => addresses.map(({ address }) => [address, node])));
  const failed = new Set(group.without.flatMap(({ address, why }) => (why === 'failed' ? [address] : [])));
  const left = group.without.filter(({ address }) => !failed.has(address));
  const covered = new Set([
    ...group.ports.flatMap(({ addresses }) => addresses),
    ...left.map(({ address }) => address),
  ]);
  // Those that failed come last: no action comes after one that fails.
  const missing = [...wanted]
    .filter((address) => !covered.has(address))
    .toSorted((a, b) => Number(failed.has(a)) - Number(failed.has(b)) || (a < b ? -1 : 1));
  const obsolete = group.ports.filter(({ addresses }) => !addresses.some((address) => wanted.has(address)));
  const isServed = obsolete.length < group.ports.length;
  const target = { kind: 'security-group', id: group.id } as const;
  const attach = chunksOf(missing, PORTS_PER_ACTION).map((addresses) => {
    const members = addresses.map((address): MemberAddress => {
      const { name: nodeName, providerID } = nodes.get(address) ?? {};
      return { address, ...(nodeName !== undefined && { nodeName }), ...(providerID !== undefined && { providerID }) };
    });
    const change = { op: 'attach-security-group', groupId: group.id, members, isServed } as const;
    return actionOf('update', target, `add the security group to ${members.length} ports`, change);
  });
  // First: it needs no word of nova, and an action that fails is the last one.
  const detach = detachment(
    group.id,
    obsolete.map(({ id }) => id),
  );
  return [...detach, ...attach];
}
