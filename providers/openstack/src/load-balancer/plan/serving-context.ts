/** What the plan of a Service that has to be served rests on. */
import type { DesiredLoadBalancer, LoadBalancerPart, LoadBalancerWarning } from '@outrigger/cloud-provider';
import type { DesiredTree } from '../desired/desired-tree.ts';
import type { ServiceIdentity } from '../service-identity.ts';

export interface ServingContext {
  readonly desired: DesiredLoadBalancer;
  readonly identity: ServiceIdentity;
  readonly tree: DesiredTree;
  readonly warnings: readonly LoadBalancerWarning[];
  readonly parts: readonly LoadBalancerPart[];
  /** Where a floating IP is made of which nothing says where: the project's first external network with a subnet, where that is known. */
  readonly externalNetwork: string | undefined;
}
