import { strict as assert } from 'node:assert';
import { execFile } from 'node:child_process';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { isCloudError, type CallContext } from '@outrigger/cloud-provider';
import { silentLogger, systemClock } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { CloudClient, sendOverHttp } from './cloud-client.ts';
import { createMemoryCloud, serveMemoryCloud } from './index.ts';
import { MemoryInstances } from './memory-instances.ts';

const context = (signal: AbortSignal = new AbortController().signal): CallContext => ({
  signal,
  priority: 'normal',
  logger: silentLogger,
  call: (_operation, send) => send(signal),
});

async function withServer(
  answer: (response: ServerResponse) => void,
  work: (url: string) => Promise<void>,
): Promise<void> {
  const server = createServer((_request, response) => answer(response));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  try {
    await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    await new Promise<void>((resolve) => void server.close(() => resolve()));
  }
}

const get = (url: string, call: CallContext = context()): Promise<unknown> =>
  new CloudClient(sendOverHttp(url), url).request(call, 'GET /x', { method: 'GET', path: '/x' });

test('a refusal that is no JSON is known by its status, and a 404 of a proxy proves nothing', async () => {
  for (const [status, code] of [
    [429, 'throttled'],
    [502, 'unavailable'],
    [403, 'forbidden'],
    [404, 'unavailable'],
    [418, 'invalid'],
  ] as const) {
    await withServer(
      (response) => void response.writeHead(status, { 'retry-after': '3' }).end('<html>'),
      async (url) => {
        await assert.rejects(get(url), (error) => isCloudError(error, code) && error.retryAfterMs === 3000);
      },
    );
  }
});

test('an answer that is no JSON, and a cloud that is not there, are unavailable; an abort stays an abort', async () => {
  let gone = '';
  await withServer(
    (response) => void response.end('{"half'),
    async (url) => {
      gone = url;
      await assert.rejects(get(url), (error) => isCloudError(error, 'unavailable'));
    },
  );
  await assert.rejects(get(gone), (error) => isCloudError(error, 'unavailable'));
  await withServer(
    () => {},
    async (url) => {
      const caller = new AbortController();
      const asked = get(url, context(caller.signal));
      caller.abort(new Error('gone'));
      await assert.rejects(asked, /gone/);
    },
  );
});

test("the cloud is asked without Node's copy of undici", async () => {
  const script = `
    import { sendOverHttp } from './src/cloud-client.ts';
    const server = process.getBuiltinModule('node:http').createServer((_request, response) => response.end('{}'));
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    const send = sendOverHttp('http://127.0.0.1:' + server.address().port);
    const { status } = await send({ method: 'POST', path: '/x', body: {} }, new AbortController().signal);
    console.log(status, process.moduleLoadList.includes('NativeModule internal/deps/undici/undici'));
    process.exit();
  `;
  const cwd = new URL('..', import.meta.url);
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], { cwd });
  assert.equal(stdout, '200 false\n');
});

test('over HTTP: control, broken requests are the client’s fault, and a client that goes ends its request', async () => {
  const cloud = createMemoryCloud({ clock: new FakeClock(), random: () => 0 });
  await using served = await serveMemoryCloud(cloud);
  const ask = (path: string, init: RequestInit = {}): Promise<Response> => fetch(`${served.endpoint}${path}`, init);
  assert.equal((await ask('/control/instances', { method: 'POST', body: '{"name":"a"}' })).status, 201);
  assert.equal((await ask('/instances/a')).status, 200);
  assert.equal((await ask('/control/instances', { method: 'POST', body: '{' })).status, 400);
  assert.equal((await ask('/instances/%E0%A4%A')).status, 400);
  cloud.setFaults([{ effect: 'status', status: 429, retryAfterSeconds: 2 }]);
  assert.equal((await ask('/instances/a')).headers.get('retry-after'), '2');
  cloud.setFaults([{ effect: 'hang' }]);
  const caller = new AbortController();
  const stuck = ask('/instances/a', { signal: caller.signal });
  caller.abort();
  await assert.rejects(stuck, /abort/i);
});

test('over HTTP, a 404 for an instance proves that it is gone where the cloud is known to be the one of the cluster', async () => {
  const cloud = createMemoryCloud({ clock: new FakeClock(), random: () => 0 });
  await using served = await serveMemoryCloud(cloud);
  const client = new CloudClient(sendOverHttp(served.endpoint), served.endpoint);
  const instances = new MemoryInstances(() => client, 'memory');
  const kindOf = async (id: string): Promise<string> => {
    const node = { name: id, uid: id, providerID: `memory://region-1/${id}`, labels: {}, annotations: {} };
    try {
      return (await instances.read(node, 'state', context())).result.kind;
    } catch (error) {
      return isCloudError(error) ? error.code : 'error';
    }
  };
  assert.equal(await kindOf('never-there'), 'configuration');
  cloud.createInstance({ name: 'a' });
  cloud.deleteInstance('a');
  assert.deepEqual([await kindOf('a'), await kindOf('never-there')], ['absent', 'absent'], 'the cloud remembers one');
});

test('over HTTP, the provider hints which instances have changed since it was asked, and leaves when it is told to', async () => {
  const cloud = createMemoryCloud({ clock: systemClock, random: () => 0 });
  cloud.createInstance({ name: 'before' });
  await using served = await serveMemoryCloud(cloud);
  const client = new CloudClient(sendOverHttp(served.endpoint), served.endpoint);
  const end = new AbortController();
  const hints = new MemoryInstances(() => client, 'memory', { hints: true }).changes?.(context(end.signal));
  const given = hints?.[Symbol.asyncIterator]();
  assert.ok(given);
  const first = given.next();
  // The question is on its way: what changes before it is there is no news to it.
  while (cloud.asksForChanges === 0) await new Promise<void>((resolve) => void setImmediate(resolve));
  cloud.updateInstance('before', { state: 'shutdown' });
  assert.deepEqual((await first).value, { providerID: 'memory://region-1/before' });
  assert.deepEqual((await given.next()).value, { name: 'before' });
  cloud.createInstance({ name: 'new' });
  assert.deepEqual((await given.next()).value, { providerID: 'memory://region-1/new' });
  await given.next();
  const last = given.next();
  end.abort();
  await assert.rejects(last, (error) => error instanceof Error && error.name === 'AbortError');
  assert.equal(new MemoryInstances(() => client, 'memory').changes, undefined);
});
