// Over 400 lines: one rig, and one test for each way in which lists and watches can end.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '@outrigger/testing';
import { streamOf } from './byte-chunks.suite.ts';
import { createClient } from './create-client.ts';
import { EXPIRED, ModelApiServer, status, type ModelObject } from './model-api-server.ts';
import type { Resource } from './resource.ts';
import type { TransportRequest } from './transport.ts';
import { WatchListMemory } from './watch-list-memory.ts';
import { reflector, type ReflectorEvent, type ReflectorFailure, type ReflectorOptions } from './reflector.ts';

const nodes: Resource<ModelObject> = { group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false };

function say(event: ReflectorEvent<ModelObject>): string {
  return 'object' in event ? `${event.type} ${event.object.metadata.name}=${event.object.value}` : event.type;
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/** A reflector on a model server, and all that it has said. */
class Bench implements AsyncDisposable {
  readonly server = new ModelApiServer();
  readonly clock = new FakeClock();
  readonly failures: ReflectorFailure[] = [];
  readonly said: string[] = [];
  readonly watchList = new WatchListMemory();
  readonly #abort = new AbortController();
  #running: Promise<void> = Promise.resolve();

  start(options: Partial<ReflectorOptions<ModelObject>> = {}): void {
    const events = reflector(createClient(this.server).of(nodes), {
      clock: this.clock,
      random: () => 0.5,
      signal: this.#abort.signal,
      watchList: this.watchList,
      onError: (failure) => void this.failures.push(failure),
      ...options,
    });
    this.#running = (async () => {
      for await (const event of events) this.said.push(say(event));
    })();
  }

  /** What was said since the last call. */
  async heard(advanceMs = 0): Promise<string[]> {
    await this.clock.advance(advanceMs);
    return this.said.splice(0);
  }

  /** What was done about the failures since the last call. */
  remedies(): string[] {
    return this.failures.splice(0).map(({ phase, remedy, delayMs }) => `${phase}: ${remedy} in ${delayMs}`);
  }

  get last(): URLSearchParams {
    const request = this.server.requests.at(-1) as TransportRequest;
    return new URLSearchParams(request.path.split('?')[1]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#abort.abort();
    await this.#running;
    assert.equal(this.clock.pendingTimers, 0, 'no timer is left behind');
    assert.equal(this.server.watches, 0, 'no watch is left behind');
  }
}

const stream = ['init', 'init-apply a=1', 'init-done'];

test('the initial stream becomes the watch: one request for both', async () => {
  await using bench = new Bench();
  bench.server.put('a', 1);
  bench.start({ labelSelector: 'x=y', fieldSelector: 'spec.z=1' });
  assert.deepEqual(await bench.heard(), stream);
  bench.server.put('a', 2);
  bench.server.put('b', 1);
  bench.server.remove('a');
  assert.deepEqual(await bench.heard(), ['apply a=2', 'apply b=1', 'delete a=2']);
  assert.equal(bench.server.requests.length, 1);
  assert.deepEqual(Object.fromEntries(bench.last), {
    watch: 'true',
    labelSelector: 'x=y',
    fieldSelector: 'spec.z=1',
    resourceVersionMatch: 'NotOlderThan',
    allowWatchBookmarks: 'true',
    sendInitialEvents: 'true',
    timeoutSeconds: '450',
  });
  assert.equal(bench.server.requests[0]?.timeoutMs, 480_000, 'a dead connection is not waited on for ever');
});

for (const how of ['reset', 'half'] as const) {
  test(`a watch that is cut (${how}) goes on from the last version, and nothing is missed`, async () => {
    await using bench = new Bench();
    bench.server.put('a', 1);
    bench.start();
    await bench.heard(20_000);
    bench.server.cut(how);
    bench.server.put('b', 1);
    bench.server.remove('a');
    assert.deepEqual(await bench.heard(500), [], 'not at once');
    assert.deepEqual(await bench.heard(500), ['apply b=1', 'delete a=1']);
    assert.deepEqual(bench.remedies(), ['watching: resume in 1000']);
    assert.equal(bench.last.get('resourceVersion'), '2');
  });
}

test('a watch that the server ends in good order goes on without a pause and without an error', async () => {
  await using bench = new Bench();
  bench.start();
  await bench.heard(300_000 - 160_000);
  bench.server.bookmark('1');
  bench.server.cut('end');
  await bench.heard();
  assert.equal(bench.server.requests.length, 2);
  assert.equal(bench.last.get('resourceVersion'), '1');
  assert.deepEqual(bench.remedies(), []);
});

test('a watch that ends as soon as it begins is not opened again in a tight loop', async () => {
  await using bench = new Bench();
  bench.start();
  for (let i = 0; i < 3; i++) {
    await bench.heard();
    bench.server.bookmark();
    bench.server.cut('end');
    await bench.heard();
    assert.match(bench.remedies()[0] ?? '', /watching: resume/);
    await bench.heard(1_000 * 2 ** i);
  }
});

test('bookmarks move the version, empty ones do not', async () => {
  await using bench = new Bench();
  bench.server.put('a', 1);
  bench.start();
  await bench.heard();
  bench.server.revision = 50;
  bench.server.bookmark();
  bench.server.bookmark('');
  await bench.heard(20_000);
  bench.server.cut('reset');
  await bench.heard(1_000);
  assert.equal(bench.last.get('resourceVersion'), '50');
});

test('objects of the initial stream do not move the version: cut before its end, it begins anew', async () => {
  await using bench = new Bench();
  bench.server.put('a', 1);
  bench.server.faults.push({ kind: 'cut', bytes: 130, how: 'reset' });
  bench.start();
  assert.deepEqual(await bench.heard(), ['init', 'init-apply a=1']);
  assert.deepEqual(bench.remedies(), ['initial-stream: relist in 1000']);
  bench.server.remove('a');
  assert.deepEqual(await bench.heard(1_000), ['init', 'init-done']);
  assert.equal(bench.server.requests[1]?.path.includes('resourceVersion='), false);
});

test('a version that is too old leads to a relist, be it said as status or as event', async () => {
  await using bench = new Bench();
  bench.server.put('a', 1);
  bench.start();
  await bench.heard(20_000);
  bench.server.say({ type: 'ERROR', object: EXPIRED });
  assert.deepEqual(await bench.heard(1_000), stream);
  bench.server.faults.push({ kind: 'answer', status: 410, body: EXPIRED });
  bench.server.cut('reset');
  assert.deepEqual(await bench.heard(10_000), stream);
  assert.deepEqual(
    bench.remedies().map((r) => r.replace(/ in .*/, '')),
    ['watching: relist', 'watching: resume', 'watching: relist'],
  );
});

test('a version that the server has not reached leads to a list of what there is', async () => {
  await using bench = new Bench();
  bench.server.put('a', 1);
  bench.start();
  await bench.heard(20_000);
  bench.server.revision = 1;
  bench.server.cut('reset');
  // The server was restored from a backup: older lists are believed in the end, and that it took a while is said.
  await bench.heard(60_000);
  assert.ok(bench.server.watches === 1);
  assert.deepEqual(
    bench.remedies().map((r) => r.replace(/ in .*/, '')),
    ['watching: resume', 'watching: relist', 'initial-stream: relist', 'initial-stream: relist'],
  );
});

test('"too large resource version" waits as long as it is told to', async () => {
  await using bench = new Bench();
  bench.start();
  await bench.heard(20_000);
  bench.server.say({
    type: 'ERROR',
    object: status(504, 'Timeout', 'Timeout: Too large resource version: 3, current: 2', {
      details: { retryAfterSeconds: 4 },
    }),
  });
  assert.deepEqual(await bench.heard(3_900), []);
  assert.deepEqual(await bench.heard(200), ['init', 'init-done']);
});

test('429 is waited out, and the watch goes on without a list', async () => {
  await using bench = new Bench();
  bench.start();
  await bench.heard(20_000);
  const busy = status(429, 'TooManyRequests', 'the server is busy');
  bench.server.faults.push({ kind: 'answer', status: 429, body: busy, headers: { 'retry-after': '9' } });
  bench.server.cut('reset');
  await bench.heard(1_000);
  bench.server.put('a', 1);
  assert.deepEqual(await bench.heard(8_900), []);
  assert.deepEqual(await bench.heard(200), ['apply a=1']);
  assert.deepEqual(bench.remedies(), ['watching: resume in 1000', 'watching: resume in 9000']);
});

test('whoever asks for a day, as the page of a load balancer under maintenance, is asked again after half a minute', async () => {
  await using bench = new Bench();
  bench.start();
  await bench.heard(20_000);
  const page = { kind: 'answer', status: 503, body: '<html>', headers: { 'retry-after': '86400' } } as const;
  bench.server.faults.push(page);
  bench.server.cut('reset');
  bench.server.put('a', 1);
  assert.deepEqual(await bench.heard(1_000), []);
  assert.deepEqual(bench.remedies(), ['watching: resume in 1000', 'watching: resume in 30000']);
  assert.deepEqual(await bench.heard(30_000), ['apply a=1']);
});

test('an expired token, a restart and a proxy in between are outlived, ever more slowly, without a list', async () => {
  await using bench = new Bench();
  bench.start();
  await bench.heard(20_000);
  const unauthorized = { kind: 'answer', status: 401, body: status(401, 'Unauthorized', 'Unauthorized') } as const;
  const down = { kind: 'answer', status: 503, body: '<h1>no healthy upstream</h1>' } as const;
  bench.server.faults.push(unauthorized, { kind: 'reset' }, down, down, down, down, unauthorized);
  bench.server.cut('reset');
  bench.server.put('a', 1);
  assert.deepEqual(await bench.heard(300_000), ['apply a=1']);
  assert.deepEqual(
    bench.remedies(),
    [1000, 2000, 4000, 8000, 16000, 25000, 25000, 25000].map((ms) => `watching: resume in ${ms}`),
  );
  bench.server.cut('reset');
  await bench.heard();
  assert.deepEqual(bench.remedies(), ['watching: resume in 1000'], 'a watch that held makes good for what was');
});

for (const mode of ['refuses', 'ignores'] as const) {
  test(`a server that ${mode} initial streams is listed in pages, and that is remembered`, async () => {
    await using bench = new Bench();
    bench.server.initialStreams = mode;
    for (const name of ['a', 'b', 'c']) bench.server.put(name, 1);
    bench.start({ pageSize: 2 });
    const list = ['init', 'init-apply a=1', 'init-apply b=1', 'init-apply c=1', 'init-done'];
    const heard = await bench.heard(10_000);
    assert.deepEqual(heard.slice(-5), list);
    assert.deepEqual(bench.remedies(), ['initial-stream: no-initial-stream in 0']);
    bench.server.put('d', 1);
    assert.deepEqual(await bench.heard(), ['apply d=1']);

    bench.server.requests.length = 0;
    await bench.heard(20_000);
    bench.server.say({ type: 'ERROR', object: EXPIRED });
    assert.equal((await bench.heard(5_000)).at(-1), 'init-done');
    assert.deepEqual(
      bench.server.requests.map((r) => r.path.includes('sendInitialEvents')),
      [false, false, false],
    );
    bench.server.initialStreams = 'has';
    await bench.heard(3_600_000);
    bench.server.say({ type: 'ERROR', object: EXPIRED });
    await bench.heard(5_000);
    assert.equal(bench.last.get('sendInitialEvents'), 'true', 'servers are upgraded');
  });
}

test('an ordinary bookmark before the end gives a server away that ignores initial streams', async () => {
  await using bench = new Bench();
  bench.server.initialStreams = 'ignores';
  bench.start();
  await bench.heard(1_000);
  bench.server.bookmark();
  assert.equal((await bench.heard()).at(-1), 'init-done');
});

test('an initial stream that breaks again and again gives way to pages, for this once', async () => {
  await using bench = new Bench();
  bench.server.faults.push({ kind: 'reset' }, { kind: 'reset' }, { kind: 'reset' });
  bench.start();
  await bench.heard(10_000);
  assert.deepEqual(
    bench.remedies().map((r) => r.replace(/ in .*/, '')),
    ['initial-stream: relist', 'initial-stream: relist', 'initial-stream: relist-by-pages'],
  );
  assert.ok(bench.watchList.mayHave(bench.clock.monotonic()));
});

test('a server that is slow to answer at all is listed in pages for this once: it may well have initial streams', async () => {
  await using bench = new Bench();
  bench.server.put('a', 1);
  const send = bench.server.send.bind(bench.server);
  bench.server.send = async (request) => {
    if (request.path.includes('sendInitialEvents')) await bench.clock.sleep(11_000, request.signal);
    return send(request);
  };
  bench.start();
  assert.deepEqual(await bench.heard(10_000), stream);
  assert.deepEqual(bench.remedies(), ['initial-stream: relist-by-pages in 0']);
  assert.ok(bench.watchList.mayHave(bench.clock.monotonic()));
});

test('continue tokens that expire again and again end in a list of all at once', async () => {
  await using bench = new Bench();
  bench.server.initialStreams = 'refuses';
  for (let i = 0; i < 600; i++) bench.server.put(`n${i}`, 1);
  const limits: (string | null)[] = [];
  const send = bench.server.send.bind(bench.server);
  bench.server.send = (request) => {
    const query = new URLSearchParams(request.path.split('?')[1]);
    if (query.has('continue')) bench.server.compact();
    else if (query.has('limit')) limits.push(query.get('limit'));
    return send(request);
  };
  bench.start({ pageSize: 2 });
  assert.equal((await bench.heard(60_000)).at(-1), 'init-done');
  assert.deepEqual(limits, ['2', '8', '32', '128', '0']);
});

test('a list whose pages are too large is complete all the same, in smaller ones', async () => {
  await using bench = new Bench();
  bench.server.initialStreams = 'refuses';
  for (let i = 0; i < 40; i++) bench.server.put(`n${i}`, 1);
  const limits: (string | null)[] = [];
  const chunk = new Uint8Array(2 ** 20);
  const send = bench.server.send.bind(bench.server);
  bench.server.send = (request) => {
    const query = new URLSearchParams(request.path.split('?')[1]);
    if (!query.has('limit')) return send(request);
    limits.push(query.get('limit'));
    const body = streamOf(Array.from({ length: 300 }, () => chunk));
    return Number(query.get('limit')) > 10 ? Promise.resolve({ status: 200, headers: {}, body }) : send(request);
  };
  bench.start();
  const heard = await bench.heard(10_000);
  assert.deepEqual([heard[0], heard.length, heard.at(-1)], ['init', 42, 'init-done']);
  assert.deepEqual(limits, ['500', '125', '31', '7', '7', '7', '7', '14', '3', '3', '3', '3']);
});

test('continue tokens that expire make the next pages longer', async () => {
  await using bench = new Bench();
  bench.server.initialStreams = 'refuses';
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) bench.server.put(name, 1);
  let lists = 0;
  const send = bench.server.send.bind(bench.server);
  bench.server.send = (request) => {
    if (request.path.includes('limit=') && ++lists % 2 === 0) bench.server.compact();
    return send(request);
  };
  bench.start({ pageSize: 2 });
  const heard = await bench.heard(10_000);
  assert.deepEqual(heard.slice(0, 4), ['init', 'init-apply a=1', 'init-apply b=1', 'init']);
  assert.equal(heard.filter((e) => e === 'init-done').length, 1);
  assert.deepEqual(bench.remedies(), ['initial-stream: no-initial-stream in 0', 'pages: relist in 1000']);
  assert.ok(bench.server.requests.some((r) => r.path.includes('limit=8')));
});

test('a list without a version is refused', async () => {
  await using bench = new Bench();
  bench.server.initialStreams = 'refuses';
  bench.server.faults.push({ kind: 'answer', status: 422, body: status(422, 'Invalid', 'no') });
  bench.server.faults.push({ kind: 'answer', status: 200, body: { metadata: {}, items: [] } });
  bench.start();
  assert.deepEqual(await bench.heard(), []);
  assert.ok(bench.failures.some(({ error }) => codeOf(error) === 'no-resource-version'));
  assert.deepEqual(await bench.heard(2_000), ['init', 'init-done']);
});

test('a list that is older than what was seen is refused twice, then believed', async () => {
  await using bench = new Bench();
  bench.server.revision = 1_000;
  bench.start();
  await bench.heard(20_000);
  bench.server.revision = 999;
  bench.server.say({ type: 'ERROR', object: EXPIRED });
  const heard = await bench.heard(1_500);
  assert.ok(!heard.includes('init-done'), 'the stale list is not published');
  bench.server.revision = 1_001;
  assert.ok((await bench.heard(20_000)).includes('init-done'));
  assert.ok(bench.failures.some(({ error }) => codeOf(error) === 'stale-list'));
});

test('a watch without one word for minutes is not trusted', async () => {
  await using bench = new Bench();
  bench.start();
  await bench.heard();
  bench.server.cut('reset');
  await bench.heard(1_000);
  await bench.heard(300_000);
  bench.server.cut('end');
  assert.deepEqual(await bench.heard(2_000), ['init', 'init-done']);
  assert.ok(bench.failures.some(({ error }) => codeOf(error) === 'silent-watch'));
});

test('a server that fails at one and the same version is asked for everything anew', async () => {
  await using bench = new Bench();
  bench.start();
  await bench.heard(20_000);
  const broken = { kind: 'answer', status: 500, body: status(500, 'InternalError', 'strconv.ParseUint') } as const;
  bench.server.faults.push(broken, broken, broken);
  bench.server.cut('reset');
  assert.deepEqual(await bench.heard(60_000), ['init', 'init-done']);
});

test('a slow consumer is not run ahead of', async () => {
  const server = new ModelApiServer();
  const clock = new FakeClock();
  for (let i = 0; i < 100; i++) server.put(`n${i}`, i);
  let pulled = 0;
  const send = server.send.bind(server);
  server.send = async (request) => {
    const response = await send(request);
    async function* counted(): AsyncGenerator<Uint8Array, void, void> {
      for await (const chunk of response.body) {
        pulled++;
        yield chunk;
      }
    }
    return { ...response, body: counted() };
  };
  const events = reflector(createClient(server).of(nodes), {
    clock,
    random: () => 0,
    watchList: new WatchListMemory(),
  });
  for (let i = 0; i < 4; i++) await events.next();
  await clock.advance(60_000);
  assert.equal(pulled, 3, 'init comes of no chunk');
  await events.return();
  assert.equal(server.watches, 0, 'returning ends the watch');
  assert.equal(clock.pendingTimers, 0);
});

test('a transform applies to whatever is yielded; what it throws is thrown', async () => {
  await using bench = new Bench();
  bench.server.put('a', 1);
  bench.start({ transform: (object) => ({ ...object, value: object.value * 10 }) });
  assert.deepEqual(await bench.heard(), ['init', 'init-apply a=10', 'init-done']);
  bench.server.remove('a');
  assert.deepEqual(await bench.heard(), ['delete a=10']);
  const failing = reflector(createClient(bench.server).of(nodes), {
    clock: bench.clock,
    random: () => 0,
    watchList: bench.watchList,
    transform: () => {
      throw new RangeError('mine');
    },
  });
  bench.server.put('b', 1);
  await failing.next();
  await assert.rejects(failing.next(), /mine/);
});

test('an aborted signal ends a reflector in whatever state it is', async () => {
  for (const prepare of [
    () => {},
    (bench: Bench) => void bench.server.faults.push({ kind: 'reset' }),
    (bench: Bench) => void (bench.server.initialStreams = 'ignores'),
    (bench: Bench) => void (bench.server.initialStreams = 'refuses'),
  ]) {
    await using bench = new Bench();
    prepare(bench);
    bench.start();
    await bench.heard(100);
  }
  await using bench = new Bench();
  bench.start({ signal: AbortSignal.abort() });
  assert.deepEqual(await bench.heard(), []);
});

test('protobuf is asked for where the default transform drops what it may lack, and never under another one', async () => {
  for (const [options, accept] of [
    [{}, 'application/vnd.kubernetes.protobuf,application/json'],
    [{ transform: (object: ModelObject) => object }, 'application/json'],
  ] as const) {
    await using bench = new Bench();
    bench.server.initialStreams = 'refuses';
    bench.start(options);
    await bench.heard();
    const asked = new Set(bench.server.requests.map((request) => request.headers?.['accept']));
    assert.deepEqual([...asked], [accept]);
  }
});
