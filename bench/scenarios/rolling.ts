import {
  addMachines,
  areInitialised,
  freshCluster,
  joinNodes,
  listNodes,
  makeReady,
  setNotReady,
} from '../cluster-nodes.ts';
import { registerNodes } from '../fleet.ts';
import { secondsUntil, sleep, type Scenario } from '../scenario.ts';

const NODES = 3;
const APART_MS = 30_000;
const MOST_SECONDS = 60;

export const rolling: Scenario = {
  name: 'rolling',
  what: `a pool of ${NODES} is replaced one by one, a machine each ${APART_MS / 1000} s`,
  upstream: true,
  run: async (rig, subject, record) => {
    const { client, cloud } = rig;
    const names = await freshCluster(rig, 2 * NODES);
    const [before, after] = [names.slice(0, NODES), names.slice(NODES)];
    await joinNodes(rig, before);
    await rig.run(subject, [], 600, async ({ signal }) => {
      await secondsUntil(() => areInitialised(rig, NODES), signal, 500);
      await makeReady(rig);
      const replace = async (index: number): Promise<number> => {
        await sleep(index * APART_MS);
        const [old = '', fresh = ''] = [before[index], after[index]];
        addMachines(rig, [fresh]);
        await registerNodes(client, [fresh]);
        await makeReady(rig, [fresh]);
        cloud.deleteInstance(old);
        const began = performance.now();
        await setNotReady(client, [old]);
        const isGone = async (): Promise<boolean> =>
          !(await listNodes(client)).some(({ metadata }) => metadata?.name === old);
        await secondsUntil(isGone, signal, 500);
        return (performance.now() - began) / 1000;
      };
      const seconds = await Promise.all(before.map((_, index) => replace(index)));
      record(
        {
          what: 'a machine gone to its node deleted, the slowest',
          value: Math.max(...seconds),
          unit: 's',
          atMost: MOST_SECONDS,
        },
        { what: 'live nodes deleted', value: NODES - (await listNodes(client)).length, atMost: 0 },
      );
    });
  },
};
