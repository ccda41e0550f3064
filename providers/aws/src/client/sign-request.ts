/** Signature Version 4 of one request. */
import { SignatureV4 } from '@smithy/signature-v4';
import type { SentHttp } from '@outrigger/provider-kit';
import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Of credentials that end. */
  readonly sessionToken?: string | undefined;
  /** Milliseconds since the Unix epoch. Default: they do not end. */
  readonly expiresAt?: number | undefined;
  /** For messages: where they come from. */
  readonly source?: string | undefined;
}

export interface SigningScope {
  /** `eu-central-1`. */
  readonly region: string;
  /** `ec2`, `elasticloadbalancing`. */
  readonly service: string;
}

/** The headers that the signature adds: `authorization`, `x-amz-date`, and for credentials that end `x-amz-security-token`. */
export async function signRequest(
  { body, headers, method, url }: SentHttp,
  credentials: AwsCredentials,
  { region, service }: SigningScope,
  now: number,
): Promise<Readonly<Record<string, string>>> {
  const { accessKeyId, secretAccessKey, sessionToken } = credentials;
  const signer = new SignatureV4({
    applyChecksum: false,
    credentials: { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) },
    region,
    service,
    sha256: Sha256,
  });
  const { host, hostname, pathname, protocol } = new URL(url);
  const signed = await signer.sign(
    { method, protocol, hostname, path: pathname, query: {}, headers: { ...headers, host }, body },
    { signingDate: new Date(now) },
  );
  const added = ['authorization', 'x-amz-date', 'x-amz-security-token'];
  return Object.fromEntries(Object.entries(signed.headers).filter(([name]) => added.includes(name)));
}

class Sha256 {
  readonly #hash: Hash | Hmac;

  constructor(key?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = key === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(key));
  }

  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(bytesOf(data));
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#hash.digest());
  }

  reset(): void {
    throw new Error('a hash is used once');
  }
}

function bytesOf(data: string | ArrayBuffer | ArrayBufferView): Uint8Array {
  if (typeof data === 'string') return Buffer.from(data);
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
}
