import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '@outrigger/testing';
import { createClient } from '../create-client.ts';
import { silentLogger } from '../logger.ts';
import type { Transport, TransportRequest } from '../transport.ts';
import type { Credentials } from './credentials.ts';
import { requestedToken } from './requested-token.ts';

interface Rig {
  readonly clock: FakeClock;
  readonly credentials: Credentials;
  readonly requests: string[];
  readonly secrets: string[];
  /** Answers of the server, in their order; afterwards a new token each time. */
  readonly refusals: number[];
  readonly token: () => Promise<string>;
}

function createRig({ lifetimeSeconds = 3_600 } = {}): Rig {
  const clock = new FakeClock();
  const requests: string[] = [];
  const refusals: number[] = [];
  const secrets: string[] = [];
  let issued = 0;
  const send = ({ method, path }: TransportRequest): { status: number; body: unknown } => {
    requests.push(`${method} ${path}`);
    const code = refusals.shift();
    if (code !== undefined)
      return {
        status: code,
        body: { kind: 'Status', apiVersion: 'v1', code, status: 'Failure', reason: REASONS[code] },
      };
    const isToken = path.endsWith('/token');
    const answer = { spec: { expirationSeconds: lifetimeSeconds }, status: { token: `token-${issued + 1}` } };
    if (isToken) issued++;
    return { status: 201, body: isToken ? answer : {} };
  };
  const transport: Transport = {
    send: (request) => {
      const { body, status } = send(request);
      const bytes = Buffer.from(JSON.stringify(body));
      return Promise.resolve({
        status,
        headers: { 'content-type': 'application/json' },
        body: (async function* (): AsyncGenerator<Uint8Array, void, void> {
          yield bytes;
        })(),
      });
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const credentials = requestedToken({
    client: createClient(transport),
    account: { namespace: 'kube-system', name: 'node-controller' },
    clock,
    logger: silentLogger,
    onSecret: (secret) => void secrets.push(secret),
  });
  const token = async (): Promise<string> => (await credentials.current()).headers['authorization'] ?? '';
  return { clock, credentials, requests, refusals, secrets, token };
}

const REASONS: Readonly<Record<number, string>> = { 403: 'Forbidden', 404: 'NotFound', 409: 'AlreadyExists' };
const TOKEN_PATH = 'POST /api/v1/namespaces/kube-system/serviceaccounts/node-controller/token';

test('one token serves all callers until four fifths of its time are over', async () => {
  const { clock, requests, secrets, token } = createRig();
  assert.deepEqual(await Promise.all([token(), token()]), ['Bearer token-1', 'Bearer token-1']);
  await clock.advance(2_879_000);
  assert.equal(await token(), 'Bearer token-1');
  await clock.advance(2_000);
  assert.equal(await token(), 'Bearer token-2');
  assert.deepEqual(requests, [TOKEN_PATH, TOKEN_PATH]);
  assert.deepEqual(secrets, ['token-1', 'token-2']);
});

test('the server may allow less time than was asked for', async () => {
  const { clock, token } = createRig({ lifetimeSeconds: 600 });
  await token();
  await clock.advance(481_000);
  assert.equal(await token(), 'Bearer token-2');
});

test('an account that is not there is made, also when somebody else makes it at the same time', async () => {
  for (const outcome of [[404], [404, 409]]) {
    const { refusals, requests, token } = createRig();
    refusals.push(...outcome);
    assert.equal(await token(), 'Bearer token-1');
    assert.deepEqual(requests, [TOKEN_PATH, 'POST /api/v1/namespaces/kube-system/serviceaccounts', TOKEN_PATH]);
  }
});

test('while no new token is to be had the old one is used on, until it has expired; asked for every 10 s', async () => {
  const { clock, refusals, requests, token } = createRig();
  await token();
  await clock.advance(2_900_000);
  refusals.push(403, 403, 403);
  assert.equal(await token(), 'Bearer token-1');
  assert.equal(await token(), 'Bearer token-1');
  assert.equal(requests.length, 2);
  await clock.advance(10_000);
  assert.equal(await token(), 'Bearer token-1');
  assert.equal(requests.length, 3);
  await clock.advance(700_000);
  await assert.rejects(token(), /403/u);
  assert.equal(await token(), 'Bearer token-2');
});

test('a token that is refused is replaced, but not again and again', async () => {
  const { clock, credentials, requests } = createRig();
  const first = await credentials.current();
  assert.equal(await credentials.renew(first), undefined);
  await clock.advance(10_000);
  const second = await credentials.renew(first);
  assert.equal(second?.headers['authorization'], 'Bearer token-2');
  assert.equal(await credentials.renew(first), second, 'whoever still has the first one gets what there is');
  assert.equal(requests.length, 2);
});
