/** The last look at a provider's plan before anything of it is done. Pure. */
import {
  CloudError,
  type LoadBalancerPart,
  type LoadBalancerPlan,
  type DesiredLoadBalancer,
  type Owner,
} from '@outrigger/cloud-provider';

export function isOwnedBy(part: LoadBalancerPart, owner: Owner): boolean {
  return part.owner?.clusterId === owner.clusterId && part.owner.uid === owner.uid;
}

/**
 * Throws a `CloudError` for a plan that touches what this Service cannot prove to own (`not-owned`), or that names what was
 * not observed (`invalid`): a mistake of a provider must not cost anybody a load balancer.
 */
export function checkPlan(
  plan: LoadBalancerPlan,
  { owner, wanted }: DesiredLoadBalancer,
  parts: readonly LoadBalancerPart[],
): void {
  for (const { kind, part: kindOfPart, id } of plan.actions) {
    if (kind === 'create') {
      if (!wanted) throw new CloudError('invalid', `the plan to remove the load balancer makes a part: ${kindOfPart}`);
      continue;
    }
    const part = parts.find((candidate) => candidate.id === id && candidate.kind === kindOfPart);
    if (!part) throw new CloudError('invalid', `the plan names ${kindOfPart} ${id}, which was not observed`);
    if (kind === 'claim' ? part.owner === undefined : isOwnedBy(part, owner)) continue;
    throw new CloudError('not-owned', `${kindOfPart} ${id} is not proved to belong to this Service; it is left alone`);
  }
}
