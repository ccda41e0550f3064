/** Who asks. */
import type { X509Certificate } from 'node:crypto';

export interface User {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** What of a request says who asks, and for what. */
export interface AccessRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** Address of the caller. */
  readonly peer: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** What the caller has shown in the handshake, and proved to have the key of; OpenSSL has found a chain to some authority. */
  readonly certificate?: X509Certificate | undefined;
}

/** Authenticators hand over what they know; `undefined`: these are not the credentials that they look at. */
export type Authenticate = (request: AccessRequest) => Promise<User | undefined>;

/** Credentials that are wrong, as opposed to none. The message is for the log. */
export class UnauthenticatedError extends Error {
  override readonly name = 'UnauthenticatedError';
  readonly code = 'unauthenticated';
}

const AUTHENTICATED = 'system:authenticated';

export const anonymousUser: User = { name: 'system:anonymous', groups: ['system:unauthenticated'] };

/** All who have proved who they are are in one more group. */
export function asAuthenticated(user: User): User {
  if (user.name === anonymousUser.name || user.groups.includes(AUTHENTICATED)) return user;
  return { ...user, groups: [...user.groups, AUTHENTICATED] };
}

/** All values of a header. */
export function headerValues(request: AccessRequest, name: string): readonly string[] {
  const value = request.headers[name.toLowerCase()];
  if (value === undefined) return [];
  return typeof value === 'string' ? [value] : value;
}
