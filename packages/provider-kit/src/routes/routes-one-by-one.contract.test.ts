import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  CloudError,
  errorCodeOfStatus,
  isCloudError,
  type CallContext,
  type Route,
  type RouteRequest,
} from '@outrigger/cloud-provider';
import { providerConformance, providerTests, type ProviderFixture } from '@outrigger/conformance';
import { silentLogger } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { routesOneByOne, type RoutesOneByOneOptions } from './routes-one-by-one.ts';

/** A cloud that knows one route a request. */
class RouteCloud {
  readonly machines: Set<string> = new Set();
  readonly routes: Map<string, Route> = new Map();
  readonly log: string[] = [];
  failure: number | 'lost' = 0;
  most = Infinity;
  #next = 1;

  add(destination: string, targetProviderID: string, ownership: Route['ownership']): void {
    const id = `route-${this.#next++}`;
    this.routes.set(id, { id, destination, targetProviderID, ownership, blackhole: false });
  }

  routesOf(more: Partial<RoutesOneByOneOptions> = {}): RoutesOneByOneOptions {
    const ask = <T>(call: CallContext, name: string, work: () => T): Promise<T> =>
      call.call({ name }, async () => {
        this.log.push(name);
        const { failure } = this;
        if (typeof failure === 'number' && failure > 0) throw new CloudError(errorCodeOfStatus(failure), `${failure}`);
        const done = work();
        if (failure === 'lost' && name !== 'GET /routes') throw new CloudError('unavailable', 'lost');
        return done;
      });
    return {
      list: (call) =>
        ask(call, 'GET /routes', () =>
          [...this.routes.values()].map((route) => {
            const isThere = this.machines.has(route.targetProviderID ?? '');
            return isThere ? route : { ...route, targetProviderID: undefined, blackhole: true };
          }),
        ),
      create: ({ destination, node: { providerID = '' } }: RouteRequest, call) =>
        ask(call, 'POST /routes', () => {
          if (!this.machines.has(providerID)) throw new CloudError('not-found', `no machine ${providerID}`);
          if (this.routes.size >= this.most) throw new CloudError('quota', 'no more routes');
          this.add(destination, providerID, 'owned');
        }),
      delete: ({ id }, call) =>
        ask(call, 'DELETE /routes/{id}', () => {
          if (!this.routes.delete(id)) throw new CloudError('not-found', `no route ${id}`);
        }),
      ...more,
    };
  }
}

async function fixture(): Promise<ProviderFixture & { readonly cloud: RouteCloud }> {
  const cloud = new RouteCloud();
  return {
    cloud,
    clock: new FakeClock(),
    createMachine: async (name) => {
      const providerID = `acme://${name}`;
      cloud.machines.add(providerID);
      return { name, uid: `uid-${name}`, providerID, labels: {}, annotations: {} };
    },
    stopMachine: async () => {},
    deleteMachine: async ({ name }) => void cloud.machines.delete(`acme://${name}`),
    listMachines: async () => [...cloud.machines],
    fail: async (how) => {
      cloud.failure = how?.kind === 'status' ? how.status : 0;
    },
    // One list, and each route by itself.
    requestsOf: { createRoutes: 5 },
    createForeignRoute: async (destination, { providerID = '' }) => cloud.add(destination, providerID, 'foreign'),
    limitRoutes: async (most) => void (cloud.most = most),
    [Symbol.asyncDispose]: async () => {},
  };
}

await providerConformance({
  name: 'routes one by one',
  provider: ({ cloud }) => ({
    name: 'acme',
    open: async () => ({ routes: routesOneByOne(cloud.routesOf()) }),
    close: async () => {},
  }),
  fixture,
  tests: providerTests.filter(({ feature, name }) => feature === 'routes' && !name.includes('another cluster')),
});

const call: CallContext = {
  signal: new AbortController().signal,
  priority: 'normal',
  logger: silentLogger,
  call: (_operation, send) => send(call.signal),
};

function request(name: string, destination: string, more: Partial<RouteRequest> = {}): RouteRequest {
  const node = { name, uid: name, providerID: `acme://${name}`, labels: {}, annotations: {} };
  return { node, addresses: [{ type: 'InternalIP', address: '10.9.0.1' }], destination, ...more };
}

for (const keepsBoth of [true, false]) {
  test(`a route that is to be replaced goes ${keepsBoth ? 'when the new one is there' : 'before the new one'}`, async () => {
    const cloud = new RouteCloud();
    for (const name of ['a', 'b']) cloud.machines.add(`acme://${name}`);
    cloud.add('10.0.0.0/24', 'acme://a', 'owned');
    const routes = routesOneByOne(cloud.routesOf({ keepsBoth }));
    const replaces = (await routes.list(call)).routes;
    assert.deepEqual(await routes.create([request('b', '10.0.0.0/24', { replaces })], call), [{ kind: 'done' }]);
    const writes = cloud.log.filter((name) => name !== 'GET /routes');
    assert.deepEqual(
      writes,
      keepsBoth ? ['POST /routes', 'DELETE /routes/{id}'] : ['DELETE /routes/{id}', 'POST /routes'],
    );
    assert.deepEqual(
      (await routes.list(call)).routes.map(({ targetProviderID }) => targetProviderID),
      ['acme://b'],
    );
  });
}

test('where the cloud can make a route lead elsewhere, none is removed to replace it', async () => {
  const cloud = new RouteCloud();
  for (const name of ['a', 'b']) cloud.machines.add(`acme://${name}`);
  cloud.add('10.0.0.0/24', 'acme://a', 'owned');
  const replaced: string[] = [];
  const routes = routesOneByOne(
    cloud.routesOf({
      replace: async ({ destination, node }) => void replaced.push(`${destination} → ${node.providerID}`),
    }),
  );
  const replaces = (await routes.list(call)).routes;
  const asked = [request('b', '10.0.0.0/24', { replaces }), request('b', '10.0.1.0/24')];
  assert.deepEqual(await routes.create(asked, call), [{ kind: 'done' }, { kind: 'done' }]);
  assert.deepEqual(replaced, ['10.0.0.0/24 → acme://b']);
  assert.deepEqual(
    cloud.log.filter((name) => name !== 'GET /routes'),
    ['POST /routes'],
  );
});

test('where the cloud is down, what is left of a batch is not tried, and had no effect', async () => {
  const cloud = new RouteCloud();
  cloud.machines.add('acme://a');
  const options = cloud.routesOf({ parallel: 2 });
  const list = options.list;
  const routes = routesOneByOne({
    ...options,
    list: async (one) => {
      const found = await list(one);
      cloud.failure = 503;
      return found;
    },
  });
  const results = await routes.create(
    Array.from({ length: 20 }, (_, i) => request('a', `10.0.${i}.0/24`)),
    call,
  );
  assert.equal(results.length, 20);
  assert.ok(results.every((one) => one.kind === 'failed' && isCloudError(one.error, 'unavailable')));
  const last = results.at(-1);
  assert.ok(last?.kind === 'failed' && isCloudError(last.error) && last.error.effect === 'none');
  assert.equal(cloud.log.filter((name) => name === 'POST /routes').length, 2);
});

test('two routes to one destination in a batch are a conflict; one by its next hop is there already', async () => {
  const cloud = new RouteCloud();
  for (const name of ['a', 'b']) cloud.machines.add(`acme://${name}`);
  const routes = routesOneByOne(
    cloud.routesOf({
      unmarked: true,
      list: async () => [
        { id: 'x', destination: '10.1.0.0/24', nextHops: ['10.9.0.1'], ownership: 'unmarked', blackhole: false },
        { id: 'y', destination: '10.2.0.0/24', nextHops: ['10.9.0.7'], ownership: 'unmarked', blackhole: false },
      ],
    }),
  );
  assert.equal(routes.unmarked, true);
  const byMachine = cloud.routesOf({ unmarked: true, nextHop: 'instance' });
  assert.equal(routesOneByOne(byMachine).nextHop, 'instance');
  const results = await routes.create(
    [
      request('a', '10.0.0.0/24'),
      request('b', '10.0.0.0/24'),
      request('a', '10.1.0.0/24'),
      request('a', '10.2.0.0/24'),
    ],
    call,
  );
  assert.deepEqual(
    results.map(({ kind }) => kind),
    ['done', 'failed', 'exists', 'failed'],
  );
});

test('where a route says its machine and its next hops, both have to be the node’s; one that leads nowhere is not there already', async () => {
  const cloud = new RouteCloud();
  const route = { targetProviderID: 'acme://a', ownership: 'owned', blackhole: false } as const;
  const routes = routesOneByOne(
    cloud.routesOf({
      list: async () => [
        { ...route, id: 'x', destination: '10.1.0.0/24', nextHops: ['10.9.0.1'] },
        { ...route, id: 'y', destination: '10.2.0.0/24', nextHops: ['10.9.0.7'] },
        { ...route, id: 'z', destination: '10.3.0.0/24', blackhole: true },
      ],
    }),
  );
  const asked = ['10.1.0.0/24', '10.2.0.0/24', '10.3.0.0/24'].map((destination) => request('a', destination));
  assert.deepEqual(
    (await routes.create(asked, call)).map(({ kind }) => kind),
    ['exists', 'failed', 'failed'],
  );
});
