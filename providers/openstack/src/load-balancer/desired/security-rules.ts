/** What the members' ports let in (`manage-security-groups`): each node port, and the health check's. */
import type { SecurityGroupRule } from './desired-tree.ts';
import { familiesIn, familyIn } from './address-families.ts';
import type { ListenerContext } from './listeners.ts';

/** `ranges`: where clients come from, for a provider that leaves them their addresses. */
export function securityRules(context: ListenerContext, ranges: readonly string[]): readonly SecurityGroupRule[] {
  const { service, families, features } = context;
  const fromLoadBalancer = (opened: Pick<SecurityGroupRule, 'port' | 'protocol'>): readonly SecurityGroupRule[] =>
    familiesIn(families).map((family) => ({ ...opened, family }));
  const rules = service.ports.flatMap(({ nodePort, protocol }): readonly SecurityGroupRule[] => {
    if (nodePort === undefined || nodePort === 0) return [];
    const opened = { protocol: protocol.toLowerCase() as Lowercase<typeof protocol>, port: nodePort };
    if (features.provider !== 'ovn') return fromLoadBalancer(opened);
    return ranges.map((cidr) => ({ ...opened, family: familyIn(cidr), cidr }));
  });
  if (service.healthCheckNodePort) {
    rules.push(...fromLoadBalancer({ protocol: 'tcp', port: service.healthCheckNodePort }));
  }
  return rules.toSorted((a, b) => (sortText(a) < sortText(b) ? -1 : 1));
}

const sortText = ({ cidr = '', family, port, protocol }: SecurityGroupRule): string =>
  [protocol, String(port).padStart(5, '0'), family, cidr].join(' ');
