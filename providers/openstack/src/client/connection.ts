/** Everything that a connection to one OpenStack is made of, read from the config and the files that it names, and checked. */
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { CloudError } from '@outrigger/cloud-provider';
import { proxiesOf, type Proxies, type TlsSettings } from '@outrigger/provider-kit';
import type { CloudConfig, EndpointType } from '../config/cloud-config.ts';
import { authRequestOf, type AuthRequest } from './auth-request.ts';

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
  return {
    keystone: keystoneOf(global.authUrl, fileName),
    auth: authRequestOf(global, fileName),
    region: global.region,
    endpointType: global.osEndpointType,
    tls: await tlsOf(global, fileName),
    proxies: proxiesOf(env),
    requestTimeoutMs: metadata.requestTimeoutMs,
  };
}

/** Of a URL with a version or without, as gophercloud's `BaseEndpoint` cuts it. There is no other version than v3. */
function keystoneOf(authUrl: string | undefined, fileName: string): string {
  const refuse = (why: string): CloudError => new CloudError('configuration', `${fileName}: [Global] auth-url ${why}`);
  if (authUrl === undefined) throw refuse("is needed: keystone's URL");
  const url = URL.parse(authUrl);
  if (!url || !/^https?:$/u.test(url.protocol)) throw refuse('must be an http:// or https:// URL');
  if (url.username !== '' || url.password !== '') throw refuse('must hold no user and no password');
  return `${url.origin}${url.pathname.replace(/\/+(?:v\d+(?:\.\d+)?\/*)?$/u, '')}/v3`;
}

async function tlsOf(
  { caFile, certFile, keyFile, tlsInsecure }: CloudConfig['global'],
  fileName: string,
): Promise<TlsSettings> {
  const read = async (key: string, file: string): Promise<string> => {
    try {
      return await readFile(file, 'utf8');
    } catch (error) {
      const why = (error as NodeJS.ErrnoException).code ?? 'unknown error';
      throw new CloudError('configuration', `${fileName}: [Global] ${key} ${file} cannot be read: ${why}`);
    }
  };
  if ((certFile === undefined) !== (keyFile === undefined)) {
    throw new CloudError(
      'configuration',
      `${fileName}: [Global] cert-file and key-file go together: one of them is missing`,
    );
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
    const begins = part.ca === undefined || part.ca.includes('-----BEGIN ');
    try {
      if (begins) createSecureContext(part);
    } catch {
      // OpenSSL's own words may quote what it read.
      throw new CloudError('configuration', `${fileName}: [Global] ${what}`);
    }
    if (!begins) throw new CloudError('configuration', `${fileName}: [Global] ${what}`);
  }
}
