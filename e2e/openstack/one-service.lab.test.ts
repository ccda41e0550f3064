/** One Service through its life: made, changed, of another type; beside it, Octavia and Neutron are asked. The short form of `services`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { differenceOf, listProject } from './lab-listing.ts';
import { LabServices } from './lab-services.ts';
import { OpenStackCluster } from './openstack-cluster.ts';

interface PoolRow {
  readonly id: string;
  readonly provisioning_status: string;
  readonly updated_at: string | null;
  readonly members: readonly { readonly id: string }[];
}

const NAME = 'lone';
const tcp = (port: number) => ({ name: `tcp-${port}`, port, protocol: 'TCP' }) as const;

test('one Service on a real Octavia', async (t) => {
  const cluster = await OpenStackCluster.start(t);
  if (!cluster) return;
  const { lab, machines } = cluster;
  const services = new LabServices(cluster);
  const [server] = await cluster.join('lab-lone-member');
  assert.ok(server);
  await cluster.until(
    'its node is initialised',
    async () => (await cluster.node(server.name))?.spec?.providerID !== undefined,
  );
  const { fixed_ips } = await machines.portOf(server.id);
  const address = fixed_ips.find(({ subnet_id }) => subnet_id === cluster.ids.subnet)?.ip_address;
  const before = await listProject(lab.user);

  const agrees = (port: number): Promise<void> =>
    cluster.until(`it listens on ${port} alone, for the node`, async () => {
      const { listeners } = await services.untilActive(NAME);
      const { spec } = await services.get(NAME);
      const members = (spec?.ports ?? []).map(({ nodePort }) => `${address}:${nodePort}`);
      const [only] = listeners;
      return listeners.length === 1 && only?.at === `TCP ${port}` && only.pool?.members.join() === members.join();
    });

  await t.test('made: an address, a listener, and the node behind it', async () => {
    await services.create({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { namespace: 'default', name: NAME },
      spec: { type: 'LoadBalancer', ports: [tcp(80)] },
    });
    const ingress = await services.untilServed(NAME);
    assert.deepEqual(ingress, [(await services.untilActive(NAME)).floatingIP]);
    await agrees(80);
  });

  // What the provider remembers of members rests on it (docs/adr/0066).
  await t.test(
    'a member that another changes: the time of its pool is another, at the beginning and at the end',
    async () => {
      const { id } = await services.untilActive(NAME);
      const poolOf = async (): Promise<PoolRow> => {
        const [pool] = await lab.user.list<PoolRow>('load-balancer', `/pools?loadbalancer_id=${id}`);
        assert.ok(pool);
        return pool;
      };
      const read = await poolOf();
      const [member] = read.members;
      assert.ok(member);
      // Times have whole seconds.
      await setTimeout(1_100);
      const path = `/pools/${read.id}/members/${member.id}`;
      await lab.user.request('load-balancer', 'PUT', path, { body: { member: { monitor_port: 10_256 } } });
      const begun = await poolOf();
      assert.ok(begun.updated_at !== read.updated_at || begun.provisioning_status !== 'ACTIVE', JSON.stringify(begun));
      await services.untilActive(NAME);
      const ended = await poolOf();
      assert.equal(ended.provisioning_status, 'ACTIVE');
      assert.notEqual(ended.updated_at, read.updated_at);
      assert.deepEqual(ended.members, read.members);
    },
  );

  await t.test('another port: the same load balancer, another listener', async () => {
    const { id } = await services.untilActive(NAME);
    await services.patch(NAME, { spec: { ports: [tcp(8_080)] } });
    await agrees(8_080);
    assert.equal((await services.untilActive(NAME)).id, id);
  });

  await t.test('another type: the finalizer goes when nothing is left', async () => {
    await services.patch(NAME, { spec: { type: 'ClusterIP' } });
    await cluster.until(
      'its finalizer is gone',
      async () => ((await services.get(NAME)).metadata?.finalizers ?? []).length === 0,
    );
    assert.deepEqual(differenceOf(before, await listProject(lab.user)), []);
    await services.delete(NAME);
  });
});
