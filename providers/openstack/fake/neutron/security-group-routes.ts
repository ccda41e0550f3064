/** `/v2.0/security-groups` and `/v2.0/security-group-rules`. */
import { bodyOf, type Caller } from '../fake-http.ts';
import type { RouteTable } from '../route-table.ts';
import { badRequest } from './neutron-error.ts';
import type { Networking } from './networking.ts';
import { addResourceRoutes } from './resource-routes.ts';
import type { FakeSecurityGroup, FakeSecurityGroupRule, NewRule } from './security-groups.ts';

const RULE_FILTERS = [
  'security_group_id',
  'ethertype',
  'direction',
  'protocol',
  'port_range_min',
  'port_range_max',
  'remote_ip_prefix',
  'remote_group_id',
];

export function addSecurityGroupRoutes(routes: RouteTable, { securityGroups }: Networking): void {
  const { groups, rules } = securityGroups;
  // Inside a group a rule shows its tags too, alone it does not (seen on Zed).
  const viewRule = (rule: FakeSecurityGroupRule): object => ({ ...viewRuleInGroup(rule), tags: undefined });
  const viewGroup = (group: FakeSecurityGroup): object => ({
    ...group,
    security_group_rules: rules
      .where('security_group_id', group.id)
      .map((rule) => ({ ...viewRuleInGroup(rule), standard_attr_id: 1 })),
  });
  addResourceRoutes(routes, {
    plural: 'security-groups',
    key: 'security_groups',
    singular: 'security_group',
    collection: groups,
    filters: ['stateful'],
    view: viewGroup,
  });
  addResourceRoutes(routes, {
    plural: 'security-group-rules',
    key: 'security_group_rules',
    singular: 'security_group_rule',
    collection: rules,
    filters: RULE_FILTERS,
    view: viewRule,
  });
  const add = (given: readonly NewRule[], caller: Caller): readonly object[] => {
    for (const rule of given) groups.visible(rule.security_group_id, caller);
    return securityGroups.addRules(caller.projectId, given).map(viewRule);
  };
  routes
    .on('POST /v2.0/security-groups', ({ request, caller }) => {
      const given = bodyOf(request, 'security_group') as { name?: string; description?: string } | undefined;
      if (!given) throw badRequest('Resource body required');
      if ('tags' in given) throw badRequest("Attribute 'tags' not allowed in POST");
      const made = securityGroups.addGroup(caller.projectId, given.name ?? '', given.description);
      return { status: 201, body: { security_group: viewGroup(made) } };
    })
    .on('PUT /v2.0/security-groups/{id}', ({ request, params, caller }) => {
      const group = groups.visible(params['id'] ?? '', caller);
      groups.checkRevision(group, request);
      const changed = groups.change(group.id, bodyOf(request, 'security_group') ?? {});
      return { status: 200, body: { security_group: viewGroup(changed) } };
    })
    .on('DELETE /v2.0/security-groups/{id}', ({ params, caller }) => {
      securityGroups.removeGroup(groups.visible(params['id'] ?? '', caller));
      return { status: 204 };
    })
    .on('POST /v2.0/security-group-rules', ({ request, caller }) => {
      const many = (request.body as { security_group_rules?: readonly NewRule[] } | undefined)?.security_group_rules;
      if (many) return { status: 201, body: { security_group_rules: add(many, caller) } };
      const one = bodyOf(request, 'security_group_rule') as NewRule | undefined;
      if (!one) throw badRequest('Resource body required');
      return { status: 201, body: { security_group_rule: add([one], caller)[0] } };
    })
    .on('DELETE /v2.0/security-group-rules/{id}', ({ params, caller }) => {
      securityGroups.removeRule(rules.visible(params['id'] ?? '', caller));
      return { status: 204 };
    });
}

const viewRuleInGroup = (rule: FakeSecurityGroupRule): object => ({
  ...rule,
  remote_address_group_id: null,
  normalized_cidr: rule.remote_ip_prefix,
});
