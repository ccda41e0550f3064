import { addMachines, areInitialised, freshCluster, setNotReady } from '../cluster-nodes.ts';
import { registerNodes } from '../fleet.ts';
import { apiUse, secondsUntil, sleep, type Scenario } from '../scenario.ts';

const NODES = 50;
const LATE_MS = 15_000;

export const newborn: Scenario = {
  name: 'newborn',
  what: `${NODES} nodes register, and the cloud shows their machines ${LATE_MS / 1000} s later`,
  upstream: true,
  run: async (rig, subject, record) => {
    const names = await freshCluster(rig, NODES);
    await rig.run(subject, [], 300, async ({ signal }) => {
      await sleep(3_000);
      rig.cloud.resetCalls();
      const mark = await rig.controlPlane.auditLog.mark();
      await registerNodes(rig.client, names);
      await setNotReady(rig.client, names);
      await sleep(LATE_MS);
      const calls = rig.cloud.calls().total;
      addMachines(rig, names);
      const { deletedNodes } = await apiUse(rig, mark);
      const seconds = await secondsUntil(() => areInitialised(rig, NODES - deletedNodes), signal);
      record(
        { what: 'live nodes deleted', value: (await apiUse(rig, mark)).deletedNodes, atMost: 0 },
        { what: 'cloud calls while they were not shown', value: calls, atMost: LATE_MS / 1000 },
      );
      if (deletedNodes < NODES) record({ what: 'shown to initialised, the last', value: seconds, unit: 's' });
    });
  },
};
