/** Everything that a connection to one OpenStack is made of, read from the config and the files that it names, and checked. */
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { CloudError } from '@outrigger/cloud-provider';
import { proxiesOf, type Proxies, type TlsSettings } from '@outrigger/provider-kit';
import type { CloudConfig, EndpointType } from '../config/cloud-config.ts';
import { authRequestOf, type AuthRequest, type Refuse } from './auth-request.ts';

export interface Connection {
  /** Keystone's root, with `/v3` and nothing behind it. */
  readonly keystone: string;
  readonly auth: AuthRequest;
  readonly region: string | undefined;
  readonly endpointType: EndpointType;
  readonly tls: TlsSettings;
  /** Proxies, as Go's `http.ProxyFromEnvironment` takes them. */
  readonly proxies: Proxies;
  /** Milliseconds. */
  readonly requestTimeoutMs: number;
}

/** Throws `configuration`, with the file and what is wrong. */
export async function connectionOf(
  { global, metadata }: CloudConfig,
  fileName: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Connection> {
  const refuse: Refuse = (why) => new CloudError('configuration', `${fileName}: [Global] ${why}`);
  return {
    keystone: keystoneOf(global.authUrl, refuse),
    auth: authRequestOf(global, refuse),
    region: global.region,
    endpointType: global.osEndpointType,
    tls: await tlsOf(global, refuse),
    proxies: proxiesOf(env),
    requestTimeoutMs: metadata.requestTimeoutMs,
  };
}

/** Of a URL with a version or without, as gophercloud's `BaseEndpoint` cuts it. There is no other version than v3. */
function keystoneOf(authUrl: string | undefined, refuse: Refuse): string {
  if (authUrl === undefined) throw refuse("auth-url is needed: keystone's URL");
  const url = URL.parse(authUrl);
  if (!url || !/^https?:$/u.test(url.protocol)) throw refuse('auth-url must be an http:// or https:// URL');
  if (url.username !== '' || url.password !== '') throw refuse('auth-url must hold no user and no password');
  return `${url.origin}${url.pathname.replace(/\/+(?:v\d+(?:\.\d+)?\/*)?$/u, '')}/v3`;
}

async function tlsOf(
  { caFile, certFile, keyFile, tlsInsecure }: CloudConfig['global'],
  refuse: Refuse,
): Promise<TlsSettings> {
  const read = async (key: string, file: string): Promise<string> => {
    try {
      return await readFile(file, 'utf8');
    } catch (error) {
      const why = (error as NodeJS.ErrnoException).code ?? 'unknown error';
      throw refuse(`${key} ${file} cannot be read: ${why}`);
    }
  };
  if ((certFile === undefined) !== (keyFile === undefined)) {
    throw refuse('cert-file and key-file go together: one of them is missing');
  }
  const tls: TlsSettings = {
    // As in Go: an intermediate authority needs no root beside it.
    allowPartialTrustChain: true,
    rejectUnauthorized: !tlsInsecure,
    ...(caFile !== undefined && { ca: await read('ca-file', caFile) }),
    ...(certFile !== undefined && { cert: await read('cert-file', certFile) }),
    ...(keyFile !== undefined && { key: await read('key-file', keyFile) }),
  };
  checkPem(tls.ca === undefined ? {} : { ca: tls.ca }, `ca-file ${caFile} holds no certificate that can be read`);
  checkPem(
    tls.cert === undefined || tls.key === undefined ? {} : { cert: tls.cert, key: tls.key },
    `cert-file ${certFile} and key-file ${keyFile} do not fit together, or cannot be read`,
  );
  return tls;

  function checkPem(part: Partial<TlsSettings>, what: string): void {
    if (part.ca?.includes('-----BEGIN ') === false) throw refuse(what);
    try {
      createSecureContext(part);
    } catch {
      // OpenSSL's own words may quote what it read.
      throw refuse(what);
    }
  }
}
