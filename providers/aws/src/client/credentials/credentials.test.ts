import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { awsRig, queryError, type AwsRig, type Scripted, type Sent } from '../aws-rig.suite.ts';

const IDENTITY: Scripted = {
  text: '<GetCallerIdentityResponse xmlns="x"><GetCallerIdentityResult><Account>123456789012</Account></GetCallerIdentityResult></GetCallerIdentityResponse>',
};
const HOUR_MS = 3_600_000;

/** What STS gives for a role. */
function roleAnswer(operation: string, accessKeyId: string, expiration: string): Scripted {
  return {
    text: `<${operation}Response xmlns="x"><${operation}Result><Credentials><AccessKeyId>${accessKeyId}</AccessKeyId><SecretAccessKey>s-${accessKeyId}</SecretAccessKey><SessionToken>t-${accessKeyId}</SessionToken><Expiration>${expiration}</Expiration></Credentials></${operation}Result></${operation}Response>`,
  };
}

/** The key by which a request is signed; empty: it is not. */
function keyOf({ headers }: Sent): string {
  return /Credential=([^/]+)\//u.exec(headers['authorization'] ?? '')?.[1] ?? '';
}

const ask = ({ call, client }: AwsRig): Promise<object> => client.sts(call, 'GetCallerIdentity', {});

async function folderOf(t: TestContext, files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'outrigger-aws-'));
  t.after(() => rm(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return folder;
}

test('keys of the environment, with a session token', async () => {
  await using rig = await awsRig(() => IDENTITY, {
    credentials: undefined,
    env: { AWS_ACCESS_KEY_ID: 'AKIAENV', AWS_SECRET_ACCESS_KEY: 'secret', AWS_SESSION_TOKEN: 'session' },
  });
  await ask(rig);
  assert.deepEqual(rig.sent.map(keyOf), ['AKIAENV']);
  assert.equal(rig.sent[0]?.headers['x-amz-security-token'], 'session');
  assert.equal(rig.opened.redact('a secret and a session'), 'a [redacted] and a [redacted]');
});

/** An instance with a role, whose credentials end after an hour. */
function instance(clock: () => number, more: (sent: Sent) => Scripted = () => IDENTITY): (sent: Sent) => Scripted {
  let given = 0;
  return (sent) => {
    const { pathname } = new URL(sent.url);
    if (!sent.url.startsWith('http://169.254.169.254/')) return more(sent);
    if (pathname === '/latest/api/token')
      return sent.method === 'PUT' && sent.headers['x-aws-ec2-metadata-token-ttl-seconds'] === '21600'
        ? { text: 'a-token' }
        : { status: 400, text: '' };
    if (sent.headers['x-aws-ec2-metadata-token'] !== 'a-token') return { status: 401, text: '' };
    if (pathname === '/latest/meta-data/placement/region') return { text: 'us-west-2' };
    if (pathname === '/latest/meta-data/iam/security-credentials') return { text: 'node-role' };
    if (pathname === '/latest/meta-data/iam/security-credentials/node-role')
      return {
        text: JSON.stringify({
          Code: 'Success',
          AccessKeyId: `ASIA${++given}`,
          SecretAccessKey: 'secret',
          Token: 'session',
          Expiration: new Date(clock() + HOUR_MS).toISOString(),
        }),
      };
    return { status: 404, text: '' };
  };
}

test('the role of the instance: one asks for all, and again before its end, while it still serves', async () => {
  let now = (): number => 0;
  await using rig = await awsRig(
    instance(() => now()),
    { credentials: undefined, region: undefined },
  );
  now = () => rig.clock.now();
  await rig.client.region(rig.call);
  await Promise.all([ask(rig), ask(rig), ask(rig)]);
  const asked = (): string[] => rig.sent.filter(({ url }) => url.includes('169.254')).map(({ url }) => url.slice(22));
  assert.deepEqual(asked().toSorted(), [
    '/latest/api/token',
    '/latest/meta-data/iam/security-credentials',
    '/latest/meta-data/iam/security-credentials/node-role',
    '/latest/meta-data/placement/region',
  ]);
  const signed = (): string[] => rig.sent.map(keyOf).filter((key) => key !== '');
  assert.deepEqual(signed(), ['ASIA1', 'ASIA1', 'ASIA1']);
  assert.match(rig.sent.at(-1)?.url ?? '', /sts\.us-west-2\.amazonaws\.com/u);
  await rig.clock.advance(HOUR_MS - 4 * 60_000);
  await ask(rig);
  while (asked().length < 6) await setImmediate();
  await ask(rig);
  assert.deepEqual(signed().slice(3), ['ASIA1', 'ASIA2']);
});

test('a renewal that fails leaves what is still valid in use', async () => {
  let now = (): number => 0;
  let isDown = false;
  const up = instance(() => now());
  await using rig = await awsRig(
    (sent) => (isDown && sent.url.includes('169.254') ? { status: 500, text: '' } : up(sent)),
    { credentials: undefined },
  );
  now = () => rig.clock.now();
  await ask(rig);
  isDown = true;
  await rig.clock.advance(HOUR_MS - 60_000);
  await ask(rig);
  await ask(rig);
  assert.deepEqual(
    rig.sent.map(keyOf).filter((key) => key !== ''),
    ['ASIA1', 'ASIA1', 'ASIA1'],
  );
  await rig.clock.advance(2 * 60_000);
  await assert.rejects(ask(rig), /those of the instance cannot be had/u);
});

test('an instance that has no role, and one whose metadata does not answer, say what to do', async () => {
  const none = instance(() => 0);
  await using rig = await awsRig((sent) => (sent.url.includes('/iam/') ? { status: 404, text: '' } : none(sent)), {
    credentials: undefined,
  });
  await assert.rejects(ask(rig), {
    code: 'unauthenticated',
    message: /the instance has no role: give it an instance profile/u,
  });
  await using far = await awsRig(() => new Promise<never>(() => {}), { credentials: undefined, region: undefined });
  const late = assert.rejects(far.client.metadata(far.call, 'meta-data/instance-id'), {
    code: 'timeout',
    message: /hop limit 2/u,
  });
  while (far.sent.length === 0) await setImmediate();
  await far.clock.advance(2_000);
  await late;
});

test('the metadata: a text, or nothing; a token that is not accepted any more is replaced', async () => {
  const up = instance(() => 0);
  let isOld = false;
  await using rig = await awsRig((sent) => {
    if (isOld && sent.method === 'GET') {
      isOld = false;
      return { status: 401, text: '' };
    }
    return up(sent);
  });
  assert.equal(await rig.client.metadata(rig.call, 'meta-data/placement/region'), 'us-west-2');
  assert.equal(await rig.client.metadata(rig.call, 'meta-data/spot'), undefined);
  isOld = true;
  assert.equal(await rig.client.metadata(rig.call, 'meta-data/placement/region'), 'us-west-2');
  assert.equal(rig.sent.filter(({ method }) => method === 'PUT').length, 2);
});

test('a role by a token of the cluster: unsigned, and the token is read anew', async (t) => {
  const folder = await folderOf(t, { token: 'jwt-1\n' });
  let given = 0;
  await using rig = await awsRig(
    ({ form }) =>
      form.get('Action') === 'AssumeRoleWithWebIdentity'
        ? roleAnswer('AssumeRoleWithWebIdentity', `ASIA${++given}`, `2026-11-23T${12 + given}:00:00Z`)
        : IDENTITY,
    {
      credentials: undefined,
      env: { AWS_WEB_IDENTITY_TOKEN_FILE: join(folder, 'token'), AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/ccm' },
    },
  );
  await ask(rig);
  await writeFile(join(folder, 'token'), 'jwt-2');
  await rig.clock.advance(HOUR_MS);
  await ask(rig);
  assert.deepEqual(
    rig.sent.map((sent) => [sent.form.get('WebIdentityToken'), sent.form.get('RoleArn'), keyOf(sent)]),
    [
      ['jwt-1', 'arn:aws:iam::123456789012:role/ccm', ''],
      [null, null, 'ASIA1'],
      ['jwt-2', 'arn:aws:iam::123456789012:role/ccm', ''],
      [null, null, 'ASIA2'],
    ],
  );
  assert.equal(rig.opened.redact('the token jwt-2, t-ASIA2'), 'the token [redacted], [redacted]');
});

test('the role of the cloud config is assumed with the credentials that there are, for a source that is signed too', async () => {
  await using rig = await awsRig(
    ({ form }) =>
      form.get('Action') === 'AssumeRole' ? roleAnswer('AssumeRole', 'ASIAROLE', '2026-11-23T13:00:00Z') : IDENTITY,
    {
      role: { arn: 'arn:aws:iam::123456789012:role/ccm', sourceArn: 'arn:aws:eks:eu-central-1:123456789012:cluster/a' },
    },
  );
  await Promise.all([ask(rig), ask(rig)]);
  assert.deepEqual(rig.sent.map(keyOf), ['AKIAEXAMPLE', 'ASIAROLE', 'ASIAROLE']);
  const { headers } = rig.sent[0] as Sent;
  assert.equal(headers['x-amz-source-arn'], 'arn:aws:eks:eu-central-1:123456789012:cluster/a');
  assert.equal(headers['x-amz-source-account'], '123456789012');
  assert.match(headers['authorization'] ?? '', /SignedHeaders=[^,]*x-amz-source-account;x-amz-source-arn/u);
});

test("a container's agent: its token is read anew; without TLS only on this machine", async (t) => {
  const folder = await folderOf(t, { token: 'pod-1' });
  const env = {
    AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://169.254.170.23/v1/credentials',
    AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: join(folder, 'token'),
    HOME: '/nowhere',
  };
  await using rig = await awsRig(
    ({ headers, url }) =>
      url === 'http://169.254.170.23/v1/credentials'
        ? {
            text: JSON.stringify({
              AccessKeyId: `ASIA-${headers['authorization']}`,
              SecretAccessKey: 's',
              Token: 't',
              Expiration: '2026-11-23T12:30:00Z',
            }),
          }
        : IDENTITY,
    { credentials: undefined, env },
  );
  await ask(rig);
  await writeFile(join(folder, 'token'), 'pod-2');
  await rig.clock.advance(HOUR_MS / 2);
  await ask(rig);
  assert.deepEqual(rig.sent.map(keyOf), ['', 'ASIA-pod-1', '', 'ASIA-pod-2']);
  await using far = await awsRig(() => IDENTITY, {
    credentials: undefined,
    env: { ...env, AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://example.com/credentials' },
  });
  await assert.rejects(ask(far), { code: 'configuration', message: /it must be https/u });
  assert.deepEqual(far.sent, []);
});

test('profiles: keys, a process, roles by other profiles, and what is not served', async (t) => {
  const folder = await folderOf(t, {
    credentials:
      '[default]\naws_access_key_id = AKIADEFAULT\naws_secret_access_key = a\n[base]\naws_access_key_id = AKIABASE\naws_secret_access_key = b\n',
    config: `[default]
region = ap-south-1
[profile process]
credential_process = printf '{"Version":1,"AccessKeyId":"AKIAPROCESS","SecretAccessKey":"p"}'
[profile failing]
credential_process = echo hidden >&2; exit 3
[profile role]
role_arn = arn:aws:iam::123456789012:role/a
source_profile = base
external_id = x1
[profile chained]
role_arn = arn:aws:iam::123456789012:role/b
source_profile = role
[profile circle]
role_arn = arn:aws:iam::123456789012:role/c
source_profile = circle2
[profile circle2]
role_arn = arn:aws:iam::123456789012:role/d
source_profile = circle
[profile environment]
role_arn = arn:aws:iam::123456789012:role/e
credential_source = Environment
[profile person]
sso_session = me
[profile mfa]
role_arn = arn:aws:iam::123456789012:role/f
source_profile = base
mfa_serial = arn:aws:iam::123456789012:mfa/me
`,
  });
  const files = { AWS_CONFIG_FILE: join(folder, 'config'), AWS_SHARED_CREDENTIALS_FILE: join(folder, 'credentials') };
  const keysOf = async (profile: string | undefined): Promise<readonly string[]> => {
    await using rig = await awsRig(
      ({ form }) =>
        form.get('Action') === 'AssumeRole'
          ? roleAnswer(
              'AssumeRole',
              `ASIA-${form.get('RoleArn')?.slice(-1)}-${form.get('ExternalId') ?? ''}`,
              '2026-11-23T13:00:00Z',
            )
          : IDENTITY,
      {
        credentials: undefined,
        region: undefined,
        env: { ...files, ...(profile && { AWS_PROFILE: profile, AWS_REGION: 'eu-west-1' }) },
      },
    );
    await ask(rig);
    if (profile === undefined) assert.match(rig.sent[0]?.url ?? '', /sts\.ap-south-1\./u);
    return rig.sent.map(keyOf);
  };
  assert.deepEqual(await keysOf(undefined), ['AKIADEFAULT']);
  assert.deepEqual(await keysOf('base'), ['AKIABASE']);
  assert.deepEqual(await keysOf('process'), ['AKIAPROCESS']);
  assert.deepEqual(await keysOf('role'), ['AKIABASE', 'ASIA-a-x1']);
  assert.deepEqual(await keysOf('chained'), ['AKIABASE', 'ASIA-a-x1', 'ASIA-b-']);
  const failing: readonly (readonly [profile: string, message: RegExp])[] = [
    ['failing', /^the credential_process of the profile failing ended with 3: run it by hand to see why$/u],
    ['circle', /is in a circle of source_profile: circle, circle2, circle/u],
    ['environment', /AWS_ACCESS_KEY_ID or AWS_SECRET_ACCESS_KEY is not set/u],
    ['person', /wants a sign-in by a person/u],
    ['mfa', /a second factor/u],
    ['absent', /is named in AWS_PROFILE and stands in no file/u],
  ];
  for (const [profile, message] of failing) await assert.rejects(keysOf(profile), { message }, profile);
});

test('credentials that AWS refuses are asked for anew; the same again are not sent again, and are named', async () => {
  let now = (): number => 0;
  let isExpired = true;
  await using rig = await awsRig(
    instance(
      () => now(),
      () => {
        if (!isExpired) return IDENTITY;
        isExpired = false;
        return queryError('ExpiredToken', 'The security token included in the request is expired', 403);
      },
    ),
    { credentials: undefined },
  );
  now = () => rig.clock.now();
  await ask(rig);
  assert.deepEqual(
    rig.sent.map(keyOf).filter((key) => key !== ''),
    ['ASIA1', 'ASIA2'],
  );
  await using fixed = await awsRig(() => queryError('InvalidClientTokenId', 'The token is invalid', 403), {
    credentials: undefined,
    env: { AWS_ACCESS_KEY_ID: 'AKIAENV', AWS_SECRET_ACCESS_KEY: 'wrong' },
  });
  await assert.rejects(ask(fixed), {
    code: 'unauthenticated',
    message:
      'AWS refuses the credentials of the environment (AWS_ACCESS_KEY_ID): InvalidClientTokenId: The token is invalid',
  });
  assert.equal(fixed.sent.length, 1);
});

test('a machine whose clock is wrong signs by the time of AWS from the first refusal on, and says so once', async () => {
  const aws = Date.parse('2026-11-23T12:20:00Z');
  await using rig = await awsRig(({ headers }) =>
    headers['x-amz-date'] === '20261123T122000Z'
      ? IDENTITY
      : {
          ...queryError('SignatureDoesNotMatch', 'Signature expired', 403),
          headers: { date: new Date(aws).toUTCString() },
        },
  );
  await ask(rig);
  await ask(rig);
  assert.deepEqual(
    rig.sent.map(({ headers }) => headers['x-amz-date']),
    ['20261123T120000Z', '20261123T122000Z', '20261123T122000Z'],
  );
  assert.deepEqual(rig.warned, [
    'The clock of this machine is not that of AWS: requests are signed by the time of AWS',
  ]);
});
