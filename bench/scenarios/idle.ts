import { areInitialised, freshCluster, joinNodes, makeReady } from '../cluster-nodes.ts';
import { apiUse, secondsUntil, sleep, type Scenario } from '../scenario.ts';
import type { Subject } from '../subjects.ts';

const NODES = 1_000;
const SETTLE_MS = 10_000;
const WINDOW_MS = 60_000;

export const idle: Scenario = {
  name: 'idle',
  what: `${NODES} nodes, no routes, nothing new for a minute between two passes and two searches for orphans (each --…=1h)`,
  upstream: true,
  run: async (rig, subject, record) => {
    await joinNodes(rig, await freshCluster(rig, NODES));
    await rig.run(subject, flagsOf(subject), 600, async ({ signal }) => {
      await secondsUntil(() => areInitialised(rig, NODES), signal, 500);
      // A node that is not Ready is asked about, ever more rarely.
      await makeReady(rig);
      await sleep(SETTLE_MS);
      rig.cloud.resetCalls();
      const mark = await rig.controlPlane.auditLog.mark();
      await sleep(WINDOW_MS);
      const { reads, writes } = await apiUse(rig, mark);
      record(
        { what: 'cloud calls', value: rig.cloud.calls().total, atMost: 0 },
        { what: 'API writes, Leases left out', value: writes, atMost: 0 },
        { what: 'API reads', value: reads, atMost: 0 },
      );
    });
  },
};

/** Upstream looks for no orphans. */
function flagsOf({ name }: Subject): readonly string[] {
  const pass = '--node-status-update-frequency=1h';
  return name === 'outrigger' ? [pass, '--orphan-check-period=1h'] : [pass];
}
