/** The user whom an authenticating proxy names in headers: the aggregation layer of the API server is one. */
import type { CertificateAuthorities } from './certificate-authorities.ts';
import { subjectOf } from './certificate-user.ts';
import { headerValues, UnauthenticatedError, type AccessRequest, type Authenticate } from './user.ts';

export interface RequestHeaderRules {
  /** Who signs the certificates of proxies. */
  readonly authorities: CertificateAuthorities;
  /** Common names; empty: any. */
  readonly allowedNames: readonly string[];
  readonly usernameHeaders: readonly string[];
  readonly uidHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly extraHeadersPrefix: readonly string[];
}

/** `rules` as they are now; `undefined`: no proxy is trusted. */
export function authenticateByRequestHeader(rules: () => RequestHeaderRules | undefined): Authenticate {
  return (request) => {
    const current = rules();
    const { certificate } = request;
    if (current === undefined || certificate === undefined) return Promise.resolve(undefined);
    if (!current.authorities.vouchFor(certificate)) return Promise.resolve(undefined);
    const [proxy = ''] = subjectOf(certificate).names;
    if (current.allowedNames.length > 0 && !current.allowedNames.includes(proxy)) {
      return Promise.reject(new UnauthenticatedError(`proxy ${JSON.stringify(proxy)} is not among the allowed names`));
    }
    const name = firstOf(request, current.usernameHeaders);
    if (name === undefined) return Promise.resolve(undefined);
    const uid = firstOf(request, current.uidHeaders);
    return Promise.resolve({
      name,
      ...(uid === undefined ? {} : { uid }),
      groups: current.groupHeaders.flatMap((header) => headerValues(request, header)).filter(Boolean),
      extra: extraOf(request, current.extraHeadersPrefix),
    });
  };
}

function firstOf(request: AccessRequest, headers: readonly string[]): string | undefined {
  return headers.flatMap((header) => headerValues(request, header)).find((value) => value !== '');
}

function extraOf(request: AccessRequest, prefixes: readonly string[]): Record<string, readonly string[]> {
  const extra: Record<string, readonly string[]> = {};
  for (const prefix of prefixes) {
    for (const header of Object.keys(request.headers)) {
      if (!header.startsWith(prefix.toLowerCase())) continue;
      const key = unescaped(header.slice(prefix.length));
      extra[key] = [...(extra[key] ?? []), ...headerValues(request, header)];
    }
  }
  return extra;
}

/** The key is percent-encoded, because a header's name cannot hold every character. */
function unescaped(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}
