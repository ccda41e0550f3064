/** What the members' ports let in (`manage-security-groups`): each node port, and the health check's. */
import type { SecurityGroupRule } from './desired-tree.ts';
import { familiesIn, familyIn } from './address-families.ts';
import type { ListenerContext } from './listeners.ts';

/** `ranges`: where clients come from, for a provider that leaves them their addresses. */
export function securityRules(context: ListenerContext, ranges: readonly string[]): readonly SecurityGroupRule[] {
  const { service, options, families, features } = context;
  const fromLoadBalancer = (opened: Pick<SecurityGroupRule, 'port' | 'protocol'>): readonly SecurityGroupRule[] =>
    familiesIn(families).map((family) => {
      const isOfMembers = family === families.first && options.memberSubnetId !== undefined;
      return { ...opened, family, from: isOfMembers ? { subnetId: options.memberSubnetId } : {} };
    });
  const rules = service.ports.flatMap(({ nodePort, protocol }): readonly SecurityGroupRule[] => {
    if (nodePort === undefined || nodePort === 0) return [];
    const opened = { protocol: protocol.toLowerCase() as Lowercase<typeof protocol>, port: nodePort };
    if (features.provider !== 'ovn') return fromLoadBalancer(opened);
    return ranges.map((cidr) => ({ ...opened, family: familyIn(cidr), from: { cidr } }));
  });
  if (service.healthCheckNodePort) {
    rules.push(...fromLoadBalancer({ protocol: 'tcp', port: service.healthCheckNodePort }));
  }
  return rules.toSorted((a, b) => (sortText(a) < sortText(b) ? -1 : 1));
}

const sortText = ({ protocol, port, family, from }: SecurityGroupRule): string =>
  [protocol, String(port).padStart(5, '0'), family, from.cidr ?? ''].join(' ');
