import assert from 'node:assert/strict';
import { getCiphers } from 'node:tls';
import { test } from 'node:test';
import { cipherSuites, curvePreferences, namedCertKey, tlsVersion } from './serving-flags.ts';
import { CIPHER_SUITES, CURVES, toTlsOptions } from './tls-settings.ts';

test('a certificate for names is two files, and names after a colon', () => {
  const first = namedCertKey.parse('a.crt,a.key');
  assert.deepEqual(first, [{ certFile: 'a.crt', keyFile: 'a.key', names: [] }]);
  const both = namedCertKey.parse('b.crt, b.key: *.example.com,example.com', first);
  assert.deepEqual(both[1], { certFile: 'b.crt', keyFile: 'b.key', names: ['*.example.com', 'example.com'] });
  assert.equal(namedCertKey.format(first), 'a.crt,a.key');
  for (const wrong of ['', 'a.crt', 'a,b,c', ',a.key', 'a.crt:x']) {
    assert.throws(() => namedCertKey.parse(wrong), /not cert,key/u, wrong);
  }
});

test('cipher suites, curves and versions that are not known are refused with those that are', () => {
  assert.throws(() => cipherSuites.parse('TLS_NULL'), /no cipher suite "TLS_NULL"; there are TLS_AES_128_GCM_SHA256,/u);
  assert.throws(() => cipherSuites.parse('toString'), /no cipher suite/u);
  assert.throws(() => curvePreferences.parse('1'), /no curve 1; there are 23 \(prime256v1\)/u);
  assert.throws(() => tlsVersion.parse('TLSv1.2'), /VersionTLS12/u);
});

test('every suite is one that OpenSSL knows', () => {
  const known = new Set(getCiphers().map((name) => name.toUpperCase()));
  for (const name of Object.values(CIPHER_SUITES)) assert.ok(name === '' || known.has(name), name);
});

test('settings are translated, and without any the platform decides', () => {
  const none = { minVersion: '', cipherSuites: [], curvePreferences: [] } as const;
  assert.deepEqual(toTlsOptions(none), { minVersion: 'TLSv1.2' });
  assert.deepEqual(toTlsOptions({ ...none, minVersion: 'VersionTLS10' }), { minVersion: 'TLSv1.2' });
  const some = toTlsOptions({
    minVersion: 'VersionTLS13',
    cipherSuites: ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256'],
    curvePreferences: [29, 23],
  });
  assert.equal(some.minVersion, 'TLSv1.3');
  assert.match(some.ciphers ?? '', /^TLS_AES_128_GCM_SHA256:.*:ECDHE-RSA-AES128-GCM-SHA256$/u);
  assert.equal(some.ecdhCurve, 'X25519:prime256v1');
  assert.equal(Object.keys(CURVES).length, 7);
});
