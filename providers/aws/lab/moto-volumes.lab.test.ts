/** Volumes on moto. */
import { motoOrSkip } from './moto-or-skip.suite.ts';
import { motoCloud } from './scenario-cloud.ts';
import { volumeScenarios } from './volumes.suite.ts';

volumeScenarios('moto', async (t) => {
  const moto = await motoOrSkip(t);
  return moto && motoCloud(moto, 0);
});
