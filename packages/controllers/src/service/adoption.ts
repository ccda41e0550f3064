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
import type { Patch, Service } from '@outrigger/kube';
import { apiTime } from '../api-time.ts';
import { isNamed, isOwnedBy } from '../load-balancer/check-plan.ts';

/** Of type `True` while it is asked for; its message names the parts: `address/a-1 load-balancer/lb-7`. */
export const adoptCondition = 'outrigger.dev/AdoptLoadBalancer';

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
export function askedOf({ status }: Service): readonly PartName[] {
  const asked = status?.conditions?.find(({ type }) => type === adoptCondition);
  if (asked?.status !== 'True') return [];
  return asked.message.split(/\s+/u, MOST_ADOPTED + 1).flatMap((text) => partNameOf(text) ?? []);
}

/** Asks for it, in place of what was asked for before. For `services/status`; fails for another Service of this name. */
export function adoptPatch(service: Service, parts: readonly PartName[], now: number): Patch {
  const condition = {
    type: adoptCondition,
    status: 'True',
    reason: 'AdoptionRequested',
    message: parts.map(({ id, kind }) => `${kind}/${id}`).join(' '),
    lastTransitionTime: apiTime(now),
  };
  return {
    type: 'strategic',
    body: { metadata: { uid: service.metadata?.uid }, status: { conditions: [condition] } },
  };
}

/**
 * Why the Service may not take over what it names; nothing is changed for it then. Once it has parts, what it names and is not
 * there any more is no reason: they were replaced.
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
      const text = `${what} is to be taken over, and the cloud does not show it: correct the name, or its provider cannot do this`;
      return new CloudError('not-found', text);
    }
    if (isOwnedBy(part, owner)) continue;
    if (part.owner) {
      const whose = `the object ${part.owner.uid} of cluster ${part.owner.clusterId}`;
      return new CloudError('not-owned', `${what} is to be taken over, and belongs to ${whose}; it is left alone`);
    }
    const twin = own.find((one) => one.kind === name.kind && !adopt.some((other) => isNamed(one, other)));
    if (twin) {
      const text = `${what} is to be taken over, and the Service has the ${twin.kind} ${twin.id} already`;
      return new CloudError('conflict', text);
    }
  }
  return undefined;
}
