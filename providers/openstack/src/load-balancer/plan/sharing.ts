/** Why a Service may not use a load balancer together with others. Pure. */
import { CloudError } from '@outrigger/cloud-provider';
import type { DesiredTree } from '../desired/desired-tree.ts';
import type { ServiceIdentity } from '../service-identity.ts';
import type { ObservedChildren, ObservedLoadBalancer } from '../observed-tree.ts';
import { transportOf } from './diff-listeners.ts';
import { isOwnChild } from '../listener-owner.ts';

interface Shared {
  readonly loadBalancer: ObservedLoadBalancer;
  readonly children: ObservedChildren;
  /** The load balancer is the Service's own. */
  readonly owns: boolean;
  readonly tree: DesiredTree;
  readonly identity: ServiceIdentity;
}

export function sharingRefusal({ children, identity, loadBalancer, owns, tree }: Shared): CloudError | undefined {
  const { id, floatingIPs } = loadBalancer;
  const others = children.listeners.filter((child) => !isOwnChild(child, identity, owns));
  for (const { port, protocol } of tree.listeners) {
    const clash = others.find((one) => one.port === port && transportOf(one.protocol) === transportOf(protocol));
    if (!clash) continue;
    const text = `port ${port} (${transportOf(protocol)}) of the load balancer ${id} is taken by a listener that is not this Service's; choose another port`;
    return new CloudError('conflict', text);
  }
  if (owns) return undefined;
  if (tree.loadBalancer.existing && !tree.loadBalancer.existing.mayShare) {
    const text = `an internal Service cannot share the load balancer ${id}: its owner may expose it; remove the annotation load-balancer-id`;
    return new CloudError('invalid', text);
  }
  if (tree.floatingIP.kind !== 'none' && floatingIPs.length === 0) {
    const text = `the load balancer ${id} has no floating IP, and only the Service that owns it can attach one`;
    return new CloudError('conflict', text);
  }
  return undefined;
}
