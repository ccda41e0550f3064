import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '@outrigger/testing';
import { isConfigError, type ConfigErrorCode } from './config-error.ts';
import type { ExecPluginRun } from './exec-plugin.ts';
import { loadConfig, type LoadConfigOptions } from './load-config.ts';

const PEM = Buffer.from('-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----\n').toString('base64');
const KEY = Buffer.from('-----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY-----\n').toString('base64');

/** Loads from files in memory, with nothing of the machine's. */
function load(files: Record<string, string>, options: LoadConfigOptions = {}) {
  return loadConfig({
    env: { HOME: '/home/me' },
    clock: new FakeClock(),
    hasTerminal: () => false,
    readFile: (path) => {
      const text = files[path];
      if (text !== undefined) return Promise.resolve(text);
      return Promise.reject(Object.assign(new Error(`ENOENT: no such file, open '${path}'`), { code: 'ENOENT' }));
    },
    ...options,
  });
}

async function refused(work: Promise<unknown>, code: ConfigErrorCode, message: RegExp): Promise<void> {
  await assert.rejects(work, (error) => {
    assert.ok(isConfigError(error), String(error));
    assert.match(error.message, message);
    assert.equal(error.code, code);
    assert.doesNotMatch(error.message, /\n/, 'one line');
    return true;
  });
}

/** A kubeconfig of one cluster, user and context; the lines of the user and of the cluster as given. */
function kubeconfig(user: string, cluster = 'server: https://one:6443'): string {
  return `apiVersion: v1
kind: Config
current-context: main
clusters:
- name: one
  cluster: {${cluster}}
contexts:
- name: main
  context: {cluster: one, user: admin, namespace: ours}
users:
- name: other
  user: {token: x}
- name: admin
  user: {${user}}
`;
}

const at = (path: string): LoadConfigOptions => ({ kubeconfig: path });

test('a context gives server, namespace, credentials, and says where it came from', async () => {
  const config = await load({ '/k': kubeconfig('token: abc', 'server: https://one:6443/prefix/') }, at('/k'));
  assert.equal(config.server, 'https://one:6443/prefix');
  assert.equal(config.namespace, 'ours');
  assert.equal(config.source, 'context "main" of /k');
  assert.deepEqual((await config.credentials?.current())?.headers, { authorization: 'Bearer abc' });
});

test('another context can be asked for, and --master takes the place of the server', async () => {
  const text = `${kubeconfig('token: abc')}- name: third\n  user: {username: u, password: p}\n`.replace(
    'contexts:\n',
    'contexts:\n- name: second\n  context: {cluster: one, user: third}\n',
  );
  const config = await load({ '/k': text }, { ...at('/k'), context: 'second', master: 'https://elsewhere:1' });
  assert.equal(config.server, 'https://elsewhere:1');
  assert.equal(config.namespace, 'default');
  const basic = `Basic ${Buffer.from('u:p').toString('base64')}`;
  assert.equal((await config.credentials?.current())?.headers['authorization'], basic);
});

test('the files in $KUBECONFIG are merged: the first that has an entry or a current-context wins, whole', async () => {
  const files = {
    '/a/k': 'users: [{name: admin, user: {tokenFile: token}}]\n',
    '/b/k': kubeconfig('token: loses, as: nobody', 'server: "https://b:1", certificate-authority: pki/ca.crt'),
    '/c/k': kubeconfig('token: loses', 'server: https://c:1').replace('current-context: main', 'current-context: none'),
    '/a/token': ' from-file \n',
  };
  const config = await load(files, { env: { KUBECONFIG: '/missing:/a/k::/b/k:/c/k:/a/k', HOME: '/home/me' } });
  assert.equal(config.server, 'https://b:1');
  assert.deepEqual((await config.credentials?.current())?.headers, { authorization: 'Bearer from-file' });
  const ca = config.tls?.ca;
  assert.equal(ca && 'file' in ca ? ca.file : undefined, '/b/pki/ca.crt', 'relative to the file that names it');
});

test('~/.kube/config is read when nothing else is said', async () => {
  const config = await load({ '/home/me/.kube/config': kubeconfig('') });
  assert.equal(config.server, 'https://one:6443');
  assert.deepEqual((await config.credentials?.current())?.headers, {});
});

test('without any configuration the error says what was tried', async () => {
  await refused(load({}), 'config-not-found', /none of \/home\/me\/\.kube\/config exists, and this is not a pod/);
  await refused(load({ '/home/me/.kube/config': '' }), 'config-not-found', /this is not a pod/);
  await refused(load({}, at('/nope')), 'config-file-unreadable', /^--kubeconfig=\/nope: there is no such file$/);
});

test('--master alone is a server without credentials', async () => {
  assert.deepEqual(await load({}, { master: '127.0.0.1:8080' }), {
    server: 'http://127.0.0.1:8080',
    source: '--master',
  });
  await refused(load({}, { master: 'ftp://x' }), 'config-invalid', /^--master: has scheme ftp/);
  await refused(load({}, { master: 'https://u:p@x' }), 'config-invalid', /^--master: holds a user name or password/);
});

const account = (file: string): string => `/var/run/secrets/kubernetes.io/serviceaccount/${file}`;

test('in a pod the service account is used, over IPv6 too, and its token is read again', async () => {
  const clock = new FakeClock();
  const files: Record<string, string> = { [account('token')]: 'one', [account('namespace')]: 'kube-system\n' };
  const env = { HOME: '/home/me', KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };
  const config = await load(files, { env, clock });
  assert.equal(config.server, 'https://[fd00::1]:443');
  assert.equal(config.namespace, 'kube-system');
  const token = async (): Promise<string | undefined> =>
    (await config.credentials?.current())?.headers['authorization'];
  assert.equal(await token(), 'Bearer one');
  files[account('token')] = 'two';
  await clock.advance(60_000);
  assert.equal(await token(), 'Bearer two');
  // A rotation in progress: the file is not there for a moment.
  delete files[account('token')];
  await clock.advance(60_000);
  assert.equal(await token(), 'Bearer two');
  // At a 401 it is read at once.
  files[account('token')] = 'three';
  const current = await config.credentials?.current();
  assert.ok(current && config.credentials);
  assert.equal((await config.credentials.renew(current))?.headers['authorization'], 'Bearer three');
});

test('a pod without a service account is told so', async () => {
  const env = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443', HOME: '/' };
  await refused(load({}, { env }), 'config-file-unreadable', /automountServiceAccountToken/);
});

test('certificates come from files or from data, and never half', async () => {
  const config = await load(
    {
      '/k': kubeconfig(
        `client-certificate-data: ${PEM}, client-key: /abs/key`,
        `server: one, certificate-authority-data: ${PEM}`,
      ),
    },
    at('/k'),
  );
  assert.equal(config.server, 'https://one', 'TLS material makes it https');
  assert.ok(config.tls?.certificate && 'data' in config.tls.certificate);
  assert.match(config.tls.certificate.data, /BEGIN CERTIFICATE/);
  assert.ok(config.tls.key && 'file' in config.tls.key);
  assert.equal(config.tls.key.file, '/abs/key');
  assert.match(config.tls.key.where ?? '', /^\/k:\d+: users\[1\] "admin": user\.client-key$/);
});

test('every mistake is one line that names file, line, entry and key', async () => {
  const exec = 'exec: {apiVersion: client.authentication.k8s.io/v1, command: c, interactiveMode: Never}';
  const cases: readonly (readonly [user: string, cluster: string | undefined, ConfigErrorCode, RegExp])[] = [
    [
      'exec: {command: c}',
      undefined,
      'config-invalid',
      /^\/k:14: users\[1\] "admin": user\.exec\.apiVersion: is missing/,
    ],
    ['exec: {apiVersion: x}', undefined, 'config-invalid', /exec\.command: is missing/],
    [
      'exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: c}',
      undefined,
      'config-invalid',
      /v1alpha1" is not supported/,
    ],
    [
      'exec: {apiVersion: client.authentication.k8s.io/v1, command: c}',
      undefined,
      'config-invalid',
      /interactiveMode: is missing/,
    ],
    [
      'exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: c, interactiveMode: Now}',
      undefined,
      'config-invalid',
      /"Now" is not one of/,
    ],
    [
      'exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: c, env: [{value: x}]}',
      undefined,
      'config-invalid',
      /exec\.env: \[0\]\.name is missing/,
    ],
    [`${exec}, token: secret`, undefined, 'config-invalid', /user: has token and exec; only one/],
    ['auth-provider: {name: gcp}', undefined, 'config-unsupported', /user\.auth-provider: was removed/],
    [`client-certificate-data: ${PEM}`, undefined, 'config-invalid', /no client-key/],
    [`client-key-data: ${KEY}`, undefined, 'config-invalid', /no client-certificate/],
    [
      `client-key-data: ${KEY}, client-key: f`,
      undefined,
      'config-invalid',
      /client-key-data: is set beside client-key/,
    ],
    [
      'client-certificate-data: "§§", client-key: f',
      undefined,
      'config-invalid',
      /client-certificate-data: is not base64/,
    ],
    ['client-certificate-data: aGVsbG8=, client-key: f', undefined, 'config-invalid', /not of PEM text/],
    ['token: [secret]', undefined, 'config-invalid', /user\.token: has the wrong type \(found a list or map\)/],
    ['token: "hunter 2"', undefined, 'config-invalid', /user\.token: holds white space/],
    ['as-groups: [a]', undefined, 'config-invalid', /but no as/],
    ['', 'tls-server-name: x', 'config-invalid', /^\/k:6: clusters\[0\] "one": cluster\.server: is missing/],
    ['', 'server: "https://a b"', 'config-invalid', /cluster\.server: is not a URL/],
    ['', 'server: "https://a?x=1"', 'config-invalid', /query/],
    ['', 'server: 7', 'config-invalid', /^\/k:6: clusters\[0\] "one": cluster\.server: is not a URL .*0\.0\.0\.7/],
    ['', 'server: "https://0x7f000001:6443"', 'config-invalid', /cluster\.server: is not a URL .*127\.0\.0\.1/],
    ['', 'server: "127.1:6443"', 'config-invalid', /cluster\.server: is not a URL .*127\.0\.0\.1/],
    [
      '',
      'server: "https://a", insecure-skip-tls-verify: maybe',
      'config-invalid',
      /insecure-skip-tls-verify: has the wrong type/,
    ],
    [
      '',
      `server: "https://a", insecure-skip-tls-verify: true, certificate-authority-data: ${PEM}`,
      'config-invalid',
      /beside a certificate-authority/,
    ],
    ['', 'server: "https://a", proxy-url: "socks5://u:secret@p"', 'config-unsupported', /scheme socks5/],
    ['', 'server: "https://a", proxy-url: nowhere', 'config-invalid', /proxy-url: is not a URL/],
  ];
  for (const [user, cluster, code, message] of cases) {
    await refused(load({ '/k': kubeconfig(user, cluster) }, at('/k')), code, message);
    await load({ '/k': kubeconfig(user, cluster) }, at('/k')).catch((error: Error) =>
      assert.doesNotMatch(error.message, /secret|hunter/),
    );
  }
});

test('references to nothing say what there is', async () => {
  const text = kubeconfig('token: a');
  await refused(
    load({ '/k': text }, { ...at('/k'), context: 'x' }),
    'config-reference',
    /no context "x"; there is "main"/,
  );
  await refused(
    load({ '/k': text.replace('cluster: one,', 'cluster: two,') }, at('/k')),
    'config-reference',
    /contexts\[0\] "main": context\.cluster: there is no cluster "two"; there is "one"/,
  );
  await refused(
    load({ '/k': text.replace('user: admin', 'user: bob') }, at('/k')),
    'config-reference',
    /no user "bob"/,
  );
  await refused(
    load({ '/k': text.replace('cluster: one, ', '') }, at('/k')),
    'config-reference',
    /context\.cluster: is not set/,
  );
  await refused(
    load({ '/k': text.replace('current-context: main', '') }, at('/k')),
    'config-reference',
    /current-context is not set/,
  );
});

test('what is no kubeconfig is refused with its line', async () => {
  await refused(load({ '/k': 'users:\n- name: [secret' }, at('/k')), 'config-invalid', /^\/k:2: not YAML \(\w+\)$/);
  await refused(load({ '/k': 'kind: Pod' }, at('/k')), 'config-invalid', /kind: is "Pod"/);
  await refused(load({ '/k': 'apiVersion: v2' }, at('/k')), 'config-unsupported', /"v2"/);
  await refused(load({ '/k': 'clusters: 5' }, at('/k')), 'config-invalid', /clusters: has the wrong type/);
  await refused(load({ '/k': 'hello' }, at('/k')), 'config-invalid', /found a string\): this is not a kubeconfig$/);
  const twice = `${kubeconfig('token: a')}- name: admin\n  user: {}\n`;
  await refused(
    load({ '/k': twice }, at('/k')),
    'config-invalid',
    /^\/k:15: users\[2\] "admin": name: duplicate name in users/,
  );
});

test('numbers without quotes are the text that stands there', async () => {
  for (const token of ['12345678901234567890', '0123', '1_000', '1e3', '0x1f', '1.10', '.inf']) {
    const config = await load({ '/k': kubeconfig(`token: ${token}`) }, at('/k'));
    assert.equal((await config.credentials?.current())?.headers['authorization'], `Bearer ${token}`);
  }
});

test('values are read as Go reads them: numbers as text, yes and on as true, JSON as YAML', async () => {
  const config = await load(
    { '/k': kubeconfig('token: 1234', 'server: "https://a", insecure-skip-tls-verify: yes') },
    at('/k'),
  );
  assert.equal(config.tls?.insecureSkipVerify, true);
  assert.equal((await config.credentials?.current())?.headers['authorization'], 'Bearer 1234');
  const json = JSON.stringify({
    'current-context': 'c',
    clusters: [{ name: 'c', cluster: { server: 'https://a', 'tls-server-name': 'b', 'proxy-url': 'http://p:1' } }],
    users: [{ name: 'u', user: null }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
  });
  const fromJson = await load({ '/k': json }, at('/k'));
  assert.equal(fromJson.tls?.serverName, 'b');
  assert.equal(fromJson.proxyUrl, 'http://p:1/');
});

test('impersonation adds its headers to every credential', async () => {
  const config = await load(
    { '/k': kubeconfig('token: a, as: bob, as-uid: "7", as-groups: [g, h], as-user-extra: {Scope/x: [s, t]}') },
    at('/k'),
  );
  const credential = await config.credentials?.current();
  assert.ok(credential && config.credentials);
  assert.deepEqual(credential.headers, {
    authorization: 'Bearer a',
    'impersonate-user': 'bob',
    'impersonate-uid': '7',
    'impersonate-group': ['g', 'h'],
    'impersonate-extra-scope%2fx': ['s', 't'],
  });
  assert.equal(await config.credentials.renew(credential), undefined);
});

test('a token stands in for a token file that is not there yet', async () => {
  const files: Record<string, string> = { '/k': kubeconfig('token: first, tokenFile: later') };
  const config = await load(files, at('/k'));
  assert.equal((await config.credentials?.current())?.headers['authorization'], 'Bearer first');
  files['/later'] = 'second';
  assert.equal((await config.credentials?.current())?.headers['authorization'], 'Bearer second');
});

test('an exec plugin gets its arguments, its environment and, when it asks, the cluster', async () => {
  const runs: ExecPluginRun[] = [];
  const user =
    'exec: {apiVersion: client.authentication.k8s.io/v1, command: ./bin/login, args: [get, token], ' +
    'env: [{name: A, value: "1"}], provideClusterInfo: true, interactiveMode: IfAvailable}';
  const cluster =
    'server: "https://a:1", certificate-authority: ca.crt, tls-server-name: n, ' +
    'extensions: [{name: client.authentication.k8s.io/exec, extension: {audience: x}}]';
  const config = await load(
    { '/dir/k': kubeconfig(user, cluster), '/dir/ca.crt': 'PEM' },
    {
      kubeconfig: '/dir/k',
      hasTerminal: () => true,
      runExecPlugin: (run) => {
        runs.push(run);
        const answer = {
          kind: 'ExecCredential',
          apiVersion: 'client.authentication.k8s.io/v1',
          status: { token: 't' },
        };
        return Promise.resolve({ exitCode: 0, stdout: JSON.stringify(answer) });
      },
    },
  );
  assert.equal((await config.credentials?.current())?.headers['authorization'], 'Bearer t');
  const [run] = runs;
  assert.ok(run);
  assert.equal(run.command, '/dir/bin/login');
  assert.deepEqual(run.args, ['get', 'token']);
  assert.equal(run.env['A'], '1');
  assert.equal(run.env['HOME'], '/home/me', 'the environment of the program is handed on');
  assert.deepEqual(JSON.parse(run.env['KUBERNETES_EXEC_INFO'] ?? ''), {
    kind: 'ExecCredential',
    apiVersion: 'client.authentication.k8s.io/v1',
    spec: {
      interactive: true,
      cluster: {
        server: 'https://a:1',
        'tls-server-name': 'n',
        'certificate-authority-data': Buffer.from('PEM').toString('base64'),
        config: { audience: 'x' },
      },
    },
  });
});
