import { areInitialised, freshCluster, joinNodes, listNodes, makeReady, setNotReady } from '../cluster-nodes.ts';
import { secondsUntil, type Scenario } from '../scenario.ts';

const NODES = 9;
const GONE = 6;
/** A large share of a cluster: what a proof of that takes at most, in seconds. */
const MOST_SECONDS = 360;

export const pool: Scenario = {
  name: 'pool',
  what: `${GONE} of ${NODES} machines are gone at once: spot instances, or a pool that was scaled down`,
  upstream: true,
  run: async (rig, subject, record) => {
    const { client, cloud } = rig;
    const names = await freshCluster(rig, NODES);
    await joinNodes(rig, names);
    await rig.run(subject, [], 600, async ({ signal }) => {
      await secondsUntil(() => areInitialised(rig, NODES), signal, 500);
      await makeReady(rig);
      const gone = new Set(names.slice(0, GONE));
      for (const name of gone) cloud.deleteInstance(name);
      cloud.resetCalls();
      const began = performance.now();
      await setNotReady(client, [...gone]);
      const left = async (): Promise<readonly string[]> =>
        (await listNodes(client)).map(({ metadata }) => metadata?.name ?? '');
      await secondsUntil(async () => !(await left()).some((name) => gone.has(name)), signal, 500);
      record(
        { what: 'all nodes of them deleted after', value: since(began), unit: 's', atMost: MOST_SECONDS },
        { what: 'live nodes deleted', value: NODES - GONE - (await left()).length, atMost: 0 },
        { what: 'cloud calls', value: cloud.calls().total, atMost: 60 },
      );
    });
  },
};

function since(began: number): number {
  return (performance.now() - began) / 1000;
}
