import { resources, type Node } from '@outrigger/kube';
import { freshCluster, joinNodesWithPodCidr, listNodes, makeReady } from '../cluster-nodes.ts';
import { observeNodes } from '../node-observer.ts';
import { apiUse, secondsUntil, sleep, type Scenario } from '../scenario.ts';
import { outrigger } from '../subjects.ts';

const NODES = 1_000;
const IDLE_MS = 60_000;

export const routes: Scenario = {
  name: 'routes',
  what: `${NODES} initialised nodes with pod CIDRs and without routes`,
  upstream: true,
  run: async (rig, subject, record) => {
    const { client, cloud, controlPlane, transport } = rig;
    const names = await freshCluster(rig, NODES);
    await joinNodesWithPodCidr(rig, names);
    // Initialised first, by a run without routes: what is measured is the route controller.
    await rig.run(outrigger, ['--configure-cloud-routes=false'], 300, async ({ signal }) => {
      await secondsUntil(async () => (await listNodes(rig.client)).every(({ spec }) => spec?.providerID), signal, 500);
    });
    // As many writes as there will be conditions, and of the same kind: what the API server takes for them at this time.
    const bare = performance.now();
    await makeReady(rig);
    record({ what: `a bare client: ${NODES} other conditions set`, value: since(bare), unit: 's' });
    cloud.resetCalls();
    const { resourceVersion } = await client.of(resources.nodes).list({ limit: 1 });
    const mark = await controlPlane.auditLog.mark();
    const flags = ['--configure-cloud-routes=true', '--allocate-node-cidrs', '--cluster-cidr=10.0.0.0/8'];
    await rig.run(subject, flags, 600, async ({ signal }) => {
      // By a watch: to list a thousand nodes again and again would keep the API server from what is measured.
      const conditions = observeNodes(transport, NODES, resourceVersion, signal, hasNetwork);
      // Awaited below; until then a subject that ends early must not be an unhandled rejection.
      conditions.catch(() => {});
      await secondsUntil(() => cloud.routes().length > 0, signal, 5);
      const began = performance.now();
      await secondsUntil(() => cloud.routes().length === NODES, signal, 5);
      record({ what: 'first route to all routes', value: since(began), unit: 's', atMost: 2 });
      const { lastDoneAt } = await conditions;
      record(
        { what: 'first route to all conditions set', value: (lastDoneAt - began) / 1000, unit: 's', atMost: 6 },
        { what: 'cloud calls', value: cloud.calls().total, atMost: Math.ceil(0.02 * 2_001) },
        { what: 'API requests answered 429', value: (await apiUse(rig, mark)).throttled, atMost: 0 },
      );
      await sleep(5_000);
      cloud.resetCalls();
      await sleep(IDLE_MS);
      const { byOperation } = cloud.calls();
      const asked = Object.entries(byOperation).filter(([operation]) => operation.includes('/routes'));
      // 0.2 a minute is one in five minutes: in one minute it is none, or the one that happens to fall into it.
      const calls = asked.reduce((sum, [, count]) => sum + count, 0);
      record({ what: 'an idle minute: cloud calls for routes', value: calls, atMost: 1 });
    });
  },
};

function hasNetwork({ status }: Node): boolean {
  return status?.conditions?.some((one) => one.type === 'NetworkUnavailable' && one.status === 'False') ?? false;
}

function since(began: number): number {
  return (performance.now() - began) / 1000;
}
