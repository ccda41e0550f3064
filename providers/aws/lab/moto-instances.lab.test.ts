/** Instances on moto. */
import { instanceScenarios } from './instances.suite.ts';
import { motoOrSkip } from './moto-or-skip.suite.ts';
import { motoCloud } from './scenario-cloud.ts';

instanceScenarios('moto', async (t) => {
  const moto = await motoOrSkip(t);
  return moto && motoCloud(moto, 3);
});
