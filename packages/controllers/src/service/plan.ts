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
  readonly provider: Pick<LoadBalancers, 'annotations' | 'features' | 'plan' | 'planMembers' | 'selectBackEnds'>;
  /** By its UID; `undefined`: none is known. Default: none is. */
  readonly serviceOf?: ((uid: string) => Service | undefined) | undefined;
  /** The last try failed: members go first, since the rest may fail again. Default: false. */
  readonly isFailing?: boolean;
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
   * - `waits`: the cloud cannot prove that it is gone; what is missing counts as gone when looks have left it out for a while.
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
  /** Why what the Service asks for is refused: this is for the members of what is there alone. */
  readonly refused?: Error | undefined;
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
function desiredOf({ service, backEnds, provider, options }: ObservedService): DesiredLoadBalancer {
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
  if (members?.kind === 'bring' && members.plan.actions.length > 0) return members;
  const plan = bringTo(observed, desired, observation);
  return plan.kind === 'refuse' ? planRefused(observed, plan.error) : plan;
}

/** What was accepted before stays, and follows the nodes. */
function planRefused(observed: ObservedService, error: Error): ServicePlan {
  const { believesEmpty, observation, options, provider, service } = observed;
  const refuse = { kind: 'refuse', error } as const;
  // Nothing is made before it is recorded.
  if (!provider.planMembers || !isRecorded(service, options.providerName)) return refuse;
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
    const plan = observed.provider.planMembers?.(desired, parts);
    if (!plan) return undefined;
    const other = plan.actions.find(({ kind }) => kind !== 'update');
    if (other) throw new CloudError('invalid', `the plan of members would ${other.kind} ${other.part}`);
    checkPlan(plan, desired, parts);
    return { kind: 'bring', desired, plan, complete: plan.complete && plan.actions.length === 0, refused };
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

type SeenParts = Extract<LoadBalancerObservation, { kind: 'parts' }>;

/** Says of each thing that is no part of the Service's own whether the Service may use it. */
function withJudgedOthers(
  { options, serviceOf = () => undefined }: Pick<ObservedService, 'serviceOf'> & { readonly options?: Tenancy },
  goal: DesiredLoadBalancer,
  { others }: SeenParts,
): DesiredLoadBalancer {
  if (!others) return goal;
  const tenancy = { ...options, clusterId: goal.owner.clusterId, serviceOf };
  return { ...goal, others: others.map((thing) => ({ ...thing, mayUse: mayUse(thing, goal.service, tenancy) })) };
}

function bringTo(
  observed: Pick<ObservedService, 'serviceOf'> & {
    readonly provider: Pick<LoadBalancers, 'plan'>;
    readonly options?: Tenancy;
  },
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
