import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KnownSecrets } from './known-secrets.ts';

test('of each source the newest are remembered, however many another one gives; what has no source stays', () => {
  const secrets = new KnownSecrets();
  assert.equal(secrets.isEmpty, true);
  secrets.add('password;');
  secrets.add('token-of-a;', 'a');
  for (let n = 0; n < 1_000; n++) secrets.add(`token-${n};`, 'b');
  // It has no source; that it turns up in one as well makes it no younger.
  secrets.add('password;', 'b');
  assert.equal(secrets.replaceIn('password; token-of-a; token-999; token-968;', '-'), '- - - -');
  assert.equal(secrets.replaceIn('token-967;', '-'), 'token-967;');
});

test('a secret that is in use stays, however long ago it was given first', () => {
  const secrets = new KnownSecrets();
  for (let n = 0; n < 100; n++) {
    secrets.add('in-use;', 'a');
    secrets.add(`token-${n};`, 'a');
  }
  assert.equal(secrets.replaceIn('in-use; token-70; token-68;', '-'), '- - token-68;');
});

test('each form of a secret is taken out, the longest first; what stands instead is taken as it is', () => {
  const secrets = new KnownSecrets((secret) => [secret, `${secret}${secret}`, '']);
  secrets.add('ab');
  secrets.add('abc');
  assert.equal(secrets.replaceIn('ab abc abab abcabc x', '$&'), '$& $& $& $& x');
});
