/** Services with what this provider's annotations offer, compared with what Octavia and Neutron say of them; and nothing is left. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isNotFound, resources, type Service } from '@outrigger/kube';
import { differenceOf, listProject } from './lab-listing.ts';
import { isActive, octaviaTrees, type OctaviaTree } from './octavia-tree.ts';
import { OpenStackCluster } from './openstack-cluster.ts';
import { SERVICE_CASES, serviceOf, type ServiceCase } from './service-cases.ts';

/** Load balancers at once: each is a server, and is made in some ten seconds. */
const WAVE = 8;
const NAMESPACE = 'default';
const RANGES: Readonly<Record<string, string>> = {
  'outside-a': '203.0.113.',
  'outside-b': '198.51.100.',
  nodes: '10.20.',
};

class Services {
  readonly #cluster: OpenStackCluster;
  readonly #services;

  constructor(cluster: OpenStackCluster) {
    this.#cluster = cluster;
    this.#services = cluster.client.of(resources.services);
  }

  async create(service: Service): Promise<void> {
    await this.#services.create(service);
  }

  async get(name: string): Promise<Service> {
    return this.#services.get({ namespace: NAMESPACE, name });
  }

  async patch(name: string, body: object): Promise<void> {
    await this.#services.patch({ namespace: NAMESPACE, name }, { type: 'merge', body });
  }

  /** Resolves when they are gone. */
  async delete(names: readonly string[]): Promise<void> {
    await Promise.all(names.map((name) => this.#services.delete({ namespace: NAMESPACE, name })));
    await this.#cluster.until(`${names.join(', ')} are gone`, async () => {
      const found = await Promise.all(names.map((name) => this.#exists(name)));
      return found.every((exists) => !exists);
    });
  }

  /** The address in its status; empty while there is none. */
  async ingress(name: string): Promise<string> {
    const [first] = (await this.get(name)).status?.loadBalancer?.ingress ?? [];
    return first?.ip ?? first?.hostname ?? '';
  }

  /** Of this Service, when it and all that hangs on it are ACTIVE. */
  async tree(name: string): Promise<OctaviaTree> {
    let found: OctaviaTree | undefined;
    await this.#cluster.until(`the load balancer of ${name} is ACTIVE with all that hangs on it`, async () => {
      const trees = await octaviaTrees(this.#cluster.lab.user);
      found = trees.find((tree) => tree.name.endsWith(`_${NAMESPACE}_${name}`));
      return found !== undefined && isActive(found);
    });
    return found ?? assert.fail(`no load balancer of ${name}`);
  }

  async #exists(name: string): Promise<boolean> {
    try {
      await this.get(name);
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }
}

test('services on a real Octavia', async (t) => {
  const cluster = await OpenStackCluster.start(t);
  if (!cluster) return;
  const { lab, machines } = cluster;
  const services = new Services(cluster);
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
    const tree = await services.tree(name);
    await cluster.until(`${name} has an address`, async () => (await services.ingress(name)) !== '');
    const ingress = await services.ingress(name);
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
        await t.test('changed: a port, and the members when a node goes', async () => {
          await services.patch('plain', { spec: { ports: [{ name: 'tcp-8080', port: 8_080, protocol: 'TCP' }] } });
          await cluster.until('plain listens on 8080 alone', async () => {
            const { listeners } = await services.tree('plain');
            return listeners.length === 1 && listeners[0]?.at === 'TCP 8080';
          });
        });
      }
      await t.test('deleted, and nothing of them is left', async () => {
        await services.delete(wave.map(({ name }) => name));
        await nothingIsLeft();
      });
    });
  }

  await t.test('what needs a load balancer no longer loses it: another type', async () => {
    await services.create(serviceOf({ name: 'turned', listeners: [] }, flavor.id));
    await services.tree('turned');
    await services.patch('turned', { spec: { type: 'ClusterIP' } });
    await cluster.until(
      'its finalizer is gone',
      async () => ((await services.get('turned')).metadata?.finalizers ?? []).length === 0,
    );
    await nothingIsLeft();
    await services.delete(['turned']);
  });
});
