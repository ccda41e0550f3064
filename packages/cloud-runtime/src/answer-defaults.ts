/** What a provider need not say, as its host fills it in. What each default is, the contract says. Pure. */
import {
  sameOwner,
  type Capabilities,
  type DesiredLoadBalancer,
  type InstanceAnswer,
  type LoadBalancerAction,
  type LoadBalancerPart,
  type LoadBalancerPlan,
  type Owner,
} from '@outrigger/cloud-provider';

const DEFAULT_BATCH_SIZE = 100;

/** An answer with its time: as all are that have passed the host. */
export interface DatedAnswer extends InstanceAnswer {
  readonly asOf: number;
}

/** How many are asked about, or asked for, in one call. */
export function batchSizeOf({
  batchSize = DEFAULT_BATCH_SIZE,
}: Pick<NonNullable<Capabilities['instances' | 'loadBalancers']>, 'batchSize'>): number {
  return batchSize;
}

/** Whether nothing is left to do, by what the provider says, or by the parts where it does not say. */
export function isComplete(
  plan: LoadBalancerPlan,
  { wanted, owner }: DesiredLoadBalancer,
  parts: readonly LoadBalancerPart[],
): boolean {
  if (plan.actions.length > 0) return false;
  if (plan.complete !== undefined) return plan.complete;
  return plan.refused === undefined && (wanted ? isServing(plan, owner, parts) : !parts.some(mayBeOf(owner)));
}

/** Whether the members are what the plan of them was asked for. */
export function hasItsMembers(
  plan: LoadBalancerPlan,
  { owner }: DesiredLoadBalancer,
  parts: readonly LoadBalancerPart[],
): boolean {
  if (plan.actions.length > 0) return false;
  return plan.complete === undefined ? areReady(owner, parts) : plan.complete;
}

/** One line for people. */
export function summaryOf({ kind, part, id, summary }: Omit<LoadBalancerAction, 'input'>): string {
  const what = id === undefined ? `${kind} ${part}` : `${kind} ${part} ${id}`;
  return summary ? `${what}: ${summary}` : what;
}

function isServing({ ingress }: LoadBalancerPlan, owner: Owner, parts: readonly LoadBalancerPart[]): boolean {
  return ingress.length > 0 && areReady(owner, parts);
}

function areReady(owner: Owner, parts: readonly LoadBalancerPart[]): boolean {
  const own = parts.filter((part) => sameOwner(part.owner, owner));
  return own.length > 0 && own.every(({ state }) => state === 'ready');
}

/** What has no owner may be a predecessor's, which nobody has claimed yet. */
function mayBeOf(owner: Owner): (part: LoadBalancerPart) => boolean {
  return (part) => part.owner === undefined || sameOwner(part.owner, owner);
}
