/**
 * An address in a status draws the traffic of every node to its Service. One that the cloud no longer shows as the Service's may be
 * another's by now: it goes from the status, whatever keeps the Service from being brought to what it asks for. Pure.
 */
import {
  canonicalAddress,
  type LoadBalancerPart,
  type Owner,
  type PartAnswer,
  type PartQuestion,
} from '@outrigger/cloud-provider';
import type { Service } from '@outrigger/kube';
import { addressesIn, isOwnedBy } from '../load-balancer/check-plan.ts';
import { BELIEVED_AFTER_MS, MOST_ASKED, questionKey, unshownKinds } from '../load-balancer/judge-look.ts';
import type { SeenParts } from '../load-balancer/bring-to.ts';
import type { ServicePlan } from '../load-balancer/service-plan.ts';
import { isPredecessors } from '../load-balancer/tenancy.ts';
import { ingressOf, ipsOf } from './load-balancer-service.ts';
import { FIRST_POLL_MS, spent } from './polling.ts';
import { isRecorded, roleOf } from './role.ts';
import { addressGoneNote } from './service-events.ts';
import { ingressPatch } from './service-patch.ts';
import type { ServiceState } from './service-state.ts';
import { statusAction } from './service-words.ts';
import { touched } from './settled-now.ts';
import { wake, type Step, type Surroundings } from './step-types.ts';

/** So many of the addresses that were taken away are remembered. */
const MOST_WITHDRAWN = 16;

type CarryOut = (state: ServiceState, at: Surroundings) => Step;

/** The step of a plan, or the write that takes away what looks have left out for long, or gives back what one shows again. */
export function withdrawing(before: ServiceState, plan: ServicePlan, at: Surroundings, carryOut: CarryOut): Step {
  const { leftover, look } = before;
  if (leftover || look === undefined || look.isSpent) return carryOut(before, at);
  if (look.observation.kind === 'failed') return carryOut(anew(before), at);
  const owner = { clusterId: at.rules.options.clusterId, uid: before.uid };
  const state = noteAddresses(before, look.observation, look.startedAt, owner, at);
  if (!state) return carryOut(anew(before), at);
  if (saysAll(plan)) return carryOut(state, at);
  const { shown, unshownSince, withdrawn } = state.addresses;
  const { parts } = look.observation;
  // Of one that is not recorded, another program may have the address. What no own part ever had may be a predecessor's, whose traffic goes
  // on until the Service has an address of its own, or wants none.
  const hasOwn = addressesIn(parts.filter((part) => isOwnedBy(part, owner))).size > 0;
  const isAllOurs = isEnding(at.service) || (isRefused(plan) && hasOwn);
  const isOurs = isAllOurs && isRecorded(at.service, at.rules.options.providerName);
  const gone = [...unshownSince].filter(([ip]) => isOurs || shown.has(ip));
  const isBelieved = (since: number): boolean => look.startedAt - since >= BELIEVED_AFTER_MS;
  const believed = new Set(gone.flatMap(([ip, since]) => (isBelieved(since) ? [ip] : [])));
  const isServed = roleOf(at.service, at.rules.options) === 'serve';
  const back = isServed ? withdrawn.filter(({ ip = '' }) => shown.has(canonicalAddress(ip))) : [];
  if (believed.size + back.length === 0) {
    const dueAt = Math.min(...gone.map(([, since]) => since)) + BELIEVED_AFTER_MS;
    return noLaterThan(dueAt - at.now, carryOut(state, at));
  }
  if (believed.size > 0) {
    const questions = questionsOf(state, parts, owner, at);
    const open = questions.filter((question) => !look.answers.has(questionKey(question)));
    if (open.length > 0) {
      return { state, effects: [], next: { kind: 'read', read: { look, questions: open.slice(0, MOST_ASKED) } } };
    }
    if (questions.some((question) => mayBeThere(look.answers.get(questionKey(question))))) {
      return carryOut(anew(state), at);
    }
  }
  const ingress = ingressOf(at.service);
  const isGone = ({ ip }: { readonly ip?: string | undefined }): boolean => !!ip && believed.has(canonicalAddress(ip));
  const left = [...ingress.filter((one) => !isGone(one)), ...back];
  const patch = ingressPatch(at.service, left);
  if (at.rules.dryRun) {
    const action = { ...statusAction, write: { object: at.service, patch } };
    return carryOut(state, { ...at, before: [...at.before, action] });
  }
  const remembered = [...withdrawn, ...ingress.filter(isGone)].slice(-MOST_WITHDRAWN);
  const note = believed.size > 0 && isServed ? addressGoneNote([...believed]) : undefined;
  return {
    state: { ...state, addresses: { ...state.addresses, withdrawn: remembered } },
    effects: [],
    next: { kind: 'write', write: { purpose: 'withdraw', action: statusAction, patch, note } },
  };
}

/** They are taken away. Written back by another, they are judged anew: else its writer would have ours at any rate. */
export function withdrew(state: ServiceState): ServiceState {
  const { addresses } = state;
  const gone = new Set(addresses.withdrawn.map(({ ip = '' }) => canonicalAddress(ip)));
  const unshownSince = new Map([...addresses.unshownSince].filter(([ip]) => !gone.has(ip)));
  return spent({ ...state, addresses: { ...addresses, unshownSince } });
}

/** Looks that leave an address out prove nothing about the time of one between them that says nothing. */
const anew = (state: ServiceState): ServiceState => ({
  ...state,
  addresses: { ...state.addresses, unshownSince: new Map() },
});

/** What a look shows of the addresses in the status. `undefined`: it leaves out what may be there, and says nothing. */
function noteAddresses(
  state: ServiceState,
  { others = [], parts }: SeenParts,
  startedAt: number,
  owner: Owner,
  { rules, service }: Surroundings,
): ServiceState | undefined {
  const { addresses: before, knowledge } = state;
  const isOwn = (part: LoadBalancerPart): boolean => isOwnedBy(part, owner);
  const isAtWork = (part: LoadBalancerPart): boolean =>
    isOwn(part) && part.state === 'pending' && (part.addresses ?? []).length === 0;
  // Of one that is not recorded no part is judged to be gone: its looks alone say.
  const isJudged = isRecorded(service, rules.options.providerName);
  const isHidden = isJudged && knowledge.parts.missingIn(parts, 'proved').length > 0;
  if (isHidden || (parts.length === 0 && knowledge.parts.someMade) || parts.some(isAtWork)) return undefined;
  const said = new Set(ipsOf(service));
  const own = addressesIn(parts.filter(isOwn));
  const all = addressesIn(parts.filter((part) => isOwn(part) || isPredecessors(part, others)));
  const unshown = [...said].filter((ip) => !all.has(ip));
  return {
    ...state,
    // Where a look does not show an address of the status, what was settled no longer counts.
    settled: unshown.length > 0 ? touched(state.settled) : state.settled,
    addresses: {
      shown: own.union(before.shown.intersection(said)),
      unshownSince: new Map(unshown.map((ip) => [ip, before.unshownSince.get(ip) ?? startedAt])),
      withdrawn: before.withdrawn.filter(({ ip = '' }) => !said.has(canonicalAddress(ip))),
    },
  };
}

/** What the cloud can be asked about directly, and may have the address: what was known, and kinds of which nothing is shown. */
function questionsOf(
  { knowledge }: ServiceState,
  parts: readonly LoadBalancerPart[],
  owner: Owner,
  { rules: { cloud } }: Surroundings,
): readonly PartQuestion[] {
  if (!cloud.read) return [];
  const missing = knowledge.parts.missingIn(parts, 'proved').map(({ id, kind }) => ({ id, kind, owner }));
  return [...missing, ...unshownKinds(cloud, { parts }, owner)];
}

/** Where nothing proves that it is the Service's, looks alone say. */
const mayBeThere = (answer: PartAnswer | undefined): boolean =>
  answer?.kind === 'failed' || (answer?.kind === 'there' && !answer.isUnowned);

/** Whether what a plan comes to is all that the status is to say, or there is nothing to compare it with. */
function saysAll(plan: ServicePlan): boolean {
  if (plan.kind === 'bring') return plan.complete && !isRefused(plan);
  return plan.kind === 'nothing' || plan.kind === 'observe' || plan.kind === 'ask' || plan.kind === 'release';
}

const isRefused = (plan: ServicePlan): boolean =>
  plan.kind === 'refuse' || (plan.kind === 'bring' && plan.refused !== undefined);

/** It asks for no load balancer any more: not for one of another class, whose controller may have written its status by now. */
const isEnding = ({ metadata, spec }: Service): boolean =>
  spec?.type !== 'LoadBalancer' || metadata?.deletionTimestamp !== undefined;

function noLaterThan(ms: number, step: Step): Step {
  const { next } = step;
  if (ms === Infinity || (next.kind !== 'rest' && next.kind !== 'wake')) return step;
  const afterMs = Math.max(FIRST_POLL_MS, ms);
  return { ...step, next: wake(next.kind === 'wake' ? Math.min(afterMs, next.afterMs) : afterMs) };
}
