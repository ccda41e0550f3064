/** Says on a Service whose load balancer it has, and keeps it until that is gone, before anything is made. Pure. */
import { loadBalancerOwnerAnnotation } from '@outrigger/cloud-provider';
import type { EventNote } from '@outrigger/kube';
import { CONTESTED_REASON, reviewField, type FieldReview } from '../contested-field.ts';
import { recordAction } from '../load-balancer/load-balancer-words.ts';
import { spent } from './polling.ts';
import { PROVISIONING } from './readiness.ts';
import { roleOf } from './role.ts';
import { recordPatch } from './service-patch.ts';
import type { ServiceState } from './service-state.ts';
import { wake, type Effect, type Step, type Surroundings } from './step-types.ts';
import { saying } from './tell-readiness.ts';
import { cleanupFinalizer } from './well-known-names.ts';

/** No managedFields say who takes something off. */
const UNDONE: EventNote = {
  type: 'Warning',
  reason: CONTESTED_REASON,
  message: `Another program removes the finalizer ${cleanupFinalizer} or the annotation ${loadBalancerOwnerAnnotation}. They are written again with back-off, up to 5 minutes apart, and nodes are followed only then: stop that program.`,
};

/** For `afterWrite`. */
export const RECORDED = 'recorded';

/** Of a Service that is not recorded. `afterMs`: another writer takes its record off again and again, and it is not written before. */
export function reviewRecord(
  { recordField }: ServiceState,
  { now }: Surroundings,
): FieldReview & { readonly afterMs: number } {
  const review = reviewField(recordField, { wanted: RECORDED, observed: undefined, now });
  const { verdict } = review;
  return { ...review, afterMs: verdict.kind === 'wait' ? verdict.atMs - now : 0 };
}

export function record(before: ServiceState, at: Surroundings): Step {
  const { rules, service } = at;
  const { afterMs, isContested, state: recordField } = reviewRecord(before, at);
  const state = { ...before, recordField };
  const effects: Effect[] = [];
  if (isContested) effects.push({ kind: 'tell', note: UNDONE });
  if (afterMs > 0) return { state: spent(state), effects, next: wake(afterMs) };
  const readiness = roleOf(service, rules.options) === 'serve' ? PROVISIONING : undefined;
  // Services that come together are asked about together, however long the API server takes to record each. Not again for one that it refuses.
  if (readiness && before.polls === 0 && before.failures === 0) effects.push({ kind: 'ask' });
  const patch = saying(recordPatch(service, rules.options.providerName), { readiness, adoption: undefined }, at);
  const write = { purpose: 'record', action: recordAction, patch } as const;
  return { state: { ...state, readiness }, effects, next: { kind: 'write', write } };
}
