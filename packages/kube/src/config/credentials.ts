/** Who a request is from: headers, a client certificate, or both, and where to get newer ones. */
import type { RequestHeaders } from '../transport.ts';

/** A client certificate and its private key, both PEM. */
export interface ClientCertificate {
  readonly certificate: string;
  readonly key: string;
}

/** What proves an identity at one moment. Immutable: two moments with the same credential give the same object. */
export interface Credential {
  /** Added to each request. Secret: never logged. */
  readonly headers: RequestHeaders;
  /** Presented when a connection is made; takes the place of the one in `TlsConfig`. */
  readonly certificate?: ClientCertificate;
}

/** A source of credentials. */
export interface Credentials {
  /** The credential to use now. May read a file or run a plugin; callers at the same time share one run. */
  current(signal?: AbortSignal): Promise<Credential>;
  /** The server answered 401 to `rejected`. Resolves to another credential, or `undefined` when there is no other. */
  renew(rejected: Credential, signal?: AbortSignal): Promise<Credential | undefined>;
}

/** Whether a token can stand in a header. HTTP/2 by Node sends what cannot, and the server then answers in riddles. */
export function isHeaderText(token: string): boolean {
  return /^[\x21-\x7e]+$/.test(token);
}

/** One credential for ever. */
export function staticCredentials(headers: RequestHeaders): Credentials {
  const credential: Credential = { headers };
  return {
    current: () => Promise.resolve(credential),
    renew: () => Promise.resolve(undefined),
  };
}

/** No credential but what the client certificate in `TlsConfig` proves. */
export const anonymous: Credentials = staticCredentials({});

/** A bearer token that never changes. */
export function bearerToken(token: string): Credentials {
  return staticCredentials({ authorization: `Bearer ${token}` });
}

/** Adds headers (impersonation) to each credential of `source`. */
export function withHeaders(source: Credentials, headers: RequestHeaders): Credentials {
  const made = new WeakMap<Credential, Credential>();
  const originals = new WeakMap<Credential, Credential>();
  const extend = (credential: Credential): Credential => {
    let extended = made.get(credential);
    if (!extended) {
      extended = { ...credential, headers: { ...credential.headers, ...headers } };
      made.set(credential, extended);
      originals.set(extended, credential);
    }
    return extended;
  };
  return {
    current: async (signal) => extend(await source.current(signal)),
    renew: async (rejected, signal) => {
      const renewed = await source.renew(originals.get(rejected) ?? rejected, signal);
      return renewed && extend(renewed);
    },
  };
}
