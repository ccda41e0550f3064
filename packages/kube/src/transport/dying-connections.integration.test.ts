/**
 * Connections that die at every stage of their making and of their use. `make test` draws from a fixed seed and takes some
 * seconds; `make properties ROUNDS=n` draws anew, as often as one likes.
 */
import { startEmbeddedApiServer } from '@outrigger/testing';
import assert from 'node:assert/strict';
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import * as fc from 'fast-check';
import {
  bearerToken,
  createClient,
  createTransport,
  isStatusError,
  isTransportError,
  noMetrics,
  resources,
  silentLogger,
  Stores,
  systemClock,
  type Clock,
  type Transport,
} from '../index.ts';
import { createTestAuthority } from './test-certificates.suite.ts';

/** What becomes of a connection once so many bytes have come from the server. TLS takes the first 1,500 or so. */
interface Fate {
  readonly afterBytes: number;
  readonly how: 'reset' | 'half' | 'end' | 'silence';
}

const fate: fc.Arbitrary<Fate | undefined> = fc.option(
  fc.record({
    afterBytes: fc.oneof(
      fc.constantFrom(0, 1),
      fc.integer({ min: 1, max: 2_500 }),
      fc.integer({ min: 2_000, max: 9_000 }),
    ),
    how: fc.constantFrom('reset', 'half', 'end', 'silence'),
  }),
  { nil: undefined, freq: 4 },
);

/** Real sockets, but pauses and time-outs pass in a twentieth of their time. */
const SPEED = 20;
const quickClock: Clock = {
  now: () => systemClock.now(),
  monotonic: () => systemClock.monotonic() * SPEED,
  setTimer: (delayMs, fire, options) => systemClock.setTimer(delayMs / SPEED, fire, options),
  sleep: (delayMs, signal) => systemClock.sleep(delayMs / SPEED, signal),
};

async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const end = systemClock.monotonic() + 120_000;
  while (!(await condition())) {
    assert.ok(systemClock.monotonic() < end, `after 120 s still not: ${what}`);
    await sleep(10);
  }
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** Stands before the server at `port` and gives each connection its fate, in the order in which they come; later ones are well. */
async function startFront(port: number, fates: readonly (Fate | undefined)[]) {
  const open = new Set<Socket>();
  let made = 0;
  let isOver = false;
  const server = createServer((client) => {
    const own = isOver ? undefined : fates[made];
    made += 1;
    const upstream = connect(port, '127.0.0.1');
    open.add(client);
    let left = own?.afterBytes ?? Number.POSITIVE_INFINITY;
    upstream.on('data', (chunk) => {
      if (left < 0) return;
      const part = chunk.subarray(0, Math.min(left, chunk.length));
      left -= chunk.length;
      if (left >= 0) client.write(chunk);
      else if (own?.how === 'half') client.end(part);
      else if (own?.how === 'reset') client.resetAndDestroy();
      else if (own?.how === 'end') client.end();
      else client.write(part);
    });
    client.on('data', (chunk) => upstream.write(chunk));
    client.on('error', () => upstream.destroy());
    upstream.on('error', () => client.destroy());
    client.once('close', () => {
      open.delete(client);
      upstream.destroy();
    });
    upstream.once('close', () => {
      if (own?.how !== 'silence') client.destroy();
    });
  });
  return {
    port: await listen(server),
    open,
    /** From now on connections are well; those that are silent stay so. */
    calmDown: () => {
      isOver = true;
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Errors that callers are told of; anything else is one that escaped. */
function isExpected(error: unknown): boolean {
  return isTransportError(error) || isStatusError(error);
}

async function hasAnswer(work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    assert.ok(isExpected(error), String(error));
    return false;
  }
}

test('stores and leases go on through connections that die', { timeout: 600_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fate, { minLength: 6, maxLength: 16 }), async (fates) => {
      await using api = await startEmbeddedApiServer();
      await using front = await startFront(Number(new URL(api.url).port), fates);
      const put = (name: string): void => void api.store.put({ apiVersion: 'v1', kind: 'Node', metadata: { name } });
      const transport = createTransport(
        {
          server: `https://127.0.0.1:${front.port}`,
          tls: { ca: { data: api.ca ?? '' } },
          credentials: bearerToken(api.token),
        },
        { clock: quickClock },
      );
      {
        await using closing = transport;
        const client = createClient(closing);
        const environment = { clock: quickClock, logger: silentLogger, metrics: noMetrics, random: () => 0.5 };
        await using stores = new Stores({ client, ...environment });
        const store = stores.open(resources.nodes);
        const leases = client.of(resources.leases);
        const askAsLease = () => hasAnswer(leases.list({ traffic: 'lease', timeoutMs: 5_000 }));
        const askAsOthers = () => hasAnswer(client.of(resources.nodes).list({ timeoutMs: 20_000 }));
        for (let i = 0; i < 20; i++) {
          put(`n${i}`);
          await Promise.all([askAsLease(), askAsOthers(), sleep(5)]);
        }
        front.calmDown();
        put('last');
        await until(askAsLease, 'the requests of leases are answered');
        await until(askAsOthers, 'other requests are answered');
        await until(() => store.size === 21, 'the store has all that there is');
      }
      await until(() => front.open.size === 0, 'all connections are closed');
    }),
    { numRuns: 2, endOnFailure: true },
  );
});

/** What a server does with a request. */
type Manner = 'answer' | 'long answer' | 'refuse' | 'go away' | 'fail' | 'vanish' | 'say nothing';

const manner: fc.Arbitrary<Manner> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Manner>('answer') },
  {
    weight: 4,
    arbitrary: fc.constantFrom<Manner>('long answer', 'refuse', 'go away', 'fail', 'vanish', 'say nothing'),
  },
);

const REFUSED_STREAM = 7;
const ENHANCE_YOUR_CALM = 11;

function behave(how: Manner, { stream }: Http2ServerRequest, response: Http2ServerResponse): void {
  switch (how) {
    case 'answer':
      response.end('{}');
      break;
    case 'long answer':
      response.write('x'.repeat(3_000_000));
      response.end('y');
      break;
    case 'refuse':
      stream.close(REFUSED_STREAM);
      break;
    case 'go away':
      stream.session?.goaway();
      response.end('{}');
      break;
    case 'fail':
      stream.session?.goaway(ENHANCE_YOUR_CALM);
      break;
    case 'vanish':
      stream.session?.destroy();
      break;
    case 'say nothing':
      break;
  }
}

async function readSome(transport: Transport, n: number): Promise<void> {
  const answer = await transport.send({
    method: n % 2 === 0 ? 'GET' : 'PUT',
    path: '/x',
    ...(n % 2 === 1 && { body: 'b'.repeat(1_000) }),
    timeoutMs: 4_000,
    ...(n % 5 === 0 && { signal: AbortSignal.timeout(n % 20) }),
  });
  for await (const chunk of answer.body) if (n % 7 === 0 && chunk.length > 0) break;
}

test(
  'each request comes to an end, however server and connections behave, and when all is well all are answered',
  { timeout: 600_000 },
  async () => {
    const authority = await createTestAuthority();
    const issued = await authority.issue({ name: 'server' });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fate, { minLength: 5, maxLength: 12 }),
        fc.array(manner, { minLength: 20, maxLength: 60 }),
        fc.boolean(),
        async (fates, manners, closesOften) => {
          let asked = 0;
          let isOver = false;
          const server = createSecureServer(
            { cert: issued.certificate, key: issued.key, settings: { maxConcurrentStreams: 5 } },
            (request, response) => {
              response.on('error', () => undefined);
              behave(isOver ? 'answer' : (manners[asked++ % manners.length] ?? 'answer'), request, response);
            },
          );
          server.on('session', (session) => session.on('error', () => undefined));
          server.on('sessionError', () => undefined);
          await using front = await startFront(await listen(server), fates);
          const config = { server: `https://127.0.0.1:${front.port}`, tls: { ca: { data: authority.ca } } };
          const open = (): Transport => createTransport(config, { retry: false, clock: quickClock });
          let transport = open();
          const work = async (worker: number): Promise<void> => {
            for (let n = worker; n < 200; n += 10) {
              const aborted = n % 5 === 0;
              await readSome(transport, n).catch((error: unknown) => {
                assert.ok(isExpected(error) || aborted, String(error));
              });
            }
          };
          const working = Promise.all(Array.from({ length: 10 }, (_, worker) => work(worker)));
          for (let i = 0; i < (closesOften ? 20 : 0); i++) {
            await sleep(i);
            const before = transport;
            transport = open();
            await before[Symbol.asyncDispose]();
          }
          await working;
          isOver = true;
          front.calmDown();
          await until(() => hasAnswer(readSome(transport, 1)), 'a request is answered');
          await transport[Symbol.asyncDispose]();
          await until(() => front.open.size === 0, 'all connections are closed');
          server.close();
        },
      ),
      { numRuns: 3, endOnFailure: true },
    );
  },
);
