import { resources, type Client, type Service } from '@outrigger/kube';
import { areInitialised, freshCluster, joinNodes } from '../cluster-nodes.ts';
import { inParallel, loadBalancerService, SERVICE_NAMESPACE } from '../fleet.ts';
import { quantile } from '../node-observer.ts';
import type { Rig } from '../rig.ts';
import { secondsUntil, sleep, type Scenario } from '../scenario.ts';

const SERVICES = 200;
const NODES = 3;
const JOINS = 10;
/** After the last node has joined: what is not updated then was not going to be. */
const SETTLE_MS = 5_000;

export const services: Scenario = {
  name: 'services',
  what: `${SERVICES} services of one part each are created at once, nodes join, and all are deleted; a load balancer that is new or was changed serves after 1 s`,
  upstream: true,
  run: async (rig, subject, record) => {
    const { client, cloud } = rig;
    const names = await freshCluster(rig, NODES + 1 + JOINS);
    const first = names.slice(0, NODES);
    await joinNodes(rig, first);
    const flags = [rig.cloudConfig({ loadBalancerParts: ['load-balancer'] })];
    await rig.run(subject, flags, 600, async ({ signal }) => {
      await secondsUntil(() => areInitialised(rig, NODES), signal);
      cloud.resetCalls();
      const all = Array.from({ length: SERVICES }, (_, index) => `service-${index}`);
      const readyAt = new Map<string, number>();
      const began = performance.now();
      await inParallel(
        all,
        async (name) => void (await client.of(resources.services).create(loadBalancerService(name))),
      );
      await secondsUntil(
        async () => {
          for (const { metadata, status } of await listServices(client))
            if (status?.loadBalancer?.ingress?.length && !readyAt.has(metadata?.name ?? ''))
              readyAt.set(metadata?.name ?? '', (performance.now() - began) / 1000);
          return readyAt.size === SERVICES;
        },
        signal,
        200,
      );
      const times = [...readyAt.values()];
      record(
        { what: 'created: ready, p50', value: quantile(times, 0.5), unit: 's' },
        { what: 'created: ready, p99', value: quantile(times, 0.99), unit: 's' },
        { what: 'created: all ready after', value: Math.max(...times), unit: 's', atMost: 4 },
        { what: 'created: cloud calls', value: cloud.calls().total, atMost: 500 },
      );

      cloud.resetCalls();
      await joinNodes(rig, names.slice(NODES, NODES + 1));
      const joined = await secondsUntil(() => haveBackEnds(rig, NODES + 1), signal);
      await sleep(SETTLE_MS);
      record(
        { what: 'a node joins: all updated after', value: joined, unit: 's', atMost: 3 },
        { what: 'a node joins: updates', value: updates(rig), atMost: SERVICES },
      );
      cloud.resetCalls();
      for (const name of names.slice(NODES + 1)) {
        await joinNodes(rig, [name]);
        await sleep(150);
      }
      await secondsUntil(() => haveBackEnds(rig, names.length), signal);
      await sleep(SETTLE_MS);
      record({ what: `${JOINS} nodes join within 2 s: updates`, value: updates(rig), atMost: SERVICES });

      cloud.resetCalls();
      const left = performance.now();
      await inParallel(all, (name) => client.of(resources.services).delete({ namespace: SERVICE_NAMESPACE, name }));
      await secondsUntil(async () => (await listServices(client)).length === 0, signal, 100);
      record(
        { what: 'deleted: all gone after', value: (performance.now() - left) / 1000, unit: 's', atMost: 4 },
        { what: 'deleted: cloud calls', value: cloud.calls().total },
        { what: 'deleted: parts leaked', value: cloud.parts().length, atMost: 0 },
      );
    });
  },
};

/** Without the API server's own. */
async function listServices(client: Client): Promise<readonly Service[]> {
  const { items } = await client.of(resources.services).list({ namespace: SERVICE_NAMESPACE });
  return items.filter(({ spec }) => spec?.type === 'LoadBalancer');
}

function haveBackEnds({ cloud }: Rig, count: number): boolean {
  const balancers = cloud.parts().filter(({ kind }) => kind === 'load-balancer');
  return (
    balancers.length === SERVICES &&
    balancers.every(
      ({ attributes, state }) => state === 'ready' && (attributes['backEnds'] as readonly string[]).length === count,
    )
  );
}

function updates({ cloud }: Rig): number {
  return cloud.calls().byOperation['PUT /parts/{id}'] ?? 0;
}
