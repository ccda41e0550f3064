/**
 * Parts that a person made, or another program, and that a Service is to take over: what a cluster's administrator asks for by
 * a condition of the Service. Pure.
 *
 * A condition, and not an annotation: whoever may write Services could take any part of the cloud that has no owner, and delete
 * it with the Service. Only who may write `services/status` may ask for this.
 */
import {
  CloudError,
  type LoadBalancerPart,
  type LoadBalancerService,
  type Owner,
  type PartName,
} from '@outrigger/cloud-provider';
import type { Condition, Patch, Service } from '@outrigger/kube';
import { apiTime } from '../api-time.ts';
import { isNamed, isOwnedBy } from '../load-balancer/check-plan.ts';
import type { ServicePlan } from '../load-balancer/service-plan.ts';
import { failedReadiness, readyConditionOf, type Readiness } from './readiness.ts';

/**
 * `True` while it is asked for; its message names the parts: `address/a-1 load-balancer/lb-7`. The manager answers in it: by its reason, and
 * behind the parts with why it did not take them over.
 */
export const adoptCondition = 'outrigger.dev/AdoptLoadBalancer';
const REQUESTED = 'AdoptionRequested';
const ADOPTED = 'Adopted';
const NOT_ADOPTED = ' - not adopted: ';

/** Names that are looked at. */
export const MOST_ADOPTED = 200;

/** `kind/id`; the ID may have slashes of its own. `undefined` for what is none. */
export function partNameOf(text: string): PartName | undefined {
  const [, kind, id] = /^([^\s/]+)\/(\S+)$/u.exec(text) ?? [];
  return kind === undefined || id === undefined ? undefined : { kind, id };
}

/** The parts that the Service is to take over; none for one that is going, or wants no load balancer. */
export function adoptedBy(service: Service): readonly PartName[] {
  const { metadata, spec } = service;
  return metadata?.deletionTimestamp === undefined && spec?.type === 'LoadBalancer' ? askedOf(service) : [];
}

/** The parts that it was asked to take over, whether it can or not; of more than `MOST_ADOPTED` one more than these. */
export function askedOf(service: Service): readonly PartName[] {
  const asked = requestOf(service);
  if (asked?.status !== 'True') return [];
  return namesIn(asked)
    .split(/\s+/u, MOST_ADOPTED + 1)
    .flatMap((text) => partNameOf(text) ?? []);
}

/** With its answer, if it has one; its time is that of the request. */
export function requestOf({ status }: Service): Condition | undefined {
  return status?.conditions?.find(({ type }) => type === adoptCondition);
}

const splitMessage = ({ message }: Condition): readonly string[] => message.split(NOT_ADOPTED);
const namesIn = (request: Condition): string => splitMessage(request)[0] ?? '';

/** Asks for it, in place of what was asked for before. For `services/status`; fails for another Service of this name. */
export function adoptPatch(service: Service, parts: readonly PartName[], now: number): Patch {
  const condition = {
    type: adoptCondition,
    status: 'True',
    reason: REQUESTED,
    message: parts.map(({ id, kind }) => `${kind}/${id}`).join(' '),
    lastTransitionTime: apiTime(now),
  };
  return {
    type: 'strategic',
    body: { metadata: { uid: service.metadata?.uid }, status: { conditions: [condition] } },
  };
}

/** What became of a request, as a person is told. `replaced`: it is not there any more, or another is in its place. */
export interface Adoption {
  readonly kind: 'waiting' | 'adopted' | 'refused' | 'replaced';
  /** Why it was refused; of one that waits, why the load balancer is not ready, if that is known. */
  readonly message: string;
}

/** `asked`: the Service as it was when the request was made. */
export function adoptionOf(asked: Service, now: Service): Adoption {
  const [request, answer] = [requestOf(asked), requestOf(now)];
  const isSame =
    request && answer?.lastTransitionTime === request.lastTransitionTime && namesIn(answer) === namesIn(request);
  if (!isSame) return { kind: 'replaced', message: '' };
  if (answer.reason === ADOPTED) return { kind: 'adopted', message: '' };
  if (answer.reason !== REQUESTED) return { kind: 'refused', message: splitMessage(answer).slice(1).join(NOT_ADOPTED) };
  const ready = readyConditionOf(now);
  return { kind: 'waiting', message: ready?.status === 'False' ? ready.message : '' };
}

/** The answer, by a plan and the look that it rests on (`undefined`: there was none); `undefined`: it is not known yet. */
export function answerOf(
  service: Service,
  plan: ServicePlan,
  parts: readonly LoadBalancerPart[] | undefined,
  owner: Owner,
): Readiness | undefined {
  const adopt = adoptedBy(service);
  if (adopt.length === 0) return undefined;
  const other = parts && adopt.find((name) => !parts.some((part) => isNamed(part, name) && isOwnedBy(part, owner)));
  if (parts && !other) return { reason: ADOPTED, message: '' };
  const refused = whyRefused(plan);
  if (refused) return failedReadiness(refused);
  if (!other || plan.kind !== 'bring' || !plan.complete) return undefined;
  if (!parts.some((part) => isNamed(part, other))) return failedReadiness(notShown(other));
  const text = `${other.kind} ${other.id} cannot be adopted: the Service does not need it, or the provider does not support adoption`;
  return failedReadiness(new CloudError('unsupported', text));
}

function whyRefused(plan: ServicePlan): Error | undefined {
  if (plan.kind === 'bring') return plan.refused;
  return plan.kind === 'refuse' || (plan.kind === 'nothing' && plan.reason === 'implemented-elsewhere')
    ? plan.error
    : undefined;
}

/** The condition with its answer; `undefined`: it has it already. What was adopted is so until it is asked for again: it may be replaced. */
export function answeredCondition(service: Service, { message, reason }: Readiness): Condition | undefined {
  const request = requestOf(service);
  if (!request || request.reason === ADOPTED) return undefined;
  const names = namesIn(request);
  const answered = { ...request, reason, message: reason === ADOPTED ? names : names + NOT_ADOPTED + message };
  return answered.reason === request.reason && answered.message === request.message ? undefined : answered;
}

function notShown({ id, kind }: PartName): CloudError {
  const text = `${kind} ${id} cannot be adopted: it was not found in the cloud. Correct its name; not every provider supports adoption`;
  return new CloudError('not-found', text);
}

/**
 * Why the Service may not take over what it names; nothing is changed for it then. Once it has parts, what it names and is not
 * there is no reason: they may have been replaced. The message becomes an Event on the Service: of who owns a part it says nothing.
 */
export function whyNotAdopted(
  { adopt = [] }: Pick<LoadBalancerService, 'adopt'>,
  parts: readonly LoadBalancerPart[],
  owner: Owner,
): CloudError | undefined {
  const own = parts.filter((part) => isOwnedBy(part, owner));
  for (const name of adopt) {
    const what = `${name.kind} ${name.id}`;
    const part = parts.find((one) => isNamed(one, name));
    if (!part) {
      if (own.length > 0) continue;
      return notShown(name);
    }
    if (isOwnedBy(part, owner)) continue;
    if (part.owner) {
      const cause = new Error(`the object ${part.owner.uid} of cluster ${part.owner.clusterId}`);
      const text = `${what} cannot be adopted: it belongs to another owner, and is not changed`;
      return new CloudError('not-owned', text, { cause });
    }
    const twin = own.find((one) => one.kind === name.kind && !adopt.some((other) => isNamed(one, other)));
    if (twin) {
      const text = `${what} cannot be adopted: the Service already has the ${twin.kind} ${twin.id}`;
      return new CloudError('conflict', text);
    }
  }
  return undefined;
}
