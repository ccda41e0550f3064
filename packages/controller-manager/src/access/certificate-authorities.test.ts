import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '@outrigger/kube';
import { CertificateAuthorities } from './certificate-authorities.ts';
import { TestAuthority } from './test-authority.suite.ts';

const bundle = (...authorities: readonly TestAuthority[]): CertificateAuthorities =>
  new CertificateAuthorities(authorities.map(({ pem }) => pem).join(''), '--client-ca-file', systemClock);

test('a certificate is vouched for by the authority that signed it, and by no other', async () => {
  const [ours, other] = [await TestAuthority.create('CN=ours'), await TestAuthority.create('CN=other')];
  const { certificate } = await ours.issue('CN=me');
  assert.equal(bundle(ours).vouchFor(certificate), true);
  assert.equal(bundle(other, ours).vouchFor(certificate), true);
  assert.equal(bundle(other).vouchFor(certificate), false);
});

test('a name is no proof: an authority of the same name vouches for nothing', async () => {
  const [ours, twin] = [await TestAuthority.create('CN=ours'), await TestAuthority.create('CN=ours')];
  assert.equal(bundle(ours).vouchFor((await twin.issue('CN=admin,O=system:masters')).certificate), false);
  assert.equal(bundle(ours).vouchFor(twin.certificate), false);
});

test('what is expired, for servers, or signed by one that is no authority is not vouched for', async () => {
  const ours = await TestAuthority.create('CN=ours');
  assert.equal(bundle(ours).vouchFor((await ours.issue('CN=me', { expired: true })).certificate), false);
  assert.equal(bundle(ours).vouchFor((await ours.issue('CN=me', { usage: 'server' })).certificate), false);
  const leaf = await ours.issue('CN=leaf');
  const forged = await leaf.issue('CN=admin,O=system:masters');
  assert.equal(bundle(ours).vouchFor(forged.certificate), false);
  assert.equal(bundle(leaf).vouchFor(forged.certificate), false);
});

test('a bundle without a certificate, or with a broken one, is refused with the flag', () => {
  for (const pem of ['', 'no PEM', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n']) {
    assert.throws(
      () => new CertificateAuthorities(pem, '--client-ca-file: x', systemClock),
      /^AuthoritiesError: --client-ca-file: x: /u,
    );
  }
});
