/** What is signed is verified by openssl, with the commands of docs/guides/verify-a-release.md. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { preAuthentication, readSigningKey, signBytes, signStatement } from './sign.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'outrigger-sign-'));
const file = (name: string): string => path.join(directory, name);
const guide = readFileSync(new URL('../../docs/guides/verify-a-release.md', import.meta.url), 'utf8');

after(() => rmSync(directory, { recursive: true }));

function keep(name: string, key: KeyObject, type: 'pkcs8' | 'sec1' = 'pkcs8'): string {
  writeFileSync(file(name), key.export({ type, format: 'pem' }));
  return file(name);
}

const keys = {
  ed25519: keep('ed25519', generateKeyPairSync('ed25519').privateKey),
  'ECDSA on P-256': keep('p256', generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey),
};

/** The commands of the guide's block for a kind of key, one after another. */
function verify(name: string): number | null {
  const block = new RegExp(`<!-- verify: ${name} -->\n\`\`\`sh\n([\\s\\S]*?)\`\`\``, 'u').exec(guide)?.[1];
  assert.ok(block, `the guide has no block for ${name}`);
  return spawnSync('sh', ['-euc', block], { cwd: directory }).status;
}

for (const [name, keyFile] of Object.entries(keys)) {
  test(`openssl verifies what is signed with ${name}, and refuses it when a byte is another`, () => {
    const key = readSigningKey(keyFile);
    const sums = Buffer.from('0123  file\n');
    writeFileSync(file('release.pub'), key.publicKey);
    writeFileSync(file('SHA256SUMS'), sums);
    writeFileSync(file('SHA256SUMS.sig'), `${signBytes(key, sums)}\n`);
    assert.equal(verify(name), 0);
    writeFileSync(file('SHA256SUMS'), '0124  file\n');
    assert.notEqual(verify(name), 0);
  });

  test(`the envelope of a statement is signed with ${name} over what DSSE says`, () => {
    const key = readSigningKey(keyFile);
    const statement = '{"_type":"https://in-toto.io/Statement/v1"}\n';
    const envelope = JSON.parse(signStatement(key, statement)) as {
      payload: string;
      payloadType: string;
      signatures: [{ keyid: string; sig: string }];
    };
    assert.equal(envelope.payloadType, 'application/vnd.in-toto+json');
    const payload = Buffer.from(envelope.payload, 'base64');
    assert.equal(payload.toString(), statement);
    const [{ keyid, sig }] = envelope.signatures;
    assert.equal(keyid, key.keyId);
    writeFileSync(file('release.pub'), key.publicKey);
    writeFileSync(file('SHA256SUMS'), preAuthentication(payload));
    writeFileSync(file('SHA256SUMS.sig'), sig);
    assert.equal(verify(name), 0);
    const der = execFileSync('openssl', ['pkey', '-pubin', '-in', file('release.pub'), '-outform', 'DER']);
    writeFileSync(file('der'), der);
    assert.ok(execFileSync('sha256sum', [file('der')], { encoding: 'utf8' }).startsWith(keyid));
  });
}

test('the bytes before a payload are those of the specification', () => {
  assert.equal(preAuthentication(Buffer.from('{}')).toString(), 'DSSEv1 28 application/vnd.in-toto+json 2 {}');
});

test('another kind of key, or no key, is refused by the name of the file, and nothing of it is shown', () => {
  const rsa = keep('rsa', generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey);
  const p384 = keep('p384', generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey);
  writeFileSync(file('none'), 'hunter2');
  for (const [keyFile, message] of [
    [rsa, /^SIGNING_KEY=.*rsa is rsa; it must be Ed25519 or ECDSA on P-256$/u],
    [p384, /p384 is secp384r1; it must be/u],
    [file('none'), /none cannot be read: (?!.*hunter2)/u],
    [file('gone'), /gone cannot be read: ENOENT$/u],
  ] as const) {
    assert.throws(
      () => readSigningKey(keyFile),
      ({ message: said }: Error) => message.test(said) || assert.fail(said),
    );
  }
});
