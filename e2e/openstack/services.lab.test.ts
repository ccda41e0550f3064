/** Services with what this provider's annotations offer, compared with what Octavia and Neutron say of them; and nothing is left. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { differenceOf, listProject } from './lab-listing.ts';
import { LabServices } from './lab-services.ts';
import { OpenStackCluster } from './openstack-cluster.ts';
import { SERVICE_CASES, serviceOf, type ServiceCase } from './service-cases.ts';

/** Load balancers at once: each is a server, and is made in some ten seconds. */
const WAVE = 8;
const RANGES: Readonly<Record<string, string>> = {
  'outside-a': '203.0.113.',
  'outside-b': '198.51.100.',
  nodes: '10.20.',
};

test('services on a real Octavia', async (t) => {
  const cluster = await OpenStackCluster.start(t);
  if (!cluster) return;
  const { lab, machines } = cluster;
  const services = new LabServices(cluster);
  const [flavor] = await lab.user.list<{ readonly id: string }>('load-balancer', '/flavors');
  assert.ok(flavor);
  const servers = await cluster.join('lab-member-1', 'lab-member-2');
  const ports = await Promise.all(servers.map(({ id }) => machines.portOf(id)));
  const nodeIPs = ports.map(
    ({ fixed_ips }) => fixed_ips.find(({ subnet_id }) => subnet_id === cluster.ids.subnet)?.ip_address,
  );
  await cluster.until('both nodes are initialised', async () =>
    (await Promise.all(servers.map(({ name }) => cluster.node(name)))).every(
      (node) => node?.spec?.providerID !== undefined,
    ),
  );
  const before = await listProject(lab.user);
  const nothingIsLeft = async (): Promise<void> =>
    assert.deepEqual(differenceOf(before, await listProject(lab.user)), []);

  const agrees = async (expected: ServiceCase): Promise<void> => {
    const { name } = expected;
    const [ingress = ''] = await services.untilServed(name);
    const tree = await services.untilActive(name);
    if (expected.address === 'host name')
      assert.equal(ingress, expected.annotations?.['loadbalancer.openstack.org/hostname']);
    else assert.equal(ingress, expected.address === 'nodes' ? tree.vip : tree.floatingIP);
    if (expected.address !== 'host name') {
      const range = RANGES[expected.address ?? ''];
      assert.ok(range === undefined || ingress.startsWith(range), `${ingress} is of ${expected.address}`);
    }
    if (expected.zone !== undefined) assert.equal(tree.availabilityZone, expected.zone);
    if (expected.flavor === true) assert.equal(tree.flavorId, flavor.id);
    assert.deepEqual(
      tree.listeners.map(({ at }) => at),
      expected.listeners.map(({ at }) => at),
    );
    for (const [index, listener] of expected.listeners.entries()) {
      assert.partialDeepStrictEqual(tree.listeners[index], listener);
    }
    const { spec } = await services.get(name);
    const members = (spec?.ports ?? []).flatMap(({ nodePort }) => nodeIPs.map((address) => `${address}:${nodePort}`));
    assert.deepEqual(tree.listeners.flatMap(({ pool }) => pool?.members ?? []).toSorted(), members.toSorted());
  };

  for (let first = 0; first < SERVICE_CASES.length; first += WAVE) {
    const wave = SERVICE_CASES.slice(first, first + WAVE);
    await t.test(`made at once: ${wave.map(({ name }) => name).join(', ')}`, async (t) => {
      await Promise.all(wave.map((one) => services.create(serviceOf(one, flavor.id))));
      for (const one of wave) await t.test(one.name, () => agrees(one));
      if (first === 0) {
        await t.test('changed: another port', async () => {
          await services.patch('plain', { spec: { ports: [{ name: 'tcp-8080', port: 8_080, protocol: 'TCP' }] } });
          await cluster.until('plain listens on 8080 alone', async () => {
            const { listeners } = await services.untilActive('plain');
            return listeners.length === 1 && listeners[0]?.at === 'TCP 8080';
          });
        });
      }
      await t.test('deleted, and nothing of them is left', async () => {
        await services.delete(...wave.map(({ name }) => name));
        await nothingIsLeft();
      });
    });
  }
});
