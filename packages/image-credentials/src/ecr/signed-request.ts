/** AWS signature version 4, by the library of AWS. */
import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';
import type { AwsKeys } from './aws-keys.ts';

export interface UnsignedRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The headers to send, for a POST. */
export async function signedHeaders(
  { body, headers, url }: UnsignedRequest,
  keys: AwsKeys,
  place: { readonly service: string; readonly region: string; readonly now: number },
): Promise<Readonly<Record<string, string>>> {
  const { hostname, host, pathname, port, protocol } = new URL(url);
  const signer = new SignatureV4({ ...place, credentials: keys, sha256: Sha256, applyChecksum: false });
  const signed = await signer.sign(
    {
      method: 'POST',
      protocol,
      hostname,
      ...(port !== '' && { port: Number(port) }),
      path: pathname,
      query: {},
      headers: { ...headers, host },
      body,
    },
    { signingDate: new Date(place.now) },
  );
  return signed.headers;
}

type Data = Uint8Array | ArrayBuffer | ArrayBufferView | string;

/** As the library wants a hash. */
class Sha256 {
  readonly #secret: Data | undefined;
  #hash: Hash | Hmac;

  constructor(secret?: Data) {
    this.#secret = secret;
    this.#hash = this.#begin();
  }

  update(data: Data): void {
    this.#hash.update(bytesOf(data));
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(Uint8Array.from(this.#hash.digest()));
  }

  reset(): void {
    this.#hash = this.#begin();
  }

  #begin(): Hash | Hmac {
    return this.#secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(this.#secret));
  }
}

function bytesOf(data: Data): Uint8Array {
  if (typeof data === 'string') return Buffer.from(data, 'utf8');
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  return new Uint8Array(data);
}
