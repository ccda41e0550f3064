import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '@outrigger/testing';
import { createClient } from './create-client.ts';
import { NotLeaderError } from './leadership.ts';
import { silentLogger, type LogFields, type Logger } from './logger.ts';
import { noMetrics, type Labels, type Metrics } from './metrics.ts';
import { EXPIRED, ModelApiServer, type ModelObject } from './model-api-server.ts';
import { openStore, Stores, type StoreEnvironment } from './open-store.ts';
import { metadataOf, type Resource } from './resource.ts';
import type { Transport } from './transport.ts';

const nodes: Resource<ModelObject> = { group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false };

interface Bench {
  readonly server: ModelApiServer;
  readonly clock: FakeClock;
  readonly environment: StoreEnvironment;
  readonly log: { severity: string; message: string; fields: LogFields | undefined }[];
  readonly counted: Map<string, number>;
}

function createBench(): Bench {
  const server = new ModelApiServer();
  const clock = new FakeClock();
  const log: Bench['log'] = [];
  const counted: Bench['counted'] = new Map();
  const say =
    (severity: string) =>
    (message: string, fields?: LogFields): void =>
      void log.push({ severity, message, fields });
  const logger: Logger = { ...silentLogger, error: say('error'), warn: say('warn'), with: () => logger };
  const nameOf = (name: string, labels: Labels = {}): string => [name, ...Object.values(labels)].join(' ');
  const metrics: Metrics = {
    ...noMetrics,
    counter: ({ name }) => ({
      inc: (labels) => void counted.set(nameOf(name, labels), (counted.get(nameOf(name, labels)) ?? 0) + 1),
    }),
    gauge: ({ name }) => ({ set: (value, labels) => void counted.set(nameOf(name, labels), value) }),
  };
  const environment = { client: createClient(server), clock, logger, metrics, random: () => 0.5 };
  return { server, clock, environment, log, counted };
}

test('an opened store fills, follows and says so in its metrics', async () => {
  const { server, clock, environment, counted, log } = createBench();
  server.put('a', 1);
  await using store = openStore({ ...environment, resource: nodes });
  await store.whenSynced();
  server.put('b', 2);
  await clock.settle();
  assert.equal(store.size, 2);
  assert.equal(counted.get('outrigger_store_objects nodes'), 2);
  assert.equal(counted.get('outrigger_store_lists_total nodes'), 1);
  await clock.advance(20_000);
  server.cut('reset');
  await clock.advance(2_000);
  assert.equal(counted.get('outrigger_watch_errors_total nodes watching resume'), 1);
  assert.equal(log[0]?.message, 'A list or watch failed and is tried again');
  log.length = 0;
  server.say({ type: 'ERROR', object: EXPIRED });
  await clock.advance(60_000);
  assert.deepEqual(log, [], 'an expired version is routine');
  assert.equal(counted.get('outrigger_store_lists_total nodes'), 2);
});

test('that a process which no longer leads may not watch is told by its leader election, and not by each store', async () => {
  const { server, clock, environment, log } = createBench();
  let leads = true;
  const fenced: Transport = {
    send: (request) =>
      leads ? server.send(request) : Promise.reject(new NotLeaderError('the lease was not renewed in time')),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  await using store = openStore({ ...environment, client: createClient(fenced), resource: nodes });
  await store.whenSynced();
  // One that lasted, whose end says nothing.
  await clock.advance(20_000);
  leads = false;
  server.cut('end');
  await clock.advance(2_000);
  assert.deepEqual(log, []);
});

test('closing ends the watch and those who wait in vain', async () => {
  const { server, clock, environment } = createBench();
  server.faults.push({ kind: 'reset' });
  const store = openStore({ ...environment, resource: nodes });
  const waiting = store.whenSynced();
  await clock.settle();
  await store[Symbol.asyncDispose]();
  await assert.rejects(waiting, /closed/);
  assert.equal(server.watches, 0);
  assert.equal(clock.pendingTimers, 0);
});

test('a function that throws is said loudly, and the store goes on when it throws no more', async () => {
  const { server, clock, environment, log } = createBench();
  let broken = true;
  server.put('a', 1);
  await using store = openStore({
    ...environment,
    resource: nodes,
    transform: (object) => {
      if (broken) throw new Error('defect');
      return object;
    },
  });
  await clock.settle();
  assert.equal(log[0]?.severity, 'error');
  assert.equal(store.synced, false, 'nothing is claimed meanwhile');
  broken = false;
  await clock.advance(30_000);
  assert.ok(store.synced);
});

test('a kind is watched once, however many ask for it', async () => {
  const { server, clock, environment } = createBench();
  server.put('a', 1);
  await using stores = new Stores(environment);
  const one = stores.open(nodes);
  const two = stores.open(nodes, { indexers: { parity: (object) => [String(object.value % 2)] } });
  assert.equal(one, two);
  await stores.whenSynced();
  assert.equal(server.requests.length, 1);
  assert.deepEqual(
    one.byIndex('parity', '1').map((object) => object.metadata.name),
    ['a'],
  );
  assert.throws(() => stores.open(nodes, { transform: (object) => object }), /another transform/);
  stores.open(nodes, { selectors: { labelSelector: 'x' } });
  stores.open(nodes, { namespace: 'x' });
  stores.open(metadataOf(nodes));
  await clock.settle();
  assert.equal(server.requests.length, 4, 'other parts of it are other watches');
  await stores[Symbol.asyncDispose]();
  assert.equal(server.watches, 0);
  assert.throws(() => stores.open(nodes), /closed/);
});

test('what one store finds out about initial streams, the others know', async () => {
  const { server, clock, environment } = createBench();
  server.initialStreams = 'refuses';
  await using stores = new Stores(environment);
  stores.open(nodes);
  await stores.whenSynced();
  server.requests.length = 0;
  stores.open(nodes, { selectors: { labelSelector: 'x' } });
  await clock.settle();
  assert.equal(
    server.requests.some((request) => request.path.includes('sendInitialEvents')),
    false,
  );
});
