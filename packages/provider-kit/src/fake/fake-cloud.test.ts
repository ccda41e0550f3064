// Over 400 lines: one fake, and one test for each thing that a cloud can do.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '@outrigger/testing';
import { ask, refusalIn } from './asked.suite.ts';
import type { FakeCall } from './call-log.ts';
import type { FakeCloud } from './fake-cloud.ts';
import { fakeCloud, type FakeCloudOptions } from './start-fake-cloud.ts';
import type { FakePaging, FakeResource, FakeTable, FakeThing } from './fake-table.ts';

const text = { type: 'string' };
const servers: FakeResource = {
  properties: {
    name: { type: 'string', pattern: '^[a-z]+$' },
    size: { enum: ['small', 'large'], default: 'small' },
    disk: { type: 'integer', minimum: 1, maximum: 100 },
    tags: { type: 'array', items: { type: 'object', properties: { key: text }, required: ['key'] } },
    labels: { type: 'object' },
    ip: { format: 'ipv4', readOnly: true },
  },
  required: ['name'],
  made: (_, n) => ({ ip: `10.0.0.${n}` }),
};

function cloudOf(
  resources: FakeTable['resources'],
  more: Partial<FakeTable> = {},
  options: Partial<FakeCloudOptions> = {},
): FakeCloud & { readonly clock: FakeClock } {
  const clock = new FakeClock();
  return Object.assign(fakeCloud({ clock, table: { resources, ...more }, ...options }), { clock });
}

const statusIn = (cloud: FakeCloud, id: string): unknown => cloud.resource('servers').get(id)?.['status'];

test('things are made, listed, read, changed and removed', async () => {
  const cloud = cloudOf({ servers });
  const made = await ask(cloud, 'POST /servers', { name: 'a' });
  const a = { id: 'servers-1', name: 'a', size: 'small', ip: '10.0.0.1' };
  assert.deepEqual([made.status, made.body], [201, a]);
  assert.deepEqual((await ask(cloud, 'GET /servers')).body, { items: [a] });
  // A PUT is the whole but for what is the cloud's own.
  await ask(cloud, 'PUT /servers/servers-1', { name: 'b', disk: 5 });
  const b = { ...a, name: 'b', disk: 5 };
  assert.deepEqual((await ask(cloud, 'GET /servers/servers-1')).body, b);
  assert.deepEqual((await ask(cloud, 'PUT /servers/servers-1', { name: 'b' })).body, { ...a, name: 'b' });
  assert.equal((await ask(cloud, 'DELETE /servers/servers-1')).status, 204);
  assert.deepEqual(refusalIn(await ask(cloud, 'GET /servers/servers-1')), [404, 'not_found']);
  assert.deepEqual(cloud.calls.takeProblems(), []);
});

test('a request that does not fit is refused, and each reason is in the call log', async () => {
  const cloud = cloudOf({ servers });
  const cases: readonly (readonly [line: string, body: unknown, problem: string])[] = [
    ['POST /servers', { name: 'a', colour: 'red' }, 'request: body: colour is not known'],
    ['POST /servers', {}, 'request: body: name is missing'],
    ['POST /servers', undefined, 'request: body: is missing'],
    ['POST /servers', '{"name"', 'request: body: is no JSON'],
    ['POST /servers', { name: 'a', size: 'huge' }, 'request: body.size: must be one of small, large, not "huge"'],
    ['POST /servers', { name: 'A' }, 'request: body.name: must match pattern "^[a-z]+$", not "A"'],
    ['POST /servers', { name: 'a', disk: 101 }, 'request: body.disk: must be <= 100, not 101'],
    ['POST /servers', { name: 'a', disk: 'x' }, 'request: body.disk: must be integer, not "x"'],
    ['POST /servers', { name: 'a', tags: [{ key: 'x', value: 1 }] }, 'request: body.tags[0]: value is not known'],
    ['POST /servers', { name: 'a', ip: '10.0.0.1' }, 'request: body: ip is not known'],
    ['GET /servers?zone=a', undefined, 'request: query: zone is not known'],
    ['GET /machines', undefined, 'request: there is no such path'],
    ['PATCH /servers/a', {}, 'request: there is no such path'],
  ];
  for (const [line, body, problem] of cases) {
    const answer = await ask(cloud, line, body);
    assert.ok(answer.status === 400 || answer.status === 404, problem);
    assert.ok(cloud.calls.all().at(-1)?.problems.includes(problem), JSON.stringify(cloud.calls.all().at(-1)));
    assert.equal(cloud.calls.takeProblems().length > 0, true);
  }
  assert.equal(cloud.resource('servers').size, 0);
  // Free-form members stay free.
  await ask(cloud, 'POST /servers', { name: 'a', labels: { any: 'thing' } });
  assert.deepEqual(cloud.calls.takeProblems(), []);
});

test('patterns of vendors are read, whichever engine they were written for', async () => {
  const properties = {
    letters: { type: 'string', pattern: String.raw`^\p{L}+$` },
    word: { type: 'string', pattern: String.raw`^[\w-.]+$` },
  };
  const cloud = cloudOf({ servers: { properties } });
  assert.equal((await ask(cloud, 'POST /servers', { letters: 'äb', word: 'a-b.c' })).status, 201);
  assert.equal((await ask(cloud, 'POST /servers', { letters: 'a1', word: 'a b' })).status, 400);
  assert.equal(cloud.calls.takeProblems().length, 2);
});

test('an answer that does not fit the table is a problem of the fake, and so is what a test puts there', async () => {
  const cloud = cloudOf({ servers: { ...servers, shown: (thing) => ({ ...thing, surprise: 1 }) } });
  assert.throws(
    () => cloud.resource('servers').put({ name: 'a', colour: 'red' }),
    /none of servers: servers: colour is/,
  );
  assert.throws(() => cloud.resource('servers').put({}), /name is missing/);
  cloud.resource('servers').put({ id: 'x', name: 'a' });
  await ask(cloud, 'GET /servers/x');
  assert.deepEqual(cloud.calls.takeProblems(), ['GET /servers/{id}: answer: body: surprise is not known']);
  const broken = cloudOf({
    servers: {
      shown: () => {
        throw new Error('a mistake of the table');
      },
    },
  });
  broken.resource('servers').put({ id: 'x' });
  assert.equal((await ask(broken, 'GET /servers')).status, 500);
  assert.match(broken.calls.takeProblems().join(), /a mistake of the table/);
});

test('what is in use stays, what leads nowhere is refused, and the table says otherwise where the cloud does', async () => {
  const cloud = cloudOf({
    networks: {},
    balancers: { references: { network: 'networks', 'targets[].server': { to: 'servers', whenGone: 'dangles' } } },
    servers: {},
    rules: {
      references: {
        link: {
          to: 'balancers',
          missing: 'not-found',
          whenGone: 'cascades',
          idOf: (link) => link.split('/').at(-1) ?? '',
        },
      },
    },
  });
  assert.deepEqual(refusalIn(await ask(cloud, 'POST /balancers', { network: 'n' })), [422, 'reference']);
  assert.deepEqual(refusalIn(await ask(cloud, 'POST /rules', { link: '/balancers/b' })), [404, 'not_found']);
  cloud.resource('networks').put({ id: 'n' });
  cloud.resource('servers').put({ id: 's' });
  await ask(cloud, 'POST /balancers', { network: 'n', targets: [{ server: 's' }] });
  await ask(cloud, 'POST /rules', { link: '/balancers/balancers-1' });
  assert.equal(cloud.resource('rules').size, 0, 'the number is never the same twice');
  const [id = ''] = cloud.resource('balancers').ids();
  await ask(cloud, 'POST /rules', { link: `/balancers/${id}` });
  assert.deepEqual(refusalIn(await ask(cloud, `PUT /balancers/${id}`, { network: 'other' })), [422, 'reference']);
  const refused = await ask(cloud, 'DELETE /networks/n');
  assert.deepEqual(refusalIn(refused), [409, 'in_use']);
  assert.match(JSON.stringify(refused.body), new RegExp(`networks n is in use by balancers ${id}`));
  assert.equal((await ask(cloud, 'DELETE /servers/s')).status, 204);
  assert.equal((await ask(cloud, `DELETE /balancers/${id}`)).status, 204);
  assert.deepEqual(
    ['rules', 'balancers', 'networks'].map((name) => cloud.resource(name).size),
    [0, 0, 1],
  );
  assert.equal((await ask(cloud, 'DELETE /networks/n')).status, 204);
});

test('quotas and names that are there already; both by account', async () => {
  const cloud = cloudOf(
    { servers: { most: 1, unique: ['name'] } },
    { errors: { reasons: { quota: { status: 429, code: 'limit' } }, body: ({ code }) => ({ error: { code } }) } },
    { accounts: { 'token-a': 'a', 'token-b': 'b' } },
  );
  const as = (account: string) => ({ authorization: `Bearer token-${account}` });
  assert.equal((await ask(cloud, 'POST /servers', { name: 'x' }, as('a'))).status, 201);
  assert.deepEqual(refusalIn(await ask(cloud, 'POST /servers', { name: 'x' }, as('a'))), [409, 'exists']);
  assert.deepEqual(refusalIn(await ask(cloud, 'POST /servers', { name: 'y' }, as('a'))), [429, 'limit']);
  assert.equal((await ask(cloud, 'POST /servers', { name: 'x' }, as('b'))).status, 201);
  assert.deepEqual(refusalIn(await ask(cloud, 'GET /servers', undefined, as('c'))), [401, 'unauthenticated']);
  assert.deepEqual(refusalIn(await ask(cloud, 'GET /servers')), [401, 'unauthenticated']);
  assert.equal(cloud.resource('servers').size, 1);
  assert.equal(cloud.account('b').resource('servers').size, 1);
  cloud.resource('servers').most = 2;
  assert.equal((await ask(cloud, 'POST /servers', { name: 'y' }, as('a'))).status, 201);
  assert.deepEqual(
    cloud.calls
      .all()
      .map(({ account, status }) => `${account} ${status}`)
      .slice(0, 5),
    ['a 201', 'a 409', 'a 429', 'b 201', 'undefined 401'],
  );
});

test('an account is found by whatever a request carries', async () => {
  const signed = cloudOf(
    { servers: {} },
    {},
    { accounts: ({ headers, text }) => (headers['x-sum'] === String(text.length) ? 'a' : undefined) },
  );
  assert.equal((await ask(signed, 'POST /servers', { name: 'x' }, { 'x-sum': '12' })).status, 201);
  assert.equal((await ask(signed, 'POST /servers', { name: 'x' }, { 'x-sum': '1' })).status, 401);
  assert.equal(signed.account('a').resource('servers').size, 1);
});

test('things that take time go through their states; while one does, it is locked', async () => {
  const cloud = cloudOf({
    servers: {
      takesMs: { create: 1_000, change: 500, delete: 200 },
      states: {
        member: 'status',
        ready: 'active',
        making: 'build',
        changing: 'update',
        deleting: 'delete',
        failed: 'error',
        locked: true,
      },
      actions: { stop: { from: ['active'], to: 'stopped', takesMs: 100 } },
    },
  });
  const { clock } = cloud;
  const { body } = await ask(cloud, 'POST /servers', { name: 'a' });
  assert.deepEqual(body, { id: 'servers-1', name: 'a', status: 'build' });
  assert.deepEqual(refusalIn(await ask(cloud, 'DELETE /servers/servers-1')), [409, 'busy']);
  assert.deepEqual(refusalIn(await ask(cloud, 'POST /servers/servers-1/stop')), [409, 'busy']);
  await clock.advance(1_000);
  assert.equal(statusIn(cloud, 'servers-1'), 'active');
  await ask(cloud, 'PUT /servers/servers-1', { name: 'b' });
  assert.deepEqual((await ask(cloud, 'GET /servers/servers-1')).body, { id: 'servers-1', name: 'a', status: 'update' });
  await clock.advance(500);
  assert.deepEqual((await ask(cloud, 'GET /servers/servers-1')).body, { id: 'servers-1', name: 'b', status: 'active' });
  await ask(cloud, 'POST /servers/servers-1/stop');
  await clock.advance(100);
  assert.equal(statusIn(cloud, 'servers-1'), 'stopped');
  assert.deepEqual(refusalIn(await ask(cloud, 'POST /servers/servers-1/stop')), [409, 'busy']);
  await ask(cloud, 'DELETE /servers/servers-1');
  assert.equal(statusIn(cloud, 'servers-1'), 'delete');
  await clock.advance(200);
  assert.equal(cloud.resource('servers').size, 0);
  cloud.faults.set({ method: 'POST', failsLater: { code: 'no_host', message: 'no host is left' }, times: 1 });
  await ask(cloud, 'POST /servers', { name: 'c' });
  await clock.advance(1_000);
  assert.deepEqual(
    cloud
      .resource('servers')
      .all()
      .map(({ status }) => status),
    ['error'],
  );
});

test('without states a thing is there when its making is over; the operation says how it ended', async () => {
  const cloud = cloudOf(
    { servers: { takesMs: 1_000, unique: ['name'] } },
    {
      operations: {
        path: '/jobs',
        shown: ({ error, id, status }) => ({ id, done: status !== 'running', ...(error && { error }) }),
      },
    },
  );
  const { clock } = cloud;
  const begun = await ask(cloud, 'POST /servers', { name: 'a' });
  assert.deepEqual(
    [begun.status, begun.headers['location']],
    [202, `/jobs/${String((begun.body as FakeThing)['id'])}`],
  );
  const job = `GET ${begun.headers['location']}`;
  assert.deepEqual((await ask(cloud, 'GET /servers')).body, { items: [] });
  assert.equal(((await ask(cloud, job)).body as FakeThing)['done'], false);
  await clock.advance(999);
  assert.equal(cloud.resource('servers').size, 0);
  await clock.advance(1);
  assert.equal(((await ask(cloud, job)).body as FakeThing)['done'], true);
  assert.equal(cloud.resource('servers').size, 1);
  assert.equal((await ask(cloud, 'GET /jobs/none')).status, 404);

  const error = { code: 'no_host', message: 'no host is left' };
  cloud.faults.set({ operation: 'POST /servers', failsLater: error });
  const fails = await ask(cloud, 'POST /servers', { name: 'b' });
  await clock.advance(1_000);
  assert.deepEqual(((await ask(cloud, `GET ${fails.headers['location']}`)).body as FakeThing)['error'], error);
  assert.equal(cloud.resource('servers').size, 1);
  const [id = ''] = cloud.resource('servers').ids();
  cloud.faults.set();
  await ask(cloud, `DELETE /servers/${id}`);
  assert.equal(cloud.resource('servers').size, 1);
  await clock.advance(1_000);
  assert.equal(cloud.resource('servers').size, 0);
  assert.deepEqual(cloud.calls.takeProblems(), []);
});

test('lists and reads lie behind writes, each by its own time', async () => {
  const cloud = cloudOf({ servers: { lag: { lists: 5_000, reads: 1_000 } } });
  const { clock } = cloud;
  const names = async (): Promise<unknown> =>
    ((await ask(cloud, 'GET /servers')).body as { items: FakeThing[] }).items.map(({ name }) => name);
  const read = async (): Promise<unknown> => {
    const { body, status } = await ask(cloud, 'GET /servers/servers-1');
    return status === 200 ? (body as FakeThing)['name'] : status;
  };
  await ask(cloud, 'POST /servers', { name: 'a' });
  assert.deepEqual([await read(), await names()], [404, []]);
  await clock.advance(1_000);
  assert.deepEqual([await read(), await names()], ['a', []]);
  await clock.advance(4_000);
  assert.deepEqual([await read(), await names()], ['a', ['a']]);
  await ask(cloud, 'PUT /servers/servers-1', { name: 'b' });
  assert.deepEqual([await read(), await names()], ['a', ['a']]);
  await clock.advance(2_000);
  await ask(cloud, 'DELETE /servers/servers-1');
  assert.deepEqual([await read(), await names()], ['b', ['a']]);
  await clock.advance(3_000);
  assert.deepEqual([await read(), await names()], [404, ['b']]);
  await clock.advance(2_000);
  assert.deepEqual([await read(), await names()], [404, []]);
});

test('a write on condition: by ETag, and by a member', async () => {
  const cloud = cloudOf({
    rules: { versions: { by: 'etag', required: true } },
    firewalls: { versions: { by: { member: 'fingerprint' } }, properties: { name: text }, merges: true },
  });
  const { headers } = await ask(cloud, 'POST /rules', { a: 1 });
  const id = cloud.resource('rules').ids()[0] ?? '';
  assert.deepEqual(refusalIn(await ask(cloud, `PUT /rules/${id}`, { a: 2 })), [412, 'changed']);
  const changed = await ask(cloud, `PUT /rules/${id}`, { a: 2 }, { 'if-match': headers['etag'] ?? '' });
  assert.equal(changed.status, 200);
  assert.deepEqual(refusalIn(await ask(cloud, `PUT /rules/${id}`, { a: 3 }, { 'if-match': headers['etag'] ?? '' })), [
    412,
    'changed',
  ]);
  assert.equal((await ask(cloud, `GET /rules/${id}`)).headers['etag'], changed.headers['etag']);
  assert.equal((await ask(cloud, `DELETE /rules/${id}`, undefined, { 'if-match': '*' })).status, 204);

  const { body } = await ask(cloud, 'POST /firewalls', { name: 'x' });
  const { fingerprint, id: wall } = body as { readonly fingerprint: string; readonly id: string };
  assert.equal((await ask(cloud, `PUT /firewalls/${wall}`, { name: 'y', fingerprint })).status, 200);
  assert.deepEqual(refusalIn(await ask(cloud, `PUT /firewalls/${wall}`, { name: 'z', fingerprint })), [412, 'changed']);
  assert.deepEqual(cloud.calls.takeProblems(), []);
});

const WAYS: Readonly<Record<string, FakePaging>> = {
  'pages, the next one in the body': { by: 'page', parameter: 'page', size: 2, next: { member: 'meta.next' } },
  'pages, the next one in Link': { by: 'page', parameter: 'page', size: 2, next: 'link' },
  'tokens, the next one as a URL': { by: 'token', parameter: 'token', size: 2, next: { member: 'next', as: 'url' } },
  'the last ID, told by nobody': { by: 'marker', parameter: 'marker', size: 2 },
};

for (const [name, paging] of Object.entries(WAYS)) {
  test(`pages of a list: ${name}`, async () => {
    const cloud = cloudOf({ servers: {} }, { paging: { ...paging, limit: 'limit' } });
    for (const id of ['a', 'b', 'c', 'd', 'e']) cloud.resource('servers').put({ id });
    const seen: unknown[] = [];
    let target = '/servers';
    for (let pages = 0; target !== '' && pages < 5; pages++) {
      const { body, headers } = await ask(cloud, `GET ${target}`);
      const { items, meta, next } = body as { items: FakeThing[]; meta?: { next: number }; next?: string };
      seen.push(...items.map(({ id }) => id));
      const url = next ?? /<(?<url>[^>]+)>/u.exec(headers['link'] ?? '')?.groups?.['url'];
      if (url !== undefined) target = new URL(url).pathname + new URL(url).search;
      else if (paging.by === 'marker' && items.length === 2) target = `/servers?marker=${String(seen.at(-1))}`;
      else target = meta === undefined ? '' : `/servers?page=${meta.next}`;
    }
    assert.deepEqual(seen, ['a', 'b', 'c', 'd', 'e']);
    assert.equal(((await ask(cloud, 'GET /servers?limit=1')).body as { items: unknown[] }).items.length, 1);
    assert.equal((await ask(cloud, `GET /servers?${paging.parameter}=nonsense`)).status, 400);
  });
}

test('things below others: what is above is part of their identity, and must be there', async () => {
  const cloud = cloudOf({
    balancers: { id: 'given', idMember: 'name', path: '/projects/{project}/balancers' },
    listeners: {
      path: '/projects/{project}/balancers/{balancer}/listeners',
      parents: { balancer: 'balancers' },
      filters: { port: 'port' },
    },
  });
  assert.equal((await ask(cloud, 'POST /projects/p/balancers/x/listeners', { port: 1 })).status, 404);
  assert.equal((await ask(cloud, 'POST /projects/p/balancers', {})).status, 400);
  await ask(cloud, 'POST /projects/p/balancers', { name: 'x' });
  assert.equal((await ask(cloud, 'POST /projects/p/balancers', { name: 'x' })).status, 409);
  assert.equal((await ask(cloud, 'POST /projects/q/balancers', { name: 'x' })).status, 201);
  await ask(cloud, 'POST /projects/p/balancers/x/listeners', { port: 1 });
  await ask(cloud, 'POST /projects/p/balancers/x/listeners', { port: 2 });
  const ports = async (line: string): Promise<unknown> =>
    ((await ask(cloud, line)).body as { items: FakeThing[] }).items.map(({ port }) => port);
  assert.deepEqual(await ports('GET /projects/p/balancers/x/listeners'), [1, 2]);
  assert.deepEqual(await ports('GET /projects/p/balancers/x/listeners?port=2'), [2]);
  assert.deepEqual(await ports('GET /projects/q/balancers/x/listeners'), []);
});

test('a PUT that makes what is not there; bodies that wrap the thing', async () => {
  const cloud = cloudOf({
    groups: {
      create: 'PUT',
      idMember: 'name',
      properties: { rules: { type: 'array' } },
      item: 'group',
      items: 'groups',
    },
  });
  assert.equal((await ask(cloud, 'PUT /groups/g', { group: { rules: [] } })).status, 201);
  assert.equal((await ask(cloud, 'PUT /groups/g', { group: { rules: [1] } })).status, 200);
  assert.deepEqual((await ask(cloud, 'GET /groups')).body, { groups: [{ name: 'g', rules: [1] }] });
  assert.deepEqual((await ask(cloud, 'GET /groups/g')).body, { group: { name: 'g', rules: [1] } });
  assert.equal((await ask(cloud, 'PUT /groups/g', { rules: [] })).status, 400);
});

test('faults by rule', async () => {
  const cloud = cloudOf({ servers: {} });
  const { clock } = cloud;
  const add = () => ask(cloud, 'POST /servers', { name: 'a' });
  const many = () => cloud.resource('servers').size;
  cloud.faults.set({ method: 'POST', status: 503, code: 'down', retryAfterSeconds: 7, nth: 2 });
  assert.equal((await add()).status, 201);
  const down = await add();
  assert.deepEqual([refusalIn(down), down.headers['retry-after'], many()], [[503, 'down'], '7', 1]);
  assert.equal((await add()).status, 201);

  cloud.faults.set({ status: 500, takesEffect: true, times: 1 });
  assert.deepEqual([(await add()).status, (await add()).status, many()], [500, 201, 4]);
  cloud.faults.set({ drops: true, times: 1 }, { drops: true, takesEffect: true });
  assert.deepEqual([(await add()).status, many(), (await add()).status, many()], [0, 4, 0, 5]);

  const remove = cloud.faults.add({ path: /^\/servers$/u, spoils: 'truncated' });
  cloud.faults.set(
    { path: '/servers', spoils: 'truncated', times: 1 },
    { spoils: 'garbage', times: 1 },
    { spoils: 'empty-list' },
  );
  remove();
  assert.match(String((await ask(cloud, 'GET /servers')).body), /^\{"items":\[/);
  assert.equal(typeof (await ask(cloud, 'GET /servers')).body, 'string');
  assert.deepEqual((await ask(cloud, 'GET /servers')).body, { items: [] });
  const read = await ask(cloud, `GET /servers/${cloud.resource('servers').ids()[0]}`);
  assert.equal((read.body as FakeThing)['name'], 'a');

  cloud.faults.set(
    { account: 'another', status: 500 },
    { when: ({ query }) => query.has('x'), status: 418, body: 'tea', headers: { 'x-a': 'b' } },
  );
  const tea = await ask(cloud, 'GET /servers?x=1');
  assert.deepEqual([tea.status, tea.body, tea.headers['x-a']], [418, 'tea', 'b']);

  cloud.faults.set({ delayMs: 5_000 });
  let answered = false;
  const slow = ask(cloud, 'GET /servers').then(() => (answered = true));
  await clock.advance(4_999);
  assert.equal(answered, false);
  await clock.advance(1);
  await slow;
  assert.deepEqual(cloud.calls.takeProblems(), []);
});

test('the call log has what was asked, and keeps the last calls', async () => {
  const cloud = cloudOf({ servers: {} });
  await ask(cloud, 'POST /servers', { name: 'a' });
  const { at, ...call } = cloud.calls.all()[0]!;
  assert.equal(at, cloud.clock.now());
  assert.deepEqual(call, {
    method: 'POST',
    path: '/servers',
    operation: 'POST /servers',
    query: {},
    body: { name: 'a' },
    status: 201,
    account: 'default',
    problems: [],
  });
  for (let i = 0; i < 3; i++) cloud.calls.add({ ...call, at, operation: 'other' });
  assert.deepEqual(cloud.calls.counts(), { 'POST /servers': 1, other: 3 });
  for (let i = 0; i < 30_000; i++) cloud.calls.add({ ...call, at });
  assert.deepEqual([cloud.calls.all().length, cloud.calls.count], [10_000, 30_004]);
  cloud.calls.clear();
  assert.equal(cloud.calls.count, 0);
});

test('several clouds have one log', async () => {
  const log: string[] = [];
  const told = (name: string) => ({
    onCall: ({ operation, status }: FakeCall) => void log.push(`${name}: ${operation} ${status}`),
  });
  const [one, two] = ['one', 'two'].map((name) => cloudOf({ servers: {} }, {}, told(name)));
  await ask(one!, 'GET /servers');
  await ask(two!, 'GET /servers/a');
  await ask(one!, 'DELETE /servers/a');
  assert.deepEqual(log, ['one: GET /servers 200', 'two: GET /servers/{id} 404', 'one: DELETE /servers/{id} 404']);
  assert.equal(one!.calls.count, 2);
});

test('a test sees and changes what is there behind the back of all rules', async () => {
  const cloud = cloudOf({ networks: {}, servers: { references: { network: 'networks' } } });
  const [networks, all] = [cloud.resource('networks'), cloud.resource('servers')];
  networks.put({ id: 'n' });
  const { id } = all.put({ network: 'n', name: 'a' });
  assert.equal(all.patch(String(id), { name: 'b' })['name'], 'b');
  assert.throws(() => all.patch('none', {}), /there is no servers none/);
  assert.deepEqual([networks.delete('n'), networks.delete('n'), networks.size], [true, false, 0]);
  assert.throws(() => cloud.resource('disks'), /no resource disks, but networks, servers/);
});
