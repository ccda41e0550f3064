import { isConflict, isNotFound, resources, type Node } from '@outrigger/kube';
import { areInitialised, freshCluster, joinNodesWithPodCidr, listNodes, makeReady } from '../cluster-nodes.ts';
import { inParallel, loadBalancerService, SERVICE_NAMESPACE } from '../fleet.ts';
import type { Rig } from '../rig.ts';
import { apiUse, secondsUntil, sleep, type Scenario } from '../scenario.ts';

/** The first keeps what ours means, for a reason of the other's: nothing is written to it. */
const NODES = 6;
const SERVICES = 10;
const CONTESTED = NODES - 1 + SERVICES;
const WAR_MS = 30_000;
/** How soon the other writer answers. */
const ANSWER_MS = 20;
const THEIR_ADDRESS = '198.51.100.7';

export const wars: Scenario = {
  name: 'wars',
  what: `for ${WAR_MS / 1000} s another writer sets NetworkUnavailable of ${NODES} nodes (False for a reason of its own, and True), and the address of ${SERVICES} Services`,
  upstream: true,
  run: async (rig, subject, record) => {
    const { client, cloud, controlPlane } = rig;
    const names = await freshCluster(rig, NODES);
    await joinNodesWithPodCidr(rig, names);
    const flags = ['--configure-cloud-routes=true', '--allocate-node-cidrs', '--cluster-cidr=10.0.0.0/8'];
    await rig.run(subject, flags, 300, async ({ signal }) => {
      await secondsUntil(() => areInitialised(rig, NODES), signal);
      await makeReady(rig);
      const services = Array.from({ length: SERVICES }, (_, index) => `service-${index}`);
      await inParallel(
        services,
        async (name) => void (await client.of(resources.services).create(loadBalancerService(name))),
      );
      const isServed = async (): Promise<boolean> => {
        const { items } = await client.of(resources.services).list({ namespace: SERVICE_NAMESPACE });
        return items.filter(({ status }) => status?.loadBalancer?.ingress?.length).length === SERVICES;
      };
      await secondsUntil(isServed, signal, 200);
      const isRouted = async (): Promise<boolean> => (await listNodes(client)).every((node) => conditionOf(node));
      await secondsUntil(isRouted, signal, 200);
      await sleep(3_000);
      cloud.resetCalls();
      const mark = await controlPlane.auditLog.mark();
      let theirs = 0;
      for (const until = performance.now() + WAR_MS; performance.now() < until; await sleep(ANSWER_MS)) {
        theirs += await answerOnce(rig);
      }
      const { events, reads, writes } = await apiUse(rig, mark);
      record(
        { what: `API writes over ${CONTESTED} contested objects`, value: writes, atMost: 60 },
        { what: 'of them Events', value: events },
        { what: 'cloud calls', value: cloud.calls().total, atMost: 6 },
        { what: 'API reads', value: reads, atMost: NODES + SERVICES },
        { what: "the other writer's writes", value: theirs },
      );
    });
  },
};

/** Puts its own back where somebody else has written; how often. */
async function answerOnce({ client }: Rig): Promise<number> {
  const nodes = client.of(resources.nodes);
  const services = client.of(resources.services);
  const writes: Promise<unknown>[] = [];
  for (const [index, node] of (await nodes.list()).items.entries()) {
    const status = index === 0 ? 'False' : 'True';
    const { reason, status: now } = conditionOf(node) ?? {};
    if (reason === 'NetworkPluginSays' && now === status) continue;
    const condition = { type: 'NetworkUnavailable', status, reason: 'NetworkPluginSays', message: '' };
    const patch = { type: 'strategic', body: { status: { conditions: [condition] } } } as const;
    writes.push(nodes.patch({ name: node.metadata?.name ?? '' }, patch, { subresource: 'status' }));
  }
  for (const { metadata, spec, status } of (await services.list({ namespace: SERVICE_NAMESPACE })).items) {
    if (spec?.type !== 'LoadBalancer' || status?.loadBalancer?.ingress?.[0]?.ip === THEIR_ADDRESS) continue;
    const body = { status: { loadBalancer: { ingress: [{ ip: THEIR_ADDRESS, ipMode: 'VIP' }] } } };
    const ref = { namespace: SERVICE_NAMESPACE, name: metadata?.name ?? '' };
    writes.push(services.patch(ref, { type: 'merge', body }, { subresource: 'status' }));
  }
  for (const result of await Promise.allSettled(writes)) {
    if (result.status === 'rejected' && !isConflict(result.reason) && !isNotFound(result.reason)) throw result.reason;
  }
  return writes.length;
}

function conditionOf({ status }: Node): { readonly reason?: string; readonly status?: string } | undefined {
  return status?.conditions?.find(({ type }) => type === 'NetworkUnavailable');
}
