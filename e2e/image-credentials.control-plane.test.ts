/** The kubelet's own code that runs image credential providers, with the shipped configurations and the script as nodes have it. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { controlPlaneOrSkip } from '@outrigger/testing';
import { parse, stringify } from 'yaml';
import {
  askKubelet,
  kubeletPlugin,
  type AskedKubelet,
  type KubeletQuestion,
} from '../packages/image-credentials/judge/kubelet-plugin.ts';
import { startFakeServices, type FakeServices } from '../packages/image-credentials/src/fake-services.suite.ts';
import { install } from '../packages/image-credentials/src/install.ts';
import { buildScript } from '../scripts/image-credentials/build-executable.ts';
import { builtOrSkip } from './built-or-skip.ts';
import { kubectl, run } from './granted-program.ts';

const ECR = '123456789012.dkr.ecr.eu-central-1.amazonaws.com';
const ROLE = 'arn:aws:iam::123456789012:role/pull';
const folder = mkdtempSync(path.join(tmpdir(), 'outrigger-kubelet-plugin-'));
const binDir = path.join(folder, 'bin');
after(() => rmSync(folder, { recursive: true }));
before(async () => {
  const { file } = await buildScript(folder);
  await install({ self: file, binDir, configDir: path.join(folder, 'etc'), from: undefined });
});

/** What has no Go is a laptop. */
async function isMissing(t: TestContext): Promise<boolean> {
  return (await builtOrSkip(t, 'the kubelet’s code', kubeletPlugin)) === undefined;
}

interface ProviderConfig {
  readonly providers: readonly { readonly args: string[] }[];
}

/** As shipped; only where the configuration lies is another place. */
function nodeWith(name: string, shipped: readonly string[], config: object): string {
  const etc = path.join(folder, name);
  mkdirSync(path.join(etc, 'credential-providers'), { recursive: true });
  const file = path.join(etc, 'image-credentials.yaml');
  writeFileSync(file, stringify(config));
  for (const one of shipped) {
    const text = readFileSync(new URL(`../deploy/image-credentials/${one}.yml`, import.meta.url), 'utf8');
    const found = parse(text) as ProviderConfig;
    for (const { args } of found.providers) args.push(`--config=${file}`);
    writeFileSync(path.join(etc, 'credential-providers', `${one}.yml`), stringify(found));
  }
  return path.join(etc, 'credential-providers');
}

function ask(
  config: string,
  questions: readonly KubeletQuestion[],
  env: Readonly<Record<string, string>> = {},
): Promise<AskedKubelet> {
  return askKubelet({ config, binDir }, questions, env);
}

const ecrToken = () => ({
  json: {
    authorizationData: [
      {
        authorizationToken: Buffer.from('AWS:ecr-sekret').toString('base64'),
        expiresAt: Math.floor(Date.now() / 1_000) + 43_200,
      },
    ],
  },
});
const jwt = (): string => {
  const payload = Buffer.from(JSON.stringify({ exp: Math.floor(Date.now() / 1_000) + 10_800 })).toString('base64url');
  return `e30.${payload}.acr-sekret`;
};

function fakes(): Promise<FakeServices> {
  return startFakeServices({
    'POST /': ({ form }) =>
      form.get('Action') === 'AssumeRoleWithWebIdentity'
        ? {
            text: '<AccessKeyId>ASIAPOD</AccessKeyId><SecretAccessKey>sekret</SecretAccessKey><SessionToken>session-sekret</SessionToken>',
          }
        : ecrToken(),
    'POST /v1/token': ({ form }) => ({
      json: { access_token: `gcr-sekret-of-${form.get('subject_token')}`, expires_in: 3_600 },
    }),
    'GET /computeMetadata/v1/instance/service-accounts/default/token': () => ({
      json: { access_token: 'gcr-sekret-of-node', expires_in: 3_600 },
    }),
    'GET /metadata/identity/oauth2/token': () => ({ json: { access_token: 'entra-sekret' } }),
    'POST /tenant/oauth2/v2.0/token': () => ({ json: { access_token: 'entra-sekret' } }),
    'POST /oauth2/exchange': () => ({ json: { refresh_token: jwt() } }),
    'POST /exchange': () => ({ json: { access_token: 'generic-sekret', expires_in: 600 } }),
  });
}

function configOf({ url }: FakeServices, audience?: string): object {
  return {
    ecr: { ecrUrl: url, stsUrl: url },
    gcr: { stsUrl: url, metadataUrl: url, ...(audience !== undefined && { audience }) },
    acr: { loginUrl: url, exchangeUrl: url, metadataUrl: url },
    generic: { registries: { 'registry.example.com': { exchangeUrl: `${url}/exchange` } } },
  };
}

const AWS = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'env-sekret' };

test('by the node’s identity, each shipped configuration gives the kubelet credentials, which it keeps by the registry', async (t) => {
  if (await isMissing(t)) return;
  await using services = await fakes();
  const config = nodeWith('node', ['acr', 'ecr', 'gcr', 'generic'], configOf(services));
  const { answers, log } = await ask(
    config,
    [
      { image: `${ECR}/app` },
      { image: `${ECR}/other` },
      { image: 'europe-docker.pkg.dev/project/app' },
      { image: 'acme.azurecr.io/app' },
      { image: 'acme.azurecr.io/other' },
      { image: 'docker.io/library/nginx' },
    ],
    AWS,
  );
  const given = answers.map(({ credentials }) =>
    credentials.map(({ password, username }) => `${username} ${password.replace(/^e30.*\./u, '')}`),
  );
  const acr = '00000000-0000-0000-0000-000000000000 acr-sekret';
  assert.deepEqual(
    given,
    [['AWS ecr-sekret'], ['AWS ecr-sekret'], ['_token gcr-sekret-of-node'], [acr], [acr], []],
    log,
  );
  assert.deepEqual(
    services.asked.map(({ path }) => path.split('?')[0]),
    [
      '/',
      '/computeMetadata/v1/instance/service-accounts/default/token',
      '/metadata/identity/oauth2/token',
      '/oauth2/exchange',
    ],
  );
});

test('by the identity of the pod, the token that the kubelet gives is what is exchanged', async (t) => {
  if (await isMissing(t)) return;
  await using services = await fakes();
  const shipped = ['acr', 'ecr', 'gcr', 'generic'].map((one) => `${one}-service-accounts`);
  const config = nodeWith('pod', shipped, configOf(services, '//iam.googleapis.com/projects/1/pool'));
  const pod = { serviceAccount: 'app', token: 'pod-token' };
  const annotations = {
    'eks.amazonaws.com/ecr-role-arn': ROLE,
    'kubernetes.azure.com/acr-client-id': 'client',
    'kubernetes.azure.com/acr-tenant-id': 'tenant',
    'not.for/it': 'x',
  };
  const { answers, log } = await ask(
    config,
    [
      { ...pod, annotations, image: `${ECR}/app` },
      { ...pod, annotations, image: 'gcr.io/project/app' },
      { ...pod, annotations, image: 'acme.azurecr.io/app' },
      { ...pod, annotations, image: 'registry.example.com/app' },
      // A static pod has no service account.
      { image: `${ECR}/static` },
    ],
    AWS,
  );
  const passwords = answers.map(({ credentials }) =>
    credentials.map(({ password }) => password.replace(/^e30.*\./u, '')).join(','),
  );
  assert.deepEqual(
    passwords,
    ['ecr-sekret', 'gcr-sekret-of-pod-token', 'acr-sekret', 'generic-sekret', 'ecr-sekret'],
    log,
  );
  const tokens = services.asked.map(
    ({ form }) => form.get('WebIdentityToken') ?? form.get('subject_token') ?? form.get('client_assertion'),
  );
  assert.deepEqual(tokens, ['pod-token', null, 'pod-token', 'pod-token', null, 'pod-token', null]);
});

test('what fails is one line with its code in the kubelet’s log, without a secret, and the pull goes on without credentials', async (t) => {
  if (await isMissing(t)) return;
  await using services = await startFakeServices({
    'POST /': () => ({
      status: 400,
      text: '<Code>ExpiredTokenException</Code><Message>pod-token env-sekret</Message>',
    }),
  });
  const { ecr } = configOf(services) as { readonly ecr: object };
  const registries = ['210987654321.dkr.ecr.eu-central-1.amazonaws.com'];
  const narrow = nodeWith('narrow', ['ecr'], { ecr: { ...ecr, registries } });
  const refused = await ask(narrow, [{ image: `${ECR}/app` }], AWS);
  assert.deepEqual(refused.answers, [{ found: false, credentials: [] }]);
  assert.match(
    refused.log,
    /outrigger-image-credentials ecr: registry-not-allowed: 123456789012\.\S+ is not in ecr\.registries/u,
  );
  assert.equal(services.asked.length, 0);
  const wide = nodeWith('expired', ['ecr-service-accounts'], { ecr });
  const annotations = { 'eks.amazonaws.com/ecr-role-arn': ROLE };
  const expired = await ask(
    wide,
    [{ image: `${ECR}/app`, serviceAccount: 'app', token: 'pod-token', annotations }],
    AWS,
  );
  assert.deepEqual(expired.answers, [{ found: false, credentials: [] }]);
  assert.match(
    expired.log,
    /outrigger-image-credentials ecr: unauthenticated: STS at \S+ answered 400 \(ExpiredTokenException\)/u,
  );
  assert.doesNotMatch(`${refused.log}${expired.log}`, /sekret|pod-token/u);
});

const shipped = (name: string): string =>
  fileURLToPath(new URL(`../deploy/image-credentials/${name}`, import.meta.url));

test('the installer is taken by the API server, and kubelets get tokens of pods for the shipped audiences alone', async (t) => {
  const controlPlane = await controlPlaneOrSkip(t, {
    kubectl: true,
    flags: { 'kube-apiserver': { 'enable-admission-plugins': 'NodeRestriction' } },
  });
  if (!controlPlane) return;
  const name = 'outrigger-image-credentials';
  await kubectl(controlPlane, ['-n', 'kube-system', 'create', 'configmap', name, `--from-file=${shipped('ecr.yml')}`]);
  await kubectl(controlPlane, ['apply', '--warnings-as-errors', '--validate=strict', '-f', shipped('installer.yml')]);

  // A pod of the node, whose kubelet asks for a token of its service account.
  await kubectl(controlPlane, ['create', 'serviceaccount', 'app']);
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'app' },
    spec: { nodeName: 'n1', serviceAccountName: 'app', containers: [{ name: 'app', image: 'app' }] },
  };
  await kubectl(controlPlane, ['create', '-f', '-'], JSON.stringify(pod));
  const uid = await kubectl(controlPlane, ['get', 'pod', 'app', '-o', 'jsonpath={.metadata.uid}']);
  const kubelet = await controlPlane.kubeconfigFor({ user: 'system:node:n1', groups: ['system:nodes'] });
  const ask = (audience: string): Promise<string> => {
    const bound = ['--bound-object-kind=Pod', '--bound-object-name=app', `--bound-object-uid=${uid}`];
    const args = ['create', 'token', 'app', `--audience=${audience}`, ...bound];
    return run(controlPlane.kubectl ?? '', ['--kubeconfig', kubelet.path, ...args]);
  };
  const audiences = ['acr', 'ecr', 'gcr', 'generic'].map((one) => {
    const { providers } = parse(readFileSync(shipped(`${one}-service-accounts.yml`), 'utf8')) as {
      readonly providers: readonly [{ readonly tokenAttributes: { readonly serviceAccountTokenAudience: string } }];
    };
    return providers[0].tokenAttributes.serviceAccountTokenAudience;
  });
  // The authorizer learns of the pod a moment later.
  const refusals: string[] = [];
  while (!refusals.at(-1)?.includes('audience')) {
    assert.ok(refusals.length < 100, refusals.at(-1));
    await ask(audiences[0] ?? '').then(
      () => assert.fail('a token before it is allowed'),
      (error: Error) => refusals.push(error.message),
    );
  }
  await kubectl(controlPlane, ['apply', '--warnings-as-errors', '--validate=strict', '-f', shipped('audiences.yml')]);
  for (const audience of audiences) {
    const tokens: string[] = [];
    for (let attempt = 0; tokens.length === 0 && attempt < 100; attempt++) {
      await ask(audience).then(
        (token) => tokens.push(token),
        () => {},
      );
    }
    const [, claims = ''] = tokens[0]?.split('.') ?? [];
    const { aud } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { readonly aud: readonly string[] };
    assert.deepEqual(aud, [audience]);
  }
  await assert.rejects(ask('https://vault.example.com'), /audience/u);
});
