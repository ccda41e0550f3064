/** Two clouds behind one program, on an API server, whichever. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { isNotFound, resources, systemClock, type Client, type Node, type Service } from '@outrigger/kube';
import { createMemoryCloud, serveMemoryCloud, type MemoryCloud } from '@outrigger/provider-memory';
import { clientOf, hollowNode, UNINITIALIZED_TAINT } from '@outrigger/testing';
import { Manager } from './manager.ts';

const PATIENCE_MS = 300_000;

export interface ApiServer {
  /** Path. */
  readonly kubeconfig: string;
  readonly directory: string;
}

/** Starts an API server that ends with the test; `undefined` when there is none here (the test is skipped then). */
export type StartServer = (t: TestContext) => Promise<ApiServer | undefined>;

interface Rig {
  readonly client: Client;
  readonly north: MemoryCloud;
  readonly south: MemoryCloud;
  readonly until: (what: string, holds: () => Promise<boolean> | boolean) => Promise<void>;
}

async function setUp(
  t: TestContext,
  { directory, kubeconfig }: ApiServer,
  flags: readonly string[] = [],
): Promise<Rig> {
  const owned = new AsyncDisposableStack();
  t.after(() => owned.disposeAsync());
  const clouds = [1, 2].map(() => createMemoryCloud({ clock: systemClock, random: () => 0.5 }));
  const [north, south] = clouds as [MemoryCloud, MemoryCloud];
  const files: string[] = [];
  for (const [name, cloud] of Object.entries({ north, south })) {
    const { endpoint } = owned.use(await serveMemoryCloud(cloud));
    files.push(`${name}=${join(directory, `${name}.json`)}`);
    await writeFile(join(directory, `${name}.json`), JSON.stringify({ endpoint }));
  }
  const client = owned.use(await clientOf(kubeconfig));
  const log = join(directory, 'program.log');
  const program = owned.use(
    new Manager(
      [
        '--cloud-provider=north=memory,south=memory',
        `--cloud-config=${files.join()}`,
        `--kubeconfig=${kubeconfig}`,
        '--leader-elect=false',
        '--secure-port=0',
        '-v=4',
        ...flags,
      ],
      log,
    ),
  );
  program.start();
  const until: Rig['until'] = async (what, holds) => {
    const deadline = systemClock.monotonic() + PATIENCE_MS;
    while (!(await holds())) {
      if (!program.running || systemClock.monotonic() > deadline) {
        assert.fail(`not seen: ${what}\n${(await readFile(log, 'utf8')).slice(-8_000)}`);
      }
      await systemClock.sleep(50);
    }
  };
  return { client, north, south, until };
}

function isTainted({ spec }: Node): boolean {
  return spec?.taints?.some(({ key }) => key === UNINITIALIZED_TAINT) ?? false;
}

export function testSeveralProviders(subject: string, start: StartServer): void {
  test(`${subject}: two providers share a cluster, and neither touches what is the other's`, async (t) => {
    const server = await start(t);
    if (!server) return;
    const rig = await setUp(t, server);
    const { client, north, south, until } = rig;
    const nodes = client.of(resources.nodes);
    const services = client.of(resources.services);
    const register = (name: string): Promise<Node> => nodes.create(hollowNode({ name, images: 1 }));
    const isInitialised = async (name: string, providerID: string): Promise<boolean> => {
      const node = await nodes.get({ name });
      return node.spec?.providerID === providerID && !isTainted(node);
    };

    north.createInstance({ name: 'n1' });
    south.createInstance({ name: 's1' });
    for (const cloud of [north, south]) cloud.createInstance({ name: 'twice' });
    for (const name of ['n1', 's1', 'twice']) await register(name);
    await until('n1 belongs to north', () => isInitialised('n1', 'north://region-1/n1'));
    await until('s1 belongs to south', () => isInitialised('s1', 'south://region-1/s1'));
    const events = client.of(resources.events);
    await until('an Event says that two clouds have the machine', async () => {
      const { items } = await events.list();
      return items.some((event) => JSON.stringify(event).includes('"AmbiguousInstance"'));
    });
    const twice = await nodes.get({ name: 'twice' });
    assert.ok(isTainted(twice));
    assert.equal(twice.spec?.providerID, undefined);

    const ref = { namespace: 'default', name: 'web' };
    const south1 = { namespace: 'default', name: 'south-web' };
    const make = (metadata: typeof ref, loadBalancerClass?: string): Promise<Service> =>
      services.create({
        apiVersion: 'v1',
        kind: 'Service',
        metadata,
        spec: {
          type: 'LoadBalancer',
          ports: [{ port: 80, protocol: 'TCP' }],
          ...(loadBalancerClass && { loadBalancerClass }),
        },
      });
    const isServed = async (one: typeof ref, owner: string): Promise<boolean> => {
      const { metadata, status } = await services.get(one);
      const recorded = metadata?.annotations?.['outrigger.dev/load-balancer-provider'];
      return recorded === owner && (status?.loadBalancer?.ingress?.length ?? 0) > 0;
    };
    const partsOf = (cloud: MemoryCloud, name: string): number =>
      cloud.parts().filter((part) => JSON.stringify(part).includes(name)).length;
    const { metadata: { uid = '' } = {} } = await make(ref);
    await make(south1, 'outrigger.dev/south');
    await until('web is served by north', () => isServed(ref, 'north'));
    await until('south-web is served by south', () => isServed(south1, 'south'));
    assert.ok(partsOf(north, uid) > 0);
    assert.equal(partsOf(south, uid), 0);

    // Another class: only by way of another type, as the API server has it.
    const patch = (body: object): Promise<unknown> => services.patch(ref, { type: 'merge', body });
    await patch({ spec: { type: 'ClusterIP' } });
    await patch({ spec: { type: 'LoadBalancer', loadBalancerClass: 'outrigger.dev/south' } });
    await until('web is served by south', () => isServed(ref, 'south'));
    assert.equal(partsOf(north, uid), 0, 'north has cleaned up before');
    assert.ok(partsOf(south, uid) > 0);
    const backEnds = JSON.stringify(south.parts());
    assert.ok(backEnds.includes('south://region-1/s1') && !backEnds.includes('north://'), backEnds);

    south.configure({ latencyMs: 3_600_000 });
    north.createInstance({ name: 'n2' });
    await register('n2');
    await until('n2 is initialised while south is frozen', () => isInitialised('n2', 'north://region-1/n2'));
    south.configure({ latencyMs: 0 });

    for (const one of [ref, south1]) await services.delete(one);
    await until('both Services are gone, and nothing of them is left', async () => {
      for (const one of [ref, south1]) {
        const left = await services.get(one).catch((error: unknown) => {
          if (isNotFound(error)) return undefined;
          throw error;
        });
        if (left) return false;
      }
      return north.parts().length + south.parts().length === 0;
    });
  });

  test(`${subject}: each provider has the routes and the orphans of its own cloud, whatever the other does`, async (t) => {
    const server = await start(t);
    if (!server) return;
    const orphans = ['policy=delete', 'grace-period=0s', 'check-period=1s', 'max-fraction=1'];
    const flags = ['--cluster-cidr=10.244.0.0/16', ...orphans.map((flag) => `--orphan-${flag}`)];
    const { client, north, south, until } = await setUp(t, server, flags);
    const nodes = client.of(resources.nodes);
    const register = (name: string, podCIDR: string): Promise<Node> => {
      const node = hollowNode({ name, images: 1 });
      return nodes.create({ ...node, spec: { ...node.spec, podCIDR, podCIDRs: [podCIDR] } });
    };
    const routesOf = (cloud: MemoryCloud): readonly string[] =>
      cloud
        .routes()
        .map(({ destination, instanceId }) => `${destination} → ${instanceId}`)
        .toSorted();
    const has = (cloud: MemoryCloud, ...wanted: readonly string[]): (() => boolean) => {
      const all = wanted.toSorted().join();
      return () => routesOf(cloud).join() === all;
    };
    const [n1, n2, s1, s2] = ['10.244.1.0/24 → n1', '10.244.2.0/24 → n2', '10.244.3.0/24 → s1', '10.244.4.0/24 → s2'];

    for (const name of ['n1', 'n2']) north.createInstance({ name });
    for (const name of ['s1', 's2']) south.createInstance({ name });
    await register('n1', '10.244.1.0/24');
    await register('s1', '10.244.3.0/24');
    await until('each cloud has the route of its own node, and no other', () => has(north, n1)() && has(south, s1)());

    south.setFaults([{ effect: 'status', status: 500 }]);
    await register('n2', '10.244.2.0/24');
    await until('n2 has its route while south fails', has(north, n1, n2));
    south.setFaults([]);
    await register('s2', '10.244.4.0/24');
    await until('south makes its own once it works again', has(south, s1, s2));

    await nodes.delete({ name: 's1' });
    await until('the route of s1 goes', has(south, s2));
    assert.deepEqual(routesOf(north), [n1, n2], 'routes of another cloud’s nodes are none that lead nowhere');

    // A list of no Service at all would not be believed.
    const metadata = { namespace: 'default', name: 'kept' };
    await client
      .of(resources.services)
      .create({ apiVersion: 'v1', kind: 'Service', metadata, spec: { ports: [{ port: 80 }] } });
    // What is left of Services and nodes that are gone, in both clouds, and what another cluster has.
    const { metadata: { uid: clusterId = '' } = {} } = await client
      .of(resources.namespaces)
      .get({ name: 'kube-system' });
    south.setFaults([{ operation: 'GET /parts', effect: 'status', status: 500 }]);
    for (const cloud of [north, south]) {
      cloud.createInstance({ name: 'spare' });
      cloud.createRoute({ destination: '10.9.1.0/24', instanceId: 'spare', nodeName: 'gone', clusterId });
      cloud.createRoute({ destination: '10.9.2.0/24', instanceId: 'spare', nodeName: 'gone', clusterId: 'another' });
      cloud.createPart({ kind: 'address', tags: { clusterId, uid: 'gone' }, attributes: {} });
      cloud.createPart({ kind: 'address', tags: { clusterId: 'another', uid: 'gone' }, attributes: {} });
    }
    const others = '10.9.2.0/24 → spare';
    await until('north’s orphans are removed', () => has(north, n1, n2, others)() && north.parts().length === 1);
    await until('south’s route too, though its parts cannot be listed', has(south, s2, others));
    assert.equal(south.parts().length, 2, 'what could not be listed is left');
    south.setFaults([]);
    await until('south’s part is removed once it is seen', () => south.parts().length === 1);
    for (const cloud of [north, south])
      assert.deepEqual(
        cloud.parts().map(({ tags }) => tags.clusterId),
        ['another'],
      );
  });
}
