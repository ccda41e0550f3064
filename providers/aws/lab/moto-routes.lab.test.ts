/** Routes on moto, which keeps the network interfaces of instances that are gone. */
import { motoOrSkip } from './moto-or-skip.suite.ts';
import { routeScenarios } from './routes.suite.ts';
import { motoCloud } from './scenario-cloud.ts';

routeScenarios('moto', {
  hasBlackholes: false,
  async start(t) {
    const moto = await motoOrSkip(t);
    return moto && motoCloud(moto, 2);
  },
});
