/** How a session is opened: by password, by a certificate through the token service, or as the clone of another's. */
import { CloudError, type CallContext, type ProviderHost } from '@outrigger/cloud-provider';
import type { HttpClient } from '@outrigger/provider-kit';
import { samlToken, signedLogin, type KeyPair } from './saml-token.ts';
import { sessionCookie, type SignIn } from './vim-client.ts';

export type VcenterCredentials =
  | { readonly kind: 'user'; readonly user: string; readonly password: string }
  /** A solution user: its certificate and the key of it, both PEM. The token is bound to the key. */
  | ({ readonly kind: 'certificate' } & KeyPair)
  /** Who gives tickets for clones of a session: `GET url` with the token as bearer answers `{"token": "…"}`. */
  | { readonly kind: 'session-manager'; readonly url: string; readonly token: string };

export interface SignInOptions {
  readonly host: Pick<ProviderHost, 'clock' | 'redact'>;
  readonly credentials: VcenterCredentials;
  /** Of the token service. */
  readonly tokens: HttpClient;
  /** Of the session manager, whose root is its URL's origin. */
  readonly tickets: HttpClient | undefined;
}

export function signInWith({ credentials, host, tickets, tokens }: SignInOptions): SignIn {
  return async (vim, { sessionManager }, call) => {
    // A login goes without a cookie: vCenter refuses it in a session that is logged in already.
    const login = async (method: string, args: Readonly<Record<string, string>>): Promise<string> =>
      (await vim.request(call, method, sessionManager, args, { idempotent: false })).cookies;
    let cookies: string;
    if (credentials.kind === 'user') {
      cookies = await login('Login', { userName: credentials.user, password: credentials.password });
    } else if (credentials.kind === 'session-manager') {
      cookies = await login('CloneSession', { cloneTicket: await cloneTicket(credentials.url, tickets, call) });
    } else {
      const token = await samlToken(credentials, { call, clock: host.clock, http: tokens });
      const body = signedLogin(token, credentials, sessionManager, host.clock.now());
      const answer = await vim.post(call, 'LoginByToken', body, { idempotent: false });
      cookies = answer.header('set-cookie') ?? '';
    }
    const value = sessionCookie(cookies);
    host.redact(value.replaceAll('"', ''), { rotating: true });
    return value;
  };
}

async function cloneTicket(url: string, client: HttpClient | undefined, call: CallContext): Promise<string> {
  const { pathname, search } = new URL(url);
  const answer = await client?.request<{ readonly token?: unknown }>(call, `GET ${pathname as '/'}`, {
    query: Object.fromEntries(new URLSearchParams(search)),
    name: 'GET session ticket',
  });
  if (typeof answer?.token === 'string' && answer.token !== '') return answer.token;
  throw new CloudError('unavailable', 'the session manager answered without a token');
}
