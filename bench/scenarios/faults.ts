import type { FaultRule } from '@outrigger/provider-memory';
import { areInitialised, freshCluster, joinNodes, listNodes, setNotReady } from '../cluster-nodes.ts';
import { apiUse, mostInOneSecond, secondsUntil, sleep, type Scenario } from '../scenario.ts';

const NODES = 100;
const PHASE_MS = 120_000;
const MOST_CALLS = 60;
/** Of a false 404: longer than the grace period. */
const LIE_MS = 45_000;
const ONE = 'GET /instances/{id}';
const EMPTY: FaultRule = { effect: 'empty' };

const PHASES: readonly (readonly [name: string, rules: readonly FaultRule[]])[] = [
  ['429', [{ effect: 'status', status: 429, retryAfterSeconds: 1 }]],
  ['500', [{ effect: 'status', status: 500 }]],
  ['lists empty and reads 500', [{ operation: ONE, effect: 'status', status: 500 }, EMPTY]],
];

export const faults: Scenario = {
  name: 'faults',
  what: `${NODES} nodes are NotReady and alive; the cloud fails for ${PHASE_MS / 1000} s in each way, and then lies for ${LIE_MS / 1000} s`,
  upstream: true,
  run: async (rig, subject, record) => {
    const { client, cloud } = rig;
    const names = await freshCluster(rig, NODES);
    await joinNodes(rig, names);
    await rig.run(subject, [], 900, async ({ signal }) => {
      await secondsUntil(() => areInitialised(rig, NODES), signal, 500);
      for (const [name, rules] of PHASES) {
        cloud.setFaults(rules);
        const use = await during(PHASE_MS);
        const { last, total } = cloud.calls();
        record(
          { what: `${name}: cloud calls`, value: total, atMost: MOST_CALLS },
          { what: `${name}: most calls in one second`, value: mostInOneSecond(last.map(({ at }) => at)) },
          { what: `${name}: live nodes deleted`, value: use.deletedNodes, atMost: 0 },
        );
      }
      cloud.setFaults([{ operation: ONE, effect: 'status', status: 404 }, EMPTY]);
      const use = await during(LIE_MS);
      record({ what: '404 for machines that live: nodes deleted', value: use.deletedNodes, atMost: 0 });
    });

    async function during(ms: number): ReturnType<typeof apiUse> {
      cloud.resetCalls();
      const mark = await rig.controlPlane.auditLog.mark();
      // News of every node: nobody is silent because nothing happens. A node that was deleted has none.
      await setNotReady(
        client,
        (await listNodes(client)).map(({ metadata }) => metadata?.name ?? ''),
      );
      await sleep(ms);
      return apiUse(rig, mark);
    }
  },
};
