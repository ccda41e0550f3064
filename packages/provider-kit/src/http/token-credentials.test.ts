import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudError, isCloudError } from '@outrigger/cloud-provider';
import { FakeClock } from '@outrigger/testing';
import { openedHost, type OpenedHost } from '../opened-host.suite.ts';
import { HttpClient } from './http-client.ts';
import type { FetchedToken } from './shared-token.ts';
import { tokenCredentials } from './token-credentials.ts';

interface Rig extends OpenedHost {
  readonly clock: FakeClock;
  readonly client: HttpClient;
  /** How many tokens were asked for. */
  readonly fetched: () => number;
  readonly redacted: string[];
  /** Tokens that came with requests. */
  readonly sent: string[];
  /** The token that the cloud accepts; `any`: each. */
  accepted: string;
  /** In place of a token. */
  answer: (() => Promise<FetchedToken>) | undefined;
}

const HOUR = 3_600_000;

async function rig(): Promise<Rig> {
  const clock = new FakeClock();
  const opened = await openedHost(clock);
  const sent: string[] = [];
  const redacted: string[] = [];
  let count = 0;
  const acme: Rig = {
    ...opened,
    clock,
    sent,
    redacted,
    accepted: 'any',
    answer: undefined,
    fetched: () => count,
    client: new HttpClient({
      host: opened.host,
      cloud: 'Acme',
      root: 'https://acme.example',
      credentials: tokenCredentials({
        host: {
          clock,
          callContext: (options) => opened.host.callContext(options),
          redact: (secret) => void redacted.push(secret),
        },
        fetch: async () => {
          count++;
          return (await acme.answer?.()) ?? { value: `token-${count}-of-acme`, expiresAt: clock.now() + HOUR };
        },
      }),
      fetch: async (_url, { headers }) => {
        const token = headers['authorization']?.slice('Bearer '.length) ?? '';
        sent.push(token);
        const status = acme.accepted === 'any' || acme.accepted === token ? 200 : 401;
        return { status, headers: { get: () => null }, text: async () => '' };
      },
    }),
  };
  return acme;
}

const ask = ({ client, host }: Rig): Promise<unknown> => client.request(host.callContext(), 'GET /a');

test('many requests share one token; it is renewed before it ends, and nobody waits for that', async () => {
  await using acme = await rig();
  await Promise.all([ask(acme), ask(acme), ask(acme)]);
  await ask(acme);
  assert.deepEqual([acme.fetched(), new Set(acme.sent).size], [1, 1]);
  await acme.clock.advance(HOUR - 60_000);
  await ask(acme);
  assert.equal(acme.sent.at(-1), 'token-1-of-acme');
  await acme.clock.settle();
  await ask(acme);
  assert.deepEqual([acme.fetched(), acme.sent.at(-1)], [2, 'token-2-of-acme']);
  await acme.clock.advance(2 * HOUR);
  await ask(acme);
  assert.deepEqual([acme.fetched(), acme.sent.at(-1)], [3, 'token-3-of-acme']);
});

test('a renewal ahead of time that fails is tried again after a while; the old token serves until it ends', async () => {
  await using acme = await rig();
  await ask(acme);
  acme.answer = () => Promise.reject(new CloudError('unavailable', 'down'));
  await acme.clock.advance(HOUR - 60_000);
  await ask(acme);
  await acme.clock.settle();
  await ask(acme);
  assert.equal(acme.fetched(), 2);
  await acme.clock.advance(10_000);
  await ask(acme);
  await acme.clock.settle();
  assert.deepEqual([acme.fetched(), acme.sent.at(-1)], [3, 'token-1-of-acme']);
  await acme.clock.advance(50_000);
  await assert.rejects(ask(acme), (error) => isCloudError(error, 'unavailable'));
});

test('a token that the cloud refuses is replaced once, however many were refused with it', async () => {
  await using acme = await rig();
  await ask(acme);
  acme.accepted = 'token-2-of-acme';
  await Promise.all([ask(acme), ask(acme), ask(acme)]);
  assert.equal(acme.fetched(), 2);
  acme.accepted = 'none';
  await assert.rejects(ask(acme), (error) => isCloudError(error, 'unauthenticated'));
  assert.equal(acme.fetched(), 3);
});

test('credentials that are refused are not tried again at once; a token is never shown again', async () => {
  await using acme = await rig();
  acme.answer = () => Promise.reject(new CloudError('unauthenticated', 'wrong password'));
  for (let i = 0; i < 5; i++) await assert.rejects(ask(acme), (error) => isCloudError(error, 'unauthenticated'));
  assert.ok(acme.fetched() <= 2, `${acme.fetched()}`);
  await acme.clock.advance(30_000);
  acme.answer = undefined;
  await ask(acme);
  assert.deepEqual(acme.redacted, acme.sent);
});

test('where an account may be locked, each refusal in a row doubles the time until the next attempt, to an hour', async () => {
  await using opened = await openedHost(new FakeClock());
  const { clock } = opened.host;
  let asked = 0;
  let isWrong = true;
  const credentials = tokenCredentials({
    host: opened.host,
    refusedForMs: 120_000,
    fetch: async () => {
      asked++;
      if (isWrong) throw new CloudError('unauthenticated', 'wrong password');
      return { value: `token-${asked}` };
    },
  });
  const at: number[] = [];
  const attempt = async (): Promise<void> => {
    const before = asked;
    const last = { authorization: `Bearer token-${asked}` };
    await credentials(opened.host.callContext(), true, last).catch(() => {});
    if (asked > before) at.push(clock.now() / 60_000);
  };
  const begun = clock.now() / 60_000;
  for (let minute = 0; minute < 250; minute++) {
    await attempt();
    await (clock as FakeClock).advance(60_000);
  }
  assert.deepEqual(
    at.map((minute) => minute - begun),
    [0, 2, 6, 14, 30, 62, 122, 182, 242],
  );
  isWrong = false;
  await (clock as FakeClock).advance(3_600_000);
  await attempt();
  isWrong = true;
  await attempt();
  await (clock as FakeClock).advance(120_000);
  await attempt();
  assert.equal(asked, 12, 'a success begins anew');
});

test('who gives up hears its own reason, and takes the token from nobody else', async () => {
  await using acme = await rig();
  let give: (token: FetchedToken) => void = () => {};
  acme.answer = () => new Promise((resolve) => (give = resolve));
  const abort = new AbortController();
  const mine = acme.opened.callContext({ signal: abort.signal, priority: 'normal' });
  const given = acme.client.request(mine, 'GET /a').catch((error: unknown) => error);
  const other = ask(acme);
  await acme.clock.settle();
  abort.abort(new Error('enough'));
  assert.match(String(await given), /enough/);
  give({ value: 'token-late-of-acme' });
  await other;
  assert.deepEqual([acme.fetched(), acme.sent], [1, ['token-late-of-acme']]);
});

test('a call that has ended before it asks asks for no token, whose failure nobody would hear of', async () => {
  await using acme = await rig();
  acme.answer = () => Promise.reject(new CloudError('unavailable', 'no token'));
  const call = { ...acme.host.callContext(), signal: AbortSignal.abort(new Error('given up')) };
  await assert.rejects(acme.client.request(call, 'GET /a'), /given up/u);
  await acme.clock.settle();
  assert.equal(acme.fetched(), 0);
});
