/**
 * What is kept of Services that are gone until their parts are, and when that is given up: whoever may write a Service may write its record
 * of parts, and delete one after the other. What is given up the search for orphans finds. Pure.
 */
import {
  ANNOTATION_LENGTH,
  type CloudErrorCode,
  isCloudError,
  loadBalancerOwnerAnnotation,
  NAME_LENGTH,
  type ServiceAnnotation,
} from '@outrigger/cloud-provider';
import { keyOfObject, type Service } from '@outrigger/kube';
import type { Knowledge } from '../load-balancer/judge-look.ts';
import { KnownParts } from '../load-balancer/known-parts.ts';
import { shareWithAnnotation } from '../load-balancer/tenancy.ts';
import { adoptCondition } from './adoption.ts';
import type { ServiceState } from './service-state.ts';
import { REST, type Step } from './step-types.ts';
import { cleanupFinalizer, missingSinceAnnotation, releaseAnnotation } from './well-known-names.ts';

/** Of those that nothing but their record speaks for: in one namespace, and in all. */
export const MOST_UNPROVED_OF_ONE = 100;
export const MOST_UNPROVED = 1_000;
/** With those whose parts were seen, each of which the cloud's own quota has let be made. */
export const MOST_LEFTOVERS = 5_000;
/** Characters of an unproved record; a longer one is kept as one that cannot be read. */
const MOST_RECORDED = 16_000;
/** Enough to be asked about as one of many. */
const MOST_PORTS = 100;
const MOST_FINALIZERS = 20;
/** As many failures, each about five minutes after the one before: a day. */
const HOPELESS = 288;
/** What a record alone names, and is not of this cloud, is refused three times. */
const OF_ANOTHER_CLOUD = HOPELESS / 3;
/** Of the cloud, and not of the record. What says when to ask again is no failure. */
const OUTAGES: readonly CloudErrorCode[] = ['unavailable', 'timeout', 'throttled', 'unauthenticated', 'retry-after'];

/**
 * `read`: the annotations that its provider reads. How often it has failed, its nodes, and what it was to say of itself were about what it
 * wanted. Everything is copied: a cut text would keep the whole one.
 */
export function leftoverOf(state: ServiceState, service: Service, read: readonly ServiceAnnotation[]): ServiceState {
  return {
    ...state,
    leftover: structuredClone(cutDown(service, read)),
    knowledge: cutDownKnowledge(state.knowledge),
    failures: 0,
    nodes: undefined,
    lastFailure: undefined,
    wish: undefined,
    settled: undefined,
    tried: undefined,
    statusField: undefined,
    recordField: undefined,
    readiness: undefined,
    adoption: undefined,
  };
}

function cutDown({ metadata = {}, spec = {}, status = {} }: Service, read: readonly ServiceAnnotation[]): Service {
  const { annotations = {}, deletionTimestamp, finalizers = [], name, namespace, uid } = metadata;
  const { externalTrafficPolicy, ipFamilies, ipFamilyPolicy, loadBalancerClass, loadBalancerIP, ports, type } = spec;
  const lengths = new Map([
    ...[loadBalancerOwnerAnnotation, releaseAnnotation].map((one) => [one, NAME_LENGTH] as const),
    [shareWithAnnotation, ANNOTATION_LENGTH],
    [missingSinceAnnotation, MOST_RECORDED],
    ...read.map(({ name: one, maxLength = NAME_LENGTH }) => [one, maxLength] as const),
  ]);
  const kept = Object.entries(annotations).flatMap(([one, value]) => {
    const length = lengths.get(one);
    return length === undefined ? [] : [[one, value.slice(0, length)] as const];
  });
  const others = finalizers.filter((one) => one !== cleanupFinalizer && one.length <= NAME_LENGTH);
  const ours = finalizers.filter((one) => one === cleanupFinalizer);
  const conditions = status.conditions?.filter((one) => one.type === adoptCondition);
  return {
    metadata: {
      name,
      namespace,
      uid,
      ...(deletionTimestamp !== undefined && { deletionTimestamp }),
      annotations: Object.fromEntries(kept),
      finalizers: [...ours, ...others.slice(0, MOST_FINALIZERS)],
    },
    spec: {
      type,
      loadBalancerClass,
      ...(loadBalancerIP && { loadBalancerIP: loadBalancerIP.slice(0, NAME_LENGTH) }),
      ipFamilies,
      ipFamilyPolicy,
      externalTrafficPolicy,
      ...(ports && { ports: ports.slice(0, MOST_PORTS) }),
    },
    status: { ...(status.loadBalancer && { loadBalancer: status.loadBalancer }), ...(conditions && { conditions }) },
  } as Service;
}

function cutDownKnowledge(knowledge: Knowledge): Knowledge {
  const { isProved, parts } = knowledge;
  if (isProved) return knowledge;
  const { names, unseen } = parts;
  const length = names.reduce((sum, { id, kind }) => sum + id.length + kind.length, 0);
  if (length > MOST_RECORDED) return { ...knowledge, parts: new KnownParts(true), wait: undefined };
  return { ...knowledge, parts: new KnownParts(true, structuredClone({ parts: names, open: unseen.length > 0 })) };
}

type Leftovers = readonly (readonly [key: string, state: ServiceState])[];

/**
 * Which of those that are kept, the oldest first, has to go for the sake of the one that has just come, if any has to. Who has most gives
 * one up, and none whose parts were seen before all others.
 */
export function surplusOf(
  leftovers: ReadonlyMap<string, ServiceState>,
  { leftover: newest }: ServiceState,
): string | undefined {
  // Each that comes asks, of thousands: those that were seen are passed over without a copy.
  const unproved: (readonly [key: string, state: ServiceState])[] = [];
  for (const [key, state] of leftovers) if (!state.knowledge.isProved) unproved.push([key, state]);
  const ofIts = unproved.filter(([, state]) => tenantOf(state) === newest?.metadata?.namespace);
  if (ofIts.length > MOST_UNPROVED_OF_ONE) return leastUseful(ofIts);
  if (unproved.length > MOST_UNPROVED) return leastUseful(mostOfOne(unproved));
  if (leftovers.size <= MOST_LEFTOVERS) return undefined;
  return leastUseful(mostOfOne(unproved.length > 0 ? unproved : [...leftovers]));
}

const tenantOf = ({ leftover }: ServiceState): string | undefined => leftover?.metadata?.namespace;

/** The one that has failed since longest; where none has, the newest: the others are about to be looked at. */
const leastUseful = (those: Leftovers): string | undefined =>
  (those.find(([, { failures }]) => failures > 0) ?? those.at(-1))?.[0];

function mostOfOne(those: Leftovers): Leftovers {
  const byTenant = Map.groupBy(those, ([, state]) => tenantOf(state));
  return [...byTenant.values()].reduce((most, one) => (one.length > most.length ? one : most), []);
}

/**
 * Counts a failure to find out about what its record names, which a tenant may have written. That is no proof that nothing is there. What
 * was seen is given up for nothing but that the cloud cannot be asked at all; an outage says nothing of the record.
 */
export function withUnreadable(state: ServiceState, error: Error): ServiceState {
  const { knowledge, leftover, look, unreadable } = state;
  const answers = [...(look?.answers.values() ?? [])];
  if (!leftover || !answers.some((answer) => answer.kind === 'failed' && answer.error === error)) return state;
  const isForeign = isCloudError(error, 'unsupported') || isCloudError(error, 'invalid');
  const isOutage = isCloudError(error) && OUTAGES.includes(error.code);
  if (isOutage || (knowledge.isProved && !isForeign)) return state;
  return { ...state, unreadable: unreadable + (isForeign && !knowledge.isProved ? OF_ANOTHER_CLOUD : 1) };
}

export const isHopeless = ({ unreadable }: ServiceState): boolean => unreadable >= HOPELESS;

const REASONS = {
  hopeless: 'the cloud cannot be asked about the parts in its record',
  surplus: 'too many deleted Services wait for their clean-up',
} as const;

export function giveUp({ knowledge, leftover, uid }: ServiceState, why: keyof typeof REASONS): Step {
  const message =
    'The clean-up after a deleted Service is given up; its load balancer is left to the search for orphans';
  const parts = knowledge.parts.words.slice(0, 10);
  const fields = { key: leftover && keyOfObject(leftover), uid, parts, reason: REASONS[why] };
  return {
    state: undefined,
    effects: [
      { kind: 'count', what: 'given-up' },
      { kind: 'log', level: 'warn', message, fields },
      { kind: 'forget-lock' },
      { kind: 'forget', isGone: true },
    ],
    next: REST,
  };
}
