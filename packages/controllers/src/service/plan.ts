/** From what is known about a Service to what is to be done about it. Pure: entry point `planService`. */
import {
  CloudError,
  type BackEnd,
  type DesiredLoadBalancer,
  type LoadBalancerObservation,
  type LoadBalancers,
  type LoadBalancerService,
  type Owner,
} from '@outrigger/cloud-provider';
import { hasItsMembers } from '@outrigger/cloud-runtime';
import type { Service } from '@outrigger/kube';
import { whyNotAdopted } from './adoption.ts';
import { bringTo, failed, planRemoval, withJudgedOthers, type SeenParts } from '../load-balancer/bring-to.ts';
import { checkPlan } from '../load-balancer/check-plan.ts';
import { asError } from '../load-balancer/failure.ts';
import type { ServicePlan } from '../load-balancer/service-plan.ts';
import { identityOf, ingressOf, loadBalancerServiceOf } from './load-balancer-service.ts';
import { isRecorded, roleOf, type Role, type RoleOptions } from './role.ts';
import { whyNotTrusted, type Tenancy } from '../load-balancer/tenancy.ts';
import { unservedOf } from './unserved.ts';
import { releaseAnnotation } from './well-known-names.ts';

interface ServicePlanOptions extends RoleOptions, Tenancy {
  /** `ClusterIdentity.id`. */
  readonly clusterId: string;
}

export interface ObservedService {
  readonly service: Service;
  /** What it is to this provider. Default: as the Service itself says. */
  readonly role?: Role;
  /** What the cloud showed, if it was asked since the last change. */
  readonly observation?: LoadBalancerObservation | undefined;
  /** Looks may show that the addresses of its status are not right: also of one that is refused. Default: false. */
  readonly mayHaveAddress?: boolean;
  /** All nodes of ours that take traffic. */
  readonly backEnds: readonly BackEnd[];
  /** What the load balancer was last known to have, when `backEnds` has just become empty. */
  readonly lastBackEnds?: readonly BackEnd[] | undefined;
  /** Whether an empty set has been seen for so long that it is believed. */
  readonly believesEmpty: boolean;
  readonly provider: Pick<LoadBalancers, 'annotations' | 'features' | 'plan' | 'planMembers' | 'selectBackEnds'>;
  /** By its UID; `undefined`: none is known. Default: none is. */
  readonly serviceOf?: ((uid: string) => Service | undefined) | undefined;
  /** The last try of the whole plan failed: members go first, since the rest may fail again. Default: false. */
  readonly isFailing?: boolean;
  readonly options: ServicePlanOptions;
}

export function planService(observed: ObservedService): ServicePlan {
  const { service, options } = observed;
  const { role = roleOf(service, options) } = observed;
  if (role === 'leave') return { kind: 'nothing', reason: 'not-ours' };
  return role === 'serve' ? planServing(observed) : planCleaning(observed, role);
}

/** Cleans up what an object had that is gone itself: deleted by force, or replaced by another of its name. */
export function planLeftover(observed: ObservedService): ServicePlan {
  return planCleaning(observed, 'clean');
}

/** What should be there for a Service that is served. Throws a `CloudError` `invalid` or `unsupported`. */
function desiredOf(observed: ObservedService): DesiredLoadBalancer {
  const { service, provider, options } = observed;
  const desired = loadBalancerServiceOf(service, provider.annotations);
  const unserved = unservedOf(desired, provider.features);
  if (unserved.length > 0) {
    const list = unserved.join(', ');
    throw new CloudError('unsupported', `the cloud ${options.providerName} does not serve ${list}; change the Service`);
  }
  return {
    service: desired,
    wanted: true,
    owner: ownerFor(desired, options),
    backEnds: selectedOf(observed),
  };
}

/** The back ends of a Service, whatever else it asks for. Throws what the provider throws. */
export function selectedOf({ service, backEnds, provider }: ObservedService): readonly BackEnd[] {
  return provider.selectBackEnds?.(identityOf(service), backEnds) ?? backEnds;
}

function planServing(observed: ObservedService): ServicePlan {
  const { service, lastBackEnds, believesEmpty, observation, options, provider } = observed;
  let desired: DesiredLoadBalancer;
  try {
    desired = desiredOf(observed);
    // An empty set is what a mistake looks like: a broken label, a wrong provider ID. The last good one stays for a while.
    if (desired.backEnds.length === 0 && !believesEmpty && hasServed(service)) {
      if (lastBackEnds === undefined) return { kind: 'hold' };
      desired = { ...desired, backEnds: lastBackEnds };
    }
  } catch (error) {
    return planRefused(observed, asError(error));
  }
  if (!isRecorded(service, options.providerName)) return { kind: 'record' };
  if (observation === undefined) return { kind: 'observe' };
  if (observation.kind === 'failed') return failed(true, observation.error);
  const refusal = whyNotAdopted(desired.service, observation.parts, desired.owner);
  if (refusal) return planRefused(observed, refusal);
  const trust = { ...options, annotations: provider.annotations, owner: desired.owner };
  const distrust = whyNotTrusted(desired.service, observation, trust);
  if (distrust) return planRefused(observed, distrust);
  const members = observed.isFailing ? planMembers(observed, desired, observation) : undefined;
  // Where they cannot be planned alone, the whole plan may be what mends that.
  if (members?.kind === 'bring' && members.plan.actions.length > 0) return { ...members, membersFirst: true };
  const plan = bringTo(observed, desired, observation);
  return plan.kind === 'refuse' ? planRefused(observed, plan.error) : plan;
}

/** What was accepted before stays, and follows the nodes. */
function planRefused(observed: ObservedService, error: Error): ServicePlan {
  const { believesEmpty, mayHaveAddress, observation, options, provider, service } = observed;
  const refuse = { kind: 'refuse', error } as const;
  // Nothing is made before it is recorded. What the status says is compared with what the cloud shows all the same.
  if (!provider.planMembers || !isRecorded(service, options.providerName)) {
    return observation === undefined && mayHaveAddress ? { kind: 'observe' } : refuse;
  }
  if (observation === undefined) return { kind: 'observe' };
  if (observation.kind === 'failed') return failed(true, observation.error);
  const identity = identityOf(service);
  try {
    const backEnds = selectedOf(observed);
    if (backEnds.length === 0 && !believesEmpty && hasServed(service)) return { kind: 'hold' };
    const desired = { service: identity, wanted: true, owner: ownerFor(identity, options), backEnds };
    return planMembers(observed, desired, observation, error) ?? refuse;
  } catch {
    return refuse;
  }
}

function planMembers(
  observed: ObservedService,
  goal: DesiredLoadBalancer,
  observation: SeenParts,
  refused?: Error,
): ServicePlan | undefined {
  const { parts } = observation;
  const desired = withJudgedOthers(observed, goal, observation);
  try {
    const plan = observed.provider.planMembers?.(desired, parts, refused !== undefined);
    if (!plan) return undefined;
    const other = plan.actions.find(({ kind }) => kind !== 'update');
    if (other)
      throw new CloudError(
        'invalid',
        `the provider planned to ${other.kind} ${other.part} where only members may change`,
      );
    checkPlan(plan, desired, parts);
    return { kind: 'bring', desired, plan, complete: hasItsMembers(plan, desired, parts), refused };
  } catch (error) {
    return failed(true, asError(error));
  }
}

/** Whether traffic may be running through the load balancer now. */
function hasServed(service: Service): boolean {
  return ingressOf(service).length > 0;
}

function planCleaning(observed: ObservedService, role: 'clean' | 'unclaimed'): ServicePlan {
  const { service, observation, options } = observed;
  if (observation === undefined) return { kind: 'observe' };
  const identity = identityOf(service);
  const { provider } = observed;
  const plan = planRemoval({ provider, service: identity, owner: ownerFor(identity, options), observation });
  if (role === 'unclaimed') {
    // Somebody else's finalizer, as far as can be seen.
    const seen = observation.kind === 'parts' && observation.parts.length > 0;
    if (!seen) return plan.kind === 'failed' ? plan : { kind: 'nothing', reason: 'unclaimed' };
    if (!isRecorded(service, options.providerName)) return { kind: 'record' };
  }
  return releasedIfAsked(service, plan);
}

/** A failure to clean up is no reason to keep a Service whose load balancer a person has given up. */
export function releasedIfAsked(service: Service, plan: ServicePlan): ServicePlan {
  if (plan.kind !== 'failed' || plan.wanted) return plan;
  const isAsked = service.metadata?.annotations?.[releaseAnnotation] === 'true';
  return isAsked ? { kind: 'release', error: plan.error } : plan;
}

function ownerFor({ uid }: LoadBalancerService, { clusterId }: ServicePlanOptions): Owner {
  return { clusterId, uid };
}
