/** Signatures that openssl and cosign verify: over the bytes of a file, and around an in-toto statement (DSSE v1). */
import { createHash, createPrivateKey, createPublicKey, sign, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';

export interface SigningKey {
  readonly key: KeyObject;
  /** PEM. */
  readonly publicKey: string;
  /** SHA-256, in hex, of the public key as DER: it says which key it was, and not that it is to be trusted. */
  readonly keyId: string;
}

/** PKCS #8 in PEM, not encrypted: Ed25519, or ECDSA on P-256 as `cosign` uses. Throws an `Error` that names the file. */
export function readSigningKey(file: string): SigningKey {
  let key: KeyObject;
  try {
    key = createPrivateKey(readFileSync(file));
  } catch (error) {
    const { syscall, code } = error as NodeJS.ErrnoException;
    const why = syscall === undefined ? 'it is no private key in PEM, or an encrypted one' : code;
    throw new Error(`SIGNING_KEY=${file} cannot be read: ${why}`, { cause: error });
  }
  const curve = key.asymmetricKeyDetails?.namedCurve;
  if (key.asymmetricKeyType !== 'ed25519' && curve !== 'prime256v1') {
    throw new Error(`SIGNING_KEY=${file} is ${curve ?? key.asymmetricKeyType}; it must be Ed25519 or ECDSA on P-256`);
  }
  const publicKey = createPublicKey(key);
  const der = publicKey.export({ type: 'spki', format: 'der' });
  return {
    key,
    publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    keyId: createHash('sha256').update(der).digest('hex'),
  };
}

/** Base64. With Ed25519 the same for the same bytes; ECDSA draws a number for each. */
export function signBytes({ key }: SigningKey, bytes: Buffer): string {
  return sign(key.asymmetricKeyType === 'ed25519' ? null : 'sha256', bytes, key).toString('base64');
}

const PAYLOAD_TYPE = 'application/vnd.in-toto+json';

/** A DSSE envelope, one line of JSON. */
export function signStatement(key: SigningKey, statement: string): string {
  const payload = Buffer.from(statement);
  const signature = { keyid: key.keyId, sig: signBytes(key, preAuthentication(payload)) };
  return `${JSON.stringify({
    payload: payload.toString('base64'),
    payloadType: PAYLOAD_TYPE,
    signatures: [signature],
  })}\n`;
}

/** What is signed in place of the payload, so that it cannot be taken for something of another type. */
export function preAuthentication(payload: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`DSSEv1 ${PAYLOAD_TYPE.length} ${PAYLOAD_TYPE} ${payload.length} `), payload]);
}
