/** What a predecessor made for a Service: whether it may be taken over, is shared, or is a namesake's. Pure. */
import type { LoadBalancerPart } from '@outrigger/cloud-provider';
import { cpoPrefix, isOwnChild } from './listener-owner.ts';
import { loadBalancerIn } from './observed-tree.ts';
import { ownersIn } from './ownership.ts';
import { hasOwnName, type ServiceIdentity } from './service-identity.ts';

/**
 * Whether the Service may take the load balancer over: nobody's tag is on it, the Service names it, and it has the name that CPO
 * gives this Service's; or that of a Service which is gone from its tags, and ours is the only one left there.
 */
export function isClaimable(part: LoadBalancerPart, { named, names, service }: ServiceIdentity): boolean {
  const { id, name, tags } = loadBalancerIn(part);
  if (part.owner !== undefined || ownersIn(tags).taken || !named.includes(id)) return false;
  if (service.adopt?.some((one) => one.kind === 'load-balancer' && one.id === id)) return true;
  const isNamed = hasOwnName(name, names);
  const cpoTags = tags.filter((tag) => tag.startsWith(cpoPrefix));
  if (cpoTags.length === 0) return isNamed;
  const ours = cpoTags.filter((tag) => names.some(({ loadBalancer }) => tag === loadBalancer));
  // Without ours the Service has left it to the others, under its name.
  if (ours.length === 0) return false;
  return isNamed || (name.startsWith(cpoPrefix) && ours.length === cpoTags.length);
}

/**
 * Whether somebody of the Service's own name has it and has not marked all of its listeners yet: another cluster of this one's name, or
 * the Service that was called so before. The predecessor's tags on the others would prove them to be this Service's as well.
 */
export function isNamesakes(part: LoadBalancerPart, identity: ServiceIdentity): boolean {
  const { children, name, tags } = loadBalancerIn(part);
  if (!hasOwnName(name, identity.names) || !ownersIn(tags).taken) return false;
  return children?.listeners.some((one) => !ownersIn(one.tags).taken && isOwnChild(one, identity, false)) ?? false;
}

/**
 * Whether the predecessor has made listeners for the Service on a load balancer that is another's, which the Service names: they are its
 * own, and go with it, whether it has joined here or not. As long as nothing is seen of them the predecessor's tag stands for them.
 */
export function hasPredecessorsShare(part: LoadBalancerPart, identity: ServiceIdentity): boolean {
  const { named, names } = identity;
  const { children, id, name, tags } = loadBalancerIn(part);
  if (!named.includes(id)) return false;
  // Under the Service's own name it is taken over whole, or was by somebody of the same name.
  if (hasOwnName(name, names)) return false;
  if (!children) return names.some(({ loadBalancer }) => tags.includes(loadBalancer));
  return children.listeners.some((one) => isOwnChild(one, identity, false));
}
