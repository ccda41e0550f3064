/** The executable that nodes get, run by the kubelet's own code, against moto and against the registry of the distribution project. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { parse, stringify } from 'yaml';
import { askKubelet } from '../../packages/image-credentials/judge/kubelet-plugin.ts';
import { motoServer, startServer } from '../../packages/image-credentials/judge/moto.ts';
import { registryProgram } from '../../packages/image-credentials/judge/registry.ts';
import { startFakeServices } from '../../packages/image-credentials/src/fake-services.suite.ts';
import { install } from '../../packages/image-credentials/src/install.ts';
import { buildExecutable, type BuiltExecutable } from '../../scripts/image-credentials/build-executable.ts';
import { makeInstallerImage } from '../../scripts/image-credentials/make-image.ts';
import { inRoot } from '../../scripts/image/run-in-root.ts';
import { unpackImage } from '../../scripts/image/unpack-image.suite.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'outrigger-image-credentials-'));
const binDir = path.join(folder, 'bin');
let executable: BuiltExecutable;
after(() => rmSync(folder, { recursive: true }));
before(async () => {
  executable = await buildExecutable(folder);
  const { bytes, file } = executable;
  assert.ok(bytes <= 130e6, `${bytes} bytes`);
  await install({ self: file, binDir, configDir: path.join(folder, 'etc'), from: undefined });
});

/** The shipped configuration with another place of its own file, and other registries where only their owner knows them. */
function nodeWith(shipped: string, config: object, matchImages?: readonly string[]): string {
  const etc = mkdtempSync(path.join(folder, 'node-'));
  const [file, providers] = [path.join(etc, 'image-credentials.yaml'), path.join(etc, 'credential-providers')];
  mkdirSync(providers);
  writeFileSync(file, stringify(config));
  const text = readFileSync(new URL(`../../deploy/image-credentials/${shipped}.yml`, import.meta.url), 'utf8');
  const found = parse(text) as { readonly providers: readonly [{ args: string[]; matchImages: readonly string[] }] };
  found.providers[0].args.push(`--config=${file}`);
  if (matchImages) found.providers[0].matchImages = matchImages;
  writeFileSync(path.join(providers, `${shipped}.yml`), stringify(found));
  return providers;
}

test('ECR of moto, by the keys of the environment and by a role that STS of moto gives for the token of a pod', async () => {
  await using moto = await startServer(motoServer(), (port) => ['-H', '127.0.0.1', '-p', String(port)]);
  const config = nodeWith('ecr-service-accounts', { ecr: { ecrUrl: moto.url, stsUrl: moto.url } });
  const image = '123456789012.dkr.ecr.us-east-1.amazonaws.com/app';
  const annotations = { 'eks.amazonaws.com/ecr-role-arn': 'arn:aws:iam::123456789012:role/pull' };
  // As a token is formed: moto looks into it.
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const token = `${part({ alg: 'none' })}.${part({ sub: 'system:serviceaccount:default:app', aud: 'sts.amazonaws.com' })}.x`;
  const { answers, log } = await askKubelet(
    { config, binDir },
    [{ image }, { image, serviceAccount: 'app', token, annotations }],
    { AWS_ACCESS_KEY_ID: 'x', AWS_SECRET_ACCESS_KEY: 'y' },
  );
  for (const { credentials } of answers) {
    assert.equal(credentials.length, 1, log);
    assert.equal(credentials[0]?.username, 'AWS');
    assert.match(credentials[0]?.password ?? '', /^123456789012-auth-token$/u);
  }
});

/** As docs/spec/auth/token of the distribution project has it: who has the password gets a token for what he asks. */
function tokenService(login: { readonly username: string; readonly password: string }, issuer: string) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'judge', use: 'sig', alg: 'ES256' };
  const basic = `Basic ${Buffer.from(`${login.username}:${login.password}`).toString('base64')}`;
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const tokenFor = (service: string, scope: string): string => {
    const [type = '', name = '', actions = ''] = scope.split(':');
    const now = Math.floor(Date.now() / 1_000);
    const claims = {
      iss: issuer,
      sub: 'node',
      aud: service,
      iat: now,
      nbf: now - 10,
      exp: now + 300,
      jti: randomUUID(),
    };
    const signed = `${part({ alg: 'ES256', typ: 'JWT', kid: 'judge' })}.${part({ ...claims, access: [{ type, name, actions: actions.split(',') }] })}`;
    const signature = sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' });
    return `${signed}.${signature.toString('base64url')}`;
  };
  return {
    jwks: JSON.stringify({ keys: [jwk] }),
    answer: (authorization: string | undefined, query: URLSearchParams) =>
      authorization === basic
        ? { json: { token: tokenFor(query.get('service') ?? '', query.get('scope') ?? '') } }
        : { status: 401 },
  };
}

/** As a container runtime asks: without a token, then where the challenge leads, then with it. */
async function asRuntime(url: string, init: RequestInit, login: string): Promise<Response> {
  const first = await fetch(url, init);
  if (first.status !== 401) return first;
  const challenge = first.headers.get('www-authenticate') ?? '';
  const value = (name: string): string => new RegExp(`${name}="([^"]*)"`, 'u').exec(challenge)?.[1] ?? '';
  const query = new URLSearchParams({ service: value('service'), scope: value('scope') });
  const answer = await fetch(`${value('realm')}?${query.toString()}`, {
    headers: { authorization: `Basic ${Buffer.from(login).toString('base64')}` },
  });
  if (!answer.ok) return answer;
  const { token } = (await answer.json()) as { readonly token: string };
  return fetch(url, {
    ...init,
    headers: { ...(init.headers as Record<string, string>), authorization: `Bearer ${token}` },
  });
}

test('a manifest is pulled from a registry with token authentication by what the kubelet got', async () => {
  const login = { username: 'oauth2', password: `exchanged-${randomUUID()}` };
  const service = tokenService(login, 'judge');
  await using tokens = await startFakeServices({
    'POST /exchange': ({ form }) =>
      form.get('subject_token') === 'pod-token'
        ? { json: { access_token: login.password, expires_in: 600 } }
        : { status: 401 },
    'GET /token': ({ headers, path }) => service.answer(headers.authorization, new URL(path, 'http://x').searchParams),
  });
  const jwks = path.join(folder, 'jwks.json');
  writeFileSync(jwks, service.jwks);
  const file = path.join(folder, 'registry.yml');
  const auth = { token: { realm: `${tokens.url}/token`, service: 'registry', issuer: 'judge', jwks } };
  writeFileSync(
    file,
    stringify({
      version: 0.1,
      storage: { inmemory: {} },
      log: { level: 'error' },
      http: { addr: '127.0.0.1:0' },
      auth,
    }),
  );
  const program = await registryProgram();
  await using registry = await startServer(
    'sh',
    (port) => ['-c', `REGISTRY_HTTP_ADDR=127.0.0.1:${port} exec "$0" serve "$1"`, program, file],
    {
      OTEL_TRACES_EXPORTER: 'none',
    },
  );
  const host = new URL(registry.url).host;
  const config = nodeWith(
    'generic-service-accounts',
    { generic: { registries: { [host]: { exchangeUrl: `${tokens.url}/exchange` } } } },
    [host],
  );
  const asked = await askKubelet({ config, binDir }, [
    { image: `${host}/team/app`, serviceAccount: 'app', token: 'pod-token' },
  ]);
  const given = asked.answers[0]?.credentials[0];
  assert.ok(given, asked.log);
  const as = `${given.username}:${given.password}`;

  // What is pulled has to be there before.
  const blob = Buffer.from('{}');
  const digest = `sha256:${createHash('sha256').update(blob).digest('hex')}`;
  const begun = await asRuntime(`${registry.url}/v2/team/app/blobs/uploads/`, { method: 'POST' }, as);
  assert.equal(begun.status, 202);
  const at = new URL(begun.headers.get('location') ?? '', registry.url);
  at.searchParams.set('digest', digest);
  const type = 'application/vnd.oci.image.manifest.v1+json';
  const put = await asRuntime(
    at.href,
    { method: 'PUT', body: blob, headers: { 'content-type': 'application/octet-stream' } },
    as,
  );
  assert.equal(put.status, 201);
  const configBlob = { mediaType: 'application/vnd.oci.image.config.v1+json', digest, size: blob.length };
  const manifest = JSON.stringify({ schemaVersion: 2, mediaType: type, config: configBlob, layers: [] });
  const manifestUrl = `${registry.url}/v2/team/app/manifests/v1`;
  const pushed = await asRuntime(manifestUrl, { method: 'PUT', body: manifest, headers: { 'content-type': type } }, as);
  assert.equal(pushed.status, 201);

  const pulled = await asRuntime(manifestUrl, { headers: { accept: type } }, as);
  assert.equal(await pulled.text(), manifest);
  assert.equal((await asRuntime(manifestUrl, {}, `${given.username}:wrong`)).status, 401);
});

test('the image of the installer puts onto a node what runs there, with the arguments of the DaemonSet', () => {
  makeInstallerImage(folder, executable, '0.0.0');
  const root = path.join(folder, 'image');
  const { entrypoint } = unpackImage(path.join(folder, 'image.tar'), root);
  const text = readFileSync(new URL('../../deploy/image-credentials/installer.yml', import.meta.url), 'utf8');
  const { spec } = parse(text) as {
    readonly spec: {
      readonly template: { readonly spec: { readonly containers: readonly [{ readonly args: readonly string[] }] } };
    };
  };
  const args = spec.template.spec.containers[0].args.filter((one) => one !== '--wait');
  const onNode = (name: string): string => path.join(folder, 'node', name);
  for (const name of ['bin', 'config', 'given']) mkdirSync(onNode(name), { recursive: true });
  writeFileSync(path.join(onNode('given'), 'gcr.yml'), 'providers: []\n');
  const mounts = [
    { from: onNode('bin'), to: '/node/bin' },
    { from: onNode('config'), to: '/node/config' },
    { from: onNode('given'), to: '/config' },
  ];
  const container = inRoot(root, mounts, [...entrypoint, ...args]);
  // With nothing of this machine's surroundings.
  const env = { PATH: process.env['PATH'] };
  const installed = spawnSync(container.program, container.args, { encoding: 'utf8', env });
  assert.deepEqual([installed.status, installed.stderr], [0, '']);
  assert.deepEqual(readdirSync(path.join(onNode('config'), 'credential-providers')), ['gcr.yml']);
  const request = {
    kind: 'CredentialProviderRequest',
    apiVersion: 'credentialprovider.kubelet.k8s.io/v1',
    image: 'docker.io/library/nginx',
  };
  const input = JSON.stringify(request);
  const program = path.join(onNode('bin'), 'outrigger-image-credentials-gcr');
  const { status, stderr } = spawnSync(program, ['gcr'], { input, encoding: 'utf8', env });
  assert.equal(status, 1);
  assert.match(stderr, /^outrigger-image-credentials gcr: registry-not-allowed: docker\.io /u);
});
