/**
 * An address in a status draws the traffic of every node to its Service. One that the cloud no longer shows as the Service's may be
 * another's by now: it goes from the status, whatever keeps the Service from being brought to what it asks for. Pure.
 */
import { canonicalIp, type LoadBalancerPart, type Owner } from '@outrigger/cloud-provider';
import { isOwnedBy } from '../load-balancer/check-plan.ts';
import { BELIEVED_AFTER_MS } from '../load-balancer/judge-look.ts';
import type { SeenParts } from '../load-balancer/bring-to.ts';
import type { ServicePlan } from '../load-balancer/service-plan.ts';
import { isPredecessors } from '../load-balancer/tenancy.ts';
import { ingressOf } from './load-balancer-service.ts';
import { addressGoneNote } from './service-events.ts';
import { servedPatch } from './service-patch.ts';
import type { ServiceState } from './service-state.ts';
import { statusAction } from './service-words.ts';
import { wake, type Step, type Surroundings } from './step-types.ts';

/** The step of a plan, or the write that takes away what looks have left out for long. */
export function withdrawing(
  before: ServiceState,
  plan: ServicePlan,
  at: Surroundings,
  carryOut: (state: ServiceState) => Step,
): Step {
  const { look } = before;
  if (look?.observation.kind !== 'parts' || look.isSpent) return carryOut(before);
  const owner = { clusterId: at.rules.options.clusterId, uid: before.uid };
  const state = noteAddresses(before, look.observation, look.startedAt, owner, at);
  const { shown, unshownSince } = state.addresses;
  const stuck = howStuck(plan, state);
  if (!stuck) return carryOut(state);
  const hasOwn = stuck === 'refused' && addressesOf(look.observation.parts, (part) => isOwnedBy(part, owner)).size > 0;
  // What no own part ever had is a predecessor's, whose traffic goes on until the Service has an address of its own.
  const gone = [...unshownSince].filter(([ip]) => hasOwn || shown.has(ip));
  if (gone.length === 0) return carryOut(state);
  const isBelieved = (since: number): boolean => look.startedAt - since >= BELIEVED_AFTER_MS;
  const believed = new Set(gone.flatMap(([ip, since]) => (isBelieved(since) ? [ip] : [])));
  const left = ingressOf(at.service).filter(({ ip }) => !ip || !believed.has(canonical(ip)));
  const patch = servedPatch(at.service, { ingress: left, now: at.wallNow });
  if (believed.size > 0 && patch) {
    const note = addressGoneNote([...believed]);
    return {
      state,
      effects: [],
      next: { kind: 'write', write: { purpose: 'withdraw', action: statusAction, patch, note } },
    };
  }
  const dueAt = Math.min(...gone.map(([, since]) => since)) + BELIEVED_AFTER_MS;
  return noLaterThan(Math.max(1, dueAt - at.now), carryOut(state));
}

/** What a look shows of the addresses in the status. One that leaves out what may be there says nothing. */
function noteAddresses(
  state: ServiceState,
  { others = [], parts }: SeenParts,
  startedAt: number,
  owner: Owner,
  { service }: Surroundings,
): ServiceState {
  const { addresses: before, knowledge } = state;
  const isOwn = (part: LoadBalancerPart): boolean => isOwnedBy(part, owner);
  const isAtWork = (part: LoadBalancerPart): boolean =>
    isOwn(part) && (part.state === 'pending' || part.state === 'deleting') && (part.addresses ?? []).length === 0;
  const isHidden = knowledge.parts.missingIn(parts, 'there').length > 0;
  if (isHidden || (parts.length === 0 && knowledge.parts.someMade) || parts.some(isAtWork)) return state;
  const said = new Set(ingressOf(service).flatMap(({ ip }) => (ip ? [canonical(ip)] : [])));
  const own = addressesOf(parts, isOwn);
  const all = addressesOf(parts, (part) => isOwn(part) || isPredecessors(part, others));
  const unshown = [...said].filter((ip) => !all.has(ip));
  return {
    ...state,
    addresses: {
      shown: own.union(before.shown.intersection(said)),
      unshownSince: new Map(unshown.map((ip) => [ip, before.unshownSince.get(ip) ?? startedAt])),
    },
  };
}

/** Why the status is not what a plan says of it. */
function howStuck(plan: ServicePlan, { lastFailure }: ServiceState): 'failing' | 'refused' | undefined {
  switch (plan.kind) {
    case 'refuse':
      return 'refused';
    case 'failed':
      return plan.wanted ? 'failing' : undefined;
    case 'bring':
      if (plan.refused) return 'refused';
      return plan.desired.wanted && !plan.complete && lastFailure ? 'failing' : undefined;
    default:
      return undefined;
  }
}

function noLaterThan(ms: number, step: Step): Step {
  const { next } = step;
  if (next.kind !== 'rest' && next.kind !== 'wake') return step;
  return { ...step, next: wake(next.kind === 'wake' ? Math.min(ms, next.afterMs) : ms) };
}

const addressesOf = (
  parts: readonly LoadBalancerPart[],
  isMeant: (part: LoadBalancerPart) => boolean,
): ReadonlySet<string> =>
  new Set(parts.filter(isMeant).flatMap(({ addresses = [] }) => addresses.map((ip) => canonical(ip))));

const canonical = (ip: string): string => canonicalIp(ip) ?? ip;
