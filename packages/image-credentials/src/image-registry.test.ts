import assert from 'node:assert/strict';
import { test } from 'node:test';
import { array, assert as check, constantFrom, oneof, property, string } from 'fast-check';
import { Failure } from './failure.ts';
import { checkAllowed, matches, parseImage, parsePattern } from './image-registry.ts';

test('the registry and the repository of an image', () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ['nginx', 'docker.io', 'nginx'],
    ['nginx:1.29', 'docker.io', 'nginx'],
    ['library/nginx', 'docker.io', 'library/nginx'],
    ['docker.io/library/nginx@sha256:abc', 'docker.io', 'library/nginx'],
    ['index.docker.io/library/nginx', 'docker.io', 'library/nginx'],
    ['localhost/app', 'localhost', 'app'],
    ['registry.example.com:5000/team/app:v1@sha256:abc', 'registry.example.com:5000', 'team/app'],
    ['10.0.0.1:5000/a', '10.0.0.1:5000', 'a'],
    ['Registry.Example.COM/a', 'registry.example.com', 'a'],
    ['[2001:db8::1]:5000/a', '[2001:db8::1]:5000', 'a'],
  ];
  for (const [image, registry, repository] of cases) assert.deepEqual(parseImage(image), { registry, repository });
});

test('what would make a URL lead elsewhere is no image', () => {
  const bad = [
    '',
    'a.example/',
    'user@a.example/x',
    'a.example:x/y',
    'a.example?b/c',
    'a.example#/c',
    'a..example/c',
    'a.example/%2e',
    '0x7f.1/x',
    '1.2.3.999/x',
    'https://a.example/c',
    `a.example/${'x'.repeat(1_000)}`,
  ];
  for (const image of bad) assert.throws(() => parseImage(image), { code: 'bad-request' }, image);
});

test('a pattern has as many labels as the host, the same port, and its path in whole parts', () => {
  const cases: readonly (readonly [string, string, boolean])[] = [
    ['*.example.com', 'a.example.com/x', true],
    ['*.example.com', 'a.b.example.com/x', false],
    ['*.example.com', 'example.com/x', false],
    ['*.dkr.ecr.*.amazonaws.com', '123456789012.dkr.ecr.eu-central-1.amazonaws.com/x', true],
    ['*.dkr.ecr.*.amazonaws.com', '123456789012.dkr.ecr.eu-central-1.amazonaws.com.evil.example/x', false],
    ['a-*.example.com', 'a-1.example.com/x', true],
    ['a.example.com', 'a.example.com:5000/x', false],
    ['a.example.com:5000', 'a.example.com:5000/x', true],
    ['a.example.com/team', 'a.example.com/team/app', true],
    ['a.example.com/team', 'a.example.com/team', true],
    ['a.example.com/team', 'a.example.com/team-b/app', false],
    ['[2001:db8::1]:5000', '[2001:db8::1]:5000/x', true],
  ];
  for (const [pattern, image, expected] of cases) {
    assert.equal(matches(parsePattern(pattern), parseImage(image)), expected, `${pattern} ${image}`);
  }
});

test('a pattern that would be anybody’s is refused', () => {
  for (const pattern of [
    '*',
    '*.com',
    '*.*.com',
    'example.*',
    'a.*.com',
    'https://a.example.com',
    'a b.example.com',
    '',
    'a.example.com/*',
  ]) {
    assert.throws(() => parsePattern(pattern), { code: 'configuration' }, pattern);
  }
});

test('what is not on the list is refused by its name and by the key of the list', () => {
  checkAllowed(parseImage('a.example.com/x'), ['a.example.com'], 'acr.registries');
  assert.throws(() => checkAllowed(parseImage('b.example.com/x'), ['a.example.com'], 'acr.registries'), {
    code: 'registry-not-allowed',
    message: 'b.example.com is not in acr.registries of the configuration: nothing was sent',
  });
});

test('whatever an image is called, its registry is a host, or it is refused', () => {
  const piece = oneof(
    string({ maxLength: 12 }),
    constantFrom('/', ':', '@', '.', 'example.com', '?', '#', '\\', '[', ']'),
  );
  check(
    property(array(piece, { maxLength: 8 }), (pieces) => {
      try {
        const { registry } = parseImage(pieces.join(''));
        const url = new URL(`https://${registry}/oauth2/exchange`);
        assert.equal(url.hostname, registry.replace(/:\d+$/u, ''));
        assert.equal(`${url.username}${url.password}${url.search}${url.hash}`, '');
        assert.equal(url.pathname, '/oauth2/exchange');
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
      }
    }),
  );
});
