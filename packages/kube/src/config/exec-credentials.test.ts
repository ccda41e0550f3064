import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '@outrigger/testing';
import {
  execCredentials,
  isExecPluginError,
  type ExecCredentialsOptions,
  type ExecPluginErrorCode,
} from './exec-credentials.ts';
import { EXEC_PLUGIN_TIMEOUT_MS, type ExecPluginResult } from './exec-plugin.ts';

const V1 = 'client.authentication.k8s.io/v1';

/** A plugin that gives `token-1`, `token-2` …, each for `lifetimeMs`. */
function plugin(clock: FakeClock, lifetimeMs?: number) {
  const state = { runs: 0, held: undefined as Promise<void> | undefined };
  return {
    state,
    run: async (): Promise<ExecPluginResult> => {
      state.runs += 1;
      const token = `token-${state.runs}`;
      await state.held;
      const expirationTimestamp =
        lifetimeMs === undefined ? undefined : new Date(clock.now() + lifetimeMs).toISOString();
      return {
        exitCode: 0,
        stdout: JSON.stringify({ kind: 'ExecCredential', apiVersion: V1, status: { token, expirationTimestamp } }),
      };
    },
  };
}

function credentialsOf(clock: FakeClock, options: Partial<ExecCredentialsOptions>) {
  return execCredentials({
    where: '/k:7: users[0] "admin": user.exec',
    apiVersion: V1,
    command: 'login',
    args: [],
    env: {},
    interactiveMode: 'Never',
    inheritedEnv: {},
    hasTerminal: () => false,
    clock,
    run: () => Promise.reject(new Error('not set')),
    ...options,
  });
}

async function refused(work: Promise<unknown>, code: ExecPluginErrorCode, message: RegExp): Promise<void> {
  await assert.rejects(work, (error) => {
    assert.ok(isExecPluginError(error), String(error));
    assert.equal(error.code, code);
    assert.match(error.message, message);
    assert.match(error.message, /^\/k:7: users\[0\] "admin": user\.exec: /);
    assert.doesNotMatch(error.message, /hunter2/);
    return true;
  });
}

test("a run that fails for a caller whose signal has aborted is nobody's unhandled rejection", async () => {
  const gate = Promise.withResolvers<void>();
  const run = (): Promise<ExecPluginResult> => gate.promise.then(() => ({ exitCode: 1, stdout: '' }));
  const credentials = credentialsOf(new FakeClock(), { run });
  await assert.rejects(credentials.current(AbortSignal.abort(new Error('stop'))), /stop/);
  gate.resolve();
  await new Promise<void>((resolve) => void setImmediate(resolve));
});

test('many who ask at once cost one run, and one who gives up does not stop it for the others', async () => {
  const clock = new FakeClock();
  const { state, run } = plugin(clock);
  const gate = Promise.withResolvers<void>();
  state.held = gate.promise;
  const credentials = credentialsOf(clock, { run });
  const abort = new AbortController();
  const impatient = credentials.current(abort.signal);
  const others = Promise.all(Array.from({ length: 20 }, () => credentials.current()));
  abort.abort(new Error('gave up'));
  await assert.rejects(impatient, /gave up/);
  gate.resolve();
  const all = await others;
  assert.equal(state.runs, 1);
  assert.equal(new Set(all).size, 1, 'one object');
});

test('a credential is renewed shortly before it expires, and not earlier', async () => {
  const clock = new FakeClock();
  const { state, run } = plugin(clock, 15 * 60_000);
  const credentials = credentialsOf(clock, { run });
  await credentials.current();
  await clock.advance(14 * 60_000);
  await credentials.current();
  assert.equal(state.runs, 1);
  await clock.advance(31_000);
  assert.equal((await credentials.current()).headers['authorization'], 'Bearer token-2');
});

test('a short-lived credential is used for nine tenths of its life', async () => {
  const clock = new FakeClock();
  const { state, run } = plugin(clock, 20_000);
  const credentials = credentialsOf(clock, { run });
  await credentials.current();
  await clock.advance(17_900);
  await credentials.current();
  assert.equal(state.runs, 1);
  await clock.advance(200);
  await credentials.current();
  assert.equal(state.runs, 2);
});

test('a credential that is expired when it comes does not start a plugin for each request', async () => {
  const clock = new FakeClock();
  const { state, run } = plugin(clock, -1);
  const credentials = credentialsOf(clock, { run });
  for (let i = 0; i < 50; i++) await credentials.current();
  assert.equal(state.runs, 1);
  await clock.advance(1_000);
  await credentials.current();
  assert.equal(state.runs, 2);
});

test('many 401s for one credential cost one run', async () => {
  const clock = new FakeClock();
  const { state, run } = plugin(clock);
  const credentials = credentialsOf(clock, { run });
  const rejected = await credentials.current();
  await clock.advance(5_000);
  const renewed = await Promise.all(Array.from({ length: 10 }, () => credentials.renew(rejected)));
  assert.equal(state.runs, 2);
  assert.deepEqual(
    new Set(renewed.map((credential) => credential?.headers['authorization'])),
    new Set(['Bearer token-2']),
  );
  assert.equal((await credentials.renew(rejected))?.headers['authorization'], 'Bearer token-2', 'long known');
});

test('a plugin that gives the same token again has nothing else to offer after a 401', async () => {
  const clock = new FakeClock();
  const stdout = JSON.stringify({ kind: 'ExecCredential', apiVersion: V1, status: { token: 'same' } });
  const credentials = credentialsOf(clock, { run: () => Promise.resolve({ exitCode: 0, stdout }) });
  const rejected = await credentials.current();
  await clock.advance(5_000);
  assert.equal(await credentials.renew(rejected), undefined);
});

test('a failing plugin is not started again for a second, then it is', async () => {
  const clock = new FakeClock();
  let runs = 0;
  const credentials = credentialsOf(clock, {
    run: () => {
      runs += 1;
      return Promise.resolve({ exitCode: 3, stdout: 'hunter2' });
    },
  });
  for (let i = 0; i < 20; i++) await refused(credentials.current(), 'exec-plugin-failed', /"login" exited with 3/);
  assert.equal(runs, 1);
  await clock.advance(1_000);
  await refused(credentials.current(), 'exec-plugin-failed', /exited with 3/);
  assert.equal(runs, 2);
});

test('a plugin that is not installed is named, with the hint how to install it', async () => {
  const clock = new FakeClock();
  const notFound = Object.assign(new Error('spawn login ENOENT'), { code: 'ENOENT' });
  const credentials = credentialsOf(clock, {
    installHint: 'Get it from example.com',
    run: () => Promise.reject(notFound),
  });
  await refused(
    credentials.current(),
    'exec-plugin-not-found',
    /"login" is not installed or not on PATH\nGet it from example\.com$/,
  );
});

test('a plugin that fails shortly before the credential expires costs nothing until it has expired', async () => {
  const clock = new FakeClock();
  const { run, state } = plugin(clock, 900_000);
  let fails = false;
  let failures = 0;
  const flaky = async (...args: Parameters<typeof run>): Promise<ExecPluginResult> => {
    if (!fails) return run(...args);
    failures++;
    return { exitCode: 1, stdout: '' };
  };
  const credentials = credentialsOf(clock, { run: flaky });
  const first = await credentials.current();
  await clock.advance(900_000 - 29_000);
  fails = true;
  assert.equal(await credentials.current(), first);
  assert.equal(await credentials.current(), first);
  assert.equal(failures, 1, 'not run again for each request');
  await clock.advance(28_000);
  assert.equal(await credentials.current(), first);
  await clock.advance(1_000);
  await refused(credentials.current(), 'exec-plugin-failed', /exited with 1/);
  await refused(credentials.renew(first), 'exec-plugin-failed', /exited with 1/);
  fails = false;
  await clock.advance(1_000);
  assert.notEqual(await credentials.current(), first);
  assert.equal(state.runs, 2);
});

test('a plugin that hangs is ended', async () => {
  const clock = new FakeClock();
  const credentials = credentialsOf(clock, {
    run: ({ signal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('killed')), { once: true })),
  });
  const pending = credentials.current();
  pending.catch(() => undefined);
  await clock.advance(EXEC_PLUGIN_TIMEOUT_MS);
  await refused(pending, 'exec-plugin-failed', /no answer within 60 s/);
  assert.equal(clock.pendingTimers, 0);
});

test('answers that make no sense are refused without being quoted', async () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ['hunter2', /printed no JSON/],
    ['{"kind":"Secret"}', /printed no ExecCredential/],
    [JSON.stringify({ kind: 'ExecCredential', apiVersion: 'x/v9' }), /API version "x\/v9", but client\.authentication/],
    [JSON.stringify({ kind: 'ExecCredential', apiVersion: V1 }), /without status/],
    [JSON.stringify({ kind: 'ExecCredential', apiVersion: V1, status: {} }), /neither a token nor a certificate/],
    [
      JSON.stringify({ kind: 'ExecCredential', apiVersion: V1, status: { token: 'hunter2\n' } }),
      /a token with characters/,
    ],
    [
      JSON.stringify({ kind: 'ExecCredential', apiVersion: V1, status: { clientKeyData: 'hunter2' } }),
      /one of clientCertificateData/,
    ],
    [
      JSON.stringify({
        kind: 'ExecCredential',
        apiVersion: V1,
        status: { token: 'hunter2', expirationTimestamp: 'soon' },
      }),
      /not RFC 3339/,
    ],
  ];
  for (const [stdout, message] of cases) {
    const credentials = credentialsOf(new FakeClock(), { run: () => Promise.resolve({ exitCode: 0, stdout }) });
    await refused(credentials.current(), 'exec-plugin-answer', message);
  }
});

test('a client certificate from the plugin is part of the credential', async () => {
  const status = { clientCertificateData: 'CERT', clientKeyData: 'KEY' };
  const stdout = JSON.stringify({ kind: 'ExecCredential', apiVersion: V1, status });
  const credentials = credentialsOf(new FakeClock(), { run: () => Promise.resolve({ exitCode: 0, stdout }) });
  assert.deepEqual(await credentials.current(), { headers: {}, certificate: { certificate: 'CERT', key: 'KEY' } });
});

test('interactiveMode Always needs a terminal', async () => {
  const credentials = credentialsOf(new FakeClock(), { interactiveMode: 'Always' });
  await refused(credentials.current(), 'exec-plugin-terminal', /standard input is not a terminal/);
});
