/** One pass over a Service, from its beginning to what is done about the plan. Pure. */
import type { BackEnd, PartAnswer } from '@outrigger/cloud-provider';
import { reviewField } from '../contested-field.ts';
import { judgeLook, questionKey, type Judged } from '../load-balancer/judge-look.ts';
import { recordAction } from '../load-balancer/load-balancer-words.ts';
import type { Bring, LookAgain, ServicePlan } from '../load-balancer/service-plan.ts';
import { act } from './act.ts';
import { answerOf } from './adoption.ts';
import { episodeOf, fail } from './fail.ts';
import { FOREIGN_AFTER_MS, foreignOwnerNote, foreignOwnerOf, unclaimedNote, unclaimedSince } from './foreign-owner.ts';
import { cleaned, letGo } from './let-go.ts';
import { identityOf, ingressOf } from './load-balancer-service.ts';
import { annotationPatch, isWrittenDown, missingRecordOf, missingText } from './parts-record.ts';
import { planLeftover, planService, releasedIfAsked } from './plan.ts';
import { nextPollMs, poll, spent } from './polling.ts';
import { endNote, failureNote, hiddenNote, missingNote, releasedNote, warningNote } from './service-events.ts';
import { failedReadiness, PROVISIONING, settledReadiness, waitingReadiness } from './readiness.ts';
import { asRecorded, recordPatch, sameIngress, servedPatch } from './service-patch.ts';
import { isStale, saying, takeAway, tellReadiness } from './tell-readiness.ts';
import { isRecorded, roleOf } from './role.ts';
import { stateOf, type SeenLook, type ServiceState, type Settled } from './service-state.ts';
import { notePartsAction, statusAction } from './service-words.ts';
import { observedOf, selectedBy, settledNow, statusTexts, withEmptiness } from './settled-now.ts';
import { hold, settle, statusWrite } from './settle.ts';
import { after, LOOK, REST, wake, type Effect, type Read, type Step, type Surroundings } from './step-types.ts';
import { missingSinceAnnotation } from './well-known-names.ts';
import { wakingText } from './waking-text.ts';

/** So long the cloud may leave out of a look what it has, before a person is told: lists lag. */
const HIDDEN_TOLD_AFTER_MS = 30_000;
/** A cloud that is looked at so seldom is at work for long, which is worth a write: by its own measure, or after three looks. */
const LONG_POLL_MS = 3_000;
/** Each time costs a look at the cloud. */
const UNCLAIMED_AGAIN_MS = 1_800_000;

export function pass(known: ServiceState | undefined, at: Surroundings): Step {
  const { rules, service } = at;
  const before = stateOf(known, service, rules);
  const selected = selectedBy(before, at);
  const wish = wakingText(service);
  // What it was to say of another wish is not true of this one. API servers that give Services no generation need to be told that.
  const isChanged = before.wish !== undefined && roleOf(service, rules.options) === 'serve';
  const readiness = before.wish === wish ? before.readiness : isChanged ? PROVISIONING : undefined;
  const state = withEmptiness({ ...before, wish, readiness }, selected, at.now);
  const settled = state.leftover ? undefined : settledNow(state, at, () => selected);
  return settled ? keepStatus({ ...state, settled }, settled, at) : tellReadiness(planAndCarryOut(state, at), at);
}

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

export function planAndCarryOut(before: ServiceState, at: Surroundings): Step {
  // An answer from before the last action on its load balancer says nothing.
  const isUsable = before.look !== undefined && !before.look.isSpent && before.look.startedAt >= at.appliedAt;
  const look = isUsable ? before.look : undefined;
  const { knowledge, plan } = judgedPlan(before, look, at);
  const parts = look?.observation.kind === 'parts' ? look.observation.parts : undefined;
  const owner = { clusterId: at.rules.options.clusterId, uid: before.uid };
  const adoption = answerOf(at.service, plan, parts, owner);
  return carryOut({ ...(look ? before : spent(before)), knowledge, adoption }, plan, at);
}

/** What is to be done, where the look that a plan rests on may have left something out. */
export function judgedPlan(state: ServiceState, look: SeenLook | undefined, at: Surroundings): Judged {
  const { now, rules, service, wallNow } = at;
  const { knowledge, leftover, quietFrom, uid, uncertainUntil } = state;
  const observed = { ...observedOf(state, at), observation: look?.observation };
  const plan = leftover ? planLeftover(observed) : planService(observed);
  if (look?.observation.kind !== 'parts') return { plan, knowledge };
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
    case 'nothing': {
      const message = 'The Service is left alone';
      const log = { kind: 'log', level: 4, message, fields: { reason: plan.reason } } as const;
      const isElsewhere = plan.reason === 'implemented-elsewhere' && isRecorded(service, rules.options.providerName);
      const readiness = isElsewhere ? failedReadiness(plan.error) : state.readiness;
      const idle: Step = {
        state: { ...spent(state), readiness },
        effects: [{ kind: 'plan', actions: [] }, log],
        next: REST,
      };
      if (plan.reason === 'unclaimed') return tellUnclaimed(idle, at);
      if (isStale(service, rules.options)) return { ...idle, next: { kind: 'write', write: takeAway(service) } };
      return plan.reason === 'not-ours' ? tellForeign(idle, at) : idle;
    }
    case 'record': {
      const { providerName } = rules.options;
      const readiness = roleOf(service, rules.options) === 'serve' ? PROVISIONING : undefined;
      const patch = saying(recordPatch(service, providerName), { readiness, adoption: undefined }, at);
      if (rules.dryRun) {
        const before = [{ ...recordAction, write: { object: service, patch } }];
        return planAndCarryOut(state, { ...at, service: asRecorded(service, providerName), before });
      }
      const write = { purpose: 'record', action: recordAction, patch } as const;
      return { state: { ...state, readiness }, effects: [], next: { kind: 'write', write } };
    }
    case 'observe':
      return { state, effects: [], next: LOOK };
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
      return fail(state, plan.error, at, { isWanted: true, isPlans: true });
    case 'failed':
      return fail(state, plan.error, at, { isWanted: plan.wanted });
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

function tellForeign(idle: Step, { rules, service }: Surroundings): Step {
  const owner = foreignOwnerOf(service, rules.options);
  if (owner === undefined) return idle;
  const note = foreignOwnerNote(service, owner, rules.options.providerName);
  return { ...idle, effects: [...idle.effects, { kind: 'tell', note }], next: wake(FOREIGN_AFTER_MS) };
}

/** Another program may be at work on it; where none is, it is never deleted. */
function tellUnclaimed(idle: Step, { rules, service, wallNow }: Surroundings): Step {
  const since = unclaimedSince(service, rules.options);
  if (since === undefined) return idle;
  const leftMs = since + FOREIGN_AFTER_MS - wallNow;
  if (leftMs > 0) return { ...idle, next: wake(leftMs) };
  const note = unclaimedNote(rules.options.providerName);
  return { ...idle, effects: [...idle.effects, { kind: 'tell', note }], next: wake(UNCLAIMED_AGAIN_MS) };
}

/** The cloud may not have shown all. */
function lookAgain(state: ServiceState, { inMs, missing, why }: LookAgain, at: Surroundings): Step {
  const sinceMs = at.now - (state.knowledge.wait?.since ?? at.now);
  const message = 'The cloud may not list all parts of a load balancer';
  const effects: readonly Effect[] = [
    { kind: 'log', level: 2, message, fields: { missing, why } },
    { kind: 'plan', actions: at.before },
  ];
  if (why === 'hidden') {
    const isTold = sinceMs >= HIDDEN_TOLD_AFTER_MS;
    if (!isTold) return after(effects, poll(state));
    return after([...effects, { kind: 'tell', note: hiddenNote(missing) }], poll(waiting(state, missing, at)));
  }
  if (why === 'quiet') return { state: spent(state), effects, next: wake(Math.max(1, inMs)) };
  return after(
    [...effects, { kind: 'tell', note: missingNote(missing) }],
    waitFor(waiting(state, missing, at), missing, { inMs, sinceMs }, at),
  );
}

/** A cloud that cannot be asked is waited for, and since when is kept on the Service: the next process goes on with it. */
function waitFor(
  state: ServiceState,
  missing: readonly string[],
  { inMs, sinceMs }: { readonly inMs: number; readonly sinceMs: number },
  at: Surroundings,
): Step {
  const { service, wallNow } = at;
  const { knowledge, leftover, look } = state;
  const there = look?.observation.kind === 'parts' ? look.observation.parts : [];
  const since = wallNow - sinceMs;
  const record = { since, parts: knowledge.parts.missingIn(there, 'there'), open: knowledge.parts.unseen.length > 0 };
  const wait = poll(state, Math.max(1, inMs));
  if (leftover || isWrittenDown(service, record)) return wait;
  const message =
    'The cloud does not list parts of a load balancer, and does not prove that they were deleted; waiting';
  const noted = annotationPatch(service, { [missingSinceAnnotation]: missingText(record) });
  const patch = saying(noted, state, at);
  return {
    state: wait.state,
    effects: [{ kind: 'log', level: 'warn', message, fields: { missing, forMs: inMs } }],
    next: { kind: 'write', write: { purpose: 'wait', action: notePartsAction, patch, afterwards: wait.next } },
  };
}

function carryOutBring(state: ServiceState, bring: Bring, at: Surroundings): Step {
  const { complete, desired, plan, refused } = bring;
  const effects: Effect[] = (plan.warnings ?? []).map((warning) => ({ kind: 'tell', note: warningNote(warning) }));
  if (refused && complete) return after(effects, followed(state, desired.backEnds, refused, at));
  if (refused) effects.push({ kind: 'tell', note: failureNote(episodeOf(state, at, true), refused) });
  if (complete) {
    if (at.rules.dryRun) effects.push({ kind: 'plan', actions: [] });
    return after(effects, desired.wanted ? settle(state, bring, at) : cleaned(state, at));
  }
  if (plan.actions.length > 0) return after(effects, act(state, bring, at));
  // What is pending in the cloud goes on by itself.
  const there = state.look?.observation.kind === 'parts' ? state.look.observation.parts : [];
  const pending = there.filter((part) => part.state !== 'ready').map(({ id, kind }) => `${kind} ${id}`);
  const isLong = nextPollMs(state) >= LONG_POLL_MS && state.work?.episode !== 'update';
  const waits = isLong ? waiting(state, pending, at) : state;
  const isWorth = desired.wanted && !refused && plan.ingress.length > 0;
  const write = isWorth ? statusWrite(waits, bring, at, 'pending') : undefined;
  return after(effects, write ? { state: spent(waits), effects: [], next: { kind: 'write', write } } : poll(waits));
}

/** It is about to say so. */
function waiting(state: ServiceState, parts: readonly string[], { rules, service }: Surroundings): ServiceState {
  return { ...state, readiness: waitingReadiness(parts, roleOf(service, rules.options) === 'serve') };
}

/** What the Service asks for is refused; what it has is as it should be. */
function followed(before: ServiceState, backEnds: readonly BackEnd[], refused: Error, at: Surroundings): Step {
  const { work } = before;
  const effects: readonly Effect[] = work?.episode === 'update' ? [{ kind: 'record', note: endNote('update') }] : [];
  const state = { ...before, followed: at.rules.dryRun ? before.followed : backEnds, work: undefined, polls: 0 };
  return after(effects, fail(state, refused, at, { isWanted: true }));
}
