/** Which listeners and pools of a load balancer are a Service's. Pure. */
import type { Owner } from '@outrigger/cloud-provider';
import { ownersIn, sameOwner } from '../ownership.ts';

/** CPO's tag on load balancers and listeners, one for each Service, and the beginning of its load balancers' names. */
export const cpoPrefix = 'kube_service_';
/** And of its listeners' names. */
const LISTENER_PREFIX = 'listener_';

export interface OwnershipOfChildren {
  readonly owner: Owner;
  /** What CPO calls this Service's load balancer, and puts as a tag onto its listeners. */
  readonly names: readonly string[];
  /** The load balancer is this Service's: then a listener that says nothing is what CPO made before it had tags. */
  readonly ownsLoadBalancer: boolean;
}

interface Child {
  readonly name: string;
  readonly tags: readonly string[];
}

export function isOwnChild({ name, tags }: Child, { names, owner, ownsLoadBalancer }: OwnershipOfChildren): boolean {
  const tagged = ownersIn(tags);
  if (tagged.taken) return tagged.owner !== undefined && sameOwner(tagged.owner, owner);
  const cpoTags = tags.filter((tag) => tag.startsWith(cpoPrefix));
  if (cpoTags.length > 0) return cpoTags.every((tag) => names.includes(tag));
  return ownsLoadBalancer && name.startsWith(LISTENER_PREFIX);
}

/** How many Services use the load balancer, by its tags: ours carry CPO's too. */
export function sharesIn(tags: readonly string[]): number {
  const { owner, sharers } = ownersIn(tags);
  const cpo = new Set(tags.filter((tag) => tag.startsWith(cpoPrefix))).size;
  return Math.max(cpo, sharers.length + (owner ? 1 : 0));
}
