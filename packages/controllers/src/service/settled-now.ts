/** Whether a Service is as it should be without a look at the cloud. Pure. */
import type { BackEnd, LoadBalancerIngress } from '@outrigger/cloud-provider';
import type { Service } from '@outrigger/kube';
import { retryOf } from '../load-balancer/failure.ts';
import type { ServicePlan } from '../load-balancer/service-plan.ts';
import { sameBackEnds } from './back-ends.ts';
import { selectedOf, type ObservedService } from './plan.ts';
import { isRecorded, roleOf } from './role.ts';
import { roleNow } from './role-now.ts';
import { readyTexts, type Readiness } from './readiness.ts';
import { ingressOf, ipsOf } from './load-balancer-service.ts';
import { ingressText } from './service-patch.ts';
import type { SeenLook, ServiceState, Settled } from './service-state.ts';
import type { Surroundings } from './step-types.ts';
import { wakingText } from './waking-text.ts';

/** How long an empty set of back ends is not believed. */
export const EMPTY_HOLD_MS = 300_000;

/** Whether looks may show that its status is not right: it has an address, or one was taken from it. */
export const mayHaveAddress = ({ addresses }: ServiceState, service: Service): boolean =>
  ipsOf(service).length > 0 || addresses.withdrawn.length > 0;

/** What the plan of a Service rests on, without what the cloud showed. */
export function observedOf(state: ServiceState, at: Surroundings): ObservedService {
  const { backEnds, now, rules, service } = at;
  const { emptySince, lastFailure, settled } = state;
  return {
    service,
    role: roleNow(state, at),
    mayHaveAddress: mayHaveAddress(state, service),
    backEnds,
    lastBackEnds: settled?.backEnds,
    // Members that failed by themselves: the whole plan may be what mends that, and is tried in turn with them.
    isFailing: lastFailure !== undefined && !lastFailure.ofMembers,
    believesEmpty: emptySince !== undefined && now - emptySince >= EMPTY_HOLD_MS,
    provider: rules.planner,
    serviceOf: rules.serviceOf,
    options: rules.options,
  };
}

/** Its back ends; `undefined`: they cannot be said, and the plan says what is wrong. */
export function selectedBy(state: ServiceState, at: Surroundings): readonly BackEnd[] | undefined {
  try {
    return selectedOf(observedOf(state, at));
  } catch {
    return undefined;
  }
}

/** An empty set of back ends is what a mistake looks like: it is noted since when it is. */
export function withEmptiness(
  state: ServiceState,
  selected: readonly BackEnd[] | undefined,
  now: number,
): ServiceState {
  if (!selected) return state;
  const emptySince = selected.length > 0 ? undefined : (state.emptySince ?? now);
  return emptySince === state.emptySince ? state : { ...state, emptySince };
}

/** What the status of a Service says, and what it should: others may write it too. */
export function statusTexts(
  ingress: readonly LoadBalancerIngress[],
  readiness: Readiness,
  { service }: Pick<Surroundings, 'service'>,
): { readonly observed: string; readonly wanted: string } {
  const ready = readyTexts(service, readiness);
  return {
    observed: `${ingressText(ingressOf(service))} ${ready.observed}`,
    wanted: `${ingressText(ingress)} ${ready.wanted}`,
  };
}

/** What it is settled as, if it is served, and was so when the cloud was last looked at; its addresses may be undone since. */
export function settledNow(
  { settled }: ServiceState,
  { generation, rules, service }: Surroundings,
  select: () => readonly BackEnd[] | undefined,
): Settled | undefined {
  if (!settled || settled.upTo === 'touched' || settled.text !== wakingText(service)) return undefined;
  if (roleOf(service, rules.options) !== 'serve' || !isRecorded(service, rules.options.providerName)) return undefined;
  if (settled.upTo === generation) return settled;
  const selected = select();
  return selected && sameBackEnds(selected, settled.backEnds) ? { ...settled, upTo: generation } : undefined;
}

/** A look has shown something else since, or may have: what was settled is no reason any more to leave a Service alone. */
export const touched = (settled: Settled | undefined): Settled | undefined =>
  settled && { ...settled, upTo: 'touched' };

/** Another look, or another answer, has to say what is to be done. */
export function decidesNothing(plan: ServicePlan, { answers }: SeenLook): boolean {
  if (plan.kind === 'bring') return !plan.complete && !plan.refused && plan.plan.actions.length === 0;
  if (plan.kind !== 'failed') return plan.kind === 'ask' || plan.kind === 'look-again';
  if (!mayPass(plan.error)) return false;
  return [...answers.values()].some((answer) => answer.kind === 'failed' && answer.error === plan.error);
}

/** An error that does not pass by itself has to reach the Service. */
export function mayPass(error: Error): boolean {
  const { kind } = retryOf(error);
  return kind === 'back-off' || kind === 'later';
}
