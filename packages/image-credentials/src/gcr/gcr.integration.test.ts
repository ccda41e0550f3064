import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askProgram, assertKeptFor, startFakeServices, type FakeServices } from '../fake-services.suite.ts';
import { matches, parseImage, parsePattern } from '../image-registry.ts';
import { temporaryFiles } from '../temporary-files.suite.ts';
import { GCR_REGISTRIES } from './gcr-registries.ts';

const IMAGE = 'europe-west3-docker.pkg.dev/project/team/app';
const AUDIENCE = '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/pool/providers/cluster';
const METADATA = 'GET /computeMetadata/v1/instance/service-accounts/default/token';
const token = (value: string, seconds = 3_600) => ({
  json: { access_token: value, expires_in: seconds, token_type: 'Bearer' },
});

function config({ url }: FakeServices, more = ''): string {
  return `gcr:\n  stsUrl: ${url}\n  iamCredentialsUrl: ${url}\n  metadataUrl: ${url}\n${more}`;
}

test('registries of Google are on the list, and no others', () => {
  const allowed = (host: string): boolean =>
    GCR_REGISTRIES.some((one) => matches(parsePattern(one), parseImage(`${host}/a/b`)));
  const cases: readonly (readonly [string, boolean])[] = [
    ['gcr.io', true],
    ['eu.gcr.io', true],
    ['europe-docker.pkg.dev', true],
    ['container.cloud.google.com', true],
    ['gcr.io.evil.example', false],
    ['evilgcr.io', false],
    ['a.b.gcr.io', false],
    ['pkg.dev', false],
    ['docker.io', false],
  ];
  for (const [host, expected] of cases) assert.equal(allowed(host), expected, host);
});

test('by the node’s service account', async () => {
  await using services = await startFakeServices({
    [METADATA]: ({ headers }) => (headers['metadata-flavor'] === 'Google' ? token('node-sekret') : { status: 403 }),
  });
  using files = temporaryFiles();
  const { response } = await askProgram(['gcr', `--config=${files.write('c.yaml', config(services))}`], {
    image: IMAGE,
  });
  assert.deepEqual(response.auth, { 'europe-west3-docker.pkg.dev': { username: '_token', password: 'node-sekret' } });
  assertKeptFor(3_240, response);
});

test('by the pod’s service account, through the token exchange', async () => {
  await using services = await startFakeServices({ 'POST /v1/token': () => token('federated-sekret') });
  using files = temporaryFiles();
  const file = files.write('c.yaml', config(services, `  audience: ${AUDIENCE}\n`));
  const { response } = await askProgram(['gcr', `--config=${file}`], { image: IMAGE, token: 'pod-token' });
  assert.equal(response.auth['europe-west3-docker.pkg.dev']?.password, 'federated-sekret');
  assert.deepEqual(Object.fromEntries(services.asked[0]?.form ?? []), {
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    audience: AUDIENCE,
    scope: 'https://www.googleapis.com/auth/cloud-platform',
    subject_token: 'pod-token',
  });
});

test('the Google service account of the annotation is impersonated', async () => {
  const end = new Date(Date.now() + 3_600_000).toISOString();
  await using services = await startFakeServices({
    'POST /v1/token': () => token('federated-sekret'),
    'POST /v1/projects/-/serviceAccounts/pull%40project.iam.gserviceaccount.com:generateAccessToken': ({ headers }) =>
      headers.authorization === 'Bearer federated-sekret'
        ? { json: { accessToken: 'own-sekret', expireTime: end } }
        : { status: 401 },
  });
  using files = temporaryFiles();
  const file = files.write('c.yaml', config(services, `  audience: ${AUDIENCE}\n`));
  const annotations = { 'iam.gke.io/gcp-service-account': 'pull@project.iam.gserviceaccount.com' };
  const { response } = await askProgram(['gcr', `--config=${file}`], { image: IMAGE, token: 'pod-token', annotations });
  assert.equal(response.auth['europe-west3-docker.pkg.dev']?.password, 'own-sekret');
  const { stderr } = await askProgram(['gcr', `--config=${file}`], {
    image: IMAGE,
    token: 'pod-token',
    annotations: { 'iam.gke.io/gcp-service-account': '../../evil' },
  });
  assert.match(stderr, /: no-identity: "\.\.\/\.\.\/evil" is no e-mail address/u);
});

test('a pod that wants its own identity never pulls by the node’s', async () => {
  await using services = await startFakeServices({ [METADATA]: () => token('node-sekret') });
  using files = temporaryFiles();
  const args = ['gcr', `--config=${files.write('c.yaml', config(services))}`];
  const annotations = { 'iam.gke.io/enable-wi-image-pull': 'true' };
  const without = await askProgram(args, { image: IMAGE, token: 'pod-token', annotations });
  assert.match(without.stderr, /: no-identity: the annotation \S+ needs gcr\.audience/u);
  assert.match((await askProgram(args, { image: IMAGE, annotations })).stderr, /needs tokenAttributes/u);
  assert.equal(services.asked.length, 0);
});

test('each failure is one line with its code, and has no secret in it', async () => {
  const cases: readonly (readonly [Parameters<typeof startFakeServices>[0], string, RegExp])[] = [
    [
      { 'POST /v1/token': () => ({ status: 400, json: { error: 'invalid_grant', error_description: 'pod-token' } }) },
      'pod-token',
      /: unauthenticated: STS at \S+ answered 400 \(invalid_grant\)\n$/u,
    ],
    [
      {
        'POST /v1/token': () => ({
          status: 403,
          json: { error: { code: 403, status: 'PERMISSION_DENIED', message: 'pod-token' } },
        }),
      },
      'pod-token',
      /: forbidden: STS at \S+ answered 403 \(PERMISSION_DENIED\)\n$/u,
    ],
    [
      { 'POST /v1/token': () => ({ json: { expires_in: 1 } }) },
      'pod-token',
      /: bad-answer: the answer of STS has no access_token\n$/u,
    ],
    [{}, '', /: no-identity: the machine has no service account/u],
    [
      { [METADATA]: () => ({ status: 403 }) },
      '',
      /: forbidden: the metadata server at \S+ answered 403: turn its metadata on for this machine, and let .* no proxy or firewall between\n$/u,
    ],
  ];
  for (const [table, subject, expected] of cases) {
    await using services = await startFakeServices(table);
    using files = temporaryFiles();
    const file = files.write('c.yaml', config(services, `  audience: ${AUDIENCE}\n`));
    const { code, stderr } = await askProgram(['gcr', `--config=${file}`], { image: IMAGE, token: subject });
    assert.equal(code, 1);
    assert.match(stderr, expected);
    assert.doesNotMatch(stderr, /pod-token|secret page/u);
  }
});
