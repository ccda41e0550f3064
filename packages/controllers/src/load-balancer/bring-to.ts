/** From what a load balancer should be, and what there is, to the checked plan of its provider. Pure. */
import {
  isCloudError,
  type DesiredLoadBalancer,
  type LoadBalancerObservation,
  type LoadBalancers,
  type LoadBalancerService,
  type Owner,
} from '@outrigger/cloud-provider';
import { isComplete } from '@outrigger/cloud-runtime';
import type { Service } from '@outrigger/kube';
import { checkPlan, isOwnedBy } from './check-plan.ts';
import { asError } from './failure.ts';
import type { ServicePlan } from './service-plan.ts';
import { mayUse, type Tenancy } from './tenancy.ts';

export interface ObservedRemoval {
  readonly provider: Pick<LoadBalancers, 'plan'>;
  readonly service: LoadBalancerService;
  readonly owner: Owner;
  readonly observation: LoadBalancerObservation;
}

/** What has to be done so that nothing of this owner is left. */
export function planRemoval({ provider, service, owner, observation }: ObservedRemoval): ServicePlan {
  if (observation.kind === 'failed') return failed(false, observation.error);
  return bringTo({ provider }, { service, wanted: false, owner, backEnds: [] }, observation);
}

export type SeenParts = Extract<LoadBalancerObservation, { kind: 'parts' }>;

/** By what rules a Service may use what is another's. */
interface Surroundings {
  /** By its UID; `undefined`: none is known. Default: none is. */
  readonly serviceOf?: ((uid: string) => Service | undefined) | undefined;
  readonly options?: Tenancy;
}

/** Says of each thing that is no part of the Service's own whether the Service may use it. */
export function withJudgedOthers(
  { options, serviceOf = () => undefined }: Surroundings,
  goal: DesiredLoadBalancer,
  { others }: SeenParts,
): DesiredLoadBalancer {
  if (!others) return goal;
  const tenancy = { ...options, clusterId: goal.owner.clusterId, serviceOf };
  return { ...goal, others: others.map((thing) => ({ ...thing, mayUse: mayUse(thing, goal.service, tenancy) })) };
}

export function bringTo(
  observed: Surroundings & { readonly provider: Pick<LoadBalancers, 'plan'> },
  goal: DesiredLoadBalancer,
  observation: SeenParts,
): ServicePlan {
  const { provider } = observed;
  const { wanted, owner } = goal;
  const { parts } = observation;
  const desired = withJudgedOthers(observed, goal, observation);
  try {
    const plan = provider.plan(desired, parts);
    if (plan.refused) return wanted ? { kind: 'refuse', error: plan.refused } : failed(false, plan.refused);
    checkPlan(plan, desired, parts);
    // A provider's word is not enough to let the finalizer go while a part of ours can be seen.
    const left = !wanted && parts.some((part) => isOwnedBy(part, owner));
    return { kind: 'bring', desired, plan, complete: isComplete(plan, desired, parts) && !left };
  } catch (error) {
    return failed(wanted, asError(error));
  }
}

export function failed(wanted: boolean, error: Error): ServicePlan {
  if (isCloudError(error, 'implemented-elsewhere')) return { kind: 'nothing', reason: 'implemented-elsewhere', error };
  return { kind: 'failed', wanted, error };
}
