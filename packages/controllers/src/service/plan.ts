/** From what is known about a Service to what is to be done about it. Pure: entry point `planService`. */
import {
  CloudError,
  isCloudError,
  type BackEnd,
  type DesiredLoadBalancer,
  type LoadBalancerObservation,
  type LoadBalancerPlan,
  type LoadBalancers,
  type LoadBalancerService,
  type Owner,
  type PartQuestion,
} from '@outrigger/cloud-provider';
import type { Service } from '@outrigger/kube';
import { whyNotAdopted } from './adoption.ts';
import { checkPlan, isOwnedBy } from './check-plan.ts';
import { identityOf, ingressOf, loadBalancerServiceOf } from './load-balancer-service.ts';
import { isRecorded, roleOf, type RoleOptions } from './role.ts';
import { mayUse, whyNotTrusted, type Tenancy } from './tenancy.ts';
import { unservedOf } from './unserved.ts';
import { releaseAnnotation } from './well-known-names.ts';

interface ServicePlanOptions extends RoleOptions, Tenancy {
  /** `ClusterIdentity.id`. */
  readonly clusterId: string;
}

export interface ObservedService {
  readonly service: Service;
  /** What the cloud showed, if it was asked since the last change. */
  readonly observation?: LoadBalancerObservation | undefined;
  /** All nodes of ours that take traffic. */
  readonly backEnds: readonly BackEnd[];
  /** What the load balancer was last known to have, when `backEnds` has just become empty. */
  readonly lastBackEnds?: readonly BackEnd[] | undefined;
  /** Whether an empty set has been seen for so long that it is believed. */
  readonly believesEmpty: boolean;
  readonly provider: Pick<LoadBalancers, 'annotations' | 'features' | 'plan' | 'selectBackEnds'>;
  /** By its UID; `undefined`: none is known. Default: none is. */
  readonly serviceOf?: ((uid: string) => Service | undefined) | undefined;
  readonly options: ServicePlanOptions;
}

/** Why there is nothing to do. */
type ServiceIdleReason = 'not-ours' | 'unclaimed' | 'implemented-elsewhere';

/** The cloud may not have shown all. */
export interface LookAgain {
  readonly kind: 'look-again';
  /**
   * - `hidden`: the cloud, asked directly, says that what is missing is there.
   * - `quiet`: what was asked for a moment ago may still take effect.
   * - `waits`: the cloud cannot be asked; what is missing counts as gone when looks have left it out for a while.
   */
  readonly why: 'hidden' | 'quiet' | 'waits';
  /** What is expected besides, for people. */
  readonly missing: readonly string[];
  /** Until a look that shows no more is believed, in milliseconds. */
  readonly inMs: number;
}

/** What is to be done now, or that nothing is. */
export interface Bring {
  readonly kind: 'bring';
  readonly desired: DesiredLoadBalancer;
  readonly plan: LoadBalancerPlan;
  /** All is as it should be. With `wanted: false`: no part was seen. */
  readonly complete: boolean;
  /** Why there is more to do, which waits. */
  readonly later?: LookAgain;
}

export type ServicePlan =
  | { readonly kind: 'nothing'; readonly reason: ServiceIdleReason }
  /** The finalizer and the owner's name have to be on the Service before anything is made in the cloud. */
  | { readonly kind: 'record' }
  /** The cloud has to be asked before anything can be said. */
  | { readonly kind: 'observe' }
  | LookAgain
  /** A look leaves out what may be there: the cloud has to be asked about it directly. */
  | { readonly kind: 'ask'; readonly questions: readonly PartQuestion[] }
  /** No back end is left of those there were: nothing is changed until that is believed. */
  | { readonly kind: 'hold' }
  /** What the Service asks for can not be; nothing is changed. */
  | { readonly kind: 'refuse'; readonly error: Error }
  /** It could not be found out what is there, or what to do. */
  | { readonly kind: 'failed'; readonly wanted: boolean; readonly error: Error }
  /** Asked to let go of a load balancer in a cloud that does not answer. */
  | { readonly kind: 'release'; readonly error: Error }
  | Bring;

export function planService(observed: ObservedService): ServicePlan {
  const { service, options } = observed;
  const role = roleOf(service, options);
  if (role === 'leave') return { kind: 'nothing', reason: 'not-ours' };
  return role === 'serve' ? planServing(observed) : planCleaning(observed, role);
}

/** Cleans up what an object had that is gone itself: deleted by force, or replaced by another of its name. */
export function planLeftover(observed: ObservedService): ServicePlan {
  return planCleaning(observed, 'clean');
}

/** What should be there for a Service that is served. Throws a `CloudError` `invalid` or `unsupported`. */
export function desiredOf({ service, backEnds, provider, options }: ObservedService): DesiredLoadBalancer {
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
    backEnds: provider.selectBackEnds?.(desired, backEnds) ?? backEnds,
  };
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
    return { kind: 'refuse', error: asError(error) };
  }
  if (!isRecorded(service, options.providerName)) return { kind: 'record' };
  if (observation === undefined) return { kind: 'observe' };
  if (observation.kind === 'failed') return failed(true, observation.error);
  const refusal = whyNotAdopted(desired.service, observation.parts, desired.owner);
  if (refusal) return { kind: 'refuse', error: refusal };
  const trust = { ...options, annotations: provider.annotations, owner: desired.owner };
  const distrust = whyNotTrusted(desired.service, observation, trust);
  if (distrust) return { kind: 'refuse', error: distrust };
  return bringTo(observed, desired, observation);
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

function bringTo(
  {
    provider,
    options,
    serviceOf = () => undefined,
  }: Pick<ObservedService, 'serviceOf'> & {
    readonly provider: Pick<LoadBalancers, 'plan'>;
    readonly options?: Tenancy;
  },
  goal: DesiredLoadBalancer,
  { others, parts }: Extract<LoadBalancerObservation, { kind: 'parts' }>,
): ServicePlan {
  const { wanted, owner, service } = goal;
  const tenancy = { ...options, clusterId: owner.clusterId, serviceOf };
  const judged = others?.map((thing) => ({ ...thing, mayUse: mayUse(thing, service, tenancy) }));
  const desired = judged ? { ...goal, others: judged } : goal;
  try {
    const plan = provider.plan(desired, parts);
    if (plan.refused) return wanted ? { kind: 'refuse', error: plan.refused } : failed(false, plan.refused);
    checkPlan(plan, desired, parts);
    // A provider's word is not enough to let the finalizer go while a part of ours can be seen.
    const left = !wanted && parts.some((part) => isOwnedBy(part, owner));
    return { kind: 'bring', desired, plan, complete: plan.complete && plan.actions.length === 0 && !left };
  } catch (error) {
    return failed(wanted, asError(error));
  }
}

function failed(wanted: boolean, error: Error): ServicePlan {
  if (isCloudError(error, 'implemented-elsewhere')) return { kind: 'nothing', reason: 'implemented-elsewhere' };
  return { kind: 'failed', wanted, error };
}

function ownerFor({ uid }: LoadBalancerService, { clusterId }: ServicePlanOptions): Owner {
  return { clusterId, uid };
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(`not an Error was thrown: ${String(thrown)}`);
}
