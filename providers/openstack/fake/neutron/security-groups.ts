/** Security groups and their rules. */
import type { Identifiers } from '../identifiers.ts';
import { formatAddress, parseAddress, parseRange } from '../ip-range.ts';
import { Collection, type StandardAttributes } from './collection.ts';
import { neutronRefusal } from './neutron-error.ts';
import type { Quotas } from './quotas.ts';

export interface FakeSecurityGroup extends StandardAttributes {
  readonly name: string;
  readonly stateful: boolean;
  readonly shared: boolean;
}

export interface FakeSecurityGroupRule extends StandardAttributes {
  readonly security_group_id: string;
  readonly ethertype: 'IPv4' | 'IPv6';
  readonly direction: 'ingress' | 'egress';
  readonly protocol: string | null;
  readonly port_range_min: number | null;
  readonly port_range_max: number | null;
  readonly remote_ip_prefix: string | null;
  readonly remote_group_id: string | null;
}

export type NewRule = Pick<FakeSecurityGroupRule, 'security_group_id'> &
  Partial<Omit<FakeSecurityGroupRule, keyof StandardAttributes>> & { readonly description?: string | null };

export interface SecurityGroupsOptions {
  readonly ids: Identifiers;
  readonly quotas: Quotas;
  readonly isInUse: (groupId: string) => boolean;
}

export class SecurityGroups {
  readonly groups: Collection<FakeSecurityGroup>;
  readonly rules: Collection<FakeSecurityGroupRule>;
  readonly #options: SecurityGroupsOptions;
  readonly #defaults = new Map<string, string>();

  constructor(options: SecurityGroupsOptions) {
    this.#options = options;
    const { ids } = options;
    this.groups = new Collection({
      ids,
      kind: 'SecurityGroup',
      notFound: (id) => `Security group ${id} does not exist`,
    });
    this.rules = new Collection({
      ids,
      kind: 'SecurityGroupRule',
      notFound: (id) => `Security group rule ${id} does not exist`,
      indexed: ['security_group_id'],
    });
  }

  /** Each project has one from its first port on. */
  defaultOf(projectId: string): string {
    const known = this.#defaults.get(projectId);
    if (known !== undefined) return known;
    const { id } = this.#make(projectId, 'default', 'Default security group');
    this.#defaults.set(projectId, id);
    for (const ethertype of ['IPv4', 'IPv6'] as const) {
      const rule = { security_group_id: id, direction: 'ingress', ethertype, remote_group_id: id } as const;
      this.#insert(projectId, { ...rule, description: null });
    }
    return id;
  }

  /** With the two rules that let everything out, which neutron makes by itself. */
  addGroup(projectId: string, name: string, description = ''): FakeSecurityGroup {
    this.#options.quotas.check('security_group', this.groups.where('project_id', projectId).length);
    return this.#make(projectId, name, description);
  }

  removeGroup(group: FakeSecurityGroup): void {
    if (group.id === this.#defaults.get(group.project_id)) {
      throw neutronRefusal(
        409,
        'SecurityGroupCannotRemoveDefault',
        'Insufficient rights for removing default security group.',
      );
    }
    if (this.#options.isInUse(group.id)) {
      throw neutronRefusal(409, 'SecurityGroupInUse', `Security Group ${group.id} in use.`);
    }
    for (const { id } of this.rules.where('security_group_id', group.id)) this.rules.remove(id);
    this.groups.remove(group.id);
  }

  /** All of them, or none. */
  addRules(projectId: string, given: readonly NewRule[]): readonly FakeSecurityGroupRule[] {
    const used = this.rules.where('project_id', projectId).length;
    this.#options.quotas.check('security_group_rule', used, given.length);
    const seen = new Set<string>();
    for (const rule of given) {
      validate(rule);
      const key = identityOf(rule);
      if (seen.has(key)) {
        throw neutronRefusal(409, 'DuplicateSecurityGroupRuleInPost', 'Duplicate Security Group Rule in POST.');
      }
      seen.add(key);
      const same = this.rules
        .where('security_group_id', rule.security_group_id)
        .find((each) => identityOf(each) === key);
      if (same) {
        throw neutronRefusal(
          409,
          'SecurityGroupRuleExists',
          `Security group rule already exists. Rule id is ${same.id}.`,
        );
      }
    }
    const made = given.map((rule) => this.#insert(projectId, rule));
    // A group's revision moves with its rules (seen on Zed).
    for (const id of new Set(given.map((rule) => rule.security_group_id))) this.#touch(id);
    return made;
  }

  removeRule(rule: FakeSecurityGroupRule): void {
    this.rules.remove(rule.id);
    this.#touch(rule.security_group_id);
  }

  #touch(groupId: string): void {
    if (this.groups.get(groupId)) this.groups.touch(groupId);
  }

  #make(projectId: string, name: string, description: string): FakeSecurityGroup {
    const group = this.groups.add({ project_id: projectId, name, description, stateful: true, shared: false });
    for (const ethertype of ['IPv6', 'IPv4'] as const) {
      this.#insert(projectId, { security_group_id: group.id, direction: 'egress', ethertype, description: null });
    }
    return this.groups.touch(group.id);
  }

  #insert(projectId: string, rule: NewRule): FakeSecurityGroupRule {
    return this.rules.add({
      ethertype: 'IPv4',
      direction: 'ingress',
      protocol: null,
      port_range_min: null,
      port_range_max: null,
      remote_ip_prefix: null,
      remote_group_id: null,
      ...rule,
      ...(rule.remote_ip_prefix && { remote_ip_prefix: asInetNtop(rule.remote_ip_prefix) }),
      project_id: projectId,
    });
  }
}

/** Neutron stores `str(netaddr.IPNetwork(prefix))`, which glibc's `inet_ntop` writes: the last 32 bits after 96 bits of zeros as IPv4. */
function asInetNtop(prefix: string): string {
  const [address = '', bits = ''] = prefix.split('/');
  const { family, value } = parseAddress(address) ?? {};
  if (family !== 6 || value === undefined || value >> 32n !== 0n || value >> 16n === 0n) return prefix;
  return `::${formatAddress(4, value)}/${bits}`;
}

const EVERYWHERE = new Set(['0.0.0.0/0', '::/0']);

/** What makes two rules one; the description does not (neutron/db/securitygroups_db.py, `_rule_to_key`). */
function identityOf(rule: NewRule): string {
  const prefix = rule.remote_ip_prefix ? asInetNtop(rule.remote_ip_prefix) : null;
  return JSON.stringify([
    rule.security_group_id,
    rule.direction ?? 'ingress',
    rule.ethertype ?? 'IPv4',
    rule.protocol ?? null,
    rule.port_range_min ?? null,
    rule.port_range_max ?? null,
    prefix !== null && EVERYWHERE.has(prefix) ? null : prefix,
    rule.remote_group_id ?? null,
  ]);
}

function validate({ ethertype = 'IPv4', protocol, port_range_min, port_range_max, remote_ip_prefix }: NewRule): void {
  const prefix = remote_ip_prefix == null ? undefined : parseRange(remote_ip_prefix);
  if (prefix && `IPv${prefix.family}` !== ethertype) {
    throw neutronRefusal(
      400,
      'SecurityGroupRuleParameterConflict',
      `Conflicting value ethertype ${ethertype} for CIDR ${remote_ip_prefix}`,
    );
  }
  if (port_range_min != null && port_range_max != null && port_range_min > port_range_max) {
    throw neutronRefusal(
      400,
      'SecurityGroupInvalidPortRange',
      'For TCP/UDP protocols, port_range_min must be <= port_range_max',
    );
  }
  if (protocol == null && port_range_min != null) {
    throw neutronRefusal(
      400,
      'SecurityGroupProtocolRequiredWithPorts',
      'Must also specify protocol if port range is given.',
    );
  }
}
