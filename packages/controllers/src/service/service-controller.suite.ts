/** What the service controller does on an API server, whichever: the embedded one and the real one must agree. */
import assert from 'node:assert/strict';
import { loadBalancerOwnerAnnotation } from '@outrigger/cloud-provider';
import { test, type TestContext } from 'node:test';
import {
  createClient,
  createTransport,
  isConflict,
  isInvalid,
  noMetrics,
  resources,
  silentLogger,
  Stores,
  systemClock,
  type Client,
  type ClusterConfig,
  type EventNote,
  type ResourceClient,
  type Service,
  type TransportLayer,
} from '@outrigger/kube';
import { createMemoryCloud, type MemoryCloud } from '@outrigger/provider-memory';
import { hollowNode } from '@outrigger/testing';
import { callContext, CLUSTER, openLoadBalancers } from '../load-balancer/memory-provider.suite.ts';
import { createServiceController } from './service-controller.ts';
import { ingressPatch, letGoPatch, recordPatch } from './service-patch.ts';
import { cleanupFinalizer, readyCondition } from './well-known-names.ts';

/** Starts an API server that ends with the test; `undefined` when there is none here (the test is skipped then). */
export type StartApiServer = (t: TestContext) => Promise<ClusterConfig | undefined>;

interface Subject {
  readonly client: Client;
  readonly services: ResourceClient<Service>;
  readonly cloud: MemoryCloud;
  readonly patches: string[];
  readonly events: (EventNote & { readonly name: string })[];
  /** Starts the controller; the function returned stops it. */
  run(): Promise<() => Promise<void>>;
}

function serviceOf(name: string): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'default' },
    spec: { type: 'LoadBalancer', ports: [{ port: 80, protocol: 'TCP' }], selector: { app: name } },
  };
}

async function createNode(client: Client): Promise<void> {
  const nodes = client.of(resources.nodes);
  const node = await nodes.create(hollowNode({ name: 'n1', taints: [] }));
  await nodes.update({ ...node, spec: { ...node.spec, providerID: 'memory://r/n1' } });
}

async function until<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  const deadline = systemClock.monotonic() + 180_000;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (systemClock.monotonic() > deadline) assert.fail(`not within 180 s: ${what}`);
    await systemClock.sleep(20);
  }
}

const isServed = ({ status }: Service): boolean => !!status?.loadBalancer?.ingress?.length;

/** Runs the suite. */
export function testServiceController(subject: string, start: StartApiServer): void {
  const setUp = async (t: TestContext): Promise<Subject | undefined> => {
    const config = await start(t);
    if (!config) return undefined;
    const patches: string[] = [];
    const recordPatches: TransportLayer = (inner) => ({
      send: (request) => {
        if (request.method === 'PATCH') patches.push(new URL(request.path, 'http://api').pathname);
        return inner.send(request);
      },
      [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
    });
    const transport = createTransport(config, { layers: [recordPatches] });
    t.after(() => transport[Symbol.asyncDispose]());
    const client = createClient(transport);
    const cloud = createMemoryCloud({ clock: systemClock, random: () => 0.5 });
    const provider = await openLoadBalancers(cloud, systemClock);
    const events: (EventNote & { name: string })[] = [];
    const run = async (): Promise<() => Promise<void>> => {
      const random = (): number => 0.5;
      const stores = new Stores({ client, clock: systemClock, logger: silentLogger, metrics: noMetrics, random });
      const ended = new AbortController();
      const running = createServiceController({
        client,
        services: stores.open(resources.services),
        nodes: stores.open(resources.nodes),
        provider,
        callContext: ({ signal, priority }) => callContext(signal, priority),
        events: { record: (about, note) => void events.push({ ...note, name: about.metadata?.name ?? '' }) },
        clock: systemClock,
        logger: silentLogger,
        metrics: noMetrics,
        random,
        options: { providerName: 'memory', clusterId: CLUSTER },
      }).run(ended.signal);
      await stores.whenSynced();
      const stop = async (): Promise<void> => {
        ended.abort();
        await running;
        await stores[Symbol.asyncDispose]();
      };
      t.after(stop);
      return stop;
    };
    return { client, services: client.of(resources.services), cloud, patches, events, run };
  };

  test(`${subject}: a Service gets its address through services/status alone, and goes when its parts are gone`, async (t) => {
    const rig = await setUp(t);
    if (!rig) return;
    const { client, services, cloud, patches, events } = rig;
    await createNode(client);
    await rig.run();
    const ref = { name: 'web', namespace: 'default' };
    await services.create(serviceOf('web'));
    const web = await until('an address', async () => {
      const service = await services.get(ref);
      return isServed(service) ? service : undefined;
    });
    assert.deepEqual(web.status?.loadBalancer?.ingress, [{ ip: '203.0.113.1', ipMode: 'VIP' }]);
    assert.deepEqual(web.metadata?.finalizers, [cleanupFinalizer]);
    assert.equal(web.metadata?.annotations?.[loadBalancerOwnerAnnotation], 'memory');
    assert.deepEqual(cloud.parts().find(({ kind }) => kind === 'load-balancer')?.attributes.backEnds, [
      'memory://r/n1',
    ]);
    assert.deepEqual(patches, Array(2).fill('/api/v1/namespaces/default/services/web/status'));
    const [ready, ...others] = web.status?.conditions ?? [];
    assert.deepEqual([ready?.type, ready?.status, ready?.reason, others], [readyCondition, 'True', 'Ready', []]);
    assert.equal(ready?.observedGeneration, web.metadata?.generation);

    await services.patch(ref, { type: 'merge', body: { spec: { type: 'ClusterIP' } } });
    await until('cleaned up', async () => {
      const { metadata, status } = await services.get(ref);
      return metadata?.finalizers?.length || status?.loadBalancer?.ingress?.length ? undefined : true;
    });
    assert.deepEqual(cloud.parts(), []);
    const { metadata } = await services.get(ref);
    assert.equal(metadata?.annotations?.[loadBalancerOwnerAnnotation], undefined);
    assert.deepEqual((await services.get(ref)).status?.conditions ?? [], []);

    await services.patch(ref, { type: 'merge', body: { spec: { type: 'LoadBalancer' } } });
    await until('an address again', async () => (isServed(await services.get(ref)) ? true : undefined));
    await services.delete(ref);
    await until('gone', async () =>
      (await services.list()).items.some(({ metadata }) => metadata?.name === 'web') ? undefined : true,
    );
    assert.deepEqual(cloud.parts(), []);
    const reasons = ['EnsuringLoadBalancer', 'EnsuredLoadBalancer', 'DeletingLoadBalancer', 'DeletedLoadBalancer'];
    const told = (): string[] =>
      events.map(({ reason }) => reason).filter((reason) => reason !== 'UnAvailableLoadBalancer');
    // The Service is gone for others before the controller has had the answer to its own last write.
    await until('the last Event', () => Promise.resolve(told().length >= 2 * reasons.length ? true : undefined));
    assert.deepEqual(told(), [...reasons, ...reasons]);
  });

  test(`${subject}: a restart writes nothing, and other writers' finalizers, annotations and conditions stay`, async (t) => {
    const rig = await setUp(t);
    if (!rig) return;
    const { client, services, cloud, patches } = rig;
    await createNode(client);
    const stop = await rig.run();
    for (let i = 0; i < 10; i++) {
      const service = serviceOf(`s${i}`);
      await services.create({
        ...service,
        metadata: { ...service.metadata, annotations: { theirs: 'x' }, finalizers: ['example.com/theirs'] },
      });
    }
    const all = await until('addresses', async () => {
      const items = (await services.list({ namespace: 'default' })).items.filter(
        ({ spec }) => spec?.type === 'LoadBalancer',
      );
      return items.length === 10 && items.every(isServed) ? items : undefined;
    });
    for (const { metadata } of all) {
      assert.deepEqual(metadata?.finalizers?.toSorted(), ['example.com/theirs', cleanupFinalizer]);
      assert.equal(metadata?.annotations?.theirs, 'x');
    }
    await stop();
    cloud.resetCalls();
    const before = patches.length;
    await rig.run();
    await until('the parts are listed', () => Promise.resolve(cloud.calls().total > 0 || undefined));
    await systemClock.sleep(300);
    assert.equal(patches.length, before);
    // Of all Services together, or of some more when the process has lost its turn amid them; of each alone it would be ten.
    const { 'GET /parts': lists = 0, ...others } = cloud.calls().byOperation;
    assert.deepEqual(others, {});
    assert.ok(lists <= 3, `${lists} lists`);
    await services.delete({ name: 's0', namespace: 'default' });
    await until('only theirs is left', async () => {
      const { metadata } = await services.get({ name: 's0', namespace: 'default' });
      return metadata?.finalizers?.includes(cleanupFinalizer) ? undefined : true;
    });
    const { metadata } = await services.get({ name: 's0', namespace: 'default' });
    assert.deepEqual([metadata?.finalizers, metadata?.annotations], [['example.com/theirs'], { theirs: 'x' }]);
    await services.patch(
      { name: 's0', namespace: 'default' },
      { type: 'merge', body: { metadata: { finalizers: null } } },
    );
  });

  test(`${subject}: a patch made for another Service of the same name is refused`, async (t) => {
    const rig = await setUp(t);
    if (!rig) return;
    const { services } = rig;
    const made = await services.create(serviceOf('web'));
    await services.delete({ name: 'web', namespace: 'default' });
    await services.create(serviceOf('web'));
    const stale = { ...made, metadata: { ...made.metadata, finalizers: [cleanupFinalizer] } };
    const patches = [recordPatch(stale, 'memory'), letGoPatch(stale)];
    for (const patch of patches) {
      assert.ok(patch);
      const sent = services.patch({ name: 'web', namespace: 'default' }, patch, { subresource: 'status' });
      await assert.rejects(sent, (error) => isInvalid(error) || isConflict(error));
    }
    assert.equal((await services.get({ name: 'web', namespace: 'default' })).metadata?.finalizers, undefined);
  });

  test(`${subject}: addresses are written past whatever else of the Service was written since, and not over others`, async (t) => {
    const rig = await setUp(t);
    if (!rig) return;
    const { services } = rig;
    const ref = { name: 'web', namespace: 'default' };
    await services.create(serviceOf('web'));
    const write = (service: Service, ...ips: readonly string[]): Promise<Service> =>
      services.patch(
        ref,
        ingressPatch(
          service,
          ips.map((ip) => ({ ip })),
        ),
        { subresource: 'status' },
      );
    const ipsIn = ({ status }: Service): unknown => status?.loadBalancer?.ingress?.map(({ ip }) => ip);
    const none = await services.get(ref);
    const two = await write(none, '192.0.2.7', '192.0.2.8');
    await services.patch(ref, { type: 'merge', body: { metadata: { annotations: { theirs: 'x' } } } });
    const one = await write(two, '192.0.2.8');
    assert.deepEqual([ipsIn(one), one.metadata?.annotations?.theirs], [['192.0.2.8'], 'x']);
    await assert.rejects(write(two, '192.0.2.7'), isInvalid);
    await assert.rejects(write(none, '192.0.2.7'), isInvalid);
    assert.equal(ipsIn(await write(one)), undefined);
    assert.deepEqual(ipsIn(await write(none, '192.0.2.7')), ['192.0.2.7']);
    await services.delete(ref);
    await services.create(serviceOf('web'));
    await assert.rejects(write(none, '192.0.2.7'), isInvalid);
  });
}
