/** What the members' ports let in (`manage-security-groups`): each node port, and the health check's. */
import { familyOf, type IPFamily } from '@outrigger/cloud-provider';
import type { SecurityGroupRule } from './desired-tree.ts';
import { familiesIn } from './address-families.ts';
import { memberFamilies, type ListenerContext } from './listeners.ts';

/** `ranges`: where clients come from, for a provider that leaves them their addresses. */
export function securityRules(context: ListenerContext, ranges: readonly string[]): readonly SecurityGroupRule[] {
  const { service, options, families, features } = context;
  const fromLoadBalancer = (family: IPFamily): SecurityGroupRule['from'] =>
    family === families.first && options.memberSubnetId !== undefined ? { subnetId: options.memberSubnetId } : {};
  const rules: SecurityGroupRule[] = [];
  for (const port of service.ports) {
    const { nodePort, protocol } = port;
    if (nodePort === undefined || nodePort === 0) continue;
    const opened = { protocol: protocol.toLowerCase() as Lowercase<typeof protocol>, port: nodePort };
    if (features.provider === 'ovn') {
      rules.push(...ranges.map((cidr) => ({ ...opened, family: familyIn(cidr), from: { cidr } })));
    } else {
      rules.push(
        ...memberFamilies(context, port).families.map((family) => ({
          ...opened,
          family,
          from: fromLoadBalancer(family),
        })),
      );
    }
  }
  if (service.healthCheckNodePort) {
    const port = service.healthCheckNodePort;
    const both = familiesIn(families);
    rules.push(...both.map((family) => ({ protocol: 'tcp' as const, port, family, from: fromLoadBalancer(family) })));
  }
  return rules.toSorted((a, b) => (sortText(a) < sortText(b) ? -1 : 1));
}

const familyIn = (cidr: string): IPFamily => `IPv${familyOf(cidr)}`;
const sortText = ({ protocol, port, family, from }: SecurityGroupRule): string =>
  [protocol, String(port).padStart(5, '0'), family, from.cidr ?? ''].join(' ');
