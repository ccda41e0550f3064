import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { isCloudError } from '@outrigger/cloud-provider';
import type { GlobalConfig } from './cloud-config.ts';
import { readCloudConfig } from './read-cloud-config.ts';

async function withFiles(
  files: Readonly<Record<string, string>>,
  work: (
    read: (text: string, env?: Record<string, string>) => Promise<GlobalConfig>,
    warnings: string[],
  ) => Promise<void>,
): Promise<void> {
  const directory = await mkdtemp(path.join(tmpdir(), 'clouds-yaml-'));
  const warnings: string[] = [];
  try {
    for (const [name, text] of Object.entries(files)) {
      await mkdir(path.dirname(path.join(directory, name)), { recursive: true });
      await writeFile(path.join(directory, name), text);
    }
    const places = { workingDirectory: path.join(directory, 'work'), homeDirectory: path.join(directory, 'home') };
    await work(async (text, env = {}) => {
      const given = { text: text.replaceAll('DIR', directory), fileName: 'cloud.conf' };
      const inDirectory = Object.fromEntries(
        Object.entries(env).map(([name, value]) => [name, value.replaceAll('DIR', directory)]),
      );
      return (await readCloudConfig(given, { env: inDirectory, ...places }, (line) => warnings.push(line))).global;
    }, warnings);
  } finally {
    await rm(directory, { recursive: true });
  }
}

const message = (pattern: RegExp) => (error: unknown) => {
  assert.ok(isCloudError(error, 'configuration'));
  assert.match(error.message, pattern);
  assert.doesNotMatch(error.stack ?? '', /hunter2/u);
  return true;
};

test("the files of upstream's TestReadClouds: cloud.conf goes before clouds.yaml", async () => {
  const clouds = `
clouds:
  default:
    auth:
      domain_name: default
      auth_url: http://not-auth.url
      project_name: demo
      username: admin
      user_id: user
    region_name: RegionOne
    identity_api_version: 3
`;
  await withFiles({ 'test_clouds.yaml': clouds }, async (read) => {
    const global = await read(`
 [Global]
 auth-url = http://auth.url
 trust-id = mytrust
 password = mypass
 use-clouds = true
 clouds-file = DIR/test_clouds.yaml
 [LoadBalancer]
 create-monitor = yes
`);
    assert.equal(global.authUrl, 'http://auth.url');
    assert.deepEqual([global.userId, global.username, global.password], ['user', 'admin', 'mypass']);
    assert.deepEqual([global.region, global.tenantName, global.trustId], ['RegionOne', 'demo', 'mytrust']);
    assert.deepEqual([global.domainName, global.osEndpointType, global.tlsInsecure], ['default', 'public', false]);
  });
});

test('profiles, secrets of their own, end points, certificates, shared settings; digits stay as they are written', async () => {
  const files = {
    'home/.config/openstack/clouds.yaml': `
base: &base
  interface: internal
  cacert: /ca.pem
clouds:
  one:
    <<: *base
    profile: acme
    verify: false
    auth: {username: me, project_id: 0123e4}
    endpoint_type: admin
  two: {}
`,
    'home/.config/openstack/clouds-public.yaml': `
public-clouds:
  acme:
    auth: {auth_url: "https://acme/v3", username: nobody}
    region_name: far
`,
    'home/.config/openstack/secure.yml': 'clouds: {one: {auth: {password: 0077}}}',
  };
  await withFiles(files, async (read, warnings) => {
    for (const [text, env] of [
      ['[Global]\nuse-clouds\ncloud=one', {}],
      ['[Global]\nuse-clouds', { OS_CLOUD: 'one' }],
    ] as const) {
      const global = await read(text, env);
      assert.deepEqual([global.authUrl, global.username, global.tenantId], ['https://acme/v3', 'me', '0123e4']);
      assert.deepEqual([global.password, global.region, global.osEndpointType], ['0077', 'far', 'admin']);
      assert.deepEqual([global.caFile, global.tlsInsecure], ['/ca.pem', false]);
    }
    assert.match(warnings[0] ?? '', /clouds\.one\.verify is ignored; set tls-insecure in cloud\.conf/u);
    await assert.rejects(read('[Global]\nuse-clouds'), message(/has the clouds one, two: name one with cloud/u));
    await assert.rejects(
      read('[Global]\nuse-clouds\ncloud=three'),
      message(/has no cloud "three", which cloud\.conf names/u),
    );
  });
});

test('which file is read', async () => {
  const named = (region: string): string => `clouds: {c: {region_name: ${region}}}`;
  const files = { 'given.yaml': named('given'), 'env.yaml': named('env'), 'work/clouds.yml': named('here') };
  await withFiles(files, async (read) => {
    const region = async (text: string, env?: Record<string, string>): Promise<string | undefined> =>
      (await read(`[Global]\nuse-clouds\n${text}`, env)).region;
    const env = { OS_CLIENT_CONFIG_FILE: 'DIR/env.yaml' };
    assert.equal(await region('clouds-file = DIR/given.yaml', env), 'given');
    assert.equal(await region('', env), 'env');
    assert.equal(await region(''), 'here');
    await assert.rejects(region('clouds-file = DIR/none.yaml'), message(/clouds-file .* does not exist/u));
  });
  await withFiles({}, async (read) => {
    await assert.rejects(read('[Global]\nuse-clouds'), message(/there is no clouds\.yaml in/u));
  });
});

test('what is wrong in it is said with its place and without its text', async () => {
  const files = {
    'broken.yaml': 'clouds:\n  c:\n    auth: {password: hunter2, :\n',
    'interface.yaml': 'clouds: {c: {interface: private, auth: {password: hunter2}}}',
    'profile.yaml': 'clouds: {c: {profile: acme, auth: {password: hunter2}}}',
    'empty.yaml': '',
  };
  await withFiles(files, async (read) => {
    const clouds = (file: string): Promise<GlobalConfig> => read(`[Global]\nuse-clouds\nclouds-file = DIR/${file}`);
    await assert.rejects(clouds('broken.yaml'), message(/broken\.yaml:\d+: this is not valid YAML/u));
    await assert.rejects(clouds('interface.yaml'), message(/clouds\.c\.interface must be public, internal or admin/u));
    await assert.rejects(
      clouds('profile.yaml'),
      message(/names the profile "acme", which no clouds-public\.yaml has/u),
    );
    await assert.rejects(clouds('empty.yaml'), message(/has no cloud: name one/u));
  });
});
