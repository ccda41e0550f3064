import { areInitialised, freshCluster, joinNodes, makeReady } from '../cluster-nodes.ts';
import { mostInOneSecond, secondsUntil, sleep, type Scenario } from '../scenario.ts';

const NODES = 1_000;
const PASS_SECONDS = 30;
const PASSES = 2;
const SETTLE_MS = 10_000;

export const pass: Scenario = {
  name: 'pass',
  what: `${NODES} nodes compared with the cloud once in --node-status-update-frequency, here ${PASS_SECONDS} s`,
  upstream: true,
  run: async (rig, subject, record) => {
    await joinNodes(rig, await freshCluster(rig, NODES));
    const flags = [`--node-status-update-frequency=${PASS_SECONDS}s`];
    await rig.run(subject, flags, 600, async ({ signal }) => {
      await secondsUntil(() => areInitialised(rig, NODES), signal, 500);
      // A node that is not Ready is asked about outside of the passes too.
      await makeReady(rig);
      await sleep(SETTLE_MS);
      rig.cloud.resetCalls();
      await sleep(PASSES * PASS_SECONDS * 1000);
      const { last, total } = rig.cloud.calls();
      record(
        // Passes and this window do not begin together: one look more may fall into it.
        { what: `cloud calls in ${PASSES} passes`, value: total, atMost: (PASSES * NODES) / 500 + 1 },
        { what: 'most calls in one second', value: mostInOneSecond(last.map(({ at }) => at)), atMost: 2 },
      );
    });
  },
};
