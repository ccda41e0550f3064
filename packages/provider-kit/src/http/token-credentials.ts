/** A bearer token that all requests share. */
import type { HttpClientOptions } from './http-client.ts';
import { SharedToken, type FetchedToken, type SharedTokenOptions } from './shared-token.ts';

export interface TokenCredentialsOptions extends SharedTokenOptions<FetchedToken> {
  /** Default: `authorization: Bearer …`. */
  readonly headers?: (token: string) => Readonly<Record<string, string>>;
}

/** For `HttpClientOptions.credentials`: the headers of a `SharedToken`. */
export function tokenCredentials({
  headers = (token) => ({ authorization: `Bearer ${token}` }),
  ...options
}: TokenCredentialsOptions): NonNullable<HttpClientOptions['credentials']> {
  const shared = new SharedToken(options);
  return async (call, refused, last) => {
    const token = await shared.get(call, ({ value }) => refused && !!last && isSame(headers(value), last));
    return headers(token.value);
  };
}

function isSame(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  return Object.entries(a).every(([name, value]) => b[name] === value);
}
