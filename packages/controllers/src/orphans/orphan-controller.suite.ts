/** What the orphan controller does on an API server, whichever: the embedded one and the real one must agree. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import {
  createClient,
  createTransport,
  noMetrics,
  resources,
  silentLogger,
  Stores,
  systemClock,
  type ClusterConfig,
  type EventNote,
  type Service,
} from '@outrigger/kube';
import { createMemoryCloud } from '@outrigger/provider-memory';
import { hollowNode } from '@outrigger/testing';
import { callContext, openMemoryProvider } from '../load-balancer/memory-provider.suite.ts';
import { Locks } from '../load-balancer/locks.ts';
import { createServiceController } from '../service/service-controller.ts';
import { createOrphanController, type OrphanControllerOptions } from './orphan-controller.ts';

/** Starts an API server that ends with the test; `undefined` when there is none here (the test is skipped then). */
export type StartApiServer = (t: TestContext) => Promise<ClusterConfig | undefined>;

const PATIENCE_MS = 240_000;
const NAMES = ['a', 'b', 'c', 'lost'];

function serviceOf(name: string): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'default' },
    spec: { type: 'LoadBalancer', ports: [{ port: 80, protocol: 'TCP' }], selector: { app: name } },
  };
}

async function until(what: string, look: () => Promise<boolean> | boolean): Promise<void> {
  const deadline = systemClock.monotonic() + PATIENCE_MS;
  while (!(await look())) {
    if (systemClock.monotonic() > deadline) assert.fail(`not within ${PATIENCE_MS / 1_000} s: ${what}`);
    await systemClock.sleep(20);
  }
}

/** Runs the suite. */
export function testOrphanController(subject: string, start: StartApiServer): void {
  test(`${subject}: what a Service without its finalizer and a node leave behind is reported, and then removed`, async (t) => {
    const config = await start(t);
    if (!config) return;
    const transport = createTransport(config);
    t.after(() => transport[Symbol.asyncDispose]());
    const client = createClient(transport);
    const nodes = client.of(resources.nodes);
    const services = client.of(resources.services);
    const clusterId = (await client.of(resources.namespaces).get({ name: 'kube-system' })).metadata?.uid ?? '';
    const cloud = createMemoryCloud({ clock: systemClock, random: () => 0.5 });
    const { loadBalancers, routes } = await openMemoryProvider(cloud, systemClock, { clusterId });
    assert.ok(loadBalancers && routes);
    const locks = new Locks();
    const events: EventNote[] = [];
    const shared = {
      client,
      clock: systemClock,
      logger: silentLogger,
      metrics: noMetrics,
      random: () => 0.5,
      locks,
      callContext: ({ signal, priority }: Parameters<Parameters<typeof createOrphanController>[0]['callContext']>[0]) =>
        callContext(signal, priority),
      events: { record: (_about: object, note: EventNote) => void events.push(note) },
    };
    /** Runs until the function returned is called, or the test ends. */
    const during = (run: (signal: AbortSignal) => Promise<void>): (() => Promise<void>) => {
      const ended = new AbortController();
      const running = run(ended.signal);
      const stop = async (): Promise<void> => {
        ended.abort();
        await running;
      };
      t.after(stop);
      return stop;
    };
    const serve = (): (() => Promise<void>) =>
      during(async (signal) => {
        await using stores = new Stores({ ...shared, random: () => 0.5 });
        await createServiceController({
          ...shared,
          services: stores.open(resources.services),
          nodes: stores.open(resources.nodes),
          provider: loadBalancers,
          options: { providerName: 'memory', clusterId },
        }).run(signal);
      });
    const seekOrphans = (options: Pick<OrphanControllerOptions, 'policy' | 'gracePeriodMs'>): (() => Promise<void>) =>
      during((signal) =>
        createOrphanController({
          ...shared,
          provider: { loadBalancers, routes },
          leaderSince: systemClock.monotonic(),
          options: {
            providerName: 'memory',
            clusterId,
            maxDeletions: 10,
            maxFraction: 0.3,
            lookedAfter: [],
            periodMs: 100,
            ...options,
          },
        }).run(signal),
      );
    const owners = (): ReadonlySet<string> => new Set(cloud.parts().map(({ tags }) => tags.uid ?? ''));

    for (const name of ['n1', 'n2', 'n3', 'n4']) {
      cloud.createInstance({ name });
      const node = await nodes.create(hollowNode({ name, taints: [] }));
      await nodes.update({ ...node, spec: { ...node.spec, providerID: `memory://region-1/${name}` } });
      cloud.createRoute({
        destination: `10.9.${name.slice(1)}.0/24`,
        instanceId: name,
        nodeName: name,
        clusterId,
      });
    }
    const stopServing = serve();
    for (const name of NAMES) await services.create(serviceOf(name));
    await until('all served', async () => {
      const { items } = await services.list({ namespace: 'default' });
      return items.filter(({ status }) => status?.loadBalancer?.ingress?.length).length === NAMES.length;
    });
    await stopServing();

    // By force, while nobody looks: what the finalizer is there to prevent.
    const lost = await services.get({ name: 'lost', namespace: 'default' });
    const uid = lost.metadata?.uid ?? '';
    const ref = { name: 'lost', namespace: 'default' };
    await services.patch(ref, { type: 'merge', body: { metadata: { finalizers: null } } });
    await services.delete(ref);
    await nodes.delete({ name: 'n4' });
    assert.ok(owners().has(uid));

    const stopReporting = seekOrphans({ policy: 'report', gracePeriodMs: 0 });
    await until('reported', () =>
      ['OrphanedLoadBalancers', 'OrphanedRoutes'].every((wanted) => events.some(({ reason }) => reason === wanted)),
    );
    await stopReporting();
    assert.ok(events.some(({ message }) => message.includes(uid)));
    assert.equal(owners().size, NAMES.length);
    assert.equal(cloud.routes().length, 4);

    // Beside the service controller, as in the program.
    serve();
    const startedAt = systemClock.monotonic();
    seekOrphans({ policy: 'delete', gracePeriodMs: 1_000 });
    await until('removed', () => owners().size < NAMES.length && cloud.routes().length < 4);
    assert.ok(systemClock.monotonic() - startedAt >= 1_000);
    await until('told', () => events.filter(({ reason }) => reason === 'OrphanRemoved').length >= 2);
    await until('all of it gone', () => !owners().has(uid));
    assert.equal(owners().size, NAMES.length - 1);
    assert.deepEqual(
      cloud.routes().map(({ nodeName }) => nodeName),
      ['n1', 'n2', 'n3'],
    );
    const { items } = await services.list({ namespace: 'default' });
    assert.equal(items.filter(({ status }) => status?.loadBalancer?.ingress?.length).length, NAMES.length - 1);
  });
}
