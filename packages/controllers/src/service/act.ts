/** Carries a plan out: what begins, what each action has come to, and the end. Pure. */
import type { LoadBalancerAction, LoadBalancerActionResult } from '@outrigger/cloud-provider';
import type { Service } from '@outrigger/kube';
import type { Applied } from '../load-balancer/apply-actions.ts';
import { isUncertain } from '../load-balancer/failure.ts';
import { canName } from '../load-balancer/judge-look.ts';
import { changesOfParts } from '../load-balancer/load-balancer-words.ts';
import type { Bring } from '../load-balancer/service-plan.ts';
import { episodeOf, fail } from './fail.ts';
import { annotationPatch, openedRecord } from './parts-record.ts';
import { LONGEST_POLL_MS, nextPollMs, poll, spent } from './polling.ts';
import { beginNote, noNodesNote } from './service-events.ts';
import { isRecorded, roleOf } from './role.ts';
import { partsOf, UNCERTAIN_MS, type ServiceState } from './service-state.ts';
import { notePartsAction } from './service-words.ts';
import { LOOK, wake, type Effect, type Step, type Surroundings } from './step-types.ts';
import { partsAnnotation } from './well-known-names.ts';

export function act(state: ServiceState, bring: Bring, at: Surroundings): Step {
  if (at.rules.dryRun) {
    const actions = [...at.before, ...changesOfParts(bring, partsOf(state.look))];
    return { state: spent(state), effects: [{ kind: 'plan', actions }], next: wake(LONGEST_POLL_MS) };
  }
  if (isFirst(state, bring)) return { state, effects: [], next: { kind: 'confirm', bring } };
  return open(state, bring, at);
}

/**
 * Nothing of it is there yet. kube-apiserver deletes an object that gets its first finalizer while its deletion is on the way: in the cloud, what is
 * made after that belongs to nobody, and a process that ends before the watch tells it leaves it there. By now such a deletion is over.
 */
const isFirst = ({ knowledge, look }: ServiceState, { desired }: Bring): boolean =>
  desired.wanted && knowledge.parts.names.length === 0 && partsOf(look).length === 0;

/** `found`: what the API server has under its name. */
export function confirmed(state: ServiceState, bring: Bring, found: Service | undefined, at: Surroundings): Step {
  const { options } = at.rules;
  const isThere =
    found?.metadata?.uid === state.uid && isRecorded(found, options.providerName) && roleOf(found, options) === 'serve';
  // The watch tells what became of it, sooner as a rule.
  return isThere ? open(state, bring, at) : poll({ ...state, wish: undefined });
}

/** Nothing is made beyond what the record on the Service says before it says that there may be more. */
function open(state: ServiceState, bring: Bring, at: Surroundings): Step {
  const adds = bring.plan.actions.some(({ kind }) => kind === 'create' || kind === 'claim');
  const opened = adds && !canName(at.rules.cloud) ? openedRecord(at.service) : undefined;
  if (opened === undefined) return begin(state, bring, at);
  const patch = annotationPatch(at.service, { [partsAnnotation]: opened });
  return {
    state,
    effects: [],
    next: { kind: 'write', write: { purpose: 'open', action: notePartsAction, patch, bring } },
  };
}

/** Tells, once, what begins. */
export function begin(before: ServiceState, bring: Bring, at: Surroundings): Step {
  const { backEnds, wanted } = bring.desired;
  const episode = bring.refused ? 'update' : episodeOf(before, at, wanted);
  const effects: Effect[] = [];
  if (before.work?.episode !== episode) {
    effects.push({ kind: 'count', what: 'sync' });
    const note = beginNote(episode);
    if (note) effects.push({ kind: 'record', note });
  }
  if (wanted && backEnds.length === 0) effects.push({ kind: 'tell', note: noNodesNote });
  const state: ServiceState = {
    ...before,
    work: { done: before.work?.done, episode, handles: [] },
  };
  return { state, effects, next: { kind: 'apply', bring } };
}

/** One action, while others are still to come. */
export function applied(
  state: ServiceState,
  action: LoadBalancerAction,
  result: LoadBalancerActionResult,
): ServiceState {
  const { knowledge, work } = state;
  const parts = knowledge.parts.copy();
  parts.noteApplied(action, result);
  const begun = result.kind === 'pending' ? [result.handle] : [];
  const isProved = knowledge.isProved || result.kind !== 'failed' || isUncertain(result.error);
  return {
    ...state,
    knowledge: { ...knowledge, parts, isProved },
    work: work && { ...work, handles: [...work.handles, ...begun] },
  };
}

export function acted(before: ServiceState, bring: Bring, applied: Applied, at: Surroundings): Step {
  const { error, isBegun, pending } = applied;
  // Another plan is wanted by now. The same one, if that is what comes of it, was not carried out.
  if (!isBegun) return { state: spent(before), effects: [], next: LOOK };
  const { listLagMs = 0 } = at.rules.cloud;
  const uncertainUntil = error && isUncertain(error) ? at.now + UNCERTAIN_MS : before.uncertainUntil;
  const quietFrom = Math.max(before.quietFrom, at.now + listLagMs, uncertainUntil);
  const quiet = { ...spent(before), quietFrom, uncertainUntil };
  const { desired, membersFirst = false } = bring;
  if (error) return fail(quiet, error, at, { isWanted: desired.wanted, ofMembers: membersFirst });
  // The same actions again: the cloud does not yet show what it has done, or never will.
  const done = JSON.stringify(bring.plan.actions);
  const isRepeated = quiet.work?.done === done;
  const state: ServiceState = {
    ...quiet,
    work: quiet.work && { ...quiet.work, done },
    polls: isRepeated ? quiet.polls : 0,
    pollMs: pending?.pollAfterMs || undefined,
  };
  const afterMs = Math.max(pending ? pending.dueAt - at.now : 0, listLagMs, isRepeated ? nextPollMs(state) : 0);
  if (afterMs === 0) return { state, effects: [], next: LOOK };
  return { state: isRepeated ? { ...state, polls: state.polls + 1 } : state, effects: [], next: wake(afterMs) };
}
