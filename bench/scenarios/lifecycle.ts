import { resources, type Node } from '@outrigger/kube';
import {
  areInitialised,
  countNodes,
  freshCluster,
  hasTaint,
  joinNodes,
  makeReady,
  setNotReady,
} from '../cluster-nodes.ts';
import { observeNodes } from '../node-observer.ts';
import { apiUse, secondsUntil, sleep, type Scenario } from '../scenario.ts';

const NODES = 500;
const AFFECTED = 100;
const SHUTDOWN_TAINT = 'node.cloudprovider.kubernetes.io/shutdown';
/** `--node-deletion-grace-period`'s default, in seconds. */
const GRACE_SECONDS = 30;
const QUIET_MS = 60_000;

export const lifecycle: Scenario = {
  name: 'lifecycle',
  what: `${AFFECTED} of ${NODES} nodes are stopped, and then ${AFFECTED} others gone from the cloud`,
  upstream: true,
  run: async (rig, subject, record) => {
    const { client, cloud, transport } = rig;
    const names = await freshCluster(rig, NODES);
    await joinNodes(rig, names);
    await rig.run(subject, [], 600, async ({ signal }) => {
      await secondsUntil(() => areInitialised(rig, NODES), signal, 500);
      await makeReady(rig);
      const stopped = names.slice(0, AFFECTED);
      for (const name of stopped) cloud.updateInstance(name, { state: 'shutdown' });
      const { resourceVersion } = await client.of(resources.nodes).list({ limit: 1 });
      const began = performance.now();
      const isTainted = (node: Node): boolean => hasTaint(node, SHUTDOWN_TAINT);
      const tainted = observeNodes(transport, AFFECTED, resourceVersion, signal, isTainted);
      // Awaited below; until then a subject that ends early must not be an unhandled rejection.
      tainted.catch(() => {});
      await setNotReady(client, stopped);
      const { lastDoneAt } = await tainted;
      record({ what: 'stopped: all tainted after', value: (lastDoneAt - began) / 1000, unit: 's', atMost: 3 });
      cloud.resetCalls();
      const mark = await rig.controlPlane.auditLog.mark();
      await sleep(QUIET_MS);
      const use = await apiUse(rig, mark);
      record(
        { what: 'the minute after: cloud calls', value: cloud.calls().total, atMost: 12 },
        { what: 'the minute after: API reads', value: use.reads, atMost: 0 },
      );
      const gone = names.slice(AFFECTED, 2 * AFFECTED);
      for (const name of gone) cloud.deleteInstance(name);
      const went = performance.now();
      await setNotReady(client, gone);
      await secondsUntil(async () => (await countNodes(client)) === NODES - AFFECTED, signal, 200);
      record({ what: 'gone: all deleted after', value: since(went), unit: 's', atMost: GRACE_SECONDS + 2 });
    });
  },
};

function since(began: number): number {
  return (performance.now() - began) / 1000;
}
