import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '@outrigger/testing';
import { loadConfig, type LoadConfigOptions } from './load-config.ts';

const KEY = '-----BEGIN PRIVATE KEY-----\nTWlkbmlnaHRDYW5hcnk\n-----END PRIVATE KEY-----\n';
const CERTIFICATE = '-----BEGIN CERTIFICATE-----\nTUlJ\n-----END CERTIFICATE-----\n';

function kubeconfig(user: string, cluster = 'server: https://one:6443'): string {
  return `apiVersion: v1
kind: Config
current-context: main
clusters: [{name: one, cluster: {${cluster}}}]
contexts: [{name: main, context: {cluster: one, user: admin}}]
users: [{name: admin, user: {${user}}}]
`;
}

interface Told {
  readonly secrets: string[];
  readonly files: Record<string, string>;
  readonly clock: FakeClock;
  readonly load: (options?: LoadConfigOptions) => ReturnType<typeof loadConfig>;
}

function telling(files: Record<string, string>): Told {
  const secrets: string[] = [];
  const clock = new FakeClock();
  return {
    secrets,
    files,
    clock,
    load: (options = {}) =>
      loadConfig({
        kubeconfig: '/k',
        env: {},
        clock,
        hasTerminal: () => false,
        onSecret: (secret) => void secrets.push(secret),
        readFile: (path) => Promise.resolve(files[path] ?? ''),
        ...options,
      }),
  };
}

test('tokens and passwords of a kubeconfig are told as it is loaded, before they are used', async () => {
  const token = telling({ '/k': kubeconfig('token: canary-token') });
  const config = await token.load();
  assert.deepEqual(token.secrets, ['canary-token']);
  await config.credentials?.current();
  assert.equal(new Set(token.secrets).size, 1);
  const basic = telling({ '/k': kubeconfig('username: me, password: canary-password') });
  const withPassword = await basic.load();
  await withPassword.credentials?.current();
  assert.deepEqual(basic.secrets, ['canary-password', Buffer.from('me:canary-password').toString('base64')]);
});

test('a refused kubeconfig has told its token all the same', async () => {
  const { load, secrets } = telling({ '/k': kubeconfig('token: "canary token"') });
  await assert.rejects(load());
  assert.deepEqual(secrets, ['canary token']);
});

test('private keys are told, and the password of a proxy', async () => {
  const data = (pem: string): string => Buffer.from(pem).toString('base64');
  const user = `client-certificate-data: ${data(CERTIFICATE)}, client-key-data: ${data(KEY)}`;
  const { load, secrets } = telling({
    '/k': kubeconfig(user, 'server: https://one:6443, proxy-url: "http://me:canary%2Fpassword@proxy:3128"'),
  });
  await load();
  assert.deepEqual(secrets, [KEY, 'canary/password']);
});

test('each new token of a file is told before it is used', async () => {
  const { clock, files, load, secrets } = telling({ '/k': kubeconfig('tokenFile: /token'), '/token': 'canary-one\n' });
  const config = await load();
  await config.credentials?.current();
  files['/token'] = 'canary-two';
  await clock.advance(20_000);
  await config.credentials?.current();
  await config.credentials?.current();
  assert.deepEqual(secrets, ['canary-one', 'canary-two']);
});

test('what an exec plugin gives is told, and renewed ones too', async () => {
  let run = 0;
  const exec = 'exec: {apiVersion: client.authentication.k8s.io/v1, command: get, interactiveMode: Never}';
  const { clock, load, secrets } = telling({ '/k': kubeconfig(exec) });
  const config = await load({
    runExecPlugin: () =>
      Promise.resolve({
        exitCode: 0,
        stdout: JSON.stringify({
          apiVersion: 'client.authentication.k8s.io/v1',
          kind: 'ExecCredential',
          status: { token: `canary-${++run}` },
        }),
      }),
  });
  const first = await config.credentials?.current();
  assert.ok(first);
  await clock.advance(5_000);
  const renewed = await config.credentials?.renew(first);
  assert.equal(renewed?.headers['authorization'], 'Bearer canary-2');
  assert.deepEqual(secrets, ['canary-1', 'canary-2']);
});
