import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger, StatusError, systemClock, type Client, type ConfigMap } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { followClusterTrust } from './cluster-trust.ts';
import { TestAuthority } from './test-authority.suite.ts';

type Trust = Parameters<Parameters<typeof followClusterTrust>[0]['onChange']>[0];

class Bench implements Disposable {
  readonly clock: FakeClock = new FakeClock(systemClock.now());
  readonly seen: Trust[] = [];
  readonly warnings: string[] = [];
  readonly #stop = new AbortController();
  answer: () => ConfigMap;

  constructor(answer: () => ConfigMap) {
    this.answer = answer;
  }

  follow(tolerateFailure = false): Promise<void> {
    const get = (): Promise<ConfigMap> => Promise.resolve().then(() => this.answer());
    return followClusterTrust({
      client: { of: () => ({ get }) } as unknown as Client,
      clock: this.clock,
      logger: { ...silentLogger, warn: (message) => void this.warnings.push(message) },
      onChange: (trust) => void this.seen.push(trust),
      signal: this.#stop.signal,
      tolerateFailure,
    });
  }

  async pass(ms: number): Promise<void> {
    await this.clock.advance(ms);
    for (let i = 0; i < 20; i++) await Promise.resolve();
  }

  [Symbol.dispose](): void {
    this.#stop.abort();
  }
}

const map = (resourceVersion: string, data: Record<string, string>): ConfigMap => ({
  metadata: { resourceVersion },
  data,
});

function refusal(code: number, reason: string): StatusError {
  return new StatusError('GET /x', code, { code, reason, message: reason });
}

test('authorities and the headers of proxies are what the ConfigMap says, each minute anew', async () => {
  const [clients, proxies] = [await TestAuthority.create('CN=clients'), await TestAuthority.create('CN=proxies')];
  using bench = new Bench(() => map('1', { 'client-ca-file': clients.pem }));
  await bench.follow();
  const me = await clients.issue('CN=me');
  assert.equal(bench.seen[0]?.clientAuthorities?.vouchFor(me.certificate), true);
  assert.equal(bench.seen[0]?.requestHeader, undefined);
  await bench.pass(60_000);
  assert.equal(bench.seen.length, 1, 'the same version is no change');
  bench.answer = () =>
    map('2', {
      'requestheader-client-ca-file': proxies.pem,
      'requestheader-allowed-names': '["front"]',
      'requestheader-username-headers': '["X-Remote-User"]',
    });
  await bench.pass(60_000);
  const { clientAuthorities, requestHeader } = bench.seen[1] ?? assert.fail('no change was seen');
  assert.equal(clientAuthorities, undefined);
  assert.deepEqual(requestHeader?.allowedNames, ['front']);
  assert.deepEqual(requestHeader?.usernameHeaders, ['X-Remote-User']);
  assert.deepEqual(requestHeader?.groupHeaders, []);
});

test('a server that refuses ends the start with what to do; one that cannot be reached does not', async () => {
  for (const [code, reason] of [
    [401, 'Unauthorized'],
    [403, 'Forbidden'],
    [404, 'NotFound'],
  ] as const) {
    using bench = new Bench(() => {
      throw refusal(code, reason);
    });
    await assert.rejects(bench.follow(), {
      code: 'cluster-trust',
      message: /extension-apiserver-authentication-reader/u,
    });
    await bench.follow(true);
  }
  using unreachable = new Bench(() => {
    throw new Error('connection refused');
  });
  await unreachable.follow();
  assert.equal(unreachable.warnings.length, 1);
  await unreachable.pass(20_000);
  assert.equal(unreachable.warnings.length, 1, 'the same complaint is said once');
  unreachable.answer = () => map('1', {});
  await unreachable.pass(5_000);
  assert.equal(unreachable.seen.length, 1);
});

test('content that cannot be used changes nothing', async () => {
  const clients = await TestAuthority.create('CN=clients');
  using bench = new Bench(() => map('1', { 'client-ca-file': clients.pem }));
  await bench.follow();
  for (const data of [
    { 'client-ca-file': 'broken' },
    { 'requestheader-client-ca-file': clients.pem, 'requestheader-allowed-names': '{' },
  ]) {
    bench.answer = () => map('2', data);
    await bench.pass(60_000);
  }
  assert.deepEqual([bench.seen.length, bench.warnings.length], [1, 2]);
});
