/** One pass over a Service, from its beginning to what is done about the plan. Pure. */
import type { PartAnswer } from '@outrigger/cloud-provider';
import type { Service } from '@outrigger/kube';
import { reviewField } from '../contested-field.ts';
import { judgeLook, questionKey, type Judged } from '../load-balancer/judge-look.ts';
import type { Bring, ServicePlan } from '../load-balancer/service-plan.ts';
import { act } from './act.ts';
import { answerOf } from './adoption.ts';
import { episodeOf, fail } from './fail.ts';
import { leaveAlone } from './leave-alone.ts';
import { giveUp, isHopeless, withUnreadable } from './leftovers.ts';
import { cleaned, letGo } from './let-go.ts';
import { identityOf, ingressOf } from './load-balancer-service.ts';
import { missingRecordOf } from './parts-record.ts';
import { planLeftover, planService, releasedIfAsked } from './plan.ts';
import { spent } from './polling.ts';
import { endNote, failureNote, releasedNote, warningNote } from './service-events.ts';
import { PROVISIONING, settledReadiness } from './readiness.ts';
import { asRecorded, sameIngress, servedPatch } from './service-patch.ts';
import { record } from './record.ts';
import { saying, tellReadiness } from './tell-readiness.ts';
import { isRecorded, roleOf } from './role.ts';
import { stateOf, type SeenLook, type ServiceState, type Settled } from './service-state.ts';
import { statusAction } from './service-words.ts';
import {
  decidesNothing,
  mayPass,
  mayHaveAddress,
  observedOf,
  selectedBy,
  settledNow,
  statusTexts,
  touched,
  withEmptiness,
} from './settled-now.ts';
import { hold, settle } from './settle.ts';
import {
  after,
  LOOK,
  REST,
  wake,
  type Effect,
  type Read,
  type ServiceEvent,
  type Step,
  type Surroundings,
} from './step-types.ts';
import { goOn, lookAgain } from './wait.ts';
import { wakingText } from './waking-text.ts';
import { withdrawing } from './withdraw-addresses.ts';

/** Looks. */
const MOST_OVERTAKEN = 2;
const AGAIN_AFTER_FAILURE_MS = 600_000;

export function pass(known: ServiceState | undefined, at: Surroundings): Step {
  const { rules, service } = at;
  const before = stateOf(known, service, rules);
  const selected = selectedBy(before, at);
  const wish = wakingText(service);
  // What it was to say of another wish is not true of this one. API servers that give Services no generation need to be told that.
  const isChanged = before.wish !== undefined && roleOf(service, rules.options) === 'serve';
  const readiness = before.wish === wish ? before.readiness : isChanged ? PROVISIONING : undefined;
  const tried = before.leftover ? undefined : selected;
  const recordedIn = isRecorded(service, rules.options.providerName)
    ? service.metadata?.resourceVersion
    : before.recordedIn;
  const state = withEmptiness({ ...before, wish, readiness, recordedIn, tried }, selected, at.now);
  const settled = state.leftover ? undefined : settledNow(state, at, () => selected);
  // No look outlasts the pass that it has brought about: a later one would take it for what holds by then.
  const look = freshLook(state, at);
  const isKept = settled && look?.observation.kind !== 'parts' && (settled.againAt ?? Infinity) > at.now;
  return isKept ? keepStatus({ ...spent(state), settled }, settled, at) : tellReadiness(planAndCarryOut(state, at), at);
}

/** An answer from before the last action on its load balancer says nothing. */
const freshLook = ({ look }: ServiceState, { appliedAt }: Surroundings): SeenLook | undefined =>
  look && !look.isSpent && look.startedAt >= appliedAt ? look : undefined;

/** Others may write the status too. What it should be is known: no look at the cloud. */
function keepStatus(before: ServiceState, settled: Settled, at: Surroundings): Step {
  const { now, service, wallNow } = at;
  const { ingress } = settled;
  const readiness = settledReadiness(settled.backEnds);
  const review = reviewField(before.statusField, { ...statusTexts(ingress, readiness, at), now });
  const state = { ...before, statusField: review.state, readiness };
  const field = sameIngress(ingressOf(service), ingress) ? 'conditions' : 'loadBalancer';
  const effects: readonly Effect[] = review.isContested ? [{ kind: 'tell-contested', field }] : [];
  const { verdict } = review;
  if (verdict.kind === 'wait') return { state, effects, next: wake(verdict.atMs - now) };
  const isDue = verdict.kind === 'write';
  const patch = isDue ? saying(servedPatch(service, { ingress, now: wallNow }), state, at) : undefined;
  if (!patch) return { state, effects, next: REST };
  return { state, effects, next: { kind: 'write', write: { purpose: 'ingress', action: statusAction, patch } } };
}

/** Nothing has changed but that it was to be looked at again, and the cloud could not be asked: it serves on, and is looked at later. */
function keepSettled(state: ServiceState, settled: Settled, error: Error, at: Surroundings): Step {
  const later = { ...settled, againAt: at.now + AGAIN_AFTER_FAILURE_MS };
  const message = 'A load balancer could not be looked at again';
  const kept = keepStatus({ ...spent(state), settled: later }, later, at);
  return after([{ kind: 'log', level: 2, message, fields: { error } }], kept);
}

export function planAndCarryOut(before: ServiceState, at: Surroundings): Step {
  const look = freshLook(before, at);
  const overtaken = look ? 0 : before.overtaken + Number(before.look?.isSpent === false);
  const { knowledge, plan } = judgedPlan(before, look, at);
  const parts = look?.observation.kind === 'parts' ? look.observation.parts : undefined;
  const owner = { clusterId: at.rules.options.clusterId, uid: before.uid };
  const adoption = answerOf(at.service, plan, parts, owner);
  // What a look shows by now is what holds: for what was settled before there has to be another. One that is to be
  // looked at again is as it was until a look says so.
  const isAsItWas = !look || !parts || (decidesNothing(plan, look) && isDueAgain(before, at));
  const settled = isAsItWas ? before.settled : touched(before.settled);
  const state = { ...(look ? before : spent(before)), overtaken, knowledge, adoption, settled };
  return withdrawing(state, plan, at, (noted, around) => carryOut(noted, plan, around));
}

const isDueAgain = (state: ServiceState, at: Surroundings): boolean =>
  (settledNow(state, at, () => selectedBy(state, at))?.againAt ?? Infinity) <= at.now;

/** What is to be done, where the look that a plan rests on may have left something out. */
export function judgedPlan(state: ServiceState, look: SeenLook | undefined, at: Surroundings): Judged {
  const { now, rules, service, wallNow } = at;
  const { knowledge, leftover, quietFrom, uid, uncertainUntil } = state;
  const observed = { ...observedOf(state, at), observation: look?.observation };
  const plan = leftover ? planLeftover(observed) : planService(observed);
  // Of one that another program may serve nothing is waited for.
  const isOurs = leftover !== undefined || plan.kind !== 'refuse' || isRecorded(service, rules.options.providerName);
  if (look?.observation.kind !== 'parts' || !isOurs) return { plan, knowledge };
  const recorded = missingRecordOf(service);
  const judged = judgeLook(
    plan,
    knowledge,
    { parts: look.observation.parts, startedAt: look.startedAt, answers: look.answers },
    {
      owner: { clusterId: rules.options.clusterId, uid },
      service: identityOf(service),
      served: ingressOf(service).length > 0,
      trust: rules.cloud,
      quietFrom,
      uncertainUntil,
      recorded: recorded && { ...recorded, since: now - Math.max(0, wallNow - recorded.since) },
      now,
    },
  );
  return judged.plan === plan ? judged : { ...judged, plan: releasedIfAsked(service, judged.plan) };
}

/** Those of before stay: what is missing is asked about first, and what nobody has seen after that. */
export function answered(state: ServiceState, { look, questions }: Read, answers: readonly PartAnswer[]): ServiceState {
  // What was said after another look says nothing about this one.
  if (state.look?.observation !== look.observation) return state;
  const all = new Map(state.look.answers);
  for (const [i, question] of questions.entries()) {
    const answer = answers[i];
    if (answer) all.set(questionKey(question), answer);
  }
  return { ...state, look: { ...state.look, answers: all } };
}

function carryOut(state: ServiceState, plan: ServicePlan, at: Surroundings): Step {
  const { rules, service } = at;
  switch (plan.kind) {
    case 'nothing':
      return leaveAlone(state, plan, at);
    case 'record': {
      const recording = record(state, at);
      const { next } = recording;
      if (!rules.dryRun || next.kind !== 'write') return recording;
      const before = [{ ...next.write.action, write: { object: service, patch: next.write.patch } }];
      return planAndCarryOut(state, { ...at, service: asRecorded(service, rules.options.providerName), before });
    }
    case 'observe':
      // Others may act so often that no look is over in time.
      return { state, effects: [], next: state.overtaken < MOST_OVERTAKEN ? LOOK : { kind: 'look', underLock: true } };
    case 'look-again':
      return lookAgain(state, plan, at);
    case 'ask': {
      // Nothing is asked about but what a look has left out.
      if (!state.look) return { state, effects: [], next: LOOK };
      return { state, effects: [], next: { kind: 'read', read: { look: state.look, questions: plan.questions } } };
    }
    case 'hold': {
      const { isShown, wait } = state.knowledge;
      // Looks for what is missing go on: without them, the next that leaves it out would count as one of a row.
      const isWaiting = wait !== undefined || (!isShown && missingRecordOf(service) !== undefined);
      const isFresh = state.look !== undefined && !state.look.isSpent;
      return isWaiting && !isFresh ? { state, effects: [], next: LOOK } : hold(state, at);
    }
    case 'refuse':
      // What the cloud shows of its addresses does not depend on the plan.
      return fail(state, plan.error, at, { isWanted: true, isPlans: !mayHaveAddress(state, service) });
    case 'failed': {
      const settled = settledNow(state, at, () => selectedBy(state, at));
      if (settled?.againAt !== undefined && mayPass(plan.error)) return keepSettled(state, settled, plan.error, at);
      const counted = withUnreadable(state, plan.error);
      return isHopeless(counted)
        ? giveUp(counted, 'hopeless')
        : fail(counted, plan.error, at, { isWanted: plan.wanted });
    }
    case 'release': {
      const parts = state.knowledge.parts.words;
      const message = 'A finalizer is removed although the load balancer may still exist';
      const effects: readonly Effect[] = [
        { kind: 'record', note: releasedNote(plan.error, parts) },
        { kind: 'log', level: 'warn', message, fields: { error: plan.error, parts } },
      ];
      return after(effects, letGo(state, at));
    }
    default:
      return carryOutBring(state, plan, at);
  }
}

function carryOutBring(state: ServiceState, bring: Bring, at: Surroundings): Step {
  const { complete, desired, plan, refused } = bring;
  const effects: Effect[] = (plan.warnings ?? []).map((warning) => ({ kind: 'tell', note: warningNote(warning) }));
  if (refused && complete) return after(effects, followed(state, refused, at));
  if (refused) effects.push({ kind: 'tell', note: failureNote(episodeOf(state, at, true), refused) });
  if (complete) {
    if (at.rules.dryRun) effects.push({ kind: 'plan', actions: [] });
    return after(effects, desired.wanted ? settle(state, bring, at) : cleaned(state, at));
  }
  if (plan.actions.length > 0) return after(effects, act(state, bring, at));
  return after(effects, goOn(state, bring, at));
}

/** What the Service asks for is refused; what it has is as it should be. */
function followed(before: ServiceState, refused: Error, at: Surroundings): Step {
  const { work } = before;
  const effects: readonly Effect[] = work?.episode === 'update' ? [{ kind: 'record', note: endNote('update') }] : [];
  const state = { ...before, work: undefined, polls: 0 };
  return after(effects, fail(state, refused, at, { isWanted: true }));
}

/** A pass goes on with what the server answered; what is settled is what was judged, without what others wrote meanwhile. */
export function asAnswered(service: Service, event: ServiceEvent): Service {
  if (event.kind !== 'written' || !event.metadata) return service;
  const { purpose } = event.write;
  return purpose === 'record' || purpose === 'open' ? { ...service, metadata: event.metadata } : service;
}
