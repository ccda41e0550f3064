import assert from 'node:assert/strict';
import { createHash, createVerify, generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { isCloudError } from '@outrigger/cloud-provider';
import { checkKeyPair, signedAuthorization, signedLogin } from './saml-token.ts';

const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
const privateKey = keys.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
const pair = { certificate: '', privateKey };
const TOKEN = '<saml2:Assertion xmlns:saml2="urn:oasis:names:tc:SAML:2.0:assertion" ID="_abc">x</saml2:Assertion>';

test('a login by token has digests of what it holds and a signature over them, in the form that they are written in', () => {
  const envelope = signedLogin(TOKEN, pair, { type: 'SessionManager', reference: 'SessionManager' }, 0);
  const part = (pattern: RegExp): string => pattern.exec(envelope)?.[0] ?? assert.fail(String(pattern));
  const info = part(/<ds:SignedInfo .*<\/ds:SignedInfo>/u);
  for (const signed of [part(/<wsu:Timestamp .*<\/wsu:Timestamp>/u), part(/<soap:Body .*<\/soap:Body>/u)]) {
    const id = /wsu:Id="([^"]*)"/u.exec(signed)?.[1] ?? '';
    const digest = createHash('sha256').update(signed).digest('base64');
    assert.match(info, new RegExp(`URI="#${id}">.*?<ds:DigestValue>${digest.replaceAll('+', '\\+')}<`, 'u'));
  }
  const signature = /<ds:SignatureValue>(.*)<\/ds:SignatureValue>/u.exec(envelope)?.[1] ?? '';
  assert.ok(createVerify('sha256').update(info).verify(keys.publicKey, signature, 'base64'));
  assert.ok(envelope.includes(TOKEN), 'the token is as it was issued, byte for byte');
  assert.match(envelope, /#SAMLID">_abc</u);
  assert.match(envelope, /<wsu:Created>1970-01-01T00:00:00.000Z<\/wsu:Created><wsu:Expires>1970-01-01T00:01:00.000Z/u);
});

test('a REST login by token is signed over method, path, host and body', () => {
  const request = { method: 'POST', url: 'https://VC.example/api/session', headers: {} } as const;
  const header = signedAuthorization(TOKEN, pair, request, 5);
  const values = Object.fromEntries([...header.matchAll(/(\w+)="([^"]*)"/gu)].map(([, name, value]) => [name, value]));
  const hash = createHash('sha256').update('').digest();
  assert.equal(values['bodyhash'], hash.toString('base64'));
  const head = Buffer.from(`${values['nonce']}\nPOST\n/api/session\nvc.example\n80\n`);
  const message = Buffer.concat([head, hash, Buffer.from('\n')]);
  assert.ok(
    createVerify('sha256')
      .update(message)
      .verify(keys.publicKey, values['signature'] ?? '', 'base64'),
  );
  assert.match(header, /^SIGN token="/u);
});

test('what is no pair of certificate and key is told without a word of the key', () => {
  for (const wrong of ['', 'no PEM', privateKey]) {
    assert.throws(
      () => checkKeyPair({ certificate: wrong, privateKey }),
      (error) => isCloudError(error, 'configuration') && !error.message.includes(privateKey.slice(40, 60)),
    );
  }
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
    type: 'pkcs8',
    format: 'pem',
  }) as string;
  assert.throws(() => checkKeyPair({ certificate: '', privateKey: ec }), /no RSA key/u);
});
