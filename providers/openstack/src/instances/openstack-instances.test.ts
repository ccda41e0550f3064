// Over 400 lines: one rig, and one test for each answer of Nova.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudError, type Instance, type InstanceAnswer, type NodeRef } from '@outrigger/cloud-provider';
import { silentLogger } from '@outrigger/kube';
import { idOf } from '../load-balancer/desired/tree-inputs.suite.ts';
import { callOf } from './scripted-client.ts';
import { scriptedInstances, type ScriptedInstances } from './scripted-instances.suite.ts';
import type { Port } from './server-ports.ts';
import { serverStates, type Server } from './server.ts';

/** Of a short name in place of an ID: the ID in nova's form. */
const uuidOf = (id: string): string => (/^[a-z]\d*$/.test(id) ? idOf(id) : id);

const server = (id: string, changes: Partial<Server> = {}): Server => ({
  id: uuidOf(id),
  status: 'ACTIVE',
  name: `node-${id}`,
  flavor: { original_name: 'm1.small' },
  'OS-EXT-AZ:availability_zone': 'az 1',
  addresses: {},
  ...changes,
});

const port = (id: string, of: string, address: string, changes: Partial<Port> = {}): Port => ({
  id,
  device_id: uuidOf(of),
  network_id: 'net-1',
  status: 'ACTIVE',
  fixed_ips: [{ ip_address: address }],
  ...changes,
});

const byId = (id: string): NodeRef => ({ ...byName(`node-${id}`), providerID: `openstack:///${uuidOf(id)}` });
const byName = (name: string): NodeRef => ({ name, uid: `uid-${name}`, labels: {}, annotations: {} });

const rig = (servers: readonly Server[] = [], options: { readonly regional?: boolean } = {}): ScriptedInstances =>
  scriptedInstances({ servers, ...options });

const call = callOf(silentLogger);

/** `found running`, `missing`, `absent`, `failed <code>`. */
function said({ result }: InstanceAnswer): string {
  if (result.kind === 'found') return `found ${result.instance.state}`;
  if (result.kind !== 'failed') return result.kind;
  return `failed ${(result.error as Partial<CloudError>).code ?? result.error.message}`;
}

function instanceIn(answer: InstanceAnswer | undefined): Instance {
  assert.ok(answer?.result.kind === 'found', JSON.stringify(answer));
  return answer.result.instance;
}

for (const [status, state] of Object.entries(serverStates)) {
  test(`a server that is ${status} is ${state}, read and listed`, async () => {
    const { instances } = rig([server('a', { status }), server('b')]);
    assert.equal(said(await instances.read(byId('a'), 'state', call)), `found ${state}`);
    assert.deepEqual((await instances.lookUp([byId('a'), byId('b')], 'state', call)).map(said), [
      `found ${state}`,
      'found running',
    ]);
  });
}

test('what nova shows of maintenance is told: a server that is moved, a host that is disabled, a lock whose reason says so', async () => {
  const planned = { state: 'planned', reason: 'the host is disabled in nova' };
  const locked = (reason: string) => ({ state: 'planned', reason: `the server is locked in nova: "${reason}"` });
  const moved = { state: 'in-progress', reason: 'nova moves the server to another host' };
  const rows: readonly (readonly [Partial<Server> & Readonly<Record<string, unknown>>, unknown])[] = [
    [{}, undefined],
    [{ host_status: 'UP' }, undefined],
    [{ host_status: 'UNKNOWN' }, undefined],
    [{ host_status: '' }, undefined],
    [{ host_status: 'MAINTENANCE' }, planned],
    [{ status: 'MIGRATING' }, moved],
    [{ 'OS-EXT-STS:task_state': 'migrating' }, moved],
    [{ 'OS-EXT-STS:task_state': 'migrating', host_status: 'MAINTENANCE' }, moved],
    [{ 'OS-EXT-STS:task_state': 'resize_migrating', status: 'RESIZE' }, undefined],
    [{ 'OS-EXT-STS:task_state': null }, undefined],
    [{ locked: true, locked_reason: 'Maintenance of rack 4, Sunday' }, locked('Maintenance of rack 4, Sunday')],
    [{ locked: true, locked_reason: 'to be live-migrated' }, locked('to be live-migrated')],
    [{ locked: true, locked_reason: 'host maintenance', host_status: 'MAINTENANCE' }, locked('host maintenance')],
    [{ locked: true, locked_reason: 'MIGRATION', status: 'MIGRATING' }, moved],
    [{ locked: true, locked_reason: 'do not delete' }, undefined],
    [{ locked: true, locked_reason: 'immigration office' }, undefined],
    [{ locked: true, locked_reason: '' }, undefined],
    [{ locked: true, locked_reason: null }, undefined],
    [{ locked: true }, undefined],
    [{ locked: false, locked_reason: 'maintenance' }, undefined],
    [{ status: 'REBUILD' }, undefined],
  ];
  for (const [changes, expected] of rows) {
    const { instances } = rig([server('a', changes)]);
    assert.deepEqual(instanceIn(await instances.read(byId('a'), 'metadata', call)).maintenance, expected);
    const [listed] = await instances.lookUp([byId('a')], 'metadata', call);
    assert.deepEqual(instanceIn(listed).maintenance, expected);
  }
});

test('only what is certainly shut down is shut down', () => {
  const shutDown = Object.entries(serverStates).filter(([, state]) => state === 'shutdown');
  assert.deepEqual(
    shutDown.map(([status]) => status),
    ['SHELVED_OFFLOADED', 'SHUTOFF'],
  );
});

test('a status that nova has learnt since is running; UNKNOWN is unknown', async () => {
  const { instances, client } = rig([server('a', { status: 'TELEPORTING' }), { id: uuidOf('b'), status: 'UNKNOWN' }]);
  assert.deepEqual((await instances.lookUp([byId('a'), byId('b')], 'metadata', call)).map(said), [
    'found running',
    'failed unavailable',
  ]);
  assert.equal(said(await instances.read(byId('b'), 'state', call)), 'failed unavailable');
  assert.deepEqual([...new Set(client.calls)], ['GET /servers/detail 2.73', 'GET /ports', 'GET /servers/{id} 2.73']);
});

test("a server is absent by nova's own 404 alone, also one that was SOFT_DELETED before", async () => {
  const id = idOf('a');
  const { instances, client } = rig([server(id, { status: 'SOFT_DELETED' })]);
  // nova leaves it out of lists.
  client.onList = () => [];
  assert.equal(said(await instances.read(byId(id), 'state', call)), 'found running');
  client.servers = [];
  const { result } = await instances.read(byId(id), 'state', call);
  assert.deepEqual(result, { kind: 'absent', proof: `GET /servers/${id}: Instance ${id} could not be found.` });
  client.onRead = () => {
    throw new CloudError('not-found', 'The resource could not be found.');
  };
  await assert.rejects(instances.read(byId(id), 'state', call), { code: 'unavailable' });
});

test('nova is not asked about what is no ID of its own, also where it is one in another form', async () => {
  const { instances, client } = rig([server(idOf('a'))]);
  // Whatever it would say: another of its paths answers 200 for itself, and a proxy what it likes.
  client.onRead = () => ({});
  for (const id of ['my-server', '..', '.', 'detail', idOf('a').replaceAll('-', ''), idOf('jklmno').toUpperCase()]) {
    await assert.rejects(instances.read(byId(id), 'state', call), {
      code: 'invalid',
      message: /is not a server ID in nova's form/,
    });
    const [, answer] = await instances.lookUp([byId(idOf('a')), byId(id)], 'state', call);
    assert.equal(answer && said(answer), 'failed invalid');
  }
  assert.deepEqual([...new Set(client.calls)], ['GET /servers/detail 2.73']);
});

test('what a list lacks is asked for by ID, twenty in one look-up at most', async () => {
  const all = Array.from({ length: 200 }, (_, at) => server(idOf(`s${at}`)));
  const { instances, client } = rig(all);
  const nodes = all.map(({ id }) => byId(id));
  client.onList = (_request, items) => items.slice(0, 100);
  const answers = (await instances.lookUp(nodes, 'state', call)).map(said);
  assert.deepEqual(Object.groupBy(answers, (one) => one)['missing']?.length, 80);
  assert.equal(client.calls.filter((one) => one.startsWith('GET /servers/{id}')).length, 20);
  client.servers = all.slice(0, 100);
  const later = (await instances.lookUp(nodes.slice(80, 120), 'state', call)).map(said);
  assert.deepEqual(later.slice(0, 20), Array(20).fill('found running'));
  assert.deepEqual(later.slice(20), Array(20).fill('absent'));
});

test('a small cluster lists a large project once, and then reads its own servers', async () => {
  const { instances, client } = rig(Array.from({ length: 2_000 }, (_, at) => server(`s${at}`)));
  const nodes = [byId('s1'), byId('s2'), byName('node-s3')];
  for (const operations of [
    ['GET /servers/detail 2.73'],
    ['GET /servers/{id} 2.73', 'GET /servers/{id} 2.73', 'GET /servers/detail?name 2.73'],
  ]) {
    client.calls.length = 0;
    assert.deepEqual((await instances.lookUp(nodes, 'state', call)).map(said), Array(3).fill('found running'));
    assert.deepEqual(client.calls, operations);
  }
});

test('a failed list fails the look-up, and a failed read that node alone', async () => {
  const { instances, client } = rig(Array.from({ length: 2_000 }, (_, at) => server(`s${at}`)));
  client.onList = () => {
    throw new CloudError('unavailable', 'page 2: 503');
  };
  await assert.rejects(instances.lookUp([byId('s1'), byId('s2')], 'state', call), /page 2: 503/);
  client.onList = (_request, items) => items;
  await instances.lookUp([byId('s1'), byId('s2')], 'state', call);
  client.onRead = (id, found) => {
    if (id === uuidOf('s1')) throw new CloudError('timeout', 'too late');
    return found;
  };
  assert.deepEqual((await instances.lookUp([byId('s1'), byId('s2')], 'state', call)).map(said), [
    'failed timeout',
    'found running',
  ]);
  await assert.rejects(instances.read(byId('s1'), 'state', call), /too late/);
});

test('where nova answers nothing at all, the whole look-up fails, so that the host asks each but once', async () => {
  const { instances, client } = rig(Array.from({ length: 2_000 }, (_, at) => server(`s${at}`)));
  const nodes = ['s1', 's2', 's3'].map(byId);
  await instances.lookUp(nodes, 'state', call);
  client.onRead = () => {
    throw new CloudError('unavailable', '503');
  };
  await assert.rejects(instances.lookUp(nodes, 'state', call), { code: 'unavailable' });
  client.onRead = () => {
    throw new CloudError('conflict', '409');
  };
  assert.deepEqual((await instances.lookUp(nodes, 'state', call)).map(said), Array(3).fill('failed conflict'));
});

test('an answer that is not of the server that was asked for proves nothing', async () => {
  const { instances, client } = rig([server('a')]);
  for (const answer of [server('b'), { servers: [] }, null]) {
    client.onRead = () => answer;
    await assert.rejects(instances.read(byId('a'), 'state', call), { code: 'unavailable' });
  }
});

test('a name is taken as it is, without regard to case, and never stands for two servers', async () => {
  const servers = [
    server('a', { name: 'web.1' }),
    server('b', { name: 'web-1' }),
    server('c', { name: 'Web.2' }),
    server('d', { name: 'web.3' }),
    server('e', { name: 'WEB.3' }),
    server('f', { name: 'my-web.1' }),
  ];
  const { instances } = rig(servers);
  const names = ['web.1', 'web.2', 'web.3', 'nobody'];
  const listed = await instances.lookUp(names.map(byName), 'state', call);
  const read = await Promise.all(names.map((name) => instances.read(byName(name), 'state', call)));
  for (const answers of [listed, read]) {
    assert.deepEqual(answers.map(said), ['found running', 'found running', 'failed conflict', 'missing']);
    assert.equal(instanceIn(answers[0]).providerID, `openstack:///${uuidOf('a')}`);
    assert.equal(instanceIn(answers[1]).providerID, `openstack:///${uuidOf('c')}`);
    const { result } = answers[2]!;
    assert.ok(result.kind === 'failed');
    const ids = [uuidOf('d'), uuidOf('e')].join(', ');
    assert.equal(result.error.message, `node web.3: 2 servers have this name (${ids}); rename all but one`);
  }
});

test('a server that is in two pages is one server', async () => {
  const { instances, client } = rig([server('a'), server('b')]);
  client.onList = (_request, items) => [...items, ...items];
  const answers = await instances.lookUp(['node-a', 'node-b'].map(byName), 'state', call);
  assert.deepEqual(answers.map(said), ['found running', 'found running']);
});

test("another region's server is an error, and another provider's ID is missing", async () => {
  const { instances } = rig([server('a')]);
  const nodes = [
    { ...byId('a'), providerID: `openstack://south/${uuidOf('a')}` },
    { ...byId('a'), providerID: `memory://north/${uuidOf('a')}` },
    { ...byId('a'), providerID: `openstack://north/${uuidOf('a')}` },
  ];
  const want = ['failed invalid', 'missing', 'found running'];
  assert.deepEqual((await instances.lookUp(nodes, 'state', call)).map(said), want);
  assert.deepEqual(await Promise.all(nodes.map(async (node) => said(await instances.read(node, 'state', call)))), want);
});

test('a node keeps its provider ID, and a new one gets the form that the config asks for', async () => {
  const { instances } = rig([server('a')], { regional: true });
  for (const [node, want] of [
    [byId('a'), `openstack:///${uuidOf('a')}`],
    [{ ...byId('a'), providerID: `/${uuidOf('a')}` }, `openstack://north/${uuidOf('a')}`],
    [byName('node-a'), `openstack://north/${uuidOf('a')}`],
  ] as const) {
    assert.equal(instanceIn(await instances.read(node, 'state', call)).providerID, want);
  }
});

test('metadata: type, zone and region as label values, addresses of the ports', async () => {
  const { instances, client } = rig([server('a', { metadata: { hostname: 'a.example' } })]);
  client.ports = [port('p2', 'a', '10.0.0.2'), port('p1', 'a', '10.0.0.1'), port('p3', 'b', '10.0.0.3')];
  client.region = 'Region One';
  assert.deepEqual(instanceIn(await instances.read(byId('a'), 'metadata', call)), {
    providerID: `openstack:///${uuidOf('a')}`,
    state: 'running',
    name: 'node-a',
    type: 'm1.small',
    zone: 'az-1',
    region: 'Region-One',
    addresses: [
      { type: 'InternalIP', address: '10.0.0.1' },
      { type: 'InternalIP', address: '10.0.0.2' },
      { type: 'Hostname', address: 'a.example' },
    ],
  });
});

test('a server without a host has no zone', async () => {
  for (const zone of [null, '']) {
    const { instances } = rig([server('a', { 'OS-EXT-AZ:availability_zone': zone })]);
    assert.equal(instanceIn(await instances.read(byId('a'), 'metadata', call)).zone, undefined);
  }
});

test('the type is the ID of a flavor whose name is no label value; asked for once', async () => {
  const { instances, client } = rig(
    ['a', 'b', 'c'].map((id) => server(id, { flavor: { original_name: id === 'c' ? 'ok' : 'very large (2 GB)' } })),
  );
  client.flavorId = '5c6b1c1e';
  for (let pass = 0; pass < 2; pass++) {
    const answers = await instances.lookUp(['a', 'b', 'c'].map(byId), 'metadata', call);
    assert.deepEqual(
      answers.map((answer) => instanceIn(answer).type),
      ['5c6b1c1e', '5c6b1c1e', 'ok'],
    );
  }
  assert.equal(client.calls.filter((one) => one === 'GET /servers/{id}').length, 1);
});

test("a flavor's ID that cannot be read fails the nodes that need it, and is asked for again", async () => {
  const { instances, client } = rig([server('a', { flavor: { original_name: 'a b' } }), server('b')]);
  client.onRead = () => {
    throw new CloudError('unavailable', '503');
  };
  const look = async (): Promise<readonly string[]> =>
    (await instances.lookUp([byId('a'), byId('b')], 'metadata', call)).map(said);
  assert.deepEqual(await look(), ['failed unavailable', 'found running']);
  client.onRead = (_id, found) => found;
  assert.deepEqual(await look(), ['found running', 'found running']);
});

test('ports are asked for in chunks; one that fails fails for its servers', async () => {
  const all = Array.from({ length: 120 }, (_, at) => server(`s${at}`));
  const { instances, client } = rig([...all, ...Array.from({ length: 1_900 }, (_, at) => server(`other-${at}`))]);
  client.ports = all.map(({ id }) => port(`port-${id}`, id, '10.0.0.1'));
  const asked: number[] = [];
  client.onList = ({ collection, query = [] }, items) => {
    if (collection !== 'ports') return items;
    const ids = query.filter(([name]) => name === 'device_id').map(([, value]) => value);
    asked.push(ids.length);
    if (ids.includes(uuidOf('s60'))) throw new CloudError('unavailable', '503');
    return items;
  };
  const answers = await instances.lookUp(
    all.map(({ id }) => byId(id)),
    'metadata',
    call,
  );
  assert.deepEqual(asked, [50, 50, 20]);
  assert.deepEqual(
    answers.map(said),
    all.map((_, at) => (at >= 50 && at < 100 ? 'failed unavailable' : 'found running')),
  );
});

test('subports of trunks: addresses by the name of their network; unknown, they are no reason to drop addresses', async () => {
  const { instances, client } = rig([server('a', { addresses: { 'net-a': [{ addr: '10.0.0.1' }] } }), server('b')]);
  client.ports = [
    port('p1', 'a', '10.0.0.1', { trunk_details: { sub_ports: [{ port_id: 'sub-1' }, { port_id: 'gone' }] } }),
    port('sub-1', '', '10.7.0.1', { network_id: 'net-7', status: 'DOWN' }),
  ];
  client.networks = [{ id: 'net-7', name: 'vlan-7' }];
  const look = (): Promise<readonly InstanceAnswer[]> => instances.lookUp([byId('a'), byId('b')], 'metadata', call);
  assert.deepEqual(instanceIn((await look())[0]).addresses, [
    { type: 'InternalIP', address: '10.0.0.1' },
    { type: 'InternalIP', address: '10.7.0.1' },
  ]);
  client.onList = ({ collection }, items) => {
    if (collection === 'networks') throw new CloudError('unavailable', '503');
    return items;
  };
  assert.deepEqual((await look()).map(said), ['failed unavailable', 'found running']);
});

test('an answer is as old as the first request that it rests on', async () => {
  const { instances, client, clock } = rig([server('a'), server('b')]);
  const began = clock.monotonic();
  client.onList = (_request, items) => {
    void clock.advance(1_000);
    return items;
  };
  const [listed] = await instances.lookUp([byId('a'), byId('b')], 'metadata', call);
  assert.equal(listed?.asOf, began);
  client.onList = () => [];
  void clock.advance(1_000);
  const again = clock.monotonic();
  const answers = await instances.lookUp([byId('a'), byId('b')], 'state', call);
  assert.deepEqual(
    answers.map((answer) => `${said(answer)} ${answer.asOf}`),
    Array(2).fill(`found running ${again}`),
  );
});

test('an older nova serves too, and what is lost is said once; one without flavors in servers does not', async () => {
  const { instances, client } = rig([server('a')]);
  const warnings: string[] = [];
  const logged = callOf({ ...silentLogger, warn: (message) => void warnings.push(message) });
  client.maxCompute = '2.60';
  for (let i = 0; i < 2; i++) {
    assert.equal(said(await instances.read(byId('a'), 'state', logged)), 'found running');
  }
  assert.deepEqual([...new Set(client.calls)], ['GET /servers/{id} 2.60']);
  assert.deepEqual(warnings, [
    'Nova is older than microversion 2.69: servers of a cell that it cannot reach are missing from lists, not UNKNOWN',
  ]);
  // Everything but the reason of a lock is in the answers of Stein.
  client.calls.length = 0;
  client.maxCompute = '2.72';
  assert.equal(said(await instances.read(byId('a'), 'state', logged)), 'found running');
  assert.deepEqual(client.calls, ['GET /servers/{id} 2.72']);
  assert.equal(warnings.length, 1);
  for (const max of ['2.46', undefined]) {
    client.maxCompute = max;
    await assert.rejects(instances.read(byId('a'), 'state', call), { code: 'unsupported' });
  }
});
