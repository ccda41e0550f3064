import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import type { DesiredLoadBalancer, NodeRef } from '@outrigger/cloud-provider';
import { isComplete } from '@outrigger/cloud-runtime';
import { FakeClock } from '@outrigger/testing';
import { bareHost, CALL } from './bare-host.suite.ts';
import { handleRequest } from './cloud-api.ts';
import { handleControl } from './cloud-control.ts';
import {
  createMemoryCloud,
  createMemoryProvider,
  type MemoryCloud,
  type MemoryCloudSettings,
  type MemoryPart,
} from './index.ts';

const signal = new AbortController().signal;
function setUp(settings: Partial<MemoryCloudSettings> = {}): { clock: FakeClock; cloud: MemoryCloud } {
  const clock = new FakeClock();
  return { clock, cloud: createMemoryCloud({ clock, random: () => 0.5, settings }) };
}

test('lists lag behind, reads do not', async () => {
  const { clock, cloud } = setUp({ listLagMs: 1000 });
  cloud.createInstance({ name: 'a' });
  assert.equal(cloud.instances().length, 0);
  assert.equal(cloud.instance('a')?.providerID, 'memory://region-1/a');
  await clock.advance(1000);
  assert.equal(cloud.instances().length, 1);
  cloud.deleteInstance('a');
  assert.equal(cloud.instances().length, 1);
  assert.equal(cloud.instance('a'), undefined);
});

test('parts are asked for by the Service whose they are', async () => {
  const { cloud } = setUp();
  for (const uid of ['a', 'b']) cloud.createPart({ kind: 'dns', tags: { clusterId: 'c', uid }, attributes: {} });
  const uidsOf = async (path: string): Promise<readonly (string | undefined)[]> => {
    const { body } = await handleRequest(cloud, { method: 'GET', path }, signal);
    return (body as { parts: readonly MemoryPart[] }).parts.map(({ tags }) => tags.uid);
  };
  assert.deepEqual(
    [await uidsOf('/parts'), await uidsOf('/parts?uid=b'), await uidsOf('/parts?uid=d')],
    [['a', 'b'], ['b'], []],
  );
});

test('a load balancer that is new or was changed serves a while later', async () => {
  const { clock, cloud } = setUp({ loadBalancerDelayMs: 1000 });
  const tags = { clusterId: 'c', uid: 'a' };
  const { id, state } = cloud.createPart({ kind: 'load-balancer', tags, attributes: {} });
  const states = [state];
  await clock.advance(1000);
  states.push(cloud.updatePart(id, { tags }).state, cloud.updatePart(id, { attributes: { backEnds: ['n'] } }).state);
  await clock.advance(999);
  states.push(cloud.parts()[0]?.state);
  await clock.advance(1);
  states.push(cloud.parts()[0]?.state);
  assert.deepEqual(states, ['pending', 'ready', 'pending', 'pending', 'ready']);
  const dns = cloud.createPart({ kind: 'dns', tags, attributes: {} });
  assert.equal(cloud.updatePart(dns.id, { attributes: { name: 'n' } }).state, 'ready');
});

test('rate limit, quota, latency and faults by rule', async () => {
  const { clock, cloud } = setUp({ rateLimit: { qps: 1, burst: 2 }, quota: { instances: 1 }, latencyMs: 50 });
  const get = { method: 'GET', path: '/instances' } as const;
  const first = handleRequest(cloud, get, signal);
  await clock.advance(49);
  assert.equal(cloud.calls().total, 0);
  await clock.advance(1);
  assert.equal((await first).status, 200);
  void handleRequest(cloud, get, signal);
  const limited = await handleRequest(cloud, get, signal);
  assert.deepEqual([limited.status, limited.retryAfterSeconds], [429, 1]);
  cloud.createInstance({ name: 'a' });
  assert.throws(() => cloud.createInstance({ name: 'b' }), /quota of 1 instances/);
  cloud.configure({ rateLimit: undefined, latencyMs: 0 });
  cloud.setFaults([
    { operation: 'GET /routes', effect: 'status', status: 503, nth: 2 },
    { operation: 'POST /parts', effect: 'lost', times: 1 },
    { probability: 0.5, effect: 'status' },
  ]);
  const status = async (method: 'GET' | 'POST', path: string): Promise<number> =>
    (await handleRequest(cloud, { method, path, body: { kind: 'dns', tags: {}, attributes: {} } }, signal)).status;
  assert.deepEqual([await status('GET', '/routes'), await status('GET', '/routes')], [200, 503]);
  assert.equal(await status('POST', '/parts'), 500);
  assert.equal(cloud.parts().length, 1);
  assert.equal(await status('POST', '/parts'), 201);
  assert.equal(cloud.parts().length, 1);
  cloud.setFaults([{ effect: 'hang' }]);
  const caller = new AbortController();
  const stuck = handleRequest(cloud, get, caller.signal);
  caller.abort(new Error('gone'));
  await assert.rejects(stuck, /gone/);
});

test('the control endpoint: instances come, stop and go; calls are counted without it', async () => {
  const { cloud } = setUp();
  const control = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', what: string, body?: unknown): number =>
    handleControl(cloud, { method, path: `/control/${what}`, body }).status;
  assert.equal(control('POST', 'instances', [{ name: 'a' }, { name: 'b' }]), 201);
  assert.equal(control('POST', 'instances', { name: 'a' }), 409);
  assert.equal(control('POST', 'instances', {}), 400);
  assert.equal(control('POST', 'instances/a/stop'), 200);
  assert.equal(cloud.liveInstance('a')?.state, 'shutdown');
  assert.equal(control('POST', 'instances/a/start'), 200);
  assert.equal(control('PUT', 'instances/a', { labels: { x: 'y' } }), 200);
  assert.equal(control('DELETE', 'instances/a'), 200);
  assert.equal(control('DELETE', 'instances/a'), 404);
  assert.equal(control('PUT', 'settings', { latencyMs: 5 }), 200);
  assert.equal(control('PUT', 'faults', {}), 400);
  assert.equal(control('PUT', 'faults', []), 200);
  assert.equal(control('GET', 'nothing'), 404);
  assert.equal(cloud.calls().total, 0);
  for (const what of ['instances', 'settings', 'calls']) assert.equal(control('GET', what), 200);
  assert.equal(control('DELETE', 'calls'), 200);
});

test('routes: made in batches, made once, foreign ones left alone, blackholes seen', async () => {
  const { clock, cloud } = setUp({ quota: { routes: 2 } });
  cloud.createInstance({ name: 'a' });
  const { routes } = await createMemoryProvider({ cloud }).open(bareHost(clock));
  assert.ok(routes);
  const node = { name: 'a', uid: 'u', providerID: 'memory://region-1/a', labels: {}, annotations: {} };
  const request = (destination: string): Parameters<typeof routes.create>[0][number] => ({
    node,
    addresses: [],
    destination,
  });
  const kinds = async (...destinations: string[]): Promise<string[]> =>
    (await routes.create(destinations.map(request), CALL)).map(({ kind }) => kind);
  assert.deepEqual(await kinds('10.0.0.0/24', '10.0.0.0/24'), ['done', 'exists']);
  cloud.createRoute({ destination: '10.9.0.0/24', instanceId: 'a', nodeName: 'a', clusterId: 'another' });
  assert.deepEqual(await kinds('10.0.1.0/24'), ['failed']);
  cloud.deleteInstance('a');
  const listed = await routes.list(CALL);
  assert.deepEqual(
    listed.routes.map(({ ownership, blackhole, targetProviderID }) => [ownership, blackhole, targetProviderID]),
    [
      ['owned', true, 'memory://region-1/a'],
      ['foreign', true, 'memory://region-1/a'],
    ],
  );
  assert.deepEqual(
    (await routes.delete(listed.routes, CALL)).map(({ kind }) => kind),
    ['done', 'failed'],
  );
  assert.equal(cloud.routes().length, 1);
});

const desired: DesiredLoadBalancer = {
  wanted: true,
  owner: { clusterId: 'cluster-1', uid: 'service-1' },
  backEnds: [],
  service: {
    uid: 'service-1',
    namespace: 'default',
    name: 'web',
    labels: {},
    annotations: {},
    ports: [{ name: '', port: 80, protocol: 'TCP', nodePort: 30_080 }],
    ipFamilies: ['IPv4'],
    ipFamilyPolicy: 'SingleStack',
    externalTrafficPolicy: 'Cluster',
    sourceRanges: [],
    ingress: [],
  },
};

/** One pass over one Service at a time: what was done, or that nothing was left to do. */
async function balance(
  cloud: MemoryCloud,
  clock: FakeClock,
  config?: string,
): Promise<(wanted: boolean) => Promise<string[]>> {
  const { loadBalancers } = await createMemoryProvider({ cloud }).open(bareHost(clock, config));
  assert.ok(loadBalancers);
  return async (wanted) => {
    const [observed] = await loadBalancers.observe([desired.service], CALL);
    assert.ok(observed?.kind === 'parts');
    const plan = loadBalancers.plan({ ...desired, wanted }, observed.parts);
    for (const action of plan.actions) await loadBalancers.apply(action, desired, CALL);
    return isComplete(plan, { ...desired, wanted }, observed.parts)
      ? plan.ingress.map(({ ip }) => `done ${ip}`)
      : plan.actions.map(({ kind, part }) => `${kind} ${part}`);
  };
}

test('a load balancer is made part by part, then nothing is left to do, then all of it goes', async () => {
  const { clock, cloud } = setUp();
  const pass = await balance(cloud, clock);
  cloud.createPart({ kind: 'address', tags: { clusterId: 'another', uid: 'service-1' }, attributes: {} });
  assert.deepEqual(await pass(true), ['create address']);
  assert.deepEqual(await pass(true), ['create load-balancer', 'create firewall', 'create dns']);
  assert.match((await pass(true))[0] ?? '', /^done 203\.0\.113\./);
  assert.deepEqual(await pass(false), ['delete dns', 'delete firewall', 'delete load-balancer', 'delete address']);
  assert.deepEqual(await pass(false), []);
  assert.equal(cloud.parts().length, 1, 'the part of the other cluster');
});

test('a load balancer of one part has its address from it', async () => {
  const { clock, cloud } = setUp({ loadBalancerDelayMs: 1000 });
  const pass = await balance(cloud, clock, '{"loadBalancerParts":["load-balancer"]}');
  assert.deepEqual(await pass(true), ['create load-balancer']);
  assert.deepEqual(await pass(true), [], 'it does not serve yet');
  await clock.advance(1000);
  assert.match((await pass(true))[0] ?? '', /^done 203\.0\.113\./);
  assert.deepEqual(await pass(false), ['delete load-balancer']);
  assert.equal(cloud.parts().length, 0);
});

test('a cloud config that is wrong is named, with its file', async () => {
  const clock = new FakeClock();
  for (const [text, message] of [
    ['{', /cloud\.json: .*must be JSON/],
    ['[]', /must be a JSON object/],
    ['{"endpont":""}', /unknown key endpont/],
    ['{"endpoint":"127.0.0.1"}', /endpoint must be/],
    ['{"instances":[1]}', /instances must be/],
    ['{"nodeTags":null}', /nodeTags must be/],
    ['{"nodeTags":["a"]}', /nodeTags must be/],
    ['{"nodeTags":{"team":1}}', /nodeTags must be/],
    ['{"nodeTags":"team"}', /nodeTags must be/],
    ['{"loadBalancerParts":["dns"]}', /load-balancer is never left out/],
    ['{"loadBalancerParts":["load-balancer","magic"]}', /must be a list of address, load-balancer/],
  ] as const) {
    await assert.rejects(createMemoryProvider().open(bareHost(clock, text)), message);
  }
  const provider = createMemoryProvider();
  const { instances } = await provider.open(bareHost(clock, '{"instances":[{"name":"a"}]}'));
  const node = { name: 'a', uid: 'u', labels: {}, annotations: {} };
  assert.equal((await instances?.lookUp([node], 'state', CALL))?.[0]?.result.kind, 'found');
  await assert.rejects(
    provider.reconfigure?.({ fileName: 'cloud.json', text: '{}' }, CALL) ?? Promise.resolve(),
    /give an endpoint/,
  );
});

test('a node without a provider ID is found by the UUID of its system, whatever its name', async () => {
  const { clock, cloud } = setUp();
  cloud.createInstance({ name: 'machine-7', systemUUID: '4C4C4544-0043' });
  cloud.createInstance({ name: 'by-name' });
  const { instances } = await createMemoryProvider({ cloud }).open(bareHost(clock));
  const node = (name: string, systemUUID?: string): NodeRef => ({
    name,
    uid: name,
    labels: {},
    annotations: {},
    systemUUID,
  });
  const nodes = [node('worker', '4c4c4544-0043'), node('by-name', 'unknown'), node('nobody', '')];
  const answers = (await instances?.lookUp(nodes, 'state', CALL)) ?? [];
  assert.deepEqual(
    answers.map(({ result }) => (result.kind === 'found' ? result.instance.providerID : result.kind)),
    ['memory://region-1/machine-7', 'memory://region-1/by-name', 'missing'],
  );
});
