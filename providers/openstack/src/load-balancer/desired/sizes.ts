/** How much one Service may ask for: of products, of which each number alone may be large. */
import { CloudError } from '@outrigger/cloud-provider';
import { annotationTable } from './annotation-table.ts';
import type { ListenerContext } from './listeners.ts';
import { openedPorts } from './security-rules.ts';

/** Of one Service: to compare as many takes a plan some 200 ms, in which nothing else is done. */
export const MOST_MEMBERS = 100_000;
/** Of all its listeners. Octavia answers all of a project's at once, and each range is some 45 bytes. */
const MOST_RANGES = 100_000;
/** Each is a request of its own, and Neutron's default quota is 100 for a whole project. */
const MOST_RULES = 1_000;

/** Why there is no goal for a Service that asks for more. `ranges`: of the rules of its security group, if it is to have any. */
export function sizeRefusal(
  { allowedCidrs = [], features, nodes, service }: ListenerContext,
  ranges: readonly string[] | undefined,
): CloudError | undefined {
  const ports = service.ports.length;
  const members = ports * nodes.length;
  if (members > MOST_MEMBERS) {
    const remedy = `ask for fewer ports, or choose nodes with the annotation ${annotationTable.nodeSelector.name}`;
    const text = `${ports} ports on ${nodes.length} nodes are ${members} members of pools`;
    return tooMany(text, MOST_MEMBERS, remedy);
  }
  const remedy = 'ask for fewer ports or source ranges';
  const cidrs = ports * allowedCidrs.length;
  if (cidrs > MOST_RANGES) {
    const text = `${ports} ports with ${allowedCidrs.length} source ranges are ${cidrs} ranges of listeners`;
    return tooMany(text, MOST_RANGES, remedy);
  }
  // Other drivers' rules are of the subnets from which members are reached.
  if (!ranges || features.provider !== 'ovn') return undefined;
  const opened = openedPorts(service.ports).length;
  const rules = opened * ranges.length;
  if (rules <= MOST_RULES) return undefined;
  const text = `${opened} ports and ${ranges.length} source ranges need ${rules} rules of a security group`;
  return tooMany(text, MOST_RULES, remedy);
}

const tooMany = (text: string, most: number, remedy: string): CloudError =>
  new CloudError('invalid', `${text}, and ${most} are allowed at most: ${remedy}`);
