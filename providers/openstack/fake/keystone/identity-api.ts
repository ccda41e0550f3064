/** Keystone v3: version document, tokens, catalogue. */
import { Refusal, type FakeResponse } from '../fake-http.ts';
import type { Identifiers } from '../identifiers.ts';
import { RouteTable } from '../route-table.ts';
import { authenticate } from './authenticate.ts';
import { DEFAULT_DOMAIN, type FakeToken, type Identity } from './identity.ts';

/** One line of the catalogue; each has its three interfaces. */
export interface CatalogueEntry {
  readonly type: string;
  readonly name: string;
  /** Below the origin. `%(project_id)s` stands for the token's project. */
  readonly path: string;
  /** Default: the fake's region. */
  readonly region?: string;
}

export function keystoneRefusal(status: number, title: string, message: string): Refusal {
  return new Refusal({
    status,
    headers: status === 401 ? { 'www-authenticate': 'Keystone uri="http://127.0.0.1/identity/v3"' } : {},
    body: { error: { code: status, message, title } },
  });
}

export const UNAUTHENTICATED = 'The request you have made requires authentication.';

export interface IdentityApiOptions {
  readonly identity: Identity;
  readonly ids: Identifiers;
  readonly region: () => string;
  readonly catalogue: () => readonly CatalogueEntry[];
}

export function identityRoutes({ identity, ids, region, catalogue }: IdentityApiOptions): RouteTable {
  const version = (origin: string): unknown => ({
    id: 'v3.14',
    status: 'stable',
    updated: '2020-04-07T00:00:00Z',
    links: [{ rel: 'self', href: `${origin}/identity/v3/` }],
    'media-types': [{ base: 'application/json', type: 'application/vnd.openstack.identity-v3+json' }],
  });
  const catalogueOf = (origin: string, token: FakeToken): unknown[] =>
    catalogue().map((entry) => ({
      endpoints: ['public', 'internal', 'admin'].map((iface) => ({
        id: ids.hex(),
        interface: iface,
        region_id: entry.region ?? region(),
        url: `${origin}${entry.path.replace('%(project_id)s', token.project.id)}`,
        region: entry.region ?? region(),
      })),
      id: ids.hex(),
      type: entry.type,
      name: entry.name,
    }));
  const tokenBody = (origin: string, token: FakeToken): unknown => ({
    token: {
      methods: token.methods,
      user: { domain: DEFAULT_DOMAIN, id: token.user.id, name: token.user.name, password_expires_at: null },
      audit_ids: [token.id.slice(-22)],
      expires_at: microseconds(token.expiresAt),
      issued_at: microseconds(token.issuedAt),
      project: { domain: DEFAULT_DOMAIN, ...token.project },
      is_domain: false,
      roles: token.roles.map((name) => ({ id: ids.hex(), name })),
      ...(token.credential
        ? { application_credential: { id: token.credential.id, name: token.credential.name, restricted: true } }
        : {}),
      catalog: catalogueOf(origin, token),
    },
  });
  const answer = (status: number, origin: string, token: FakeToken): FakeResponse => ({
    status,
    headers: { 'x-subject-token': token.id },
    body: tokenBody(origin, token),
  });
  const subject = (headers: Readonly<Record<string, string>>): FakeToken => {
    const token = identity.token(headers['x-subject-token'] ?? '');
    if (token) return token;
    throw keystoneRefusal(404, 'Not Found', 'Failed to validate token');
  };
  return new RouteTable()
    .on('GET /', ({ request }) => ({ status: 300, body: { versions: { values: [version(request.origin)] } } }), {
      isPublic: true,
    })
    .on('GET /v3', ({ request }) => ({ status: 200, body: { version: version(request.origin) } }), { isPublic: true })
    .on('GET /v3/', ({ request }) => ({ status: 200, body: { version: version(request.origin) } }), { isPublic: true })
    .on(
      'POST /v3/auth/tokens',
      ({ request }) => {
        const auth = (request.body as { auth?: Record<string, unknown> } | undefined)?.auth;
        if (!auth) throw keystoneRefusal(400, 'Bad Request', 'Expecting to find auth in request body.');
        const token = authenticate(identity, auth);
        if (!token) throw keystoneRefusal(401, 'Unauthorized', UNAUTHENTICATED);
        return answer(201, request.origin, token);
      },
      { isPublic: true },
    )
    .on('GET /v3/auth/tokens', ({ request }) => answer(200, request.origin, subject(request.headers)))
    .on('DELETE /v3/auth/tokens', ({ request }) => {
      identity.revoke(subject(request.headers).id);
      return { status: 204 };
    });
}

/** `2026-01-01T00:00:00.000000Z`. */
const microseconds = (at: number): string => new Date(at).toISOString().replace('Z', '000Z');
