/** How a session is opened: by password, by a certificate through the token service, or as the clone of another's. */
import { CloudError, type CallContext, type ProviderHost } from '@outrigger/cloud-provider';
import { xmlChild, xmlChildren, xmlText, type HttpClient } from '@outrigger/provider-kit';
import { samlToken, signedLogin, type KeyPair } from './saml-token.ts';
import { LOOKUP } from './soap.ts';
import { sessionCookie, type SignIn, type VimRequests } from './vim-client.ts';

export type VcenterCredentials =
  | { readonly kind: 'user'; readonly user: string; readonly password: string }
  /** A solution user: its certificate and the key of it, both PEM. The token is bound to the key. */
  | ({ readonly kind: 'certificate' } & KeyPair)
  /** Who gives tickets for clones of a session: `GET url` with the token as bearer answers `{"token": "…"}`. */
  | { readonly kind: 'session-manager'; readonly url: string; readonly token: string };

export interface SignInOptions {
  readonly host: Pick<ProviderHost, 'clock' | 'redact'>;
  readonly credentials: VcenterCredentials;
  readonly vim: VimRequests;
  readonly issue: IssueToken;
  /** Of the session manager, whose root is its URL's origin. */
  readonly tickets: HttpClient | undefined;
}

export function signInWith({ credentials, host, issue, tickets, vim }: SignInOptions): SignIn {
  return async ({ sessionManager }, call) => {
    // A login goes without a cookie: vCenter refuses it in a session that is logged in already.
    const login = async (method: string, args: Readonly<Record<string, string>>): Promise<string> =>
      (await vim.request(call, method, sessionManager, args, { idempotent: false })).cookies;
    let cookies: string;
    if (credentials.kind === 'user') {
      cookies = await login('Login', { userName: credentials.user, password: credentials.password });
    } else if (credentials.kind === 'session-manager') {
      cookies = await login('CloneSession', { cloneTicket: await cloneTicket(credentials.url, tickets, call) });
    } else {
      const body = signedLogin(await issue(credentials, call), credentials, sessionManager, host.clock.now());
      cookies = await vim.login(call, 'LoginByToken', body);
    }
    const value = sessionCookie(cookies);
    host.redact(value.replaceAll('"', ''), { rotating: true });
    return value;
  };
}

/** A SAML token for this certificate, with which one logs in at once. */
export type IssueToken = (pair: KeyPair, call: CallContext) => Promise<string>;

export interface TokenIssuerOptions {
  readonly host: Pick<ProviderHost, 'clock' | 'redact'>;
  readonly vim: VimRequests;
  /** Of the token service. */
  readonly http: HttpClient;
}

/** Tokens of the token service on the same server, whose path is asked for each time: it is needed once a session. */
export function tokenIssuer({ host, http, vim }: TokenIssuerOptions): IssueToken {
  return async (pair, call) => {
    const path = await tokenServicePath(vim, call);
    const token = await samlToken(pair, { path, call, clock: host.clock, http });
    host.redact(token, { rotating: true });
    return token;
  };
}

async function tokenServicePath(vim: VimRequests, call: CallContext): Promise<`/${string}`> {
  const registration = { type: 'LookupServiceRegistration', reference: 'ServiceRegistration' };
  const filterCriteria = {
    serviceType: { product: 'com.vmware.cis', type: 'cs.identity' },
    endpointType: { protocol: 'wsTrust', type: 'com.vmware.cis.cs.identity.sso' },
  };
  try {
    const { answer } = await vim.request(call, 'List', registration, { filterCriteria }, { api: LOOKUP });
    const endpoints = xmlChildren(answer, 'returnval').flatMap((service) => xmlChildren(service, 'serviceEndpoints'));
    return new URL(xmlText(xmlChild(endpoints[0], 'url')) ?? '').pathname as `/${string}`;
  } catch {
    call.signal.throwIfAborted();
    return '/sts/STSService';
  }
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
