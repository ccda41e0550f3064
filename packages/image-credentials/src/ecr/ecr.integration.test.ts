import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { test } from 'node:test';
import { FakeClock } from '@outrigger/testing';
import {
  askProgram,
  assertKeptFor,
  startFakeServices,
  whileTimePasses,
  type AskedOfService,
  type FakeServices,
  type ServiceAnswer,
} from '../fake-services.suite.ts';
import { temporaryFiles } from '../temporary-files.suite.ts';

const IMAGE = '123456789012.dkr.ecr.eu-central-1.amazonaws.com/app';
const ROLE = 'arn:aws:iam::123456789012:role/pull';
const ENV = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'env-sekret' };

/** 12 hours from now. */
const granted = (): ServiceAnswer => ({
  json: {
    authorizationData: [
      {
        authorizationToken: Buffer.from('AWS:registry-sekret').toString('base64'),
        expiresAt: Math.floor(Date.now() / 1_000) + 43_200,
        proxyEndpoint: 'https://123456789012.dkr.ecr.eu-central-1.amazonaws.com',
      },
    ],
  },
});

const imds = {
  'PUT /latest/api/token': ({ headers }: AskedOfService) =>
    headers['x-aws-ec2-metadata-token-ttl-seconds'] ? { text: 'imds-session' } : { status: 400 },
  'GET /latest/meta-data/iam/security-credentials/': ({ headers }: AskedOfService) =>
    headers['x-aws-ec2-metadata-token'] === 'imds-session' ? { text: 'node-role' } : { status: 401 },
  'GET /latest/meta-data/iam/security-credentials/node-role': ({ headers }: AskedOfService) =>
    headers['x-aws-ec2-metadata-token'] === 'imds-session'
      ? { json: { Code: 'Success', AccessKeyId: 'ASIANODE', SecretAccessKey: 'node-sekret', Token: 'node-session' } }
      : { status: 401 },
};

const STS_ANSWER = `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult>
<Credentials><AccessKeyId>ASIAPOD</AccessKeyId><SecretAccessKey>pod+sekret/=</SecretAccessKey><SessionToken>pod-session==</SessionToken>
<Expiration>2030-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`;

function config(services: FakeServices, more = ''): string {
  const urls = ['ecrUrl', 'ecrPublicUrl', 'stsUrl', 'metadataUrl'].map((key) => `  ${key}: ${services.url}\n`);
  return `ecr:\n${urls.join('')}${more}`;
}

/** AWS signature version 4, written down a second time, from its documentation. */
function signatureOf({ body, headers, path }: AskedOfService, secret: string): string {
  const [, scope = '', names = ''] =
    /Credential=[^/]+\/(\S+), SignedHeaders=(\S+),/u.exec(headers.authorization ?? '') ?? [];
  const lines = names.split(';').map((name) => `${name}:${String(headers[name]).trim()}\n`);
  const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
  const canonical = ['POST', path, '', lines.join(''), names, hash(body)].join('\n');
  const key = scope
    .split('/')
    .reduce<string | Buffer>((from, part) => createHmac('sha256', from).update(part).digest(), `AWS4${secret}`);
  const toSign = ['AWS4-HMAC-SHA256', String(headers['x-amz-date']), scope, hash(canonical)].join('\n');
  return createHmac('sha256', key).update(toSign).digest('hex');
}

test('by the keys of the environment, signed, for the account and the region of the image', async () => {
  await using services = await startFakeServices({ 'POST /': granted });
  using files = temporaryFiles();
  const { code, response } = await askProgram(['ecr', `--config=${files.write('c.yaml', config(services))}`], {
    image: IMAGE,
    env: ENV,
  });
  assert.equal(code, 0);
  assert.deepEqual(response.auth, {
    '123456789012.dkr.ecr.eu-central-1.amazonaws.com': { username: 'AWS', password: 'registry-sekret' },
  });
  assert.equal(response.cacheKeyType, 'Registry');
  // Twelve hours, less half an hour.
  assertKeptFor(41_400, response);
  const [asked] = services.asked;
  assert.equal(asked?.headers['x-amz-target'], 'AmazonEC2ContainerRegistry_V20150921.GetAuthorizationToken');
  assert.equal(asked?.body, '{"registryIds":["123456789012"]}');
  assert.match(
    asked?.headers.authorization ?? '',
    /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-central-1\/ecr\/aws4_request, /u,
  );
  assert.ok(
    asked?.headers.authorization?.endsWith(`Signature=${signatureOf(asked, 'env-sekret')}`),
    asked?.headers.authorization,
  );
});

test('by the role of the instance, with a session of the metadata service', async () => {
  await using services = await startFakeServices({ ...imds, 'POST /': granted });
  using files = temporaryFiles();
  const { code } = await askProgram(['ecr', `--config=${files.write('c.yaml', config(services))}`], { image: IMAGE });
  assert.equal(code, 0);
  const asked = services.asked.at(-1);
  assert.equal(asked?.headers['x-amz-security-token'], 'node-session');
  assert.ok(asked?.headers.authorization?.endsWith(signatureOf(asked, 'node-sekret')));
});

test('a metadata service that is turned off, or forbidden to the kubelet, says what to do', async () => {
  await using services = await startFakeServices({ 'PUT /latest/api/token': () => ({ status: 403 }) });
  using files = temporaryFiles();
  const args = ['ecr', `--config=${files.write('c.yaml', config(services))}`];
  const { stderr } = await askProgram(args, { image: IMAGE });
  assert.match(
    stderr,
    /: forbidden: the instance metadata service at \S+ answered 403: turn its metadata on for this machine,/u,
  );
});

test('by the role of the pod’s service account, whose token goes to STS alone', async () => {
  await using services = await startFakeServices({
    'POST /': (asked) => (asked.form.get('Action') === null ? granted() : { text: STS_ANSWER }),
  });
  using files = temporaryFiles();
  const { code } = await askProgram(['ecr', `--config=${files.write('c.yaml', config(services))}`], {
    image: IMAGE,
    token: 'pod-token',
    annotations: { 'eks.amazonaws.com/ecr-role-arn': ROLE },
    env: ENV,
  });
  assert.equal(code, 0);
  const [sts, ecr, ...more] = services.asked;
  assert.deepEqual(Object.fromEntries(sts?.form ?? []), {
    Action: 'AssumeRoleWithWebIdentity',
    Version: '2011-06-15',
    RoleArn: ROLE,
    RoleSessionName: 'outrigger-image-credentials',
    WebIdentityToken: 'pod-token',
  });
  assert.equal(sts?.headers.authorization, undefined);
  assert.equal(ecr?.headers['x-amz-security-token'], 'pod-session==');
  assert.ok(!JSON.stringify(ecr).includes('pod-token'));
  assert.equal(more.length, 0);
});

test('the role of the configuration serves pods whose service account names none; without a token, the node’s identity does', async () => {
  await using services = await startFakeServices({
    'POST /': (asked) => (asked.form.get('Action') === null ? granted() : { text: STS_ANSWER }),
  });
  using files = temporaryFiles();
  const file = files.write('c.yaml', config(services, `  roleArn: ${ROLE}\n`));
  await askProgram(['ecr', `--config=${file}`], { image: IMAGE, token: 'pod-token', env: ENV });
  assert.equal(services.asked[0]?.form.get('RoleArn'), ROLE);
  await askProgram(['ecr', `--config=${file}`], { image: IMAGE, env: ENV });
  assert.match(services.asked.at(-1)?.headers.authorization ?? '', /Credential=AKIDEXAMPLE/u);
});

test('ECR Public is asked in its only region, by its own name', async () => {
  const [data] = (granted().json as { authorizationData: readonly unknown[] }).authorizationData;
  await using services = await startFakeServices({ 'POST /': () => ({ json: { authorizationData: data } }) });
  using files = temporaryFiles();
  const { response } = await askProgram(['ecr', `--config=${files.write('c.yaml', config(services))}`], {
    image: 'public.ecr.aws/eks/pause',
    env: ENV,
  });
  assert.deepEqual(Object.keys(response.auth), ['public.ecr.aws']);
  const { authorization, 'x-amz-target': target } = services.asked[0]?.headers ?? {};
  assert.equal(target, 'SpencerFrontendService.GetAuthorizationToken');
  assert.match(authorization ?? '', /\/us-east-1\/ecr-public\/aws4_request/u);
});

test('nothing is sent for a registry that is not on the list, whoever asks', async () => {
  await using services = await startFakeServices({ ...imds, 'POST /': granted });
  using files = temporaryFiles();
  const file = files.write(
    'c.yaml',
    config(services, '  registries: [210987654321.dkr.ecr.eu-central-1.amazonaws.com]\n'),
  );
  const { code, stderr } = await askProgram(['ecr', `--config=${file}`], { image: IMAGE, token: 'pod-token' });
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^outrigger-image-credentials ecr: registry-not-allowed: 123456789012\.dkr\.\S+ is not in ecr\.registries/u,
  );
  assert.equal(services.asked.length, 0);
});

const FAILURES: readonly (readonly [
  string,
  Readonly<Record<string, (asked: AskedOfService) => ServiceAnswer>>,
  Parameters<typeof askProgram>[1],
  RegExp,
])[] = [
  [
    'an expired token',
    {
      'POST /': () => ({
        status: 400,
        text: '<ErrorResponse><Error><Code>ExpiredTokenException</Code><Message>pod-token</Message></Error></ErrorResponse>',
      }),
    },
    { token: 'pod-token', annotations: { 'eks.amazonaws.com/ecr-role-arn': ROLE } },
    /: unauthenticated: STS at http:\/\/127\.0\.0\.1:\d+ answered 400 \(ExpiredTokenException\)\n$/u,
  ],
  [
    'a role that may not',
    { 'POST /': () => ({ status: 400, json: { __type: 'com.amazon#AccessDeniedException', Message: 'env-sekret' } }) },
    { env: ENV },
    /: forbidden: ECR at \S+ answered 400 \(AccessDeniedException\)\n$/u,
  ],
  [
    'no role',
    { 'PUT /latest/api/token': () => ({ text: 'imds-session' }) },
    {},
    /: no-identity: the instance has no role/u,
  ],
  [
    'a role that is none',
    {},
    { token: 'pod-token', annotations: { 'eks.amazonaws.com/ecr-role-arn': 'arn:aws:iam::1:role/x\nevil' } },
    /: no-identity: "arn:aws:iam::1:role\/x\\nevil" is no ARN/u,
  ],
  [
    'an answer without a token',
    { 'POST /': () => ({ json: { authorizationData: [] } }) },
    { env: ENV },
    /: bad-answer: the answer of ECR has no authorizationToken/u,
  ],
  [
    'a page in place of JSON',
    { 'POST /': () => ({ text: '<html>env-sekret' }) },
    { env: ENV },
    /: bad-answer: ECR at \S+ answered with no JSON object/u,
  ],
  [
    'a redirect',
    { 'POST /': () => ({ status: 302, headers: { location: 'http://127.0.0.1:1/' } }) },
    { env: ENV },
    /: refused: ECR at \S+ answered 302\n$/u,
  ],
];

test('each failure is one line with its code, and has no secret in it', async () => {
  for (const [name, services, options, expected] of FAILURES) {
    await using fake = await startFakeServices(services);
    using files = temporaryFiles();
    const { code, stderr, stdout } = await askProgram(['ecr', `--config=${files.write('c.yaml', config(fake))}`], {
      image: IMAGE,
      ...options,
    });
    assert.deepEqual([code, stdout], [1, ''], name);
    assert.match(stderr, expected, name);
    assert.match(stderr, /^[^\n]+\n$/u, name);
    assert.doesNotMatch(stderr, /sekret|pod-token|imds-session/u, name);
  }
});

test('what fails for a moment is asked again, twice, with a pause', async () => {
  let asked = 0;
  await using services = await startFakeServices({ 'POST /': () => (++asked < 3 ? { status: 503 } : granted()) });
  using files = temporaryFiles();
  const clock = new FakeClock();
  const answer = askProgram(['ecr', `--config=${files.write('c.yaml', config(services))}`], {
    image: IMAGE,
    env: ENV,
    clock,
  });
  assert.equal((await whileTimePasses(clock, 250, answer)).code, 0);
  assert.equal(asked, 3);
});

test('too many requests are asked again too; when they go on, the failure says so', async () => {
  const cases: readonly (readonly [ServiceAnswer, number, RegExp])[] = [
    [{ status: 429 }, 3, /: throttled: ECR at \S+ answered 429\n$/u],
    [
      { status: 400, json: { __type: 'ThrottlingException', message: 'env-sekret' } },
      3,
      /: throttled: ECR at \S+ answered 400 \(ThrottlingException\)\n$/u,
    ],
    [{ status: 503 }, 3, /: unavailable: ECR at \S+ answered 503\n$/u],
  ];
  for (const [answer, requests, expected] of cases) {
    await using services = await startFakeServices({ 'POST /': () => answer });
    using files = temporaryFiles();
    const clock = new FakeClock();
    const file = files.write('c.yaml', config(services));
    const asked = askProgram(['ecr', `--config=${file}`], { image: IMAGE, env: ENV, clock });
    assert.match((await whileTimePasses(clock, 250, asked)).stderr, expected);
    assert.equal(services.asked.length, requests);
  }
});
