import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askProgram, assertKeptFor, startFakeServices } from '../fake-services.suite.ts';
import { temporaryFiles } from '../temporary-files.suite.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

test('the secret of a file, read at each call, kept for five minutes', async () => {
  using files = temporaryFiles();
  const password = files.write('password', 'first-sekret\n');
  const file = files.write(
    'c.yaml',
    `generic:\n  registries:\n    harbor.example.com:\n      username: robot$node\n      passwordFile: ${password}\n`,
  );
  const ask = () => askProgram(['generic', `--config=${file}`], { image: 'harbor.example.com/team/app' });
  const { response } = await ask();
  assert.deepEqual(response.auth, { 'harbor.example.com': { username: 'robot$node', password: 'first-sekret' } });
  assert.deepEqual([response.cacheKeyType, response.cacheDuration], ['Registry', '300s']);
  files.write('password', 'second-sekret');
  assert.equal((await ask()).response.auth['harbor.example.com']?.password, 'second-sekret');
});

test('the longest path counts, and credentials of paths are kept by the image', async () => {
  using files = temporaryFiles();
  const [a, b] = [files.write('a', 'a-sekret'), files.write('b', 'b-sekret')];
  const entry = (name: string, path: string): string =>
    `    ${name}:\n      username: u\n      passwordFile: ${path}\n`;
  const file = files.write(
    'c.yaml',
    `generic:\n  registries:\n${entry('harbor.example.com', a)}${entry('harbor.example.com/team', b)}`,
  );
  const ask = (image: string) => askProgram(['generic', `--config=${file}`], { image });
  const team = (await ask('harbor.example.com/team/app')).response;
  assert.deepEqual(team.auth, { 'harbor.example.com/team': { username: 'u', password: 'b-sekret' } });
  const other = (await ask('harbor.example.com/team-b/app')).response;
  assert.deepEqual(other.auth, { 'harbor.example.com': { username: 'u', password: 'a-sekret' } });
  assert.deepEqual([team.cacheKeyType, other.cacheKeyType], ['Image', 'Image']);
});

test('a pattern gives credentials for the registry that was asked about, not for all of the pattern', async () => {
  using files = temporaryFiles();
  const file = files.write(
    'c.yaml',
    `generic:\n  registries:\n    "*.example.com":\n      username: u\n      passwordFile: ${files.write('p', 'sekret')}\n`,
  );
  const { response } = await askProgram(['generic', `--config=${file}`], { image: 'a.example.com/app' });
  assert.deepEqual(Object.keys(response.auth), ['a.example.com']);
});

test('a Docker configuration serves as it is', async () => {
  using files = temporaryFiles();
  const docker = files.write(
    'config.json',
    JSON.stringify({
      auths: {
        'https://index.docker.io/v1/': { auth: base64('hub:hub:sekret') },
        'harbor.example.com': { username: 'u', password: 'harbor-sekret' },
        'https://gitlab.example.com:5050/v2/': { auth: base64('g:gitlab-sekret') },
      },
    }),
  );
  const file = files.write('c.yaml', `generic:\n  dockerConfigFile: ${docker}\n`);
  const ask = async (image: string) => (await askProgram(['generic', `--config=${file}`], { image })).response.auth;
  assert.deepEqual(await ask('docker.io/library/nginx'), { 'docker.io': { username: 'hub', password: 'hub:sekret' } });
  assert.deepEqual(await ask('harbor.example.com/a'), {
    'harbor.example.com': { username: 'u', password: 'harbor-sekret' },
  });
  assert.deepEqual(await ask('gitlab.example.com:5050/a/b'), {
    'gitlab.example.com:5050': { username: 'g', password: 'gitlab-sekret' },
  });
});

test('an entry of a Docker configuration that cannot be used holds up its own registry alone', async () => {
  using files = temporaryFiles();
  const docker = files.write(
    'config.json',
    JSON.stringify({
      auths: {
        'helper.example.com': {},
        'hub.example.com/team': { identitytoken: 'id-sekret' },
        'not a registry': { auth: base64('u:odd-sekret') },
        'harbor.example.com': { auth: base64('u:harbor-sekret') },
      },
    }),
  );
  const args = ['generic', `--config=${files.write('c.yaml', `generic:\n  dockerConfigFile: ${docker}\n`)}`];
  const { response } = await askProgram(args, { image: 'harbor.example.com/a' });
  assert.deepEqual(response.auth, { 'harbor.example.com': { username: 'u', password: 'harbor-sekret' } });
  for (const [image, entry] of [
    ['helper.example.com/a', 'helper.example.com'],
    ['hub.example.com/team/a', 'hub.example.com/team'],
  ] as const) {
    const { code, stderr } = await askProgram(args, { image });
    assert.equal(code, 1);
    assert.ok(stderr.includes(`: configuration: ${docker}: ${entry} has neither "auth" nor`), stderr);
    assert.doesNotMatch(stderr, /sekret/u);
  }
});

test('the token of a service account is exchanged where the configuration says', async () => {
  await using services = await startFakeServices({
    'POST /exchange': () => ({ json: { access_token: 'own-sekret', expires_in: 600 } }),
  });
  using files = temporaryFiles();
  const file = files.write(
    'c.yaml',
    `generic:\n  registries:\n    gitlab.example.com:\n      exchangeUrl: ${services.url}/exchange\n      audience: https://gitlab.example.com\n      scope: read_registry\n`,
  );
  const { response } = await askProgram(['generic', `--config=${file}`], {
    image: 'gitlab.example.com/a/b',
    token: 'pod-token',
  });
  assert.deepEqual(response.auth, { 'gitlab.example.com': { username: 'oauth2', password: 'own-sekret' } });
  assertKeptFor(540, response);
  const form = services.asked[0]?.form;
  assert.deepEqual(
    [form?.get('subject_token'), form?.get('audience'), form?.get('scope')],
    ['pod-token', 'https://gitlab.example.com', 'read_registry'],
  );
  const { stderr } = await askProgram(['generic', `--config=${file}`], { image: 'gitlab.example.com/a/b' });
  assert.match(stderr, /: no-identity: the exchange needs the token of a service account/u);
});

test('each failure is one line with its code, and has no secret in it', async () => {
  using files = temporaryFiles();
  const password = files.write('p', 'file-sekret');
  const bad = files.write('bad.json', '{"auths": {"a.example.com": {"identitytoken": "file-sekret"}}}');
  const text = files.write('text.json', 'file-sekret');
  const registry = (lines: string): string => `  registries:\n    a.example.com:\n${lines}`;
  const cases: readonly (readonly [string, RegExp])[] = [
    [
      registry(`      username: u\n      passwordFile: ${password}\n`).replace('a.ex', 'b.ex'),
      /: registry-not-allowed: a\.example\.com\/app is not in generic\.registries: nothing was sent\n$/u,
    ],
    [
      registry(`      passwordFile: ${password}\n`),
      /: configuration: generic\.registries\.a\.example\.com\.passwordFile needs \S+username\n$/u,
    ],
    [registry('      username: u\n'), /: configuration: \S+ needs passwordFile or exchangeUrl, and not both\n$/u],
    [
      registry(`      username: u\n      passwordFile: ${files.write('empty', '\n')}\n`),
      /: configuration: \S+ is empty/u,
    ],
    [`  dockerConfigFile: ${bad}\n`, /: configuration: \S+bad\.json: a\.example\.com has neither "auth" nor/u],
    [`  dockerConfigFile: ${text}\n`, /: configuration: \S+text\.json is no Docker config\.json/u],
    [
      registry('      pasword: file-sekret\n'),
      /c\.yaml:4: generic\.registries\.a\.example\.com\.pasword: there is no such key/u,
    ],
  ];
  for (const [lines, expected] of cases) {
    const file = files.write('c.yaml', `generic:\n${lines}`);
    const { code, stderr } = await askProgram(['generic', `--config=${file}`], { image: 'a.example.com/app' });
    assert.equal(code, 1);
    assert.match(stderr, expected);
    assert.doesNotMatch(stderr, /file-sekret/u);
  }
});

test('a device or a pipe in place of a file, which has no end, holds up nothing', async () => {
  using files = temporaryFiles();
  const registries = { 'registry.example.com': { username: 'u', passwordFile: '/dev/zero' } };
  const file = files.write('c.yaml', JSON.stringify({ generic: { registries } }));
  const { stderr } = await askProgram(['generic', `--config=${file}`], { image: 'registry.example.com/app' });
  assert.match(stderr, /generic: configuration: \/dev\/zero is no file \(generic\.registries\.\S+\.passwordFile\)\n$/u);
});
