import { measureArrivals } from '../arrivals.ts';
import { addMachines, freshCluster } from '../cluster-nodes.ts';
import type { Scenario } from '../scenario.ts';

const NODES = 300;
const LIMIT_SECONDS = 300;

export const trickle: Scenario = {
  name: 'trickle',
  what: `${NODES} nodes, ten a second`,
  upstream: true,
  run: async (rig, subject, record) => {
    const { client, cloud, transport } = rig;
    await freshCluster(rig, 0);
    const measured = await measureArrivals({
      subject,
      nodes: NODES,
      client,
      transport,
      cloud: {
        setInstances: (names) => {
          addMachines(rig, names);
          cloud.resetCalls();
        },
        calls: () => cloud.calls().total,
      },
      surroundings: await rig.surroundings(),
      limitSeconds: LIMIT_SECONDS,
    });
    record(
      { what: 'registered to initialised, p50', value: measured.p50Seconds, unit: 's' },
      { what: 'registered to initialised, p99', value: measured.p99Seconds, unit: 's', atMost: 0.15 },
      { what: 'registered to initialised, the last', value: measured.lastSeconds, unit: 's' },
      { what: 'cloud calls', value: measured.cloudCalls },
    );
  },
};
