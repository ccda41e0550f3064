import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askProgram } from './fake-services.suite.ts';
import { cacheTime, readRequest, renderResponse } from './protocol.ts';

const REQUEST = {
  kind: 'CredentialProviderRequest',
  apiVersion: 'credentialprovider.kubelet.k8s.io/v1',
  image: 'a.example/b',
};

test('a request is read with its token and its annotations, which may be missing', () => {
  assert.deepEqual(readRequest(JSON.stringify(REQUEST)).serviceAccountToken, undefined);
  const full = { ...REQUEST, serviceAccountToken: 't', serviceAccountAnnotations: { a: 'b' } };
  const read = readRequest(JSON.stringify(full));
  assert.deepEqual(
    { ...read, serviceAccountAnnotations: { ...read.serviceAccountAnnotations } },
    {
      image: 'a.example/b',
      serviceAccountToken: 't',
      serviceAccountAnnotations: { a: 'b' },
    },
  );
});

test('an annotation is none that every object has', () => {
  assert.equal(readRequest(JSON.stringify(REQUEST)).serviceAccountAnnotations['constructor'], undefined);
});

const BAD: readonly (readonly [string, RegExp])[] = [
  ['', /no JSON object/u],
  ['[1]', /no JSON object/u],
  [
    '{"kind":"CredentialProviderRequest","apiVersion":"credentialprovider.kubelet.k8s.io/v1alpha1","image":"a"}',
    /set this apiVersion/u,
  ],
  [JSON.stringify({ ...REQUEST, image: 7 }), /no image/u],
  [JSON.stringify({ ...REQUEST, serviceAccountToken: ['sekret'] }), /serviceAccountToken is no text/u],
  [JSON.stringify({ ...REQUEST, serviceAccountAnnotations: ['sekret'] }), /no map of texts/u],
  [`{"serviceAccountToken": "sekret" ${'x'.repeat(100)}`, /no JSON object/u],
];

test('what is no request is one line on stderr, which quotes nothing of it, and exit code 1', async () => {
  for (const [stdin, expected] of BAD) {
    const { code, stderr, stdout } = await askProgram(['ecr'], { stdin });
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /^outrigger-image-credentials ecr: bad-request: [^\n]+\n$/u);
    assert.match(stderr, expected);
    assert.doesNotMatch(stderr, /sekret/u);
  }
});

test('stdin is read up to 1 MiB', async () => {
  const { stderr } = await askProgram(['ecr'], { stdin: ' '.repeat((1 << 20) + 1) });
  assert.match(stderr, /bad-request: stdin has more than 1 MiB/u);
});

test('a response is one JSON object of the API, its duration in whole seconds', () => {
  const text = renderResponse({
    username: 'u',
    password: 'p"',
    match: 'a.example',
    cacheBy: 'Registry',
    cacheForMs: 61_999,
  });
  assert.deepEqual(JSON.parse(text), {
    kind: 'CredentialProviderResponse',
    apiVersion: 'credentialprovider.kubelet.k8s.io/v1',
    cacheKeyType: 'Registry',
    cacheDuration: '61s',
    auth: { 'a.example': { username: 'u', password: 'p"' } },
  });
});

test('credentials are kept for their life less a tenth, which is from a minute to half an hour', () => {
  const hour = 3_600_000;
  const cases: readonly (readonly [number | undefined, number])[] = [
    [12 * hour, 11.5 * hour],
    [hour, 0.9 * hour],
    [300_000, 240_000],
    [61_000, 1_000],
    [60_000, 0],
    [48 * hour, 23.5 * hour],
    [1e300, 23.5 * hour],
    [-hour, 0],
    [undefined, 0],
    [Number.NaN, 0],
  ];
  const now = 1_000_000;
  for (const [life, expected] of cases) {
    assert.equal(cacheTime(life === undefined ? undefined : now + life, now), expected, String(life));
  }
});
