import assert from 'node:assert/strict';
import { request as httpsRequest } from 'node:https';
import { test } from 'node:test';
import { FakeClock } from '../fake-clock.ts';
import { ApiCaller, MERGE_PATCH, type Json } from './contract/api-caller.ts';
import { CONFIG_MAPS, NODES } from './contract/contract-test.ts';
import {
  startEmbeddedApiServer,
  type EmbeddedApiServer,
  type EmbeddedApiServerOptions,
} from './embedded-api-server.ts';

interface Session extends AsyncDisposable {
  readonly server: EmbeddedApiServer;
  readonly api: ApiCaller;
}

async function open(options: EmbeddedApiServerOptions = {}): Promise<Session> {
  const server = await startEmbeddedApiServer(options);
  const api = new ApiCaller(server);
  return {
    server,
    api,
    [Symbol.asyncDispose]: async () => {
      api[Symbol.dispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

const CONFIG_MAP = { apiVersion: 'v1', kind: 'ConfigMap' };

test('a restart keeps objects, revision and port, and cuts every watch', async () => {
  await using session = await open();
  const { server, api } = session;
  const { body } = await api.post(CONFIG_MAPS, { metadata: { name: 'kept' } });
  const watching = api.firstLines(`${CONFIG_MAPS}?watch=1&resourceVersion=${body.metadata.resourceVersion}`, 1);
  const cut = assert.rejects(watching);
  while (server.watches === 0) await new Promise((resolve) => setImmediate(resolve));
  const { url } = server;
  await server.restart();
  await cut;
  assert.equal(server.watches, 0);
  assert.equal(server.url, url);
  using again = new ApiCaller(server);
  assert.deepEqual((await again.get(`${CONFIG_MAPS}/kept`)).body, body);
});

test('what a test puts into the store is served and watched, without validation', async () => {
  await using session = await open({ seed: [{ ...CONFIG_MAP, metadata: { name: 'seeded' } }] });
  const { server, api } = session;
  assert.equal((await api.get(`${CONFIG_MAPS}/seeded`)).status, 200);
  const lines = api.watch(`${CONFIG_MAPS}?watch=1&resourceVersion=${server.store.revision}`);
  const first = lines.next();
  const put = server.store.put({ ...CONFIG_MAP, metadata: { name: 'put', labels: { 'bad label': '!' } } });
  assert.equal((await first).value.object.metadata.resourceVersion, put.metadata.resourceVersion);
  assert.ok(server.store.delete({ plural: 'configmaps' }, 'put'));
  assert.equal((await lines.next()).value.type, 'DELETED');
  assert.equal(server.store.delete({ plural: 'configmaps' }, 'put'), false);
  assert.deepEqual(
    server.store.list({ plural: 'configmaps' }).map((object) => object.metadata.name),
    ['seeded'],
  );
  assert.equal(server.store.get({ plural: 'configmaps' }, 'nobody'), undefined);
  assert.throws(() => server.store.list({ plural: 'unicorns' }), /has no unicorns/);
  assert.throws(() => server.store.put({ kind: 'Unicorn', apiVersion: 'v1' }), /no kind Unicorn in v1/);
  await lines.return(undefined);
});

test('times are those of the clock that is passed in, and so are the ends of watches', async () => {
  const clock = new FakeClock(Date.UTC(2030, 5, 1));
  await using session = await open({ clock, watchTimeoutMs: 600_000, random: () => 0 });
  const { server, api } = session;
  const { body } = await api.post(CONFIG_MAPS, { metadata: { name: 'dated' } });
  assert.equal(body.metadata.creationTimestamp, '2030-06-01T00:00:00Z');
  const watching = api.firstLines(
    `${CONFIG_MAPS}?watch=1&resourceVersion=${body.metadata.resourceVersion}&allowWatchBookmarks=true`,
    99,
  );
  while (server.watches === 0) await clock.settle();
  await clock.advance(600_000);
  const lines = await watching;
  assert.ok(lines.length >= 10 && lines.every((line) => line.type === 'BOOKMARK'));
  assert.equal(lines[0]!.object.metadata.resourceVersion, body.metadata.resourceVersion);
});

test('a watch window that is small forgets: 410 in the watch, 410 for an exact list', async () => {
  await using session = await open({ watchWindow: 5 });
  const { api } = session;
  const { body } = await api.get(CONFIG_MAPS);
  for (let i = 0; i < 10; i++) await api.post(CONFIG_MAPS, { metadata: { name: `m${i}` } });
  const version = body.metadata.resourceVersion;
  const [line] = await api.firstLines(`${CONFIG_MAPS}?watch=1&resourceVersion=${version}`, 1);
  assert.deepEqual([line!.type, line!.object.code], ['ERROR', 410]);
  const exact = await api.get(`${CONFIG_MAPS}?resourceVersion=${version}&resourceVersionMatch=Exact`);
  assert.equal(exact.status, 410);
});

test('without WatchList, sendInitialEvents is 422: clients fall back to a list', async () => {
  await using session = await open({ watchList: false });
  const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan';
  const { status, body } = await session.api.get(`${CONFIG_MAPS}?${query}`);
  assert.equal(status, 422);
  assert.equal(body.details.causes[0].field, 'sendInitialEvents');
});

test('plain HTTP serves the same, on a port that is asked for', async () => {
  await using session = await open({ tls: false });
  const { server, api } = session;
  assert.match(server.url, /^http:\/\/127\.0\.0\.1:\d+$/);
  assert.equal(server.ca, undefined);
  assert.equal((await api.get(NODES)).status, 200);
  assert.match(server.kubeconfig().yaml, /token: admin-token/);
  await assert.rejects(server.issueClientCertificate('x'), /without TLS/);
  const { port } = new URL(server.url);
  await assert.rejects(startEmbeddedApiServer({ port: Number(port), tls: false }), { code: 'EADDRINUSE' });
});

test('tokens and client certificates say who asks, and the request log keeps it', async () => {
  const tokens = { one: { username: 'first', groups: [] }, two: { username: 'second', groups: ['g'] } };
  await using session = await open({ tokens });
  const { server, api } = session;
  await api.get(`${NODES}?limit=1`, { token: 'two', headers: { 'user-agent': 'suite/1' } });
  const { certificate, key } = await server.issueClientCertificate('by-certificate', ['g1', 'g2']);
  const status = await new Promise((resolve, reject) => {
    const options = { ca: server.ca, cert: certificate, key, agent: false };
    httpsRequest(`${server.url}${NODES}`, options, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode));
    })
      .on('error', reject)
      .end();
  });
  assert.equal(status, 200);
  assert.equal((await api.get(NODES, { token: 'admin-token' })).status, 401);
  while (server.requests.length < 3) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(
    server.requests.map(({ user, method, path, query, status: code }) => [user, method, path, query, code]),
    [
      ['second', 'GET', NODES, 'limit=1', 200],
      ['by-certificate', 'GET', NODES, '', 200],
      ['', 'GET', NODES, '', 401],
    ],
  );
  assert.equal(server.requests[0]!.userAgent, 'suite/1');
  server.clearRequests();
  assert.equal(server.requests.length, 0);
});

test('fields that the server does not know survive an update and a patch', async () => {
  await using session = await open();
  const { api } = session;
  await api.post(NODES, { metadata: { name: 'n' }, spec: { futureField: { a: [1] } }, newSection: 1 });
  const { body } = await api.patch(`${NODES}/n`, MERGE_PATCH, { metadata: { labels: { a: 'b' } } });
  assert.deepEqual(body.spec.futureField, { a: [1] });
  assert.equal(body.newSection, 1);
});

test('what the embedded server leaves to the real one is said clearly', async () => {
  await using session = await open();
  const { api } = session;
  const apply = await api.patch(`${NODES}/n`, 'application/apply-patch+yaml', '{}');
  assert.equal(apply.status, 501);
  assert.match(apply.body.message, /server-side apply/);
  const protobuf = await api.post(NODES, '{}', { headers: { 'content-type': 'application/vnd.kubernetes.protobuf' } });
  assert.equal(protobuf.status, 415);
  for (const review of ['authentication.k8s.io/v1/tokenreviews', 'authorization.k8s.io/v1/subjectaccessreviews']) {
    assert.equal((await api.post(`/apis/${review}`, {})).status, 404);
  }
});

test('a body of more than 3 MiB is 413', async () => {
  await using session = await open();
  const data = { big: 'x'.repeat(3_200_000) };
  const { status, body } = await session.api.post(CONFIG_MAPS, { metadata: { name: 'big' }, data });
  assert.equal(status, 413);
  assert.equal(body.reason, 'RequestEntityTooLarge');
});

test('a pod on a node is only marked when deleted, until its kubelet lets it go', async () => {
  await using session = await open();
  const { api } = session;
  const pods = '/api/v1/namespaces/default/pods';
  const containers = [{ name: 'c', image: 'i' }];
  await api.post(pods, { metadata: { name: 'placed' }, spec: { nodeName: 'n', containers } });
  const { body } = await api.delete(`${pods}/placed`);
  assert.equal(body.metadata.deletionGracePeriodSeconds, 30);
  assert.equal((await api.get(`${pods}/placed`)).status, 200);
  await api.delete(`${pods}/placed`, { gracePeriodSeconds: 0 });
  assert.equal((await api.get(`${pods}/placed`)).status, 404);
  const free = await api.post(pods, { metadata: { name: 'free' }, spec: { containers } });
  assert.equal(free.body.metadata.generation, 1);
  await api.delete(`${pods}/free`);
  assert.equal((await api.get(`${pods}/free`)).status, 404);
});

test('rows of pods, secrets, endpoint slices and kinds without a table of their own', async () => {
  await using session = await open();
  const { server, api } = session;
  const namespace = 'default';
  server.store.put({
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name: 'p', namespace },
    spec: { containers: [{}, {}], nodeName: 'n' },
    status: { phase: 'Running', podIP: '10.0.0.1', containerStatuses: [{ ready: true, restartCount: 2 }] },
  });
  server.store.put({ kind: 'Secret', apiVersion: 'v1', metadata: { name: 's' }, type: 'Opaque', data: { a: '' } });
  server.store.put({
    kind: 'EndpointSlice',
    apiVersion: 'discovery.k8s.io/v1',
    metadata: { name: 'e' },
    addressType: 'IPv4',
    ports: [{ port: 80 }],
    endpoints: [{ addresses: ['10.0.0.1', '10.0.0.2'] }, { addresses: ['10.0.0.3', '10.0.0.4'] }],
  });
  server.store.put({ kind: 'ServiceAccount', apiVersion: 'v1', metadata: { name: 'a' } });
  const headers = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
  const row = async (path: string): Promise<Json> => (await api.get(path, { headers })).body.rows[0].cells;
  const core = '/api/v1/namespaces/default';
  const pod = await row(`${core}/pods/p`);
  assert.deepEqual(pod, ['p', '1/2', 'Running', '2', '<unknown>', '10.0.0.1', 'n', '<none>', '<none>']);
  assert.deepEqual(await row(`${core}/secrets/s`), ['s', 'Opaque', 1, '<unknown>']);
  assert.deepEqual(await row('/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/e'), [
    'e',
    'IPv4',
    '80',
    '10.0.0.1,10.0.0.2,10.0.0.3 + 1 more...',
    '<unknown>',
  ]);
  assert.deepEqual(await row(`${core}/serviceaccounts/a`), ['a', '<unknown>']);
});

test('reading at a version that was not reached is 504', async () => {
  await using session = await open();
  const { api } = session;
  const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=9999';
  for (const path of ['/api/v1/namespaces/default?resourceVersion=9999', `${CONFIG_MAPS}?${query}`]) {
    const { status, headers } = await api.get(path);
    assert.equal(status, 504);
    assert.equal(headers['retry-after'], '1');
  }
});

test('a server that is disposed of twice, or asked with a path that is no URL, does not mind', async () => {
  await using session = await open({ tls: false });
  const { server, api } = session;
  assert.equal((await api.get('//nodes')).status, 404);
  assert.equal((await api.get('/api/v1/nodes/%E0%A4%A')).status, 404);
  await server[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});
