// Over 400 lines: one server, and one test for each request and each answer.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { streamOf } from './byte-chunks.suite.ts';
import { createClient, type ClientOptions } from './create-client.ts';
import type { Client } from './client.ts';
import { answer, status } from './model-api-server.ts';
import type { KubeObject } from './kube-object.ts';
import { delimited, enveloped, framed, varint, watchEvent } from './protobuf/encode.suite.ts';
import { metadataOf } from './resource.ts';
import { resources } from './resources.ts';
import { isResponseError } from './response-body.ts';
import { isConflict, isNotFound, isStatusError, StatusError } from './status-error.ts';
import type { TransportRequest, TransportResponse } from './transport.ts';

/** A client whose server gives these answers in turn, and what it was asked. */
function scripted(
  answers: TransportResponse[],
  options?: ClientOptions,
): { client: Client; asked: TransportRequest[] } {
  const asked: TransportRequest[] = [];
  const client = createClient(
    {
      send(request) {
        asked.push(request);
        const next = answers.shift();
        return next ? Promise.resolve(next) : Promise.reject(new Error('no answer left'));
      },
      [Symbol.asyncDispose]: () => Promise.resolve(),
    },
    options,
  );
  return { client, asked };
}

const METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const node = { metadata: { name: 'a' } };
const lease = {
  metadata: { name: 'l', namespace: 'kube-system', resourceVersion: '4' },
  spec: { holderIdentity: 'me' },
};

test('get asks for the object, or for its metadata only', async () => {
  const { client, asked } = scripted([answer(200, node), answer(200, node), answer(200, lease)]);
  assert.deepEqual(await client.of(resources.nodes).get({ name: 'a' }, { resourceVersion: '0' }), node);
  await client.of(resources.nodes).get({ name: 'a' }, { answer: 'metadata' });
  await client.of(resources.leases).get({ namespace: 'kube-system', name: 'l' }, { traffic: 'lease', timeoutMs: 5 });
  assert.deepEqual(
    asked.map((r) => [r.method, r.path, r.headers?.['accept'], r.traffic, r.timeoutMs]),
    [
      ['GET', '/api/v1/nodes/a?resourceVersion=0', 'application/json', undefined, undefined],
      ['GET', '/api/v1/nodes/a', METADATA, undefined, undefined],
      ['GET', '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/l', 'application/json', 'lease', 5],
    ],
  );
});

test('unknown fields of an object survive', async () => {
  const strange = { ...node, spec: { fieldOfTheFuture: [1, { deep: null }] } };
  const { client } = scripted([answer(200, strange)]);
  assert.deepEqual(await client.of(resources.nodes).get({ name: 'a' }), strange);
});

test('a name that would be the path of something else is refused before anything is sent', async () => {
  const { client, asked } = scripted([]);
  const nodes = client.of(resources.nodes);
  for (const name of ['', '.', '..']) {
    await assert.rejects(nodes.delete({ name }), TypeError);
    await assert.rejects(async () => nodes.get({ name }), TypeError);
    await assert.rejects(nodes.patch({ name }, { type: 'merge', body: {} }), TypeError);
  }
  await assert.rejects(async () => client.of(resources.leases).get({ name: 'x' }), /Lease: no namespace/);
  await assert.rejects(client.of(resources.leases).deleteCollection(), /Lease: no namespace/);
  assert.equal(asked.length, 0);
});

test('a name cannot leave its place in the path', async () => {
  const { client, asked } = scripted([answer(404, status(404, 'NotFound', 'no'))]);
  await assert.rejects(client.of(resources.nodes).get({ name: 'a/../b?x=1#y' }), isNotFound);
  assert.equal(asked[0]?.path, '/api/v1/nodes/a%2F..%2Fb%3Fx%3D1%23y');
});

test('list hands over the page, its version and where the next one begins', async () => {
  const page = { metadata: { resourceVersion: '9', continue: 'c', remainingItemCount: 3 }, items: [node] };
  const { client, asked } = scripted([answer(200, page), answer(200, { metadata: {}, items: null })]);
  const services = client.of(resources.services);
  const list = await services.list({
    namespace: 'ns',
    labelSelector: 'a=b,c',
    fieldSelector: 'metadata.name=x',
    limit: 1,
  });
  const named = { ...node, apiVersion: 'v1', kind: 'Service' };
  assert.deepEqual(list, { items: [named], resourceVersion: '9', continue: 'c', remainingItemCount: 3 });
  assert.equal(
    asked[0]?.path,
    '/api/v1/namespaces/ns/services?labelSelector=a%3Db%2Cc&fieldSelector=metadata.name%3Dx&limit=1',
  );
  assert.deepEqual(await services.list(), { items: [], resourceVersion: '' });
  assert.equal(asked[1]?.path, '/api/v1/services');
});

test('items of a list say what they are, as those of a watch do, unless they say so themselves', async () => {
  const page = (): unknown => ({
    metadata: { resourceVersion: '9' },
    items: [{ metadata: { name: 'a' } }, { metadata: { name: 'b' }, kind: 'Own', apiVersion: 'own/v1' }],
  });
  const { client } = scripted([answer(200, page()), answer(200, page()), answer(200, page())]);
  const kinds = (items: readonly KubeObject[]): unknown => items.map((item) => [item.apiVersion, item.kind]);
  const own = ['own/v1', 'Own'];
  const { items } = await client.of(resources.leases).list();
  assert.deepEqual(kinds(items), [['coordination.k8s.io/v1', 'Lease'], own]);
  for await (const one of client.of(resources.nodes).pages()) assert.deepEqual(kinds(one.items), [['v1', 'Node'], own]);
  const partial = await client.of(metadataOf(resources.pods)).list();
  assert.deepEqual(kinds(partial.items), [['meta.k8s.io/v1', 'PartialObjectMetadata'], own]);
});

test('pages go on to the end, and carry the version in the token only', async () => {
  const { client, asked } = scripted([
    answer(200, { metadata: { resourceVersion: '9', continue: 'next' }, items: [node] }),
    answer(200, { metadata: { resourceVersion: '9' }, items: [node] }),
  ]);
  const pages = await Array.fromAsync(
    client.of(resources.nodes).pages({ resourceVersion: '5', resourceVersionMatch: 'Exact' }),
  );
  assert.equal(pages.length, 2);
  assert.deepEqual(
    asked.map((r) => r.path),
    ['/api/v1/nodes?limit=500&resourceVersion=5&resourceVersionMatch=Exact', '/api/v1/nodes?limit=500&continue=next'],
  );
});

const MIB = Buffer.alloc(2 ** 20, ' ');

/** A server with so many objects, each of which takes as many MiB as it says. Keeps what it was asked for: `limit@first`. */
function largeObjects(sizes: readonly number[]): { client: Client; asked: string[] } {
  const asked: string[] = [];
  const client = createClient({
    send({ path }) {
      const query = new URLSearchParams(path.split('?')[1]);
      const first = Number(query.get('continue'));
      const limit = Number(query.get('limit'));
      asked.push(`${limit}@${first}`);
      const page = sizes.slice(first, limit === 0 ? undefined : first + limit);
      const next = first + page.length;
      const metadata = { resourceVersion: '9', ...(next < sizes.length && { continue: `${next}` }) };
      const items = page.map((_, i) => ({ metadata: { name: `n${first + i}` } }));
      const spaces = page.reduce((sum, size) => sum + size, 0);
      const body = streamOf([
        ...Array.from({ length: spaces }, () => MIB),
        Buffer.from(JSON.stringify({ metadata, items })),
      ]);
      return Promise.resolve({ status: 200, headers: { 'content-type': 'application/json' }, body });
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
  return { client, asked };
}

for (const [what, sizes, limit, expected] of [
  [
    'small ones before large ones',
    [...Array(500).fill(0), ...Array(20).fill(1)],
    500,
    '500@0 500@500 125@500 31@500 7@500 7@507 7@514',
  ],
  ['one that is as large as a page may be', [0, 17, 0], 2, '2@0 1@0 1@1 1@2'],
  [
    'all at once',
    Array(300).fill(1),
    0,
    `0@0 500@0 125@0 31@0 ${[0, 84, 168]
      .flatMap((at) => [
        ...[0, 7, 14, 21].map((i) => `7@${at + i}`),
        ...[28, 42, 56, 70].map((i) => `14@${at + i}`),
        `28@${at + 84}`,
      ])
      .join(' ')} 7@252 7@259 7@266 7@273 14@280 14@294`,
  ],
] as const) {
  test(`a page that is too large is asked for again with fewer objects, and nothing is left out: ${what}`, async () => {
    const { asked, client } = largeObjects(sizes);
    const names: (string | undefined)[] = [];
    for await (const { items } of client.of(resources.nodes).pages({ limit })) {
      names.push(...items.map(({ metadata }) => metadata?.name));
    }
    assert.deepEqual(
      names,
      sizes.map((_, i) => `n${i}`),
    );
    assert.equal(asked.join(' '), expected);
  });
}

test('large objects make few pages small: those of the small ones after them grow again', async () => {
  for (const [many, size] of [
    [12, 2],
    [3, 6],
  ] as const) {
    const { asked, client } = largeObjects([...Array<number>(many).fill(size), ...Array<number>(5_000).fill(0)]);
    const pages = await Array.fromAsync(client.of(resources.nodes).pages());
    assert.equal(pages.flatMap(({ items }) => items).length, many + 5_000);
    assert.ok(asked.length < 60, `${asked.length} requests`);
  }
});

test('an object that is longer than any answer may be is an error', async () => {
  const { asked, client } = largeObjects([257]);
  await assert.rejects(
    Array.fromAsync(client.of(resources.nodes).pages({ limit: 4 })),
    (error) => isResponseError(error) && error.code === 'response-too-large',
  );
  assert.deepEqual(asked, ['4@0', '1@0']);
});

test('an answer that is no list, no JSON, or cut off is an error that quotes nothing of it', async () => {
  const secret = '{"kind":"Secret","data":{"password":"hunter2"';
  const { client } = scripted([answer(200, '{}'), answer(200, secret), answer(200, '')]);
  const secrets = client.of(resources.secrets);
  await assert.rejects(secrets.list(), (e) => isResponseError(e) && e.code === 'response-unexpected');
  await assert.rejects(
    secrets.get({ namespace: 'n', name: 's' }),
    (e) =>
      isResponseError(e) &&
      e.code === 'response-invalid' &&
      !JSON.stringify([e.message, String(e.cause)]).includes('hunter2'),
  );
  await assert.rejects(secrets.get({ namespace: 'n', name: 's' }), isResponseError);
});

test('writes say what they are: dry run, field manager, validation, subresource, content type', async () => {
  const { client, asked } = scripted(Array.from({ length: 7 }, () => answer(200, node)));
  const nodes = client.of(resources.nodes);
  const how = { dryRun: true, fieldManager: 'me', fieldValidation: 'Strict' } as const;
  await nodes.create(node, how);
  await nodes.update(node, { ...how, subresource: 'status' });
  await nodes.patch(
    { name: 'a' },
    { type: 'json', operations: [{ op: 'remove', path: '/spec/taints/0' }] },
    { answer: 'metadata' },
  );
  await nodes.patch({ name: 'a' }, { type: 'merge', body: { spec: {} } });
  await nodes.patch({ name: 'a' }, { type: 'strategic', body: { spec: {} } }, { subresource: 'status' });
  await nodes.patch({ name: 'a' }, { type: 'apply', body: node, force: true }, { fieldManager: 'me' });
  await client.of(resources.serviceAccounts).create({}, { namespace: 'n', name: 'sa', subresource: 'token' });
  const query = 'dryRun=All&fieldManager=me&fieldValidation=Strict';
  assert.deepEqual(
    asked.map((r) => [r.method, r.path, r.headers?.['content-type'], r.body]),
    [
      ['POST', `/api/v1/nodes?${query}`, 'application/json', JSON.stringify(node)],
      ['PUT', `/api/v1/nodes/a/status?${query}`, 'application/json', JSON.stringify(node)],
      ['PATCH', '/api/v1/nodes/a', 'application/json-patch+json', '[{"op":"remove","path":"/spec/taints/0"}]'],
      ['PATCH', '/api/v1/nodes/a', 'application/merge-patch+json', '{"spec":{}}'],
      ['PATCH', '/api/v1/nodes/a/status', 'application/strategic-merge-patch+json', '{"spec":{}}'],
      ['PATCH', '/api/v1/nodes/a?fieldManager=me&force=true', 'application/apply-patch+yaml', JSON.stringify(node)],
      ['POST', '/api/v1/namespaces/n/serviceaccounts/sa/token', 'application/json', '{}'],
    ],
  );
  assert.equal(asked[2]?.headers?.['accept'], METADATA);
  await assert.rejects(nodes.patch({ name: 'a' }, { type: 'apply', body: node }), /fieldManager/);
});

test('a delete carries its preconditions', async () => {
  const { client, asked } = scripted([
    answer(200, {}),
    answer(409, status(409, 'Conflict', 'the UID in the precondition does not match')),
    answer(200, {}),
  ]);
  const nodes = client.of(resources.nodes);
  const preconditions = { uid: 'u', resourceVersion: '7' };
  await nodes.delete(
    { name: 'a' },
    { preconditions, propagationPolicy: 'Background', gracePeriodSeconds: 0, dryRun: true },
  );
  assert.deepEqual(JSON.parse(asked[0]?.body ?? ''), {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    preconditions,
    propagationPolicy: 'Background',
    gracePeriodSeconds: 0,
    dryRun: ['All'],
  });
  await assert.rejects(nodes.delete({ name: 'a' }, { preconditions }), isConflict);
  await client.of(resources.leases).deleteCollection({ namespace: 'n', labelSelector: 'x' });
  assert.equal(asked[2]?.path, '/apis/coordination.k8s.io/v1/namespaces/n/leases?labelSelector=x');
  assert.match(asked[2]?.headers?.['accept'] ?? '', /PartialObjectMetadataList/);
});

test('a watch yields its lines, and an ERROR line is thrown', async () => {
  const body = [
    { type: 'ADDED', object: node },
    { type: 'BOOKMARK', object: { metadata: { resourceVersion: '3' } } },
    { type: 'ERROR', object: status(410, 'Expired', 'too old resource version: 1 (5)') },
  ];
  const { client, asked } = scripted([answer(200, body.map((line) => JSON.stringify(line)).join('\n'))]);
  const seen: unknown[] = [];
  const watch = client.of(resources.nodes).watch({ resourceVersion: '1', timeoutSeconds: 300 });
  await assert.rejects(
    async () => {
      for await (const event of watch) seen.push(event);
    },
    (e) => isStatusError(e) && e.code === 410 && e.reason === 'Expired' && e.origin === 'watch-event',
  );
  assert.deepEqual(seen, body.slice(0, 2));
  assert.equal(
    asked[0]?.path,
    '/api/v1/nodes?watch=true&resourceVersion=1&allowWatchBookmarks=true&timeoutSeconds=300',
  );
  assert.equal(asked[0]?.traffic, 'watch');
  assert.equal(asked[0]?.timeoutMs, 0);
});

test('half a line, or a line of something else, is an error and no event', async () => {
  const { client } = scripted([answer(200, '{"type":"ADDED","obj'), answer(200, '{"kind":"NodeList"}\n')]);
  const nodes = client.of(resources.nodes);
  await assert.rejects(Array.fromAsync(nodes.watch()), (e) => isResponseError(e) && e.code === 'response-invalid');
  await assert.rejects(Array.fromAsync(nodes.watch()), (e) => isResponseError(e) && e.code === 'response-unexpected');
});

test('a kind can be asked for its metadata only', async () => {
  const { client, asked } = scripted([answer(200, { metadata: {}, items: [] }), answer(200, ''), answer(200, node)]);
  const pods = client.of(metadataOf(resources.pods));
  await pods.list();
  await Array.fromAsync(pods.watch());
  await pods.get({ namespace: 'n', name: 'p' });
  assert.deepEqual(
    asked.map((r) => r.headers?.['accept']),
    [METADATA.replace('Metadata;', 'MetadataList;'), METADATA, METADATA],
  );
});

test('the page of a proxy is an error with its status code and what it says, without mark-up and tokens', async () => {
  const html =
    '<html><style>b{x}</style><body><h1>502\n Bad Gateway</h1> sent: Authorization: Bearer abc.def</body></html>';
  const { client } = scripted([
    answer(502, html),
    answer(502, 'x'.repeat(300)),
    answer(503, '{"kind":"Oops"'),
    answer(429, '', { 'retry-after': '3' }),
  ]);
  const nodes = client.of(resources.nodes);
  const failure = await nodes.get({ name: 'a' }).catch((e: unknown) => e);
  assert.ok(failure instanceof StatusError);
  assert.equal(failure.code, 502);
  assert.equal(
    failure.message,
    "GET /api/v1/nodes/a: not an API server's answer (text/html): 502 Bad Gateway sent: Authorization: Bearer *** (502 Unknown)",
  );
  await assert.rejects(nodes.get({ name: 'a' }), /: x{200}… \(502/u);
  await assert.rejects(
    nodes.list({ labelSelector: 'secret' }),
    (e) => isStatusError(e) && e.code === 503 && !e.message.includes('?'),
  );
  await assert.rejects(
    nodes.list(),
    (e) => isStatusError(e) && e.retryAfterMs === 3000 && e.reason === 'TooManyRequests',
  );
});

test('the wait that an answer asks for is known, as seconds or as a date', async () => {
  const date = 'Thu, 01 Jan 2026 00:00:00 GMT';
  const { client } = scripted([
    answer(503, '', { 'retry-after': 'Thu, 01 Jan 2026 00:00:07 GMT', date }),
    answer(503, '', { 'retry-after': '' }),
  ]);
  const nodes = client.of(resources.nodes);
  await assert.rejects(nodes.list(), (e) => isStatusError(e) && e.retryAfterMs === 7_000);
  await assert.rejects(nodes.list(), (e) => isStatusError(e) && e.retryAfterMs === undefined);
});

test('an error page that breaks off still has its status code', async () => {
  // oxlint-disable-next-line typescript/require-await, require-yield
  async function* broken(): AsyncGenerator<Uint8Array, void, void> {
    throw new Error('connection reset');
  }
  const { client } = scripted([{ status: 500, headers: {}, body: broken() }]);
  await assert.rejects(client.of(resources.nodes).list(), (e) => isStatusError(e) && e.code === 500);
});

test('warnings go to the hook', async () => {
  const heard: unknown[] = [];
  const { client } = scripted([answer(200, node, { warning: '299 - "unknown field \\"spec.x\\""' })], {
    onWarning: (warning, request) => heard.push([warning, request]),
  });
  await client.of(resources.nodes).create(node, { dryRun: true });
  assert.deepEqual(heard, [['unknown field "spec.x"', { method: 'POST', path: '/api/v1/nodes' }]]);
});

test('raw gives JSON parsed and anything else as text', async () => {
  const { client, asked } = scripted([answer(200, { gitVersion: 'v1.36.3' }), answer(200, 'ok')]);
  assert.deepEqual(await client.raw('/version'), { gitVersion: 'v1.36.3' });
  assert.equal(await client.raw('/readyz', { timeoutMs: 9, traffic: 'lease' }), 'ok');
  assert.deepEqual([asked[1]?.timeoutMs, asked[1]?.traffic], [9, 'lease']);
});

const PROTOBUF = 'application/vnd.kubernetes.protobuf,application/json';

function protobuf(body: Buffer, code = 200): TransportResponse {
  const headers = { 'content-type': 'application/vnd.kubernetes.protobuf;stream=watch' };
  return { status: code, headers, body: streamOf([body]) };
}

test('trimmed lists and watches are asked for in protobuf where it can be read, and read as the server answers', async () => {
  const named = delimited(1, delimited(1, Buffer.from('a')));
  const page = enveloped('NodeList', delimited(1, delimited(2, Buffer.from('7'))), delimited(2, named));
  const event = watchEvent('ADDED', enveloped('Node', named));
  const { client, asked } = scripted([
    protobuf(page),
    protobuf(Buffer.concat([framed(event), framed(event)])),
    answer(200, { metadata: { resourceVersion: '8' }, items: [node] }),
    answer(200, { metadata: { resourceVersion: '8' }, items: [node] }),
    answer(200, { metadata: {}, items: [] }),
    answer(200, { metadata: {}, items: [] }),
  ]);
  const a = { kind: 'Node', apiVersion: 'v1', metadata: { name: 'a' } };
  const nodes = client.of(resources.nodes);
  assert.deepEqual(await nodes.list({ trimmed: true }), { items: [a], resourceVersion: '7' });
  assert.deepEqual(await Array.fromAsync(nodes.watch({ trimmed: true })), [
    { type: 'ADDED', object: a },
    { type: 'ADDED', object: a },
  ]);
  // A server that answers in JSON all the same.
  assert.deepEqual(await nodes.list({ trimmed: true }), { items: [a], resourceVersion: '8' });
  // Whole objects, kinds without a table, and metadata only.
  await nodes.list();
  await client.of(resources.leases).list({ trimmed: true });
  await client.of(metadataOf(resources.nodes)).list({ trimmed: true });
  const partial = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';
  assert.deepEqual(
    asked.map((request) => request.headers?.['accept']),
    [PROTOBUF, PROTOBUF, PROTOBUF, 'application/json', 'application/json', partial],
  );
});

test('after protobuf that holds more than this program knows, the kind is asked for in JSON: nothing of it is lost', async () => {
  const ofTheFuture = enveloped('Node', varint(99 << 3, 1));
  for (const read of ['list', 'watch'] as const) {
    const unreadable =
      read === 'list'
        ? protobuf(enveloped('NodeList', delimited(2, varint(99 << 3, 1))))
        : protobuf(framed(watchEvent('ADDED', ofTheFuture)));
    const list = { metadata: { resourceVersion: '8' }, items: [{ ...node, fieldOfTheFuture: 1 }] };
    const { client, asked } = scripted([unreadable, answer(200, list), answer(200, { ...list, items: [] })]);
    const nodes = client.of(resources.nodes);
    await assert.rejects(
      read === 'list' ? nodes.list({ trimmed: true }) : Array.fromAsync(nodes.watch({ trimmed: true })),
      (error) =>
        isResponseError(error) && /Node has a field 99.*nodes are asked for in JSON from now on/.test(error.message),
    );
    const { items } = await client.of(resources.nodes).list({ trimmed: true });
    assert.deepEqual(items, [{ kind: 'Node', apiVersion: 'v1', ...node, fieldOfTheFuture: 1 }]);
    await client.of(resources.services).list({ trimmed: true });
    assert.deepEqual(
      asked.map((request) => request.headers?.['accept']),
      [PROTOBUF, 'application/json', PROTOBUF],
    );
  }
});

test('a watch in protobuf that ends within an event is an error of this watch alone', async () => {
  const cut = framed(watchEvent('ADDED', enveloped('Node'))).subarray(0, -1);
  const { client, asked } = scripted([protobuf(cut), answer(200, { metadata: {}, items: [] })]);
  const nodes = client.of(resources.nodes);
  await assert.rejects(Array.fromAsync(nodes.watch({ trimmed: true })), isResponseError);
  await nodes.list({ trimmed: true });
  assert.equal(asked[1]?.headers?.['accept'], PROTOBUF);
});

test('errors in protobuf are read as those in JSON: of an answer, and within a watch', async () => {
  const gone = enveloped(
    'Status',
    delimited(3, Buffer.from('too old')),
    delimited(4, Buffer.from('Expired')),
    varint(6 << 3, 410),
  );
  const { client } = scripted([
    protobuf(gone, 410),
    protobuf(framed(watchEvent('ERROR', gone))),
    protobuf(Buffer.from('k8s\0 and no more'), 503),
  ]);
  const nodes = client.of(resources.nodes);
  const expired = (origin: string) => (error: unknown) =>
    isStatusError(error) && error.code === 410 && error.reason === 'Expired' && error.origin === origin;
  await assert.rejects(nodes.list({ trimmed: true }), expired('response'));
  await assert.rejects(Array.fromAsync(nodes.watch({ trimmed: true })), expired('watch-event'));
  await assert.rejects(nodes.list({ trimmed: true }), (error) => isStatusError(error) && error.code === 503);
});
