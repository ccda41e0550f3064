/** With kube-controller-manager beside it: crowds of Services, nodes and routes, and what upstream's own end-to-end specs ask for. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { resources, type Node, type Service } from '@outrigger/kube';
import { controlPlaneOrSkip, startHollowNodes, type HollowNodes } from '@outrigger/testing';
import { CloudStory } from './cloud-story.ts';
import { Manager } from './manager.ts';
import { faultsOfServices } from './served-services.ts';

const FINALIZER = 'service.kubernetes.io/load-balancer-cleanup';
const NAMESPACE = 'default';
const FIRST_NODES = 5;
/** `make crowd` has 1,000 nodes. */
const SERVICES = Number(process.env['SERVICES'] ?? 200);
const NODES = Number(process.env['NODES'] ?? 200);
/** Fewer than the breaker of node deletion lets through. */
const LEAVING = Math.ceil(NODES / 10);

class Cluster {
  readonly story: CloudStory;
  readonly kubelets: HollowNodes;
  readonly #services;

  private constructor(story: CloudStory, kubelets: HollowNodes) {
    this.story = story;
    this.kubelets = kubelets;
    this.#services = story.client.of(resources.services);
  }

  static async start(t: TestContext): Promise<Cluster | undefined> {
    const controlPlane = await controlPlaneOrSkip(t, {
      kubeControllerManager: true,
      // So that a silent kubelet is noticed within the test.
      flags: { 'kube-controller-manager': { 'node-monitor-grace-period': '20s', 'node-monitor-period': '1s' } },
    });
    if (!controlPlane) return undefined;
    const owned = new AsyncDisposableStack();
    t.after(() => owned.disposeAsync());
    const story = owned.use(await CloudStory.open(controlPlane));
    story.cloud.configure({ latencyMs: 10, loadBalancerDelayMs: 300 });
    const manager = owned.use(
      new Manager(
        [
          '--cloud-provider=memory',
          `--cloud-config=${story.cloudConfig}`,
          `--kubeconfig=${controlPlane.kubeconfig.path}`,
          '--secure-port=0',
          '--leader-elect=false',
          '--controllers=*,node-ipam-controller',
          '--allocate-node-cidrs',
          '--cluster-cidr=10.64.0.0/12',
          '--node-deletion-grace-period=1s',
        ],
        join(controlPlane.directory, 'manager.log'),
      ),
    );
    manager.start();
    const { client, cloud } = story;
    const kubelets = owned.use(
      await startHollowNodes({
        client,
        count: 0,
        node: (index) => ({ name: cloud.createInstance({ name: `node-${index}` }).name, images: 1 }),
        heartbeats: { leaseMs: 8_000 },
      }),
    );
    return new Cluster(story, kubelets);
  }

  /** All nodes that there are: with a network, a pod CIDR of their own and the route to it. */
  async served(count: number): Promise<void> {
    const { client, cloud } = this.story;
    let nodes: readonly Node[] = [];
    await this.story.until(`${count} nodes have a network and a route`, async () => {
      // The cloud first: to list a thousand nodes again and again would keep the API server from what is waited for.
      if (cloud.routes().length !== count) return false;
      nodes = (await client.of(resources.nodes).list()).items;
      const served = nodes.filter(hasNetwork);
      return served.length === count && nodes.length === count;
    });
    assert.equal(new Set(nodes.map(({ spec }) => spec?.podCIDR)).size, count, 'no two nodes have one pod CIDR');
    const routed = new Map(cloud.routes().map(({ destination, nodeName }) => [nodeName, destination]));
    for (const { metadata, spec } of nodes) assert.equal(routed.get(metadata?.name ?? ''), spec?.podCIDR);
  }

  async create(name: string): Promise<void> {
    await this.#services.create({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { namespace: NAMESPACE, name },
      spec: { type: 'LoadBalancer', ports: [{ port: 80, protocol: 'TCP' }], selector: { app: name } },
    });
  }

  async setType(name: string, type: 'ClusterIP' | 'LoadBalancer'): Promise<void> {
    await this.#services.patch({ namespace: NAMESPACE, name }, { type: 'merge', body: { spec: { type } } });
  }

  async delete(name: string): Promise<void> {
    await this.#services.delete({ namespace: NAMESPACE, name });
  }

  async services(): Promise<readonly Service[]> {
    const { items } = await this.#services.list({ namespace: NAMESPACE });
    return items.filter(({ metadata }) => metadata?.name !== 'kubernetes');
  }

  /** Each Service's load balancer has so many back ends. */
  async balancedTo(nodes: number): Promise<void> {
    await this.story.until(`each load balancer has ${nodes} back ends`, () => {
      const balancers = this.story.cloud.parts().filter(({ kind }) => kind === 'load-balancer');
      const full = balancers.filter(({ attributes }) => (attributes['backEnds'] as readonly string[]).length === nodes);
      return Promise.resolve(balancers.length === SERVICES && full.length === SERVICES);
    });
  }

  /** The cloud is as the Services say. */
  async settled(): Promise<void> {
    let faults: readonly string[] = [];
    await this.story
      .until('the cloud is as the Services say', async () => {
        faults = faultsOfServices(await this.services(), this.story.cloud.parts());
        return faults.length === 0;
      })
      .catch((error: unknown) => {
        throw new Error(faults.slice(0, 10).join('\n'), { cause: error });
      });
  }
}

function hasNetwork({ status }: Node): boolean {
  return status?.conditions?.some((one) => one.type === 'NetworkUnavailable' && one.status === 'False') ?? false;
}

test('a whole cluster with kube-controller-manager', async (t) => {
  const cluster = await Cluster.start(t);
  if (!cluster) return;
  const { kubelets, story } = cluster;
  const { cloud } = story;
  await kubelets.add(FIRST_NODES);
  await cluster.served(FIRST_NODES);

  // [sig-network] LoadBalancers: should handle load balancer cleanup finalizer for service.
  await t.test('the cleanup finalizer comes and goes with the type, and with the Service', async () => {
    const hasFinalizer = async (): Promise<boolean> =>
      (await cluster.services())[0]?.metadata?.finalizers?.includes(FINALIZER) ?? false;
    await cluster.create('finalizer');
    await cluster.settled();
    assert.ok(await hasFinalizer());
    await cluster.setType('finalizer', 'ClusterIP');
    await cluster.settled();
    assert.deepEqual([await hasFinalizer(), cloud.parts()], [false, []]);
    await cluster.setType('finalizer', 'LoadBalancer');
    await cluster.settled();
    assert.ok(await hasFinalizer());
    await cluster.delete('finalizer');
    await story.until('the Service is gone', async () => (await cluster.services()).length === 0);
    assert.deepEqual(cloud.parts(), [], 'the finalizer goes when nothing is left');
  });

  const services = Array.from({ length: SERVICES }, (_, index) => `service-${index}`);
  const all = FIRST_NODES + NODES;
  await t.test(`${SERVICES} services are created and ${NODES} nodes join, all at once`, async () => {
    await Promise.all([kubelets.add(NODES), ...services.map((name) => cluster.create(name))]);
    await cluster.served(all);
    await cluster.balancedTo(all);
    await cluster.settled();
    assert.equal(cloud.parts().length, 4 * SERVICES);
  });

  // [sig-cloud-provider] Nodes should be deleted on API server if it doesn't exist in the cloud provider.
  await t.test(`${LEAVING} of the nodes leave, and with them their routes and back ends`, async () => {
    const gone = kubelets.names.slice(0, LEAVING);
    for (const name of gone) {
      cloud.deleteInstance(name);
      kubelets.stop(name);
    }
    await cluster.served(all - LEAVING);
    const routed = new Set(cloud.routes().map(({ nodeName }) => nodeName));
    assert.deepEqual(
      gone.filter((name) => routed.has(name)),
      [],
    );
    await cluster.balancedTo(all - LEAVING);
  });

  await t.test(`all ${SERVICES} services are deleted at once while ${LEAVING} nodes join`, async () => {
    await Promise.all([kubelets.add(LEAVING), ...services.map((name) => cluster.delete(name))]);
    await story.until('all Services are gone', async () => (await cluster.services()).length === 0);
    assert.deepEqual(cloud.parts(), []);
    await cluster.served(all);
  });
});
