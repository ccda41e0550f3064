import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { get, type RequestOptions } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { noMetrics, silentLogger, systemClock, type Client } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { FlagSet } from '../flags/flag-set.ts';
import { PrometheusMetrics } from '../metrics/prometheus-metrics.ts';
import { HealthChecks } from '../serving/health-checks.ts';
import { createPages } from '../serving/pages.ts';
import { startSecureServer, type SecureServer } from '../serving/secure-server.ts';
import { delegateAccess, type DelegatedAccess } from './delegated-access.ts';
import { authenticationFlags, authorizationFlags } from './delegation-flags.ts';
import { TestAuthority } from './test-authority.suite.ts';

const flags = new FlagSet([authenticationFlags, authorizationFlags]);
let directory = '';
let clients: TestAuthority;
let proxies: TestAuthority;

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'outrigger-access-'));
  [clients, proxies] = [await TestAuthority.create('CN=clients'), await TestAuthority.create('CN=proxies')];
  await writeFile(join(directory, 'clients.crt'), clients.pem);
  await writeFile(join(directory, 'proxies.crt'), proxies.pem);
});

after(() => rm(directory, { recursive: true }));

interface Serving extends AsyncDisposable {
  readonly server: SecureServer;
  readonly clock: FakeClock;
  /** Users about whom the API server was asked. */
  readonly asked: string[];
  /** For how many seconds the certificates were valid by which callers were known. */
  readonly remaining: number[];
}

/** Pages behind delegated access; the API server lets everybody ask whose name begins with `may-`. */
async function serve(...args: readonly string[]): Promise<Serving> {
  const asked: string[] = [];
  const remaining: number[] = [];
  const parsed = flags.parse(args.map((arg) => arg.replace('=@', `=${directory}/`)));
  const create = (review: { readonly spec: { readonly user: string; readonly groups: readonly string[] } }) => {
    asked.push(`${review.spec.user} ${review.spec.groups.join()}`);
    return Promise.resolve({ ...review, status: { allowed: review.spec.user.startsWith('may-') } });
  };
  // Its time stands still but its wall clock is right: certificates are looked at by it.
  const clock = new FakeClock(systemClock.now());
  const access: DelegatedAccess = await delegateAccess({
    authentication: parsed.of(authenticationFlags),
    authorization: parsed.of(authorizationFlags),
    authorizationClient: { of: () => ({ create }) } as unknown as Client,
    bindAddress: '127.0.0.1',
    clock,
    logger: silentLogger,
    metrics: {
      ...noMetrics,
      histogram: ({ name }) => ({
        observe: (value) => void (name.endsWith('expiration_seconds') && remaining.push(value)),
      }),
    },
  });
  const server = await startSecureServer({
    app: createPages({
      access: access.policy,
      health: new HealthChecks(),
      clock,
      logger: silentLogger,
      metrics: new PrometheusMetrics(),
      configz: () => ({}),
      version: {},
    }),
    bindAddress: '127.0.0.1',
    clientAuthorities: access.clientAuthorities,
    clock,
    logger: silentLogger,
    port: 0,
  });
  return {
    server,
    clock,
    asked,
    remaining,
    [Symbol.asyncDispose]: async () => {
      access[Symbol.dispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

function ask({ server }: Serving, path: string, options: RequestOptions = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    get(`${server.url}${path}`, { rejectUnauthorized: false, agent: false, ...options }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    }).on('error', reject);
  });
}

const shows = ({ key, pem }: TestAuthority): RequestOptions => ({ cert: pem, key });

test('a client certificate of the authority names the user; any other is nobody', async () => {
  await using serving = await serve('--client-ca-file=@clients.crt');
  assert.equal(await ask(serving, '/metrics', shows(await clients.issue('CN=may-read,O=readers'))), 200);
  assert.deepEqual(serving.asked, ['may-read readers,system:authenticated']);
  assert.equal(await ask(serving, '/metrics', shows(await proxies.issue('CN=may-read'))), 403);
  assert.equal(await ask(serving, '/metrics', shows(await clients.issue('CN=may-read', { usage: 'server' }))), 403);
  assert.equal(await ask(serving, '/metrics'), 403);
  assert.equal(await ask(serving, '/healthz'), 200);
  assert.equal(serving.asked.at(-1), 'system:anonymous system:unauthenticated');
  assert.equal(serving.remaining.length, 1, 'of the one that was vouched for');
  assert.ok(serving.remaining.every((seconds) => seconds > 0 && seconds < 7_200));
});

test('only a proxy may name the user in headers, and a chain to it cannot be made up', async () => {
  await using serving = await serve(
    '--client-ca-file=@clients.crt',
    '--requestheader-client-ca-file=@proxies.crt',
    '--requestheader-allowed-names=front',
  );
  const headers = { 'X-Remote-User': 'may-do-all', 'X-Remote-Group': ['a', 'b,c'] };
  assert.equal(await ask(serving, '/metrics', { ...shows(await proxies.issue('CN=front')), headers }), 200);
  assert.equal(serving.asked.at(-1), 'may-do-all a,b,c,system:authenticated');
  assert.equal(await ask(serving, '/metrics', { ...shows(await proxies.issue('CN=back')), headers }), 401);
  assert.equal(await ask(serving, '/metrics', { ...shows(await clients.issue('CN=me')), headers }), 403);
  assert.equal(await ask(serving, '/metrics', { headers }), 403);
  // A client that is trusted as such sends a made-up link from its own issuer to that of proxies.
  const me = await clients.issue('CN=front');
  const twin = await TestAuthority.create('CN=clients');
  const link = await proxies.issue('CN=clients', { ca: true });
  for (const { pem } of [twin, link]) {
    assert.equal(await ask(serving, '/metrics', { cert: me.pem + pem, key: me.key, headers }), 403);
    assert.equal(serving.asked.at(-1), 'front system:authenticated');
  }
});

test('an intermediate authority has to be in the bundle', async () => {
  const middle = await clients.issue('CN=middle', { ca: true });
  await writeFile(join(directory, 'middle.crt'), clients.pem + middle.pem);
  const me = await middle.issue('CN=may-read');
  await using serving = await serve('--client-ca-file=@middle.crt');
  assert.equal(await ask(serving, '/metrics', shows(me)), 200);
  await using without = await serve('--client-ca-file=@clients.crt');
  assert.equal(await ask(without, '/metrics', { cert: me.pem + middle.pem, key: me.key }), 403);
});

test('an intermediate authority vouches without its root, as in Go', async () => {
  const middle = await clients.issue('CN=middle', { ca: true });
  await writeFile(join(directory, 'alone.crt'), middle.pem);
  await using serving = await serve('--client-ca-file=@alone.crt');
  assert.equal(await ask(serving, '/metrics', shows(await middle.issue('CN=may-read'))), 200);
  assert.deepEqual(serving.asked, ['may-read system:authenticated']);
  // Its root's other certificates are not thereby trusted, nor what a certificate without authority has signed.
  assert.equal(await ask(serving, '/metrics', shows(await clients.issue('CN=may-read'))), 403);
  assert.equal(await ask(serving, '/metrics', shows(await middle.issue('CN=may-read', { expired: true }))), 403);
  assert.equal(await ask(serving, '/metrics', shows(await middle.issue('CN=may-read', { usage: 'server' }))), 403);
  const me = await middle.issue('CN=me');
  const forged = await me.issue('CN=may-read');
  assert.equal(await ask(serving, '/metrics', { cert: forged.pem + me.pem, key: forged.key }), 403);
});

test('authorities are read again when their file changes', async () => {
  const file = join(directory, 'changing.crt');
  await writeFile(file, clients.pem);
  await using serving = await serve('--client-ca-file=@changing.crt');
  const newcomer = shows(await proxies.issue('CN=may-read'));
  assert.equal(await ask(serving, '/metrics', newcomer), 403);
  await writeFile(file, 'broken');
  await serving.clock.advance(10_000);
  assert.equal(await ask(serving, '/metrics', shows(await clients.issue('CN=may-read'))), 200);
  await writeFile(file, proxies.pem);
  let status = 0;
  // The file is read on the thread pool, which no clock moves; nor may the clock come to the end of the certificates meanwhile.
  while (status !== 200) {
    await systemClock.sleep(100);
    await serving.clock.advance(10_000);
    status = await ask(serving, '/metrics', newcomer);
  }
  assert.equal(status, 200);
  assert.equal(await ask(serving, '/metrics', shows(await clients.issue('CN=may-read'))), 403);
});

test('a file of authorities that cannot be used ends the start with the flag', async () => {
  await assert.rejects(
    serve('--client-ca-file=@none.crt'),
    /^AuthoritiesError: --client-ca-file: .*none\.crt: there is no such file$/u,
  );
  await writeFile(join(directory, 'empty.crt'), '');
  await assert.rejects(serve('--requestheader-client-ca-file=@empty.crt'), /no PEM block CERTIFICATE/u);
});

test('a server that asks for no certificate serves all the same', async () => {
  await using server = await startSecureServer({
    app: () => Promise.resolve({ status: 200, body: 'ok' }),
    bindAddress: '127.0.0.1',
    clock: systemClock,
    logger: silentLogger,
    port: 0,
  });
  const serving = { server } as Serving;
  assert.equal(await ask(serving, '/healthz', shows(await clients.issue('CN=me'))), 200);
});
