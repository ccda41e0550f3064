/** What was made, and whose description alone says whose it is: the program died before the tags were written. Pure. */
import { sameOwner, type LoadBalancerAction, type LoadBalancerPart, type Owner } from '@outrigger/cloud-provider';
import { floatingIPIn, securityGroupIn } from '../observed-tree.ts';
import { actionOf } from './change.ts';

/** Nothing waits for it: it comes once all else is as it should be. */
export function planNeutronTags(parts: readonly LoadBalancerPart[], owner: Owner): readonly LoadBalancerAction[] {
  return parts.flatMap((part): readonly LoadBalancerAction[] => {
    const { id } = part;
    if (!sameOwner(part.owner, owner)) return [];
    if (part.kind === 'floating-ip' && !floatingIPIn(part).tagged) {
      const change = { op: 'neutron-tags', collection: 'floatingips', id, owner } as const;
      const summary = `write the tags of the floating IP ${floatingIPIn(part).address}`;
      return [actionOf('update', { kind: part.kind, id }, summary, change)];
    }
    if (part.kind === 'security-group' && !securityGroupIn(part).tagged) {
      const change = { op: 'neutron-tags', collection: 'security-groups', id, owner } as const;
      return [actionOf('update', { kind: part.kind, id }, `write the tags of the security group ${id}`, change)];
    }
    return [];
  });
}
