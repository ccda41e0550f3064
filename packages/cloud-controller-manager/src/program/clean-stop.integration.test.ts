import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { openProvider } from '@outrigger/cloud-runtime';
import { HeldTerms, runControllerManager, type ManagerEnd } from '@outrigger/controller-manager';
import {
  bearerToken,
  createClient,
  createTransport,
  createWorkQueue,
  LeaderElector,
  noMetrics,
  resources,
  runController,
  silentLogger,
  systemClock,
  type Lease,
  type Leadership,
  type ReconcileContext,
} from '@outrigger/kube';
import { startEmbeddedApiServer, type EmbeddedApiServer } from '@outrigger/testing';
import { until } from './program-bench.suite.ts';

const parts = { clock: systemClock, random: Math.random, logger: silentLogger, metrics: noMetrics };

/** A cloud that carries out what has arrived, whether or not the caller is still there, once it is let. */
class SlowCloud implements AsyncDisposable {
  readonly made: string[] = [];
  readonly arrived: string[] = [];
  readonly #gate = Promise.withResolvers<void>();
  readonly #server = createServer((request, response) => {
    if (request.method === 'GET') {
      response.end(JSON.stringify(this.made));
      return;
    }
    const who = String(request.headers['x-who']);
    this.arrived.push(who);
    void this.#gate.promise.then(() => {
      this.made.push(who);
      response.end('{}');
    });
  });

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  let(): void {
    this.#gate.resolve();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => void this.#server.close(() => resolve()));
  }
}

/** Makes the one load balancer, unless the cloud has it. */
async function manage(
  name: string,
  { api, cloud, stop, story }: { api: EmbeddedApiServer; cloud: SlowCloud; stop: AbortSignal; story: string[] },
): Promise<ManagerEnd> {
  await using transport = createTransport({
    server: api.url,
    tls: { ca: { data: api.ca ?? '' } },
    credentials: bearerToken(api.token),
  });
  const elector = new LeaderElector({
    ...parts,
    leases: createClient(transport).of(resources.leases),
    namespace: 'kube-system',
    name: 'ccm',
    identity: name,
    retryPeriodMs: 50,
  });
  const reconcile = async ({ signal }: ReconcileContext, terms: HeldTerms): Promise<void> => {
    await using provider = await openProvider(
      { name: 'cloud', open: () => Promise.resolve({}), close: () => Promise.resolve() },
      { ...parts, cluster: { id: 'c', name: 'c' }, leadership: terms },
    );
    const call = provider.callContext({ signal, priority: 'normal' });
    const made = await call.call({ name: 'GET', idempotent: true }, async (signal) => {
      return (await (await fetch(cloud.url, { signal })).json()) as string[];
    });
    story.push(`${name} sees ${made.length}`);
    if (made.length > 0) return;
    await call.call({ name: 'POST' }, (signal) =>
      fetch(cloud.url, { method: 'POST', signal, headers: { 'x-who': name } }),
    );
  };
  return await runControllerManager<Leadership>({
    ...parts,
    name,
    stop,
    acquire: (signal) => elector.acquire(signal),
    lead: (_signal, term) => {
      const terms = new HeldTerms();
      if (term) terms.add(term);
      const queue = createWorkQueue<string>({ ...parts, name });
      queue.add('default/web');
      const reconciler = { reconcile: (_key: string, context: ReconcileContext) => reconcile(context, terms) };
      const run = (signal: AbortSignal): Promise<void> =>
        runController({ ...parts, name: 'service', queue, reconciler, workers: 1, signal });
      return Promise.resolve({
        controllers: [{ name: 'service', run }],
        [Symbol.asyncDispose]: () => Promise.resolve(void story.push(`${name} has ended its controllers`)),
      });
    },
  });
}

test('a stopped leader keeps its Lease until what is at the cloud has come to its end: the next one finds it and makes no second', async () => {
  await using cloud = new SlowCloud();
  await cloud.start();
  await using api = await startEmbeddedApiServer();
  const story: string[] = [];
  const [first, second] = [new AbortController(), new AbortController()];
  await using end = new AsyncDisposableStack();
  const lease = (): Lease['spec'] =>
    (api.store.get({ group: 'coordination.k8s.io', plural: 'leases' }, 'ccm', 'kube-system') as Lease | undefined)
      ?.spec;
  const told = (): string => story.join('\n');
  const a = manage('A', { api, cloud, stop: first.signal, story });
  await until('the create is at the cloud', () => cloud.arrived.length === 1, told);
  const b = manage('B', { api, cloud, stop: second.signal, story });
  end.defer(async () => {
    for (const stop of [first, second]) stop.abort(new Error('the test is over'));
    cloud.let();
    await Promise.all([a, b]);
  });

  first.abort(new Error('SIGTERM'));
  await until('the controllers end', () => story.includes('A has ended its controllers'), told);
  for (let renewals = 0; renewals < 3; renewals++) {
    const before = lease()?.renewTime;
    await until('the lease is renewed on', () => lease()?.renewTime !== before, told);
    assert.equal(lease()?.holderIdentity, 'A');
  }
  cloud.let();
  assert.deepEqual(await a, { kind: 'stopped' });
  await until('the next one leads', () => story.some((line) => line.startsWith('B sees')), told);
  assert.deepEqual(story, ['A sees 0', 'A has ended its controllers', 'B sees 1']);
  second.abort(new Error('SIGTERM'));
  assert.deepEqual(await b, { kind: 'stopped' });
  assert.deepEqual(cloud.made, ['A']);
});
