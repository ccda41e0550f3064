/** Taking over what a predecessor made. Pure. */
import type { LoadBalancerAction, LoadBalancerPart } from '@outrigger/cloud-provider';
import type { ServiceIdentity } from '../service-identity.ts';
import { KIND_OF, loadBalancerIn, markedIn } from '../observed-tree.ts';
import { markedDescription, ownerTag } from '../ownership.ts';
import { actionOf } from './change.ts';
import { markChange } from './neutron-requests.ts';
import { tagsChange } from './octavia-requests.ts';

interface Claimant {
  readonly identity: ServiceIdentity;
  readonly parts: readonly LoadBalancerPart[];
}

/**
 * Claims the load balancer, if one is given, and what of Neutron belongs to it. CPO's names and tags stay, so that the way back
 * is open.
 */
export function planClaims(
  { identity, parts }: Claimant,
  loadBalancer: LoadBalancerPart | undefined,
): readonly LoadBalancerAction[] {
  const { owner, names } = identity;
  const actions: LoadBalancerAction[] = [];
  if (loadBalancer) {
    const [name] = names;
    const add = [ownerTag(owner), ...(name ? [name.loadBalancer] : [])];
    const change = tagsChange(loadBalancerIn(loadBalancer), { add });
    const summary = `take over the load balancer ${loadBalancerIn(loadBalancer).name}`;
    actions.push(actionOf('claim', { kind: 'load-balancer', id: loadBalancer.id }, summary, change));
  }
  for (const part of parts) {
    const { id } = part;
    const marked = markedIn(part);
    if (part.owner !== undefined || !marked) continue;
    const { collection, description, keep, what } = marked;
    const change = markChange(collection, id, markedDescription(description, { owner, keep }), owner);
    actions.push(actionOf('claim', { kind: KIND_OF[collection], id }, `take over the ${what}`, change));
  }
  return actions;
}
