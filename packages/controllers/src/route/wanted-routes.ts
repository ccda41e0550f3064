/** Which routes a node needs, by its pod CIDRs. Pure. */
import { contains, parseCidr, quote, type Cidr } from '@outrigger/cloud-provider';
import type { Node } from '@outrigger/kube';
import { podCidrsOf } from '../pod-cidrs.ts';

export interface WantedRoutes {
  /** Canonical, each once, all within the cluster's ranges. */
  readonly destinations: readonly Cidr[];
  /** Pod CIDRs that get no route. */
  readonly problems: readonly string[];
}

/**
 * A pod CIDR outside of the cluster's ranges gets no route: it would never be removed again. One of a family of which the
 * cluster has no range is another network's affair, as long as the node has one that is ours.
 */
export function wantedRoutes(node: Node, clusterCidrs: readonly Cidr[]): WantedRoutes {
  const destinations = new Map<string, Cidr>();
  const problems: string[] = [];
  let others: string | undefined;
  for (const text of podCidrsOf(node)) {
    const cidr = parseCidr(text);
    if (!cidr) {
      problems.push(`Its pod CIDR ${quote(text)} is not a CIDR range.`);
    } else if (clusterCidrs.some((range) => contains(range, cidr))) {
      destinations.set(cidr.text, cidr);
    } else {
      const problem = `Its pod CIDR ${cidr.text} is outside of --cluster-cidr (${clusterCidrs.map((range) => range.text).join(', ')}).`;
      if (clusterCidrs.some(({ family }) => family === cidr.family)) problems.push(problem);
      else others = problem;
    }
  }
  if (others !== undefined && destinations.size === 0 && problems.length === 0) problems.push(others);
  return { destinations: [...destinations.values()], problems };
}
