/** From what is known of a Service, and what has happened to it, to what is known then and what is to be done. Pure: entry point `step`. */
import { keyOfObject, type Service } from '@outrigger/kube';
import { sameBackEnds } from './back-ends.ts';
import { retryOf } from '../load-balancer/failure.ts';
import { afterWrite } from '../contested-field.ts';
import { acted, applied, begin, confirmed } from './act.ts';
import { backoffMs, fail } from './fail.ts';
import { FOREIGN_AFTER_MS, foreignOwnerOf } from './foreign-owner.ts';
import { giveUp, leftoverOf } from './leftovers.ts';
import { letGone } from './let-go.ts';
import { addressesIn, ingressOf } from './load-balancer-service.ts';
import { answered, pass, planAndCarryOut } from './pass.ts';
import { poll, spent, untilDueMs } from './polling.ts';
import { RECORDED, reviewRecord } from './record.ts';
import { hasFinalizer, isRecorded, roleOf } from './role.ts';
import { isDisowned, mayHaveParts, roleNow } from './role-now.ts';
import { settledReadiness } from './readiness.ts';
import { stateOf, type ServiceState, type Settled } from './service-state.ts';
import { settled } from './settle.ts';
import { isStale, tellReadiness } from './tell-readiness.ts';
import { selectedBy, settledNow, statusTexts, touched, withEmptiness } from './settled-now.ts';
import { LOOK, REST, after, wake, type ServiceEvent, type Step, type Surroundings, type Write } from './step-types.ts';
import { wakingText } from './waking-text.ts';
import { withdrew } from './withdraw-addresses.ts';

export function step(before: ServiceState | undefined, event: ServiceEvent, at: Surroundings): Step {
  const taken = stepOf(before, event, at);
  const { next, state } = taken;
  // The turn that came meanwhile has taken the place of this one.
  const againAt = state?.settled?.againAt ?? -Infinity;
  return next.kind === 'rest' && againAt > at.now ? { ...taken, next: wake(againAt - at.now) } : taken;
}

function stepOf(state: ServiceState | undefined, event: ServiceEvent, at: Surroundings): Step {
  switch (event.kind) {
    case 'changed':
      return changed(state, at);
    case 'vanished':
      return vanished(state, event, at);
    case 'looked':
      return { state: looked(state, event.look), effects: [], next: wake() };
    case 'due':
      return pass(state, at);
    case 'failed': {
      const isWanted = roleOf(at.service, at.rules.options) === 'serve';
      // The first step may be what has failed.
      return fail({ ...stateOf(state, at.service, at.rules), isLetGo: false }, event.error, at, { isWanted });
    }
    default:
  }
  if (!state) return { state, effects: [], next: REST };
  switch (event.kind) {
    case 'nodes-changed':
      return follow(state, event.at, at);
    case 'reconfigured':
      // Credentials, a quota's project, a network: what it failed for may be what was changed.
      return state.lastFailure
        ? { state: { ...state, failures: 0, unreadable: 0 }, effects: [], next: wake() }
        : rest(state);
    case 'address-lost':
      return lookAnew(state, event.lost);
    case 'crowded-out':
      return giveUp(state, 'surplus');
    case 'behind':
      return rest({ ...state, wish: undefined });
    case 'written':
      return written(state, event.write, event.metadata !== undefined, at);
    case 'read':
      if (!event.answers) return poll(state);
      return tellReadiness(planAndCarryOut(answered(state, event.read, event.answers), at), at);
    case 'seen':
      return tellReadiness(planAndCarryOut({ ...state, ...looked(state, event.look), overtaken: 0 }, at), at);
    case 'confirmed':
      return confirmed(state, event.bring, event.found, at);
    case 'applied':
      return rest(applied(state, event.action, event.result));
    default:
      return tellReadiness(acted(state, event.bring, event.applied, at), at);
  }
}

const rest = (state: ServiceState): Step => ({ state, effects: [], next: REST });

function changed(state: ServiceState | undefined, at: Surroundings): Step {
  const { options } = at.rules;
  const role = roleNow(state, at);
  if (role === 'clean' || role === 'unclaimed') {
    // Its status may be all that was written, by us: that brings nothing forward. Its record, which a person may write, is news.
    const isKnown = state?.recordedIn !== undefined || !isRecorded(at.service, options.providerName);
    const leastMs = isKnown && state?.wish === wakingText(at.service) ? untilDueMs(state, at.now) : 0;
    const contested = role === 'unclaimed' && state ? reviewRecord(state, at) : undefined;
    return { state, effects: [], next: wake(Math.max(leastMs, contested?.afterMs ?? 0)) };
  }
  if (role === 'leave') {
    const isForeign = foreignOwnerOf(at.service, options) !== undefined;
    return {
      state: undefined,
      effects: [{ kind: 'forget', isGone: false }],
      next: isForeign ? wake(FOREIGN_AFTER_MS) : isStale(at.service, options) ? wake() : REST,
    };
  }
  // More than what the last pass has seen, or than what our own writes brought?
  if (!state || state.wish !== wakingText(at.service)) return { state, effects: [], next: wake() };
  if (!isRecorded(at.service, options.providerName)) {
    // Where it is refused, its status may be all that was written, and by another again each time.
    const leastMs = state.lastFailure ? backoffMs(state.failures, at.random) : 0;
    return { state, effects: [], next: wake(Math.max(leastMs, reviewRecord(state, at).afterMs)) };
  }
  // What is not settled has its own time to go on, which no write to its status brings forward: our own would, too.
  const known = settledNow(state, at, () => selectedBy(state, at));
  return known ? keptAs(state, known, at) : rest(state);
}

/** Nothing is to be done in the cloud; its status may have to be written. */
function keptAs(state: ServiceState, settled: Settled, at: Surroundings): Step {
  const { observed, wanted } = statusTexts(settled.ingress, settledReadiness(settled.backEnds), at);
  // One that could not be looked at again goes on in its own time.
  const leastMs = (settled.againAt ?? Infinity) <= at.now ? untilDueMs(state, at.now) : 0;
  return { state: { ...state, settled }, effects: [], next: observed === wanted ? REST : wake(leastMs) };
}

function vanished(
  state: ServiceState | undefined,
  { isSeen, successor }: Extract<ServiceEvent, { kind: 'vanished' }>,
  at: Surroundings,
): Step {
  const { rules, service } = at;
  // Because a person wanted it, and not because the API server has been set back, or is behind. It deletes without a timestamp too: an object
  // that gets its first finalizer in the moment of its deletion.
  const isDeleted = isSeen || service.metadata?.deletionTimestamp !== undefined;
  const isCertain = successor ? !isOlder(successor, service) : isDeleted;
  const forgotten: Step = { state: undefined, effects: [{ kind: 'forget', isGone: true }], next: REST };
  if (state?.isLetGo) return forgotten;
  // Who has taken our finalizer off what has parts wanted it to go, and at once: no API server that was set back shows that.
  const isOurs = state !== undefined && state.uid === service.metadata?.uid;
  const isForced = isOurs && !hasFinalizer(service) && mayHaveParts(state);
  const isLeft = isForced || isDisowned(state, service);
  if (!isLeft && !isRecorded(service, rules.options.providerName)) return forgotten;
  if (!isCertain && !isForced) {
    const message = 'A Service disappeared without being deleted; its load balancer is left to the search for orphans';
    return after([{ kind: 'log', level: 'warn', message, fields: { key: keyOfObject(service) } }], forgotten);
  }
  // What is known of its parts goes on to hold.
  const left = leftoverOf(stateOf(state, service, rules), service, rules.planner.annotations);
  return { ...forgotten, effects: [...forgotten.effects, { kind: 'leave-over', state: left }] };
}

/** Whether the first was made before the second: then it did not take its place, but a list is behind, or etcd was restored. */
function isOlder({ metadata: one }: Service, { metadata: other }: Service): boolean {
  return Date.parse(one?.creationTimestamp ?? '') < Date.parse(other?.creationTimestamp ?? '');
}

/** An answer about another Service of this name is of no use; its turn comes all the same: it may have asked since. */
function looked(
  state: ServiceState | undefined,
  look: Extract<ServiceEvent, { kind: 'looked' }>['look'],
): ServiceState | undefined {
  if (state?.uid !== look.uid) return state;
  return { ...state, look: { ...look, answers: new Map(), isSpent: false } };
}

/** Its back ends may be others now. */
function follow(state: ServiceState, changedAt: number, at: Surroundings): Step {
  if (roleOf(at.service, at.rules.options) !== 'serve' || state.settled?.upTo === at.generation) return rest(state);
  const selected = selectedBy(state, at);
  const known = withEmptiness(state, selected, at.now);
  const right = settledNow(known, at, () => selected);
  if (right) return keptAs(known, right, at);
  const { lastFailure, tried } = known;
  const isTried =
    tried && lastFailure && selected && known.wish === wakingText(at.service) && sameBackEnds(selected, tried);
  // It goes on in its own time.
  if (isTried) return rest(known);
  // What was refused may have been so for the sake of its nodes. Else what has never served goes on in its own time.
  const isRefused = lastFailure !== undefined && retryOf(lastFailure.error).kind === 'seldom';
  const hasServed = known.settled !== undefined || ingressOf(at.service).length > 0;
  const isOnItsWay = (lastFailure ? lastFailure.retryAfterMs : known.work) !== undefined;
  if (!hasServed && !isRefused && isOnItsWay) return rest(known);
  return { state: { ...known, nodes: { changedAt, isDue: true } }, effects: [], next: wake() };
}

/** Once for all who are heard of before the cloud was looked at. What waits for its own work is looked at by that. */
function lookAnew(state: ServiceState, lost: readonly string[]): Step {
  const { addresses, lastFailure, settled } = state;
  if (settled && settled.upTo !== 'touched') {
    // What another has written into its status is not its own to lose.
    if (!addressesIn(settled.ingress).some((ip) => lost.includes(ip))) return rest(state);
    return { state: { ...state, settled: touched(settled) }, effects: [], next: wake() };
  }
  const isDue = lastFailure !== undefined && addresses.unshownSince.size === 0;
  return isDue ? { state, effects: [], next: wake() } : rest(state);
}

/** What we wrote last: what stands there instead later on, another has written. */
function noteWritten(state: ServiceState, ingress: Settled['ingress'] = [], at: Surroundings): ServiceState {
  if (!state.readiness) return state;
  const { wanted } = statusTexts(ingress, state.readiness, at);
  return { ...state, statusField: afterWrite(state.statusField, wanted, at.now) };
}

/** `isDone`: the Service has it. Else it is gone, which its next turn sees, or the server has refused to merge what two have written. */
function written(
  state: ServiceState,
  { bring, note, purpose, afterwards = REST }: Write,
  isDone: boolean,
  at: Surroundings,
): Step {
  const { dryRun } = at.rules;
  switch (purpose) {
    case 'record': {
      // The store may be long behind: then the next turn would write, and look, the same.
      if (!isDone) return poll({ ...state, wish: undefined });
      const noted = { ...state, polls: 0, recordField: afterWrite(state.recordField, RECORDED, at.now) };
      if (roleOf(at.service, at.rules.options) !== 'serve') return tellReadiness(planAndCarryOut(noted, at), at);
      // A look that is over already is put again: one has to lie between this and the first part (`isFirst` in `act.ts`).
      return { state: spent(noted), effects: [], next: LOOK };
    }
    case 'open':
      return isDone && bring ? begin(state, bring, at) : poll(state);
    case 'wait':
      return isDone || dryRun ? { state, effects: [], next: afterwards } : poll(state);
    case 'condition': {
      // An answer to a request that was not taken: what another writer has changed may be no reason to say it again.
      if (!isDone && state.adoption) return poll(state, afterwards.kind === 'wake' ? afterwards.afterMs : undefined);
      const noted =
        isDone && state.statusField?.isUndone === false ? noteWritten(state, ingressOf(at.service), at) : state;
      return { state: noted, effects: [], next: afterwards };
    }
    case 'settle': {
      if (!bring || !(isDone || dryRun)) return poll(state);
      return settled(state.statusField ? noteWritten(state, bring.plan.ingress, at) : state, bring, at);
    }
    case 'pending':
      return poll(state);
    case 'withdraw':
      // The rest goes on with the Service as it is by now.
      return isDone
        ? after(note ? [{ kind: 'tell', note }] : [], { state: withdrew(state), effects: [], next: wake() })
        : poll(state);
    case 'ingress':
      if (!isDone) return dryRun ? rest(state) : poll(state);
      return rest(noteWritten({ ...state, polls: 0 }, state.settled?.ingress, at));
    default:
      if (isDone) return letGone(state, note, at);
      // A Service that stays may be served again, and be deleted by force then.
      if (dryRun) return rest({ ...spent(state), isLetGo: false });
      return poll({ ...state, isLetGo: at.service.metadata?.deletionTimestamp !== undefined });
  }
}
