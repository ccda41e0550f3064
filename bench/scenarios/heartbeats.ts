import { resources } from '@outrigger/kube';
import { areInitialised, freshCluster } from '../cluster-nodes.ts';
import { addressOf, inParallel, registerNodes } from '../fleet.ts';
import type { Rig } from '../rig.ts';
import { apiUse, secondsUntil, type Scenario } from '../scenario.ts';

const NODES = 300;
/** The provider's own: a label that may only be added where the node has none is what a write can be refused for. */
const LABELS = { 'example.com/rack': 'r1' };

export const heartbeats: Scenario = {
  name: 'heartbeats',
  what: `${NODES} nodes, with a label of the provider's, are initialised while kubelets write their status as fast as the API server takes it`,
  upstream: true,
  run: async (rig, subject, record) => {
    const { client, cloud, controlPlane } = rig;
    const names = await freshCluster(rig, NODES);
    for (const [index, name] of names.entries())
      cloud.createInstance({ name, addresses: [{ type: 'InternalIP', address: addressOf(index) }], labels: LABELS });
    await registerNodes(client, names);
    const mark = await controlPlane.auditLog.mark();
    await rig.run(subject, [], 300, async ({ signal }) => {
      const kubelets = new AbortController();
      const beating = beat(rig, names, AbortSignal.any([signal, kubelets.signal]));
      const seconds = await secondsUntil(() => areInitialised(rig, NODES), signal, 200);
      kubelets.abort();
      const beats = await beating;
      const { refused } = await apiUse(rig, mark);
      record(
        // Each costs a read and a write more.
        { what: 'node writes refused as out of date', value: refused, atMost: NODES / 10 },
        { what: 'start to all initialised', value: seconds, unit: 's' },
        { what: "kubelets' writes meanwhile", value: beats },
      );
    });
  },
};

/** Status after status, 16 nodes at a time, until `signal` aborts. Resolves with how many. */
async function beat({ client }: Rig, names: readonly string[], signal: AbortSignal): Promise<number> {
  let beats = 0;
  while (!signal.aborted) {
    await inParallel(names, async (name) => {
      if (signal.aborted) return;
      const lastHeartbeatTime = new Date(Date.now() + beats++ * 1_000).toISOString();
      const body = { status: { conditions: [{ type: 'Ready', status: 'False', lastHeartbeatTime }] } };
      await client.of(resources.nodes).patch({ name }, { type: 'strategic', body }, { subresource: 'status' });
    });
  }
  return beats;
}
