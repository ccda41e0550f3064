/** What the members' ports let in (`manage-security-groups`): each node port, and the health check's. */
import { CloudError, type ServicePort } from '@outrigger/cloud-provider';
import type { SecurityGroupRule } from './desired-tree.ts';
import { familiesIn, familyIn } from './address-families.ts';
import type { ListenerContext } from './listeners.ts';

/** Of one Service: each is a request of its own, and Neutron's default quota is 100 for a whole project. */
const MOST_RULES = 1_000;

/** `ranges`: where clients come from, for a provider that leaves them their addresses. Throws `invalid` for too many rules. */
export function securityRules(context: ListenerContext, ranges: readonly string[]): readonly SecurityGroupRule[] {
  const { service, families, features } = context;
  const opened = openedPorts(service.ports);
  const fromLoadBalancer = familiesIn(families).map((family) => ({ family }));
  const isOvn = features.provider === 'ovn';
  if (isOvn) checkRuleCount(opened.length, ranges.length);
  const sources = isOvn ? ranges.map((cidr) => ({ family: familyIn(cidr), cidr })) : fromLoadBalancer;
  const rules = opened.flatMap((port): readonly SecurityGroupRule[] => sources.map((from) => ({ ...port, ...from })));
  const { healthCheckNodePort: port } = service;
  if (port) rules.push(...fromLoadBalancer.map((from) => ({ protocol: 'tcp', port, ...from }) as const));
  return rules.toSorted((a, b) => (sortText(a) < sortText(b) ? -1 : 1));
}

type OpenedPort = Pick<SecurityGroupRule, 'port' | 'protocol'>;

/** Each number of a protocol once. */
function openedPorts(ports: readonly ServicePort[]): readonly OpenedPort[] {
  const opened = new Map<string, OpenedPort>();
  for (const { nodePort: port, protocol } of ports) {
    if (port)
      opened.set(`${port} ${protocol}`, { protocol: protocol.toLowerCase() as Lowercase<typeof protocol>, port });
  }
  return [...opened.values()];
}

/** Before they are multiplied: each number alone may be large. */
function checkRuleCount(ports: number, ranges: number): void {
  const count = ports * ranges;
  if (count <= MOST_RULES) return;
  const message = `${ports} ports and ${ranges} source ranges need ${count} rules of a security group, and ${MOST_RULES} are allowed at most: ask for fewer ports or source ranges`;
  throw new CloudError('invalid', message);
}

const sortText = ({ cidr = '', family, port, protocol }: SecurityGroupRule): string =>
  [protocol, String(port).padStart(5, '0'), family, cidr].join(' ');
