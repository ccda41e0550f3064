import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  askProgram,
  assertKeptFor,
  startFakeServices,
  type AskedOfService,
  type FakeServices,
} from '../fake-services.suite.ts';
import { temporaryFiles } from '../temporary-files.suite.ts';
import { ACR_REGISTRIES, entraUrl } from './acr-registries.ts';

const IMAGE = 'acme.azurecr.io/app';
const TENANT = '72f988bf-0000-0000-0000-2d7cd011db47';
const ENTRA = `POST /${TENANT}/oauth2/v2.0/token`;
const MANAGED = 'GET /metadata/identity/oauth2/token';
const EXCHANGE = 'POST /oauth2/exchange';

/** Of three hours, as ACR gives it. */
const refreshToken = (): string => {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'RS256' })}.${part({ exp: Math.floor(Date.now() / 1_000) + 10_800 })}.refresh-sekret`;
};
const exchanged = ({ form }: AskedOfService) =>
  form.get('access_token') === 'entra-sekret' && form.get('grant_type') === 'access_token'
    ? { json: { refresh_token: refreshToken() } }
    : { status: 401 };

function config({ url }: FakeServices, more = ''): string {
  return `acr:\n  loginUrl: ${url}\n  exchangeUrl: ${url}\n  metadataUrl: ${url}\n${more}`;
}

test('each cloud has its Entra ID, and a private one none', () => {
  const cases: readonly (readonly [string, string | undefined])[] = [
    ['acme.azurecr.io', 'https://login.microsoftonline.com'],
    ['acme.azurecr.cn', 'https://login.chinacloudapi.cn'],
    ['acme.azurecr.us', 'https://login.microsoftonline.us'],
    ['acme.azurecr.example', undefined],
  ];
  for (const [registry, expected] of cases) assert.equal(entraUrl(registry), expected);
  assert.deepEqual(ACR_REGISTRIES, ['*.azurecr.io', '*.azurecr.cn', '*.azurecr.us']);
});

test('a client secret goes to Entra ID alone, and what comes back to the registry alone', async () => {
  await using services = await startFakeServices({
    [ENTRA]: ({ form }) =>
      form.get('client_secret') === 'client-sekret' ? { json: { access_token: 'entra-sekret' } } : { status: 401 },
    [EXCHANGE]: exchanged,
  });
  using files = temporaryFiles();
  const secret = files.write('secret', 'client-sekret\n');
  const file = files.write(
    'c.yaml',
    config(services, `  tenantId: ${TENANT}\n  clientId: client\n  clientSecretFile: ${secret}\n`),
  );
  const { response } = await askProgram(['acr', `--config=${file}`], { image: IMAGE });
  const [[registry, { password, username }] = ['', { password: '', username: '' }], ...more] = Object.entries(
    response.auth,
  );
  assert.deepEqual([registry, username, more.length], ['acme.azurecr.io', '00000000-0000-0000-0000-000000000000', 0]);
  assert.match(password, /refresh-sekret$/u);
  // Three hours, less a tenth.
  assertKeptFor(9_720, response);
  const [entra, exchange] = services.asked;
  assert.equal(entra?.form.get('scope'), 'https://containerregistry.azure.net/.default');
  assert.deepEqual([exchange?.form.get('service'), exchange?.form.get('tenant')], ['acme.azurecr.io', TENANT]);
  assert.ok(!JSON.stringify(exchange).includes('client-sekret'));
});

test('by the pod’s service account, whose annotations name client and tenant', async () => {
  await using services = await startFakeServices({
    [ENTRA]: ({ form }) =>
      form.get('client_assertion') === 'pod-token' ? { json: { access_token: 'entra-sekret' } } : { status: 401 },
    [EXCHANGE]: exchanged,
  });
  using files = temporaryFiles();
  const annotations = {
    'kubernetes.azure.com/acr-client-id': 'own-client',
    'kubernetes.azure.com/acr-tenant-id': TENANT,
  };
  const args = ['acr', `--config=${files.write('c.yaml', config(services))}`];
  const { code } = await askProgram(args, { image: IMAGE, token: 'pod-token', annotations });
  assert.equal(code, 0);
  const [entra, exchange] = services.asked;
  assert.equal(entra?.form.get('client_id'), 'own-client');
  assert.equal(entra?.form.get('client_assertion_type'), 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer');
  assert.ok(!JSON.stringify(exchange).includes('pod-token'));
  assert.match(
    (await askProgram(args, { image: IMAGE, annotations })).stderr,
    /: no-identity: the annotation \S+ needs tokenAttributes/u,
  );
});

test('by a managed identity of the machine: its only one, or one by client ID or resource ID', async () => {
  await using services = await startFakeServices({
    [MANAGED]: ({ headers }) =>
      headers['metadata'] === 'true'
        ? { json: { access_token: 'entra-sekret', expires_in: '86399' } }
        : { status: 400 },
    [EXCHANGE]: exchanged,
  });
  using files = temporaryFiles();
  const resource = '/subscriptions/1/resourceGroups/a/providers/Microsoft.ManagedIdentity/userAssignedIdentities/b';
  for (const [managedIdentity, expected] of [
    ['', { client_id: null, msi_res_id: null }],
    ['4f1b', { client_id: '4f1b', msi_res_id: null }],
    [resource, { client_id: null, msi_res_id: resource }],
  ] as const) {
    const file = files.write('c.yaml', config(services, `  managedIdentity: ${managedIdentity}\n`));
    const { code, stderr } = await askProgram(['acr', `--config=${file}`], { image: IMAGE });
    assert.equal(code, 0, stderr);
    const query = new URL(services.asked.at(-2)?.path ?? '', services.url).searchParams;
    assert.deepEqual({ client_id: query.get('client_id'), msi_res_id: query.get('msi_res_id') }, expected);
    assert.equal(query.get('resource'), 'https://containerregistry.azure.net');
  }
});

test('each failure is one line with its code, and has no secret in it', async () => {
  const managed = () => ({ json: { access_token: 'entra-sekret' } });
  const cases: readonly (readonly [Parameters<typeof startFakeServices>[0], string, RegExp])[] = [
    [
      {
        [ENTRA]: () => ({
          status: 401,
          json: { error: 'invalid_client', error_description: 'AADSTS7000215: Invalid client secret client-sekret' },
        }),
      },
      `  tenantId: ${TENANT}\n  clientId: client\n  clientSecretFile: SECRET\n`,
      /: unauthenticated: Entra ID at \S+ answered 401 \(invalid_client, AADSTS7000215\)\n$/u,
    ],
    [{}, '  clientId: client\n  clientSecretFile: SECRET\n', /: no-identity: the client has no tenant/u],
    [{}, '  clientSecretFile: SECRET\n', /: configuration: acr\.clientSecretFile needs acr\.clientId\n$/u],
    [
      {},
      '  clientSecretFile: /nowhere/secret\n',
      /: configuration: \/nowhere\/secret cannot be read: ENOENT \(acr\.clientSecretFile\)\n$/u,
    ],
    [{}, '', /: no-identity: the machine has no such managed identity/u],
    [
      {
        [MANAGED]: managed,
        [EXCHANGE]: () => ({ status: 401, json: { errors: [{ code: 'UNAUTHORIZED', message: 'entra-sekret' }] } }),
      },
      '',
      /: unauthenticated: the registry acme\.azurecr\.io at \S+ answered 401 \(UNAUTHORIZED\)\n$/u,
    ],
    [
      { [MANAGED]: managed, [EXCHANGE]: () => ({ json: {} }) },
      '',
      /: bad-answer: the answer of the registry acme\.azurecr\.io has no refresh_token\n$/u,
    ],
  ];
  for (const [table, more, expected] of cases) {
    await using services = await startFakeServices(table);
    using files = temporaryFiles();
    const secret = files.write('secret', 'client-sekret');
    const file = files.write('c.yaml', config(services, more.replace('SECRET', secret)));
    const { code, stderr } = await askProgram(['acr', `--config=${file}`], { image: IMAGE });
    assert.equal(code, 1);
    assert.match(stderr, expected);
    assert.doesNotMatch(stderr, /sekret|secret page/u);
  }
});

test('a token is sent to nobody without TLS', async () => {
  await using services = await startFakeServices({ [MANAGED]: () => ({ json: { access_token: 'entra-sekret' } }) });
  using files = temporaryFiles();
  const file = files.write(
    'c.yaml',
    `acr:\n  metadataUrl: ${services.url}\n  exchangeUrl: http://registry.example.com\n`,
  );
  const { stderr } = await askProgram(['acr', `--config=${file}`], { image: IMAGE });
  assert.match(
    stderr,
    /: configuration: the URL of the registry acme\.azurecr\.io is http:\/\/registry\.example\.com: it must be https:\/\//u,
  );
});
