// Over 400 lines: one rig, and one test for each way in which a provider opens, changes and closes.
import { strict as assert } from 'node:assert';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { test } from 'node:test';
import {
  CloudError,
  effectOf,
  isCloudError,
  type Capabilities,
  type CloudProvider,
  type Instances,
  type ProviderHost,
} from '@outrigger/cloud-provider';
import { noMetrics, silentLogger, type Labels, type Logger, type Metrics } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { RecordedInstances } from './internal/recorded-instances.ts';
import { openProvider, type OpenedProvider, type OpenProviderOptions } from './open-provider.ts';

const signal = new AbortController().signal;

class Recorded implements CloudProvider {
  readonly name = 'recorded';
  host: ProviderHost | undefined;
  closed = 0;
  readonly #capabilities: unknown;

  constructor(capabilities: unknown = {}) {
    this.#capabilities = capabilities;
  }

  async open(host: ProviderHost): Promise<Capabilities> {
    this.host = host;
    if (this.#capabilities instanceof Error) throw this.#capabilities;
    return this.#capabilities as Capabilities;
  }

  async close(): Promise<void> {
    this.closed++;
  }
}

function open(
  provider: CloudProvider,
  options: Partial<OpenProviderOptions> = {},
): { clock: FakeClock; opened: Promise<OpenedProvider> } {
  const clock = new FakeClock();
  const cluster = { id: 'uid-of-kube-system', name: 'kubernetes' };
  return {
    clock,
    opened: openProvider(provider, { cluster, clock, logger: silentLogger, random: () => 0, ...options }),
  };
}

test('429 is waited out and sent again; what is not idempotent is sent once', async () => {
  const { clock, opened } = open(new Recorded());
  const provider = await opened;
  const call = provider.callContext({ signal, priority: 'normal' });
  const sentAt: number[] = [];
  const send = async (): Promise<string> => {
    sentAt.push(clock.monotonic());
    if (sentAt.length < 3) throw new CloudError('throttled', 'too many', { retryAfterMs: 2000 });
    return 'ok';
  };
  const answer = call.call({ name: 'GET', idempotent: true }, send);
  await clock.advance(10_000);
  assert.equal(await answer, 'ok');
  assert.equal(sentAt.length, 3);
  assert.ok(sentAt[1]! >= 2000 && sentAt[2]! >= sentAt[1]! + 2000);
  let sent = 0;
  const once = call.call({ name: 'POST' }, async () => {
    sent++;
    throw new CloudError('unavailable', 'down');
  });
  await assert.rejects(once, (error) => isCloudError(error, 'unavailable'));
  assert.equal(sent, 1);
  assert.deepEqual(
    provider.recentCalls().map(({ operation, code, attempt }) => [operation, code, attempt]),
    [
      ['GET', 'throttled', 1],
      ['GET', 'throttled', 2],
      ['GET', 'ok', 3],
      ['POST', 'unavailable', 1],
    ],
  );
});

test('a Response with 429 and Retry-After is read; retries end', async () => {
  const { clock, opened } = open(new Recorded(), { budget: { maxAttempts: 2 } });
  const call = (await opened).callContext({ signal, priority: 'normal' });
  let sent = 0;
  const answer = call.call({ name: 'GET', idempotent: true }, async () => {
    sent++;
    return new Response('no', { status: sent === 1 ? 429 : 503, headers: { 'retry-after': '7' } });
  });
  await clock.advance(6999);
  assert.equal(sent, 1);
  await clock.advance(10_000);
  assert.equal((await answer).status, 503);
  assert.equal(sent, 2);
});

test('who reads again by himself has a request sent once; others have it sent as often as the budget says', async () => {
  let sent = 0;
  const send = async (): Promise<never> => {
    sent++;
    throw new CloudError('unavailable', 'down');
  };
  const instances: Instances = {
    batchSize: 1,
    lookUp: () => Promise.resolve([]),
    read: (_node, _need, call) => call.call({ name: 'GET', idempotent: true }, send),
  };
  const { clock, opened } = open(new Recorded({ instances }), { budget: { maxAttempts: 3 } });
  const { lookups } = await opened;
  const node = { name: 'a', uid: 'a', labels: {}, annotations: {} };
  for (const [given, expected] of [
    [{}, 3],
    [{ maxAttempts: 1 }, 1],
    [{ maxAttempts: 9 }, 3],
  ] as const) {
    sent = 0;
    const read = lookups?.read(node, { need: 'state', signal, ...given });
    await clock.advance(60_000);
    assert.equal((await read)?.result.kind, 'failed');
    assert.equal(sent, expected);
  }
});

test('while batches fail, each is one request; the first that succeeds ends that', async () => {
  let sent = 0;
  let down = true;
  const instances: Instances = {
    batchSize: 10,
    lookUp: async (nodes, _need, call) => {
      await call.call({ name: 'GET', idempotent: true }, async () => {
        sent++;
        if (down) throw new CloudError('throttled', 'too many');
      });
      return nodes.map(() => ({ asOf: 0, result: { kind: 'missing' } as const }));
    },
    read: () => Promise.reject(new Error('not asked')),
  };
  const { clock, opened } = open(new Recorded({ instances }), { budget: { maxAttempts: 3 } });
  const { lookups } = await opened;
  const sends = async (isDown: boolean): Promise<number> => {
    [down, sent] = [isDown, 0];
    const answer = lookups?.lookUp({ name: 'a', uid: 'a', labels: {}, annotations: {} }, { need: 'state', signal });
    await clock.advance(60_000);
    assert.equal((await answer)?.result.kind, isDown ? 'failed' : 'missing');
    return sent;
  };
  assert.deepEqual([await sends(true), await sends(true), await sends(true)], [3, 1, 1]);
  assert.deepEqual([await sends(false), await sends(true)], [1, 3]);
});

test('an error says that nothing had an effect where no request reached the cloud, and does not say so where one did', async () => {
  const { clock, opened } = open(new Recorded());
  const provider = await opened;
  const call = provider.callContext({ signal, priority: 'normal' });
  const refused = (): CloudError => {
    const tries = ['::1', '127.0.0.1'].map((host) => Object.assign(new Error(host), { code: 'ECONNREFUSED' }));
    const fetched = new TypeError('fetch failed', { cause: new AggregateError(tries, 'connect') });
    return new CloudError('unavailable', 'the cloud could not be reached', { cause: fetched });
  };
  const failing = async (idempotent: boolean, ...errors: readonly Error[]): Promise<string> => {
    let i = 0;
    const answer = call.call({ name: 'POST', idempotent }, () => {
      const error = errors[Math.min(i++, errors.length - 1)];
      return Promise.reject(error ?? new Error('none'));
    });
    const caught = answer.then(
      () => 'an answer',
      (error: unknown) => effectOf(error),
    );
    await clock.advance(120_000);
    return caught;
  };
  const lost = new CloudError('unavailable', 'the connection broke');
  assert.equal(await failing(false, refused()), 'none');
  assert.equal(await failing(true, refused()), 'none');
  assert.equal(await failing(false, lost), 'unknown');
  assert.equal(await failing(true, lost, refused()), 'unknown', 'the first of them may have arrived');
  const said = new CloudError('quota', 'full', { effect: 'none' });
  assert.equal(await failing(true, lost, said), 'unknown', 'a provider speaks of its last request only');
  const read = Object.assign(new Error('read'), { code: 'ETIMEDOUT', syscall: 'read' });
  assert.equal(await failing(false, new CloudError('unavailable', 'x', { cause: read })), 'unknown');
});

test('the leadership is asked right before the send, also after a wait for the budget', async () => {
  let leads = true;
  const { clock, opened } = open(new Recorded(), {
    budget: { buckets: { default: { qps: 1, burst: 1 } } },
    leadership: {
      perform: async (work) => {
        if (!leads) throw new Error('not the leader');
        return work(signal);
      },
      outcomeUnknown: () => {},
    },
  });
  const call = (await opened).callContext({ signal, priority: 'normal' });
  let sent = 0;
  const send = async (): Promise<number> => ++sent;
  await call.call({ name: 'GET' }, send);
  const waiting = call.call({ name: 'GET' }, send);
  waiting.catch(() => undefined);
  leads = false;
  await clock.advance(5000);
  await assert.rejects(waiting, /not the leader/);
  assert.equal(sent, 1);
});

test('an abort ends a request at once, even one that does not look at its signal', async () => {
  const { clock, opened } = open(new Recorded(), { budget: { concurrency: 1 } });
  const provider = await opened;
  const caller = new AbortController();
  const stuck = provider
    .callContext({ signal: caller.signal, priority: 'normal' })
    .call({ name: 'GET' }, () => new Promise<never>(() => {}));
  await clock.settle();
  caller.abort(new Error('gone'));
  await assert.rejects(stuck, /gone/);
  // It may still be sending, so it keeps its place; but not for ever.
  let sent = 0;
  const next = provider.callContext({ signal, priority: 'normal' }).call({ name: 'GET' }, async () => ++sent);
  await clock.advance(60_000);
  assert.equal(sent, 0);
  await clock.advance(10_000);
  assert.equal(await next, 1);
});

test('a write that is under way when its caller gives up is performed to its end; one that takes too long is of unknown outcome', async () => {
  const unknown: string[] = [];
  let performing = 0;
  const { clock, opened } = open(new Recorded(), {
    leadership: {
      perform: async (work) => {
        performing++;
        return await work(signal).finally(() => performing--);
      },
      outcomeUnknown: (what) => void unknown.push(what),
    },
  });
  const provider = await opened;
  const cloud = Promise.withResolvers<string>();
  const send = (reads: boolean): AbortController => {
    const caller = new AbortController();
    const call = provider.callContext({ signal: caller.signal, priority: 'normal', reads });
    call.call({ name: reads ? 'GET' : 'POST' }, () => cloud.promise).catch(() => undefined);
    return caller;
  };
  const [read, write] = [send(true), send(false)];
  await clock.settle();
  assert.equal(performing, 2);
  read.abort(new Error('stop'));
  write.abort(new Error('stop'));
  await clock.settle();
  assert.equal(performing, 1);
  await provider[Symbol.asyncDispose]();
  assert.equal(performing, 1);
  await clock.advance(10_000);
  assert.equal(performing, 0);
  assert.deepEqual(unknown, ['POST']);
  cloud.resolve('made, and nobody knows');
  await clock.settle();
});

test('a secret reaches no error, no log line and no text', async () => {
  const lines: string[] = [];
  const note = (message: string, fields?: object): void => void lines.push(message + JSON.stringify(fields));
  const logger: Logger = { ...silentLogger, error: note, warn: note, info: note, with: () => logger };
  const provider = new Recorded();
  const { opened } = open(provider, { logger });
  const { host } = (await opened, provider);
  host!.redact('hunter2');
  const call = (await opened).callContext({ signal, priority: 'normal', logger });
  const leaking = call.call({ name: 'GET' }, () =>
    Promise.reject(new CloudError('forbidden', 'bad password hunter2', { cause: new Error('hunter2 again') })),
  );
  await assert.rejects(leaking, (error: Error) => {
    assert.doesNotMatch(`${error.message} ${error.stack} ${(error.cause as Error).message}`, /hunter2/);
    return isCloudError(error, 'forbidden');
  });
  host!.logger.info('with hunter2', { deep: { list: ['hunter2'] } });
  call.logger.warn('hunter2');
  // The first says that it has no capabilities.
  assert.equal(lines.length, 3, lines.join('\n'));
  assert.doesNotMatch(lines.join(), /hunter2/);
  assert.equal((await opened).redact('a hunter2 b'), 'a [redacted] b');
});

test('the tracing channel sees each send and what came of it, and no answer', async () => {
  const seen: Record<string, unknown>[] = [];
  const onEnd = (message: unknown): void => void seen.push(message as Record<string, unknown>);
  subscribe('tracing:outrigger:cloud:call:asyncEnd', onEnd);
  const { opened } = open(new Recorded());
  const call = (await opened).callContext({ signal, priority: 'critical' });
  assert.equal(await call.call({ name: 'GET' }, async () => 'a secret'), 'a secret');
  const refused = call.call({ name: 'GET /x', bucket: 'x' }, () => Promise.reject(new CloudError('quota', 'full')));
  await assert.rejects(refused, (error) => isCloudError(error, 'quota'));
  unsubscribe('tracing:outrigger:cloud:call:asyncEnd', onEnd);
  assert.deepEqual(
    seen.map(({ provider, operation, bucket, priority, attempt, code }) => [
      provider,
      operation,
      bucket,
      priority,
      attempt,
      code,
    ]),
    [
      ['recorded', 'GET', 'default', 'critical', 1, 'ok'],
      ['recorded', 'GET /x', 'x', 'critical', 1, 'quota'],
    ],
  );
  assert.deepEqual(
    seen.map(({ result }) => result),
    [undefined, undefined],
  );
});

const balancers = { batchSize: 1, observe: () => {}, plan: () => {}, apply: () => {}, listOwned: () => {} };

test('what open throws is thrown after close; wrong capabilities are named', async () => {
  const failing = new Recorded(new CloudError('configuration', 'cloud.json: no region'));
  await assert.rejects(open(failing).opened, /cloud\.json: no region/);
  assert.equal(failing.closed, 1);
  await assert.rejects(
    open(new Recorded(new TypeError('boom'))).opened,
    /^CloudError: opening the provider .+ failed: boom$/u,
  );
  for (const [capabilities, message] of [
    [null, /returned no capabilities/],
    [{ instances: { batchSize: 1, lookUp: () => {} } }, /no method instances\.read/],
    [{ instances: { batchSize: 0, lookUp: () => {}, read: () => {} } }, /instances\.batchSize must be/],
    [{ instances: { lookUp: () => {}, read: () => {}, changes: [] } }, /instances\.changes must be a method/],
    [{ instances: { lookUp: () => {}, read: () => {}, machineOf: '' } }, /instances\.machineOf must be a method/],
    [{ routes: 7 }, /no method routes\.list/],
    [
      { routes: { list: () => {}, create: () => {}, delete: () => {}, nextHop: 'ip' } },
      /routes\.nextHop must be address or instance/,
    ],
    [{ loadBalancers: { ...balancers, consistency: 'strongly' } }, /consistency must be strong or eventual/],
    [{ loadBalancers: { ...balancers, namedByOwner: ['address'] } }, /namedByOwner needs the method read/],
    [{ loadBalancers: { ...balancers, read: () => {}, namedByOwner: 'address' } }, /must be a list of kinds/],
  ] as const) {
    const provider = new Recorded(capabilities);
    await assert.rejects(open(provider).opened, message);
    assert.equal(provider.closed, 1);
  }
});

test('an open that never ends is given up', async () => {
  const provider = new Recorded();
  provider.open = () => new Promise<never>(() => {});
  const { clock, opened } = open(provider);
  opened.catch(() => undefined);
  await clock.advance(60_001);
  await assert.rejects(opened, (error) => isCloudError(error, 'timeout'));
});

test('capabilities may change: listeners hear it, look-ups are made anew', async () => {
  const provider = new Recorded();
  const { opened } = open(provider);
  const it = await opened;
  const heard: Capabilities[] = [];
  const stop = it.onCapabilitiesChanged((capabilities) => void heard.push(capabilities));
  const instances = new RecordedInstances();
  provider.host!.capabilitiesChanged({ instances });
  const { lookups } = it;
  assert.ok(lookups, 'they come with the instances');
  provider.host!.capabilitiesChanged({ instances, clusters: undefined });
  assert.equal(it.lookups, lookups);
  stop();
  provider.host!.capabilitiesChanged({});
  assert.equal(it.lookups, undefined);
  assert.equal(heard.length, 2);
  await assert.rejects(lookups.read({ name: 'a', uid: 'a', labels: {}, annotations: {} }, { need: 'state', signal }));
});

test('a listener that fails is heard of by nobody else, least of all the provider', async () => {
  const provider = new Recorded();
  const { opened } = open(provider);
  const it = await opened;
  let heard = 0;
  it.onCapabilitiesChanged(() => {
    throw new Error('a listener that fails');
  });
  it.onCapabilitiesChanged(() => void heard++);
  provider.host?.capabilitiesChanged({});
  assert.equal(heard, 1);
});

test('a request that waits an unreasonable Retry-After is sent after five minutes', async () => {
  const { clock, opened } = open(new Recorded());
  const call = (await opened).callContext({ signal, priority: 'normal' });
  let sent = 0;
  const answer = call.call({ name: 'GET', idempotent: true }, async () => {
    sent++;
    return new Response('', sent === 1 ? { status: 503, headers: { 'retry-after': '99999999999' } } : {});
  });
  await clock.advance(300_000);
  assert.equal((await answer).status, 200);
});

test('a new configuration that is wrong is reported; closing ends the contexts', async () => {
  const provider: CloudProvider = new Recorded();
  const { opened } = open(provider);
  const it = await opened;
  let heard = 0;
  const stop = it.onReconfigured(() => void heard++);
  await assert.rejects(it.reconfigure({ fileName: 'cloud.json', text: '' }), /restart/);
  provider.reconfigure = async () => {
    throw new CloudError('configuration', 'cloud.json: no endpoint');
  };
  await assert.rejects(it.reconfigure({ fileName: 'cloud.json', text: '' }), /no endpoint/);
  provider.reconfigure = async () => {};
  assert.equal(heard, 0, 'nothing was taken');
  await it.reconfigure({ fileName: 'cloud.json', text: '' });
  assert.equal(heard, 1);
  stop();
  await it.reconfigure({ fileName: 'cloud.json', text: '' });
  assert.equal(heard, 1);
  const background = (provider as Recorded).host!.callContext();
  const stuck = background.call({ name: 'GET' }, () => new Promise<never>(() => {}));
  stuck.catch(() => undefined);
  await it[Symbol.asyncDispose]();
  await assert.rejects(stuck, (error) => isCloudError(error, 'unavailable'));
  assert.equal((provider as Recorded).closed, 1);
});

test('files that a provider wants to be watched are those it names; one that cannot say is told once and has none', async () => {
  const errors: string[] = [];
  const logger: Logger = { ...silentLogger, error: (message) => void errors.push(message) };
  let files: () => unknown = () => ['ca.pem'];
  const provider = Object.assign(new Recorded(), { watchedFiles: () => files() as readonly string[] });
  const opened = await open(provider, { logger }).opened;
  assert.deepEqual(opened.watchedFiles(), ['ca.pem']);
  for (const wrong of [() => 'ca.pem', () => [7], () => assert.fail('broken')]) {
    files = wrong;
    assert.deepEqual(opened.watchedFiles(), []);
  }
  assert.equal(errors.length, 1);
  assert.deepEqual((await open(new Recorded()).opened).watchedFiles(), []);
});

test('requests are counted under the names of a predecessor too, those that it has', async () => {
  const told: string[] = [];
  const note = (name: string, labels: Labels = {}): void =>
    void (name.startsWith('acme') && told.push(`${name} ${labels['request']}`));
  const metrics: Metrics = {
    ...noMetrics,
    counter: ({ name }) => ({ inc: (labels) => note(name, labels) }),
    histogram: ({ name }) => ({ observe: (_value, labels) => note(name, labels) }),
  };
  const nameOf = (operation: string): string | undefined => (operation === 'GET /servers' ? 'server_list' : undefined);
  const recorded = Object.assign(new Recorded(), { predecessorMetrics: { requests: { prefix: 'acme_api', nameOf } } });
  const provider = await open(recorded, { metrics }).opened;
  assert.equal(provider.predecessorMetrics, recorded.predecessorMetrics);
  const call = provider.callContext({ signal, priority: 'normal' });
  await call.call({ name: 'GET /servers' }, () => Promise.resolve('ok'));
  await call.call({ name: 'GET /other' }, () => Promise.resolve('ok'));
  await assert.rejects(call.call({ name: 'GET /servers' }, () => Promise.reject(new CloudError('forbidden', 'no'))));
  const once = ['acme_api_request_duration_seconds server_list', 'acme_api_requests_total server_list'];
  assert.deepEqual(told, [...once, ...once, 'acme_api_request_errors_total server_list']);
});
