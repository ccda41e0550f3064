/** Load balancers on moto. */
import { loadBalancerScenarios } from './load-balancers.suite.ts';
import { motoOrSkip } from './moto-or-skip.suite.ts';
import { motoCloud } from './scenario-cloud.ts';

loadBalancerScenarios('moto', async (t) => {
  const moto = await motoOrSkip(t);
  return moto && motoCloud(moto, 3);
});
