/** What the members' ports let in (`manage-security-groups`): each node port, and the health check's. */
import type { ServicePort } from '@outrigger/cloud-provider';
import type { SecurityGroupRule } from './desired-tree.ts';
import { familiesIn, familyIn } from './address-families.ts';
import type { ListenerContext } from './listeners.ts';

/** `ranges`: where clients come from, for a provider that leaves them their addresses. */
export function securityRules(context: ListenerContext, ranges: readonly string[]): readonly SecurityGroupRule[] {
  const { service, families, features } = context;
  const opened = openedPorts(service.ports);
  const fromLoadBalancer = familiesIn(families).map((family) => ({ family }));
  const sources =
    features.provider === 'ovn' ? ranges.map((cidr) => ({ family: familyIn(cidr), cidr })) : fromLoadBalancer;
  const rules = opened.flatMap((port): readonly SecurityGroupRule[] => sources.map((from) => ({ ...port, ...from })));
  const { healthCheckNodePort: port } = service;
  if (port) rules.push(...fromLoadBalancer.map((from) => ({ protocol: 'tcp', port, ...from }) as const));
  return rules.toSorted((a, b) => (sortText(a) < sortText(b) ? -1 : 1));
}

type OpenedPort = Pick<SecurityGroupRule, 'port' | 'protocol'>;

/** Each number of a protocol once. */
export function openedPorts(ports: readonly ServicePort[]): readonly OpenedPort[] {
  const opened = new Map<string, OpenedPort>();
  for (const { nodePort: port, protocol } of ports) {
    if (port)
      opened.set(`${port} ${protocol}`, { protocol: protocol.toLowerCase() as Lowercase<typeof protocol>, port });
  }
  return [...opened.values()];
}

const sortText = ({ cidr = '', family, port, protocol }: SecurityGroupRule): string =>
  [protocol, String(port).padStart(5, '0'), family, cidr].join(' ');
