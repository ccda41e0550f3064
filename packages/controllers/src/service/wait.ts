/** What becomes of a Service that waits for its cloud, which is at work, or may not have shown all. Pure. */
import type { Bring, LookAgain } from '../load-balancer/service-plan.ts';
import { annotationPatch, isWrittenDown, missingText } from './parts-record.ts';
import { nextPollMs, poll, spent } from './polling.ts';
import { waitingReadiness } from './readiness.ts';
import { isRecorded, roleOf } from './role.ts';
import { hiddenNote, missingNote } from './service-events.ts';
import { partsOf, type ServiceState } from './service-state.ts';
import { notePartsAction } from './service-words.ts';
import { statusWrite } from './settle.ts';
import { after, wake, type Effect, type Step, type Surroundings } from './step-types.ts';
import { saying } from './tell-readiness.ts';
import { missingSinceAnnotation } from './well-known-names.ts';

/** So long the cloud may leave out of a look what it has, before a person is told: lists lag. */
const HIDDEN_TOLD_AFTER_MS = 30_000;
/** A cloud that is looked at so seldom is at work for long, which is worth a write: by its own measure, or after three looks. */
const LONG_POLL_MS = 3_000;

const HIDDEN = 'The cloud does not list parts of a load balancer, but a direct read shows that they exist; waiting';
const MISSING = 'The cloud does not list parts of a load balancer, and does not prove that they were deleted; waiting';

/** What is pending in the cloud goes on by itself. */
export function goOn(before: ServiceState, bring: Bring, at: Surroundings): Step {
  const { desired, plan, refused } = bring;
  const pending = partsOf(before.look).filter((part) => part.state !== 'ready');
  const names = pending.map(({ id, kind }) => `${kind} ${id}`);
  const isLong = nextPollMs(before) >= LONG_POLL_MS && before.work?.episode !== 'update';
  const state = isLong ? waiting(before, names, at) : before;
  const isWorth = desired.wanted && !refused && plan.ingress.length > 0;
  const write = isWorth ? statusWrite(state, bring, at, 'pending') : undefined;
  return write ? { state: spent(state), effects: [], next: { kind: 'write', write } } : poll(state);
}

/** The cloud may not have shown all. A wait that people should know of is told in an Event and, once for each process, in the log. */
export function lookAgain(before: ServiceState, plan: LookAgain, at: Surroundings): Step {
  const { inMs, missing, why } = plan;
  const message = 'The cloud may not list all parts of a load balancer';
  const effects: readonly Effect[] = [
    { kind: 'log', level: 2, message, fields: { missing, why } },
    { kind: 'plan', actions: at.before },
  ];
  if (why === 'quiet') return { state: spent(before), effects, next: wake(Math.max(1, inMs)) };
  const isHidden = why === 'hidden';
  if (isHidden && missingForMs(before, at) < HIDDEN_TOLD_AFTER_MS) return after(effects, poll(before));
  const state = { ...waiting(before, missing, at), isWaitLogged: true };
  const told: Effect = { kind: 'tell', note: isHidden ? hiddenNote(missing) : missingNote(missing) };
  const [text, fields] = isHidden ? [HIDDEN, { missing }] : [MISSING, { missing, forMs: inMs }];
  const logged: Effect = { kind: 'log', level: 'warn', message: text, fields };
  return after(
    [...effects, told, ...(before.isWaitLogged ? [] : [logged])],
    isHidden ? poll(state) : waitFor(state, plan, at),
  );
}

/** A cloud that cannot be asked is waited for, and since when is kept on the Service: the next process goes on with it. */
function waitFor(state: ServiceState, { inMs }: LookAgain, at: Surroundings): Step {
  const { rules, service, wallNow } = at;
  const { leftover, look } = state;
  const { parts } = state.knowledge;
  const since = wallNow - missingForMs(state, at);
  const record = { since, parts: parts.missingIn(partsOf(look), 'there'), open: parts.unseen.length > 0 };
  const wait = poll(state, Math.max(1, inMs));
  if (leftover || isWrittenDown(service, record) || !isRecorded(service, rules.options.providerName)) return wait;
  const noted = annotationPatch(service, { [missingSinceAnnotation]: missingText(record) });
  const patch = saying(noted, state, at);
  return {
    state: wait.state,
    effects: [],
    next: { kind: 'write', write: { purpose: 'wait', action: notePartsAction, patch, afterwards: wait.next } },
  };
}

function missingForMs({ knowledge }: ServiceState, { now }: Surroundings): number {
  return now - (knowledge.wait?.since ?? now);
}

/** It is about to say so. */
function waiting(state: ServiceState, parts: readonly string[], { rules, service }: Surroundings): ServiceState {
  return { ...state, readiness: waitingReadiness(parts, roleOf(service, rules.options) === 'serve') };
}
