import { resources, type Service } from '@outrigger/kube';
import { areInitialised, freshCluster, joinNodes } from '../cluster-nodes.ts';
import { inParallel, loadBalancerService, SERVICE_NAMESPACE } from '../fleet.ts';
import type { Rig } from '../rig.ts';
import { secondsUntil, sleep, type Scenario } from '../scenario.ts';

const SERVICES = 50;
const NODES = 3;
/** So many are gone when the leader is killed. */
const GONE = 10;
/** After its start another process waits for the Lease. */
const CANDIDATE_MS = 5_000;
const LIMIT_SECONDS = 300;
/** A Lease of 15 s that was renewed a moment ago, and the second in which a candidate takes it. */
const LEASE_SECONDS = 16;
/** For 5 s after its start the new process leaves room for what the one before has sent; then it takes as long as ever. */
const DELETION_SECONDS = 5 + 4;

export const failoverDeletions: Scenario = {
  name: 'failover-deletions',
  what: `${SERVICES} services of four parts are deleted at once; kill -9 for the leader when ${GONE} are gone; another process takes over`,
  upstream: true,
  run: async (rig, subject, record) => {
    const { client, cloud } = rig;
    await joinNodes(rig, await freshCluster(rig, NODES));
    const services = client.of(resources.services);
    const names = Array.from({ length: SERVICES }, (_, index) => `service-${index}`);
    await rig.run(subject, [], LIMIT_SECONDS, async (leader) => {
      await secondsUntil(() => areInitialised(rig, NODES), leader.signal);
      await inParallel(names, async (name) => void (await services.create(loadBalancerService(name))));
      const served = async (): Promise<number> =>
        (await balanced(rig)).filter(({ status }) => status?.loadBalancer?.ingress?.length).length;
      await secondsUntil(async () => (await served()) === SERVICES, leader.signal, 200);
      const holder = await leaseHolder(rig);
      await rig.runBeside(subject, [], LIMIT_SECONDS, async ({ signal }) => {
        await sleep(CANDIDATE_MS);
        await inParallel(names, (name) => services.delete({ namespace: SERVICE_NAMESPACE, name }));
        await secondsUntil(async () => (await balanced(rig)).length <= SERVICES - GONE, signal, 10);
        process.kill(leader.pid, 'SIGKILL');
        const left = (await balanced(rig)).length;
        cloud.resetCalls();
        const taken = await secondsUntil(async () => (await leaseHolder(rig)) !== holder, signal);
        const gone = await secondsUntil(async () => (await balanced(rig)).length === 0, signal);
        record(
          { what: 'services left when the leader was killed', value: left, atLeast: 1 },
          { what: 'killed to another leader', value: taken, unit: 's', atMost: LEASE_SECONDS },
          { what: 'another leader to all gone', value: gone, unit: 's', atMost: DELETION_SECONDS },
          { what: 'cloud calls after the kill', value: cloud.calls().total },
          { what: 'parts leaked', value: cloud.parts().length, atMost: 0 },
        );
      });
    });
  },
};

async function balanced({ client }: Rig): Promise<readonly Service[]> {
  const { items } = await client.of(resources.services).list({ namespace: SERVICE_NAMESPACE });
  return items.filter(({ spec }) => spec?.type === 'LoadBalancer');
}

async function leaseHolder({ client }: Rig): Promise<string | undefined> {
  const ref = { namespace: 'kube-system', name: 'cloud-controller-manager' };
  const { spec } = await client.of(resources.leases).get(ref);
  return spec?.holderIdentity ?? undefined;
}
