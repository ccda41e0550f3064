/** Load balancers on moto, which keeps rules that have a description. */
import { loadBalancerScenarios } from './load-balancers.suite.ts';
import { motoOrSkip } from './moto-or-skip.suite.ts';
import { motoCloud } from './scenario-cloud.ts';

loadBalancerScenarios('moto', {
  revokes: false,
  async start(t) {
    const moto = await motoOrSkip(t);
    return moto && motoCloud(moto, 3);
  },
});
