// Over 400 lines: one server, and one test for each answer of a cloud.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  CloudError,
  effectOf,
  isCloudError,
  type CallContext,
  type CloudErrorCode,
  type CloudErrorShape,
} from '@outrigger/cloud-provider';
import { FakeClock } from '@outrigger/testing';
import * as fc from 'fast-check';
import { GroupCommit } from '../group-commit/group-commit.ts';
import { openedHost, type OpenedHost } from '../opened-host.suite.ts';
import { HttpClient, type HttpClientOptions } from './http-client.ts';
import type { Fetch } from './http-transport.ts';
import { nextByLink, nextByMarker, nextByToken, nextByUrl, type NextPage } from './paged-list.ts';
import { isHttpError } from './refusal.ts';
import { sharedHttpObjects } from './shared-http-objects.ts';

interface Scripted {
  readonly status?: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}
type Script = (request: {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}) => Scripted | Promise<Scripted>;

interface Rig extends OpenedHost {
  readonly clock: FakeClock;
  readonly client: HttpClient;
  readonly call: CallContext;
  readonly sent: string[];
}

async function rig(script: Script, options: Partial<HttpClientOptions> = {}): Promise<Rig> {
  const clock = new FakeClock();
  const opened = await openedHost(clock);
  const sent: string[] = [];
  const fetch: Fetch = async (url, { method, headers, body, signal }) => {
    signal.throwIfAborted();
    sent.push(`${method} ${url}`);
    const answer = await script({ method, url: new URL(url), headers, body });
    const text = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body ?? '');
    return {
      status: answer.status ?? 200,
      headers: new Headers(answer.headers),
      text: async () => (answer.body === undefined ? '' : text),
    };
  };
  const client = new HttpClient({
    host: opened.host,
    cloud: 'Acme',
    root: 'https://acme.example/v2',
    fetch,
    ...options,
  });
  const call = opened.opened.callContext({
    signal: new AbortController().signal,
    priority: 'normal',
    maxAttempts: 1,
  });
  return { ...opened, clock, client, call, sent };
}

async function errorOf(promise: Promise<unknown>): Promise<CloudErrorShape> {
  const error = await promise.then(
    () => assert.fail('it did not fail'),
    (cause: unknown) => cause,
  );
  assert.ok(isCloudError(error), String(error));
  return error;
}

test('an operation is the metric label, and its braces are the path: encoded, and never elsewhere', async () => {
  await using acme = await rig(({ headers }) => ({ body: { got: headers['if-match'] ?? '' } }));
  const { client, call, sent } = acme;
  const params = { id: 'a/b?c', group: '/groups/x y/z' };
  const query = { page: 2, tag: ['a', 'b'], none: undefined, deep: true };
  assert.deepEqual(
    await client.request(call, 'PUT /{+group}/servers/{id}', { params, query, body: {}, ifMatch: '"7"' }),
    { got: '"7"' },
  );
  assert.deepEqual(sent, ['PUT https://acme.example/v2/groups/x%20y/z/servers/a%2Fb%3Fc?page=2&tag=a&tag=b&deep=true']);
  assert.equal(acme.opened.recentCalls().at(-1)?.operation, 'PUT /{+group}/servers/{id}');
});

test('an ID from elsewhere cannot lead out of its place', async () => {
  await using acme = await rig(() => ({}));
  for (const params of [{ id: '..' }, { id: '' }, {}]) {
    assert.equal((await errorOf(acme.client.request(acme.call, 'DELETE /servers/{id}', { params }))).code, 'invalid');
  }
  for (const id of ['a/../b', './x', '//']) {
    const failed = errorOf(acme.client.request(acme.call, 'DELETE /{+id}', { params: { id } }));
    assert.equal((await failed).code, 'invalid');
  }
  assert.deepEqual(acme.sent, []);
});

test('errors are what the table says of status and code; a 404 proves nothing that the table does not name', async () => {
  let answer: Scripted = {};
  await using acme = await rig(() => answer, {
    errors: [
      { status: 404, code: 'server_not_found', means: 'not-found' },
      { status: 403, code: 'limit_reached', means: 'quota' },
      { code: 'locked', means: 'conflict' },
      { status: 504, code: 'not_begun', means: 'unavailable', effect: 'none' },
      { code: /^gone_/u, means: 'not-found' },
    ],
  });
  const cases: readonly (readonly [status: number, body: unknown, code: CloudErrorCode, effect: string])[] = [
    [404, { error: { code: 'server_not_found', message: 'no server 7' } }, 'not-found', 'none'],
    [404, { error: 'server_not_found' }, 'not-found', 'none'],
    [404, { error: 'no_route' }, 'unavailable', 'none'],
    [404, '<html>proxy</html>', 'unavailable', 'none'],
    [410, undefined, 'unavailable', 'none'],
    [400, { code: 'gone_disk', message: '' }, 'not-found', 'none'],
    [400, { code: 'undergone_', message: '' }, 'invalid', 'none'],
    [403, { code: 'limit_reached', message: 'no more' }, 'quota', 'none'],
    [403, { code: 'other', message: 'no' }, 'forbidden', 'none'],
    [403, '<html>proxy</html>', 'unavailable', 'none'],
    [423, { error: { code: 'locked', message: '' } }, 'conflict', 'none'],
    [401, '', 'unauthenticated', 'none'],
    [412, { error: 'changed' }, 'conflict', 'none'],
    [422, { error: 'name' }, 'invalid', 'none'],
    [301, undefined, 'unavailable', 'none'],
    [408, { error: 'slow' }, 'timeout', 'unknown'],
    [500, 'oops', 'unavailable', 'unknown'],
    [504, { error: 'not_begun' }, 'unavailable', 'none'],
    [200, '<html>', 'unavailable', 'unknown'],
  ];
  for (const [status, body, code, effect] of cases) {
    answer = { status, body };
    const error = await errorOf(acme.client.request(acme.call, 'POST /servers'));
    assert.deepEqual([error.code, effectOf(error)], [code, effect], `${status} ${JSON.stringify(body)}`);
    if (status !== 200) assert.ok(isHttpError(error, status));
  }
  answer = { status: 404, body: { error: { code: 'server_not_found', message: 'no\n server 7' } } };
  const said = await errorOf(acme.client.request(acme.call, 'GET /servers/{id}', { params: { id: '7' } }));
  assert.equal(said.message, 'Acme refused GET /servers/{id}: no server 7 (404)');
  answer = { status: 404, body: { code: 'x', message: `${' '.repeat(2_000)}${'y'.repeat(500)}` } };
  const long = await errorOf(acme.client.request(acme.call, 'POST /servers'));
  assert.equal(long.message, `Acme refused POST /servers: ${'y'.repeat(400)}… (404)`);
  assert.ok(isHttpError(said, 404, 'server_not_found') && !isHttpError(said, 404, 'other') && !isHttpError(0, 404));
});

test('the words of an error may stand in a header', async () => {
  await using acme = await rig(() => ({ status: 409, headers: { 'x-code': 'locked' } }), {
    errorOf: (_body, header) => ({ code: header('x-code') ?? '', message: 'it is' }),
  });
  assert.ok(isHttpError(await errorOf(acme.client.request(acme.call, 'GET /servers')), 409, 'locked'));
});

test('Retry-After reaches the budget; secrets are in no message', async () => {
  const body = { error: { code: 'x', message: 'token hunter2-secret is wrong' } };
  await using acme = await rig(() => ({ status: 429, body, headers: { 'retry-after': '7' } }), {
    secrets: ['hunter2-secret'],
  });
  const error = await errorOf(acme.client.request(acme.call, 'GET /servers'));
  assert.deepEqual([error.code, error.retryAfterMs], ['throttled', 7_000]);
  assert.doesNotMatch(error.message, /hunter2/);
});

test('what may be sent again is, by the host: not a POST', async () => {
  let count = 0;
  await using acme = await rig(() => ({ status: 503, body: (count++, 'down') }));
  const call = acme.opened.callContext({ signal: new AbortController().signal, priority: 'normal', maxAttempts: 3 });
  for (const [operation, times] of [
    ['GET /a', 3],
    ['PUT /a', 3],
    ['POST /a', 1],
    ['PATCH /a', 1],
  ] as const) {
    count = 0;
    const failed = errorOf(acme.client.request(call, operation, {}));
    await acme.clock.advance(60_000);
    await failed;
    assert.equal(count, times, operation);
  }
});

test('no answer in time is `timeout`, no connection `unavailable`, and whoever gives up hears his own reason', async () => {
  await using slow = await rig(() => new Promise<Scripted>(() => {}), { requestTimeoutMs: 5_000 });
  // A transport as `fetch` is: it ends with its signal.
  const hanging: Fetch = (_url, { signal }) =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
  const client = new HttpClient({
    host: slow.host,
    cloud: 'Acme',
    root: 'http://acme.example',
    fetch: hanging,
    requestTimeoutMs: 5_000,
  });
  const late = errorOf(client.request(slow.call, 'GET /a'));
  await slow.clock.advance(5_000);
  assert.deepEqual(
    [(await late).code, (await late).message],
    ['timeout', 'http://acme.example did not answer within 5 s'],
  );

  const refused: Fetch = () =>
    Promise.reject(Object.assign(new Error('fetch failed'), { cause: new Error('ECONNREFUSED') }));
  const closed = new HttpClient({ host: slow.host, cloud: 'Acme', root: 'http://acme.example', fetch: refused });
  assert.match((await errorOf(closed.request(slow.call, 'GET /a'))).message, /cannot be reached: ECONNREFUSED/);

  const abort = new AbortController();
  const mine = slow.opened.callContext({ signal: abort.signal, priority: 'normal', reads: true });
  const given = client.request(mine, 'GET /a').catch((error: unknown) => error);
  await slow.clock.settle();
  abort.abort(new Error('enough'));
  await slow.clock.settle();
  assert.equal(((await given) as Error).message, 'enough');
});

test('a request may be counted under a name of its own, wait longer than others, and hear what an error names', async () => {
  await using acme = await rig(() => ({ status: 409, body: 'in use' }), {
    errorOf: () => ({ code: 'InUse', message: 'by another', detail: { obj: 'vm-1' } }),
  });
  const error = await errorOf(acme.client.request(acme.call, 'POST /sdk', { name: 'Rename' }));
  assert.ok(isHttpError(error, 409, 'InUse'));
  assert.deepEqual([error.detail, error.message.includes('refused Rename: by another')], [{ obj: 'vm-1' }, true]);
  assert.deepEqual(
    acme.opened.recentCalls().map(({ operation }) => operation),
    ['Rename'],
  );
  const client = new HttpClient({
    host: acme.host,
    cloud: 'Acme',
    root: 'https://acme.example',
    fetch: (_url, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      }),
  });
  let over = false;
  const slow = errorOf(client.request(acme.call, 'POST /wait', { timeoutMs: 50_000 })).finally(() => (over = true));
  await acme.clock.advance(49_000);
  assert.equal(over, false);
  await acme.clock.advance(1_000);
  assert.match((await slow).message, /within 50 s/u);
});

test('a token that the cloud does not accept is renewed once; a signature is made for each send', async () => {
  let accepted = 'new';
  await using acme = await rig(
    ({ headers }) =>
      headers['x-token'] === accepted ? { body: { sum: headers['x-sum'] } } : { status: 401, body: { error: 'token' } },
    {
      headers: { 'user-agent': 'acme-ccm' },
      credentials: async (_call, refused) => ({ 'x-token': refused ? 'new' : 'old' }),
      sign: ({ method, url, headers, body }) => ({ 'x-sum': [method, url, headers['user-agent'], body].join('|') }),
    },
  );
  assert.deepEqual(await acme.client.request(acme.call, 'POST /a', { body: { b: 1 } }), {
    sum: 'POST|https://acme.example/v2/a|acme-ccm|{"b":1}',
  });
  accepted = 'neither';
  assert.equal((await errorOf(acme.client.request(acme.call, 'GET /a'))).code, 'unauthenticated');
  assert.equal(acme.sent.length, 4);
});

test('bodies of another form than JSON are written and read as the provider says', async () => {
  await using acme = await rig(({ body, headers }) => ({ body: `<a>${body}${headers['content-type']}</a>` }), {
    format: { mediaType: 'application/xml', write: (body) => `<${String(body)}>`, read: (text) => ({ text }) },
  });
  assert.deepEqual(await acme.client.request(acme.call, 'POST /a', { body: 'b' }), {
    text: '<a><b>application/xml</a>',
  });
});

test('a write on condition: the version of the answer goes into the next one, and a 412 is a change by somebody else', async () => {
  let [version, stored] = [1, {} as Record<string, number>];
  await using acme = await rig(({ method, headers, body }) => {
    if (method === 'PUT' && headers['if-match'] !== `"${version}"`) return { status: 412, body: { error: 'changed' } };
    if (method === 'PUT') [version, stored] = [version + 1, JSON.parse(body ?? '{}') as Record<string, number>];
    return { body: stored, headers: { etag: `"${version}"` } };
  });
  const objects = sharedHttpObjects<Record<string, number>>({
    client: acme.client,
    read: 'GET /firewalls/{id}',
    write: 'PUT /firewalls/{id}',
  });
  const commits = new GroupCommit({ host: acme.host, objects });
  await commits.change('fw', (state) => ({ ...state, a: 1 }), acme.call);
  [version, stored] = [version + 1, { ...stored, other: 1 }];
  const again = commits.change('fw', (state) => ({ ...state, b: 1 }), acme.call);
  await acme.clock.advance(1_000);
  await again;
  assert.deepEqual(stored, { a: 1, other: 1, b: 1 });

  const failed = sharedHttpObjects({
    client: acme.client,
    read: 'GET /x',
    write: 'PUT /x',
    versionOf: () => undefined,
  });
  assert.match((await errorOf(failed.read('x', acme.call))).message, /without a version/);
  const blind = sharedHttpObjects({
    client: acme.client,
    read: 'GET /x',
    write: 'PUT /x',
    settle: async () => undefined,
  });
  const read = await blind.read('x', acme.call);
  assert.deepEqual(await blind.write('x', {}, read.version, acme.call), { kind: 'written', next: undefined });
  const away = new HttpClient({
    host: acme.host,
    cloud: 'Acme',
    root: 'https://x',
    fetch: () => Promise.reject(new Error('gone')),
  });
  await errorOf(sharedHttpObjects({ client: away, read: 'GET /x', write: 'PUT /x' }).write('x', {}, '1', acme.call));
});

test('a refused question about what a write has begun says nothing of the write: the object does', async () => {
  let [version, stored] = [1, {} as Record<string, number>];
  const acme = await rig(({ method, url, body }) => {
    if (url.pathname.endsWith('/operations/1')) return { status: 403, body: { error: { code: 'x', message: 'no' } } };
    if (method === 'PUT') [version, stored] = [version + 1, JSON.parse(body ?? '{}') as Record<string, number>];
    return { body: stored, headers: { etag: `"${version}"` } };
  });
  const objects = sharedHttpObjects<Record<string, number>>({
    client: acme.client,
    read: 'GET /firewalls/{id}',
    write: 'PUT /firewalls/{id}',
    settle: (_, call) => acme.client.request(call, 'GET /operations/1'),
  });
  const error = await errorOf(objects.write('fw', { a: 1 }, '"1"', acme.call));
  assert.equal(effectOf(error), 'unknown');
  const commits = new GroupCommit({ host: acme.host, objects });
  const settled = commits.change('fw', (state) => ({ ...state, b: 1 }), acme.call);
  await acme.clock.advance(1_000);
  assert.deepEqual(await settled, { a: 1, b: 1 });

  const refusing = sharedHttpObjects<object>({
    client: acme.client,
    read: 'GET /firewalls/{id}',
    write: 'PUT /firewalls/{id}',
    settle: () => Promise.reject(new CloudError('quota', 'it has failed', { effect: 'none' })),
  });
  const failed = await errorOf(refusing.write('fw', {}, '"1"', acme.call));
  assert.deepEqual([failed.code, effectOf(failed)], ['quota', 'none']);
});

/** Ways in which clouds name the next page, each with a server that has these items. */
const WAYS: Readonly<
  Record<string, { readonly next: NextPage; readonly serve: (items: readonly string[], limit: number) => Script }>
> = {
  link: {
    next: nextByLink,
    serve: (items, limit) =>
      numbered(items, limit, (page) => ({
        headers: {
          link: `<https://other.example/x?page=1>; rel="first", <https://other.example/x?page=${page}>; rel="next"`,
        },
      })),
  },
  url: {
    next: nextByUrl((body) => (body as { links?: { next?: string | null } }).links?.next),
    serve: (items, limit) =>
      numbered(items, limit, (page) => ({ body: { links: { next: `https://other.example/x?page=${page}` } } })),
  },
  token: {
    next: nextByToken('page', (body) => (body as { next?: number }).next),
    serve: (items, limit) => numbered(items, limit, (page) => ({ body: { next: page } })),
  },
  marker: {
    next: nextByMarker('marker', (item) => item as string),
    serve:
      (items, limit) =>
      ({ url }) => {
        const from = items.indexOf(url.searchParams.get('marker') ?? '') + 1;
        return { body: { items: items.slice(from, from + limit) } };
      },
  },
};

function numbered(items: readonly string[], limit: number, more: (page: number) => Scripted): Script {
  return ({ url }) => {
    assert.equal(url.host, 'acme.example', 'the token goes nowhere else');
    const page = Number(url.searchParams.get('page') ?? '0');
    const { body, headers } = (page + 1) * limit < items.length ? more(page + 1) : {};
    return {
      body: { items: items.slice(page * limit, (page + 1) * limit), ...(body as object) },
      headers: headers ?? {},
    };
  };
}

test('property: a list has all items of all pages in whichever way they are named, and is complete then alone', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...Object.keys(WAYS)),
      fc.nat({ max: 9 }),
      fc.integer({ min: 1, max: 4 }),
      fc.option(fc.nat({ max: 9 }), { nil: undefined }),
      async (way, count, limit, failAt) => {
        const items = Array.from({ length: count }, (_, i) => `item-${i}`);
        const { next, serve } = WAYS[way]!;
        let page = 0;
        await using acme = await rig((request) =>
          page++ === failAt ? { status: 500, body: 'x' } : serve(items, limit)(request),
        );
        const list = acme.client.list<string>(acme.call, 'GET /x', { items: 'items', next });
        const read: string[] = [];
        let failed = false;
        try {
          for await (const item of list) {
            assert.equal(list.complete, false);
            read.push(item);
          }
        } catch {
          failed = true;
        }
        assert.equal(list.complete, !failed);
        assert.deepEqual(read, items.slice(0, read.length));
        if (!failed) assert.equal(read.length, count);
      },
    ),
    { numRuns: 150 },
  );
});

test('a list that is left early, goes in a circle, lacks its items or says that it leaves something out is not complete', async () => {
  let body: unknown = { items: [1, 2], next: 'again' };
  await using acme = await rig(() => ({ body }));
  const options = { items: 'items', next: nextByToken('page', (one) => (one as { next?: unknown }).next) };
  const left = acme.client.list<number>(acme.call, 'GET /x', options);
  for await (const item of left) if (item === 1) break;
  assert.equal(left.complete, false);
  const reasons: readonly (readonly [body: unknown, why: RegExp])[] = [
    [body, /form a loop/],
    [{ wrong: [] }, /has no such list/],
    [undefined, /has no such list/],
    [{ items: [], next: {} }, /cannot be read/],
  ];
  for (const [answered, why] of reasons) {
    body = answered;
    assert.match((await errorOf(acme.client.list(acme.call, 'GET /x', options).all())).message, why);
  }
  body = { items: [1], unreachable: ['zone-b'] };
  const partial = acme.client.list<number>(acme.call, 'GET /x', {
    items: (one) => (one as { items: unknown }).items,
    partial: (one) => (one as { unreachable?: string[] }).unreachable?.join(),
  });
  assert.match((await errorOf(partial.all())).message, /left something out: zone-b/);
  assert.deepEqual([partial.complete, partial.leftOut], [false, 'zone-b']);
  const broken = { items: 'items', next: nextByUrl((one) => (one as { links: { next: unknown } }).links.next) };
  for (const next of ['http://[', `?a=${'x'.repeat(16_384)}`]) {
    body = { items: [1], links: { next } };
    assert.match((await errorOf(acme.client.list(acme.call, 'GET /x', broken).all())).message, /cannot be read/);
  }
});
