/** The other side of `LoadProcess`: runs the load that it is sent until it is told to stop, or until who started it has gone. */
import { once } from 'node:events';
import { HostileKubelets } from './hostile-kubelets.ts';
import { HostileTenant } from './hostile-tenant.ts';
import type { Load, LoadCounts, LoadMessage } from './load-process.ts';
import { NeutralLoad } from './neutral-load.ts';
import { seededRandom } from './seeded-random.ts';

const NOTHING: LoadCounts = {
  tenant: { created: 0, changed: 0, deleted: 0, refused: 0 },
  kubelets: { written: 0, refused: 0 },
};

const messages = () => once(process, 'message');

/** Begins; resolves with what ends it, when nothing is under way any more. */
async function start(load: Load): Promise<() => Promise<LoadCounts>> {
  const random = seededRandom(load.seed);
  if (load.kind === 'neutral') {
    const neutral = await NeutralLoad.start({ ...load.options, random });
    return async () => {
      await neutral[Symbol.asyncDispose]();
      return NOTHING;
    };
  }
  const tenant = await HostileTenant.start({ ...load.tenant, random });
  const kubelets = await HostileKubelets.start({ ...load.kubelets, random });
  return async () => {
    await tenant[Symbol.asyncDispose]();
    await kubelets[Symbol.asyncDispose]();
    return { tenant: tenant.counts, kubelets: kubelets.counts };
  };
}

process.once('disconnect', () => process.exit());
const [load] = (await messages()) as [Load];
const stop = await start(load);
const told = messages();
process.send?.('started' satisfies LoadMessage);
await told;
const counts: LoadMessage = await stop();
process.send?.(counts, () => process.disconnect());
