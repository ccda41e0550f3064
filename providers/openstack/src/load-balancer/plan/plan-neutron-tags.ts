/** What was made, and whose description alone says whose it is: the program died before the tags were written. Pure. */
import { sameOwner, type LoadBalancerAction, type LoadBalancerPart, type Owner } from '@outrigger/cloud-provider';
import { KIND_OF, markedIn } from '../observed-tree.ts';
import { actionOf } from './change.ts';

/** Nothing waits for it: it comes once all else is as it should be. */
export function planNeutronTags(parts: readonly LoadBalancerPart[], owner: Owner): readonly LoadBalancerAction[] {
  return parts.flatMap((part): readonly LoadBalancerAction[] => {
    const { id } = part;
    const marked = markedIn(part);
    if (!sameOwner(part.owner, owner) || !marked || marked.tagged) return [];
    const { collection, what } = marked;
    const change = { op: 'neutron-tags', collection, id, owner } as const;
    return [actionOf('update', { kind: KIND_OF[collection], id }, `write the tags of the ${what}`, change)];
  });
}
