import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askProgram, startFakeServices } from './fake-services.suite.ts';
import { temporaryFiles } from './temporary-files.suite.ts';

const IMAGE = 'harbor.example.com/app';

test('a wrong command line is one line, with the near match', async () => {
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [[], /^outrigger-image-credentials: usage: the first argument must be acr, ecr, gcr or generic, not ""/u],
    [['generik'], /not "generik".*generic/u],
    [['ecr', 'more'], /usage: one argument too many/u],
    [['check', 'ecr'], /usage: name one image/u],
    [['ecr', '--cofnig=x'], /usage: .*--cofnig/u],
    [['toString'], /usage: the first argument/u],
  ];
  for (const [args, expected] of cases) {
    const { code, stderr } = await askProgram(args, { image: IMAGE });
    assert.equal(code, 1);
    assert.match(stderr, expected);
    assert.match(stderr, /^[^\n]+\n$/u);
  }
});

test('--help says how', async () => {
  const { code, stdout } = await askProgram(['--help']);
  assert.equal(code, 0);
  assert.match(stdout, /check acr\|ecr\|gcr\|generic IMAGE/u);
});

test('check says what the node would get, without the password', async () => {
  using files = temporaryFiles();
  const password = files.write('p', 'sekret');
  const file = files.write(
    'c.yaml',
    `generic:\n  registries:\n    harbor.example.com:\n      username: u\n      passwordFile: ${password}\n`,
  );
  const { code, stdout } = await askProgram(['check', 'generic', IMAGE, `--config=${file}`]);
  assert.deepEqual([code, stdout], [0, 'harbor.example.com: user u, kept 300 s by registry\n']);
});

test('without the default file the defaults count; a file that is named has to be there', async () => {
  const without = await askProgram(['gcr'], { image: IMAGE });
  assert.match(without.stderr, /gcr: registry-not-allowed/u);
  const named = await askProgram(['gcr', '--config=/nowhere/c.yaml'], { image: IMAGE });
  assert.match(named.stderr, /gcr: configuration: \/nowhere\/c\.yaml cannot be read: ENOENT \(--config\)\n$/u);
});

test('what is wrong in the configuration is told with file, line and key, and a near match', async () => {
  using files = temporaryFiles();
  const cases: readonly (readonly [string, RegExp])[] = [
    ['ecr:\n  registres: a.example.com\n', /c\.yaml:2: ecr\.registres: there is no such key.*registries/u],
    ['timeout: 2m\n', /c\.yaml:1: timeout must be a duration from 1s to 50s/u],
    ['generic:\n  cacheFor: 9999999h\n', /c\.yaml:2: generic\.cacheFor must be a duration from 0s to 24h/u],
    ['gcr:\n  stsUrl: sts.googleapis.com\n', /c\.yaml:2: gcr\.stsUrl must be an http:\/\/ or https:\/\/ URL/u],
    ['ecr:\n  registries: ["*"]\n', /configuration: "\*" is no registry/u],
    ['generic:\n  registries:\n    "*.com": {}\n', /configuration: "\*\.com" is no registry/u],
  ];
  for (const [text, expected] of cases) {
    const { code, stderr } = await askProgram(['ecr', `--config=${files.write('c.yaml', text)}`], { image: IMAGE });
    assert.equal(code, 1);
    assert.match(stderr, expected);
  }
});

test('no provider sends anything for an image that is not on its list, whatever identity it is given', async () => {
  await using services = await startFakeServices({});
  const { url } = services;
  using files = temporaryFiles();
  const file = files.write(
    'c.yaml',
    JSON.stringify({
      ecr: { ecrUrl: url, ecrPublicUrl: url, stsUrl: url, metadataUrl: url },
      gcr: { audience: 'a', stsUrl: url, iamCredentialsUrl: url, metadataUrl: url },
      acr: { clientId: 'c', tenantId: 't', loginUrl: url, exchangeUrl: url, metadataUrl: url },
      generic: { registries: { 'other.example.com': { exchangeUrl: url } } },
    }),
  );
  const annotations = {
    'eks.amazonaws.com/ecr-role-arn': 'arn:aws:iam::123456789012:role/pull',
    'iam.gke.io/enable-wi-image-pull': 'true',
    'kubernetes.azure.com/acr-client-id': 'c',
  };
  const env = { AWS_ACCESS_KEY_ID: 'x', AWS_SECRET_ACCESS_KEY: 'y' };
  for (const provider of ['acr', 'ecr', 'gcr', 'generic']) {
    for (const token of [undefined, 'pod-token']) {
      const asked = { image: IMAGE, annotations, env, ...(token !== undefined && { token }) };
      const { code, stderr } = await askProgram([provider, `--config=${file}`], asked);
      assert.equal(code, 1);
      assert.match(stderr, new RegExp(`^outrigger-image-credentials ${provider}: registry-not-allowed: `, 'u'));
    }
  }
  assert.deepEqual(services.asked, []);
});

test('a defect of the program is one line with its code too, without what it was about to send', async () => {
  const env = new Proxy<Record<string, string>>(
    {},
    {
      get: () => {
        throw new Error('about\npod-token');
      },
    },
  );
  const image = '123456789012.dkr.ecr.eu-central-1.amazonaws.com/app';
  const { code, stderr } = await askProgram(['ecr'], { image, token: 'pod-token', env });
  assert.deepEqual([code, stderr], [1, 'outrigger-image-credentials ecr: internal: about ***\n']);
});
