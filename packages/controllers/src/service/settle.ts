/** What becomes of a Service whose load balancer is as it should be. Pure. */
import type { LoadBalancerPlan } from '@outrigger/cloud-provider';
import { reviewField } from '../contested-field.ts';
import { canName } from '../load-balancer/judge-look.ts';
import type { Patch } from '@outrigger/kube';
import type { Bring } from '../load-balancer/service-plan.ts';
import { recordsOf } from './parts-record.ts';
import { spent } from './polling.ts';
import { endNote, heldNote } from './service-events.ts';
import { NO_NODES, settledReadiness } from './readiness.ts';
import { annotationsPatch, servedPatch } from './service-patch.ts';
import type { ServiceState } from './service-state.ts';
import { saying } from './tell-readiness.ts';
import { statusAction } from './service-words.ts';
import { EMPTY_HOLD_MS, statusTexts } from './settled-now.ts';
import { REST, wake, type Effect, type Step, type Surroundings, type Write } from './step-types.ts';
import { wakingText } from './waking-text.ts';

/** What is as it should be is not looked at more often, whatever its provider asks for. */
const AGAIN_MS = 60_000;

/** All is as it should be. */
export function settle(before: ServiceState, bring: Bring, at: Surroundings): Step {
  const { backEnds } = bring.desired;
  // The last good back ends stand in for none.
  const readiness = settledReadiness(before.emptySince === undefined ? backEnds : []);
  const state = { ...before, readiness };
  const texts = statusTexts(bring.plan.ingress, readiness, at);
  const { state: statusField, verdict } = reviewField(state.statusField, { ...texts, now: at.now });
  if (verdict.kind === 'wait') return contested({ ...state, statusField }, bring, verdict.atMs, at);
  const write = statusWrite(state, bring, at, 'settle');
  return write ? { state, effects: [], next: { kind: 'write', write } } : settled(state, bring, at);
}

/** Another writes its status too, which so waits. What is known of the parts does not. */
function contested(state: ServiceState, bring: Bring, atMs: number, at: Surroundings): Step {
  const { annotations, records } = annotationsOf(state, bring, at);
  const patch = annotationsPatch(at.service, { ...annotations, ...(records.isDue && records.annotations) });
  if (patch) {
    const write: Write = { purpose: 'wait', action: statusAction, patch, afterwards: wake() };
    return { state: spent(state), effects: [], next: { kind: 'write', write } };
  }
  const step = settled(state, bring, at);
  return step.next.kind === 'rest' ? { ...step, next: wake(atMs - at.now) } : step;
}

/** … and the Service says so. */
export function settled(before: ServiceState, { desired: { backEnds }, plan }: Bring, at: Surroundings): Step {
  const { nodes, work } = before;
  // The last good back ends stand in for none: until that is believed.
  const isHeld = before.emptySince !== undefined && backEnds.length > 0;
  const upTo = isHeld ? 'stand-in' : at.generation;
  const state: ServiceState = {
    ...spent(before),
    settled: { text: wakingText(at.service), backEnds, ingress: plan.ingress, upTo, againAt: againAt(plan, at) },
    work: undefined,
    addresses: { ...before.addresses, withdrawn: [] },
    // What is done without a change of theirs says nothing of how fast they are followed.
    nodes: undefined,
    isWaitLogged: false,
    polls: 0,
    failures: 0,
    lastFailure: undefined,
  };
  const effects: Effect[] = [];
  if (work) effects.push({ kind: 'record', note: endNote(work.episode) });
  if (work?.episode === 'update' && nodes) effects.push({ kind: 'updated', afterMs: at.now - nodes.changedAt });
  if (isHeld) return hold(state, at, effects);
  // Nodes that changed while the status was written are compared with what was just settled.
  return { state, effects, next: upTo === at.newestGeneration ? REST : wake() };
}

const againAt = ({ againAfterMs }: LoadBalancerPlan, { now }: Surroundings): number | undefined =>
  againAfterMs === undefined ? undefined : now + Math.max(AGAIN_MS, againAfterMs);

/** No back end is left, and that is not believed yet. */
export function hold(before: ServiceState, { now }: Surroundings, effects: readonly Effect[] = []): Step {
  const state = { ...before, readiness: NO_NODES };
  const leftMs = (state.emptySince ?? 0) + EMPTY_HOLD_MS - now;
  const note = heldNote(EMPTY_HOLD_MS / 1000);
  return { state: spent(state), effects: [...effects, { kind: 'tell', note }], next: wake(Math.max(0, leftMs)) };
}

/** The addresses, the condition, the provider's annotations, and what is known of the parts; `undefined`: the Service has all that. */
export function statusWrite(
  state: ServiceState,
  bring: Bring,
  at: Surroundings,
  purpose: Write['purpose'],
): Write | undefined {
  const { service, wallNow: now } = at;
  const { ingress } = bring.plan;
  const { annotations, records } = annotationsOf(state, bring, at);
  const patchWith = (all: typeof annotations): Patch | undefined =>
    saying(servedPatch(service, { ingress, annotations: all, now }), state, at);
  const isDue = records.isDue || patchWith(annotations) !== undefined;
  const patch = isDue ? patchWith({ ...annotations, ...records.annotations }) : undefined;
  return patch && { purpose, action: statusAction, patch, bring };
}

/** What the provider has to say of it, and what is known of its parts. */
function annotationsOf({ knowledge }: ServiceState, { complete, plan: { annotations } }: Bring, at: Surroundings) {
  const needsNone = canName(at.rules.cloud);
  return { annotations, records: recordsOf(at.service, knowledge, { isComplete: complete, needsNone }) };
}
