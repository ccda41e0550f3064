import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient, silentLogger, type Client, type TransportResponse } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { readClusterIdentity } from './cluster-identity.ts';

function clientThat(answer: () => { readonly status: number; readonly body: unknown }): Client {
  return createClient({
    send: () => {
      const { body, status } = answer();
      const response: TransportResponse = {
        status,
        headers: { 'content-type': 'application/json' },
        body: (async function* () {
          yield await Promise.resolve(Buffer.from(JSON.stringify(body)));
        })(),
      };
      return Promise.resolve(response);
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
}

const status = (code: number, reason: string): { status: number; body: unknown } => ({
  status: code,
  body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message: reason },
});
const found = {
  status: 200,
  body: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: { name: 'kube-system', uid: 'u-1' } },
};

test('the UID of kube-system is the identity of the cluster', async () => {
  const clock = new FakeClock();
  const signal = new AbortController().signal;
  const options = { client: clientThat(() => found), name: 'prod', clock, logger: silentLogger, signal };
  assert.deepEqual(await readClusterIdentity(options), { id: 'u-1', name: 'prod' });
});

test('an API server that is not there yet is waited for, ever longer up to ten seconds', async () => {
  const clock = new FakeClock();
  let calls = 0;
  const client = clientThat(() => (++calls < 8 ? status(503, 'ServiceUnavailable') : found));
  const signal = new AbortController().signal;
  const identity = readClusterIdentity({ client, name: 'prod', clock, logger: silentLogger, signal });
  await clock.advance(500 + 1_000 + 2_000 + 4_000 + 8_000 + 10_000);
  assert.equal(calls, 7);
  await clock.advance(10_000);
  assert.equal((await identity).id, 'u-1');
});

test('being refused is told at once', async () => {
  const clock = new FakeClock();
  const signal = new AbortController().signal;
  for (const [refusal, message] of [
    [status(403, 'Forbidden'), /^StatusError: .*Forbidden/u],
    [status(401, 'Unauthorized'), /does not accept the credentials: renew .* \(401 Unauthorized\)$/u],
  ] as const) {
    const client = clientThat(() => refusal);
    await assert.rejects(readClusterIdentity({ client, name: 'prod', clock, logger: silentLogger, signal }), message);
  }
  assert.equal(clock.pendingTimers, 0);
});

test('the wait ends when the program is to stop', async () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  const client = clientThat(() => status(503, 'ServiceUnavailable'));
  const identity = readClusterIdentity({ client, name: 'prod', clock, logger: silentLogger, signal: stop.signal });
  await clock.settle();
  stop.abort(new Error('stopped'));
  await assert.rejects(identity, /stopped/u);
  assert.equal(clock.pendingTimers, 0);
});
