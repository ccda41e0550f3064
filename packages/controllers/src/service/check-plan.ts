/** The last look at a provider's plan before anything of it is done. Pure. */
import {
  CloudError,
  type LoadBalancerPart,
  type LoadBalancerPlan,
  type DesiredLoadBalancer,
  type Owner,
  type PartName,
} from '@outrigger/cloud-provider';

export function isOwnedBy(part: LoadBalancerPart, owner: Owner): boolean {
  return part.owner?.clusterId === owner.clusterId && part.owner.uid === owner.uid;
}

export function isNamed(part: PartName, { id, kind }: PartName): boolean {
  return part.id === id && part.kind === kind;
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
  for (const { ends = [], kind, part: kindOfPart, id } of plan.actions) {
    const unseen = ends.find((name) => !parts.some((part) => isNamed(part, name)));
    if (unseen) throw new CloudError('invalid', `the plan ends ${unseen.kind} ${unseen.id}, which was not observed`);
    if (kind === 'create') {
      if (!wanted) throw new CloudError('invalid', `the plan to remove the load balancer makes a part: ${kindOfPart}`);
      continue;
    }
    const part = id === undefined ? undefined : parts.find((one) => isNamed(one, { kind: kindOfPart, id }));
    if (!part) throw new CloudError('invalid', `the plan names ${kindOfPart} ${id}, which was not observed`);
    if (kind === 'claim' ? part.owner === undefined : isOwnedBy(part, owner)) continue;
    throw new CloudError('not-owned', `${kindOfPart} ${id} is not proved to belong to this Service; it is left alone`);
  }
}
