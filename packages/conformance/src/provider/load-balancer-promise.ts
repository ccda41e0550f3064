/** A test about load balancers: it gets a user of them, and the rig below it. */
import { has, type ConformanceTest } from './conformance-test.ts';
import { LoadBalancerUser } from './load-balancer-user.ts';
import type { ProviderRig } from './provider-rig.ts';

export function promise(
  name: string,
  source: string,
  run: (user: LoadBalancerUser, rig: ProviderRig) => Promise<void>,
  more: Pick<ConformanceTest, 'hooks' | 'declares'> = {},
): ConformanceTest {
  return {
    name: `load-balancers / ${name}`,
    feature: 'load-balancers',
    source,
    declares: has('loadBalancers'),
    run: (rig) => run(new LoadBalancerUser(rig), rig),
    ...more,
  };
}
