/** Delegated authentication and authorization, put together from the flags as upstream puts it together. */
import type { Client, Clock, Logger, Metrics } from '@outrigger/kube';
import type { ClientAuthorities } from '../serving/secure-server.ts';
import { createAccessPolicy, type AccessPolicy } from './access-policy.ts';
import { followAuthorities, type AuthoritiesFile } from './authorities-file.ts';
import type { CertificateAuthorities } from './certificate-authorities.ts';
import { authenticateByCertificate } from './certificate-user.ts';
import { followClusterTrust } from './cluster-trust.ts';
import { authenticateByRequestHeader, type RequestHeaderRules } from './request-header-user.ts';
import type { AuthenticationOptions, AuthorizationOptions } from './delegation-flags.ts';
import { PeerQuestions } from './peer-questions.ts';
import { authorizeBySubjectAccess } from './subject-access.ts';
import { authenticateByToken } from './token-user.ts';
import type { Authenticate } from './user.ts';

export interface DelegatedAccessOptions {
  readonly authentication: Readonly<AuthenticationOptions>;
  readonly authorization: Readonly<AuthorizationOptions>;
  /** Asked who callers are; without it tokens prove nothing and no ConfigMap is read. */
  readonly authenticationClient?: Client | undefined;
  /** Asked what callers may. */
  readonly authorizationClient?: Client | undefined;
  readonly bindAddress: string;
  /** Prefixes of paths that a loopback address does not open: see `AccessPolicyOptions`. Default: none. */
  readonly guarded?: readonly string[];
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Gives up waiting: the program is to stop. */
  readonly signal?: AbortSignal;
}

export interface DelegatedAccess extends Disposable {
  readonly policy: AccessPolicy;
  /** Who signs callers' certificates; `undefined`: they are not asked for one. */
  readonly clientAuthorities: ClientAuthorities | undefined;
  /** Resolves when it is known whom the cluster trusts, or that this cannot be known yet. Rejects with a `ClusterTrustError`. */
  readonly ready: Promise<void>;
}

/** Rejects with an `AuthoritiesError` for a file that cannot be used. */
export async function delegateAccess(options: DelegatedAccessOptions): Promise<DelegatedAccess> {
  const { authentication, authenticationClient, authorization, authorizationClient, clock } = options;
  const { clientCaFile, requestheaderClientCaFile } = authentication;
  const stop = new AbortController();
  let clients: CertificateAuthorities | undefined;
  let proxies: RequestHeaderRules | undefined;
  const listeners = new Set<() => void>();
  const tell = (): void => {
    for (const listener of listeners) listener();
  };
  const file = (flag: string, path: string): AuthoritiesFile => ({ ...options, flag, path, signal: stop.signal });
  await Promise.all([
    followAuthorities(file('--client-ca-file', clientCaFile), (authorities) => {
      clients = authorities;
      tell();
    }),
    followAuthorities(file('--requestheader-client-ca-file', requestheaderClientCaFile), (authorities) => {
      proxies = rulesOf(authentication, authorities);
      tell();
    }),
  ]);
  const looksUp =
    authenticationClient !== undefined &&
    !authentication.authenticationSkipLookup &&
    (clientCaFile === '' || requestheaderClientCaFile === '');
  const ready = looksUp
    ? followClusterTrust({
        ...options,
        client: authenticationClient,
        tolerateFailure: authentication.authenticationTolerateLookupFailure,
        signal: options.signal ? AbortSignal.any([stop.signal, options.signal]) : stop.signal,
        onChange: (trust) => {
          if (clientCaFile === '') clients = trust.clientAuthorities;
          if (requestheaderClientCaFile === '') proxies = trust.requestHeader;
          tell();
        },
      })
    : Promise.resolve();
  // Awaited later: whoever serves does not wait for it.
  ready.catch(() => {});
  const questions = new PeerQuestions();
  const asksForCertificates = looksUp || clientCaFile !== '' || requestheaderClientCaFile !== '';
  const authenticators: readonly Authenticate[] = [
    authenticateByRequestHeader(() => proxies),
    authenticateByCertificate(() => clients, options),
    ...(authenticationClient === undefined
      ? []
      : [
          authenticateByToken({
            client: authenticationClient,
            clock,
            questions,
            cacheTtlMs: authentication.authenticationTokenWebhookCacheTtl,
          }),
        ]),
  ];
  return {
    clientAuthorities: asksForCertificates
      ? {
          current: () => [clients?.pem, proxies?.authorities.pem].filter((pem) => pem !== undefined),
          onChange: (listener) => {
            listeners.add(listener);
            return () => void listeners.delete(listener);
          },
        }
      : undefined,
    ready,
    policy: createAccessPolicy({
      ...options,
      alwaysAllow: authorization.authorizationAlwaysAllowPaths,
      insecureLoopback: authorization.insecureLoopback,
      authenticators,
      authorize:
        authorizationClient &&
        authorizeBySubjectAccess({
          client: authorizationClient,
          clock,
          questions,
          authorizedTtlMs: authorization.authorizationWebhookCacheAuthorizedTtl,
          unauthorizedTtlMs: authorization.authorizationWebhookCacheUnauthorizedTtl,
        }),
    }),
    [Symbol.dispose]: () => stop.abort(),
  };
}

function rulesOf(authentication: AuthenticationOptions, authorities: CertificateAuthorities): RequestHeaderRules {
  return {
    authorities,
    allowedNames: authentication.requestheaderAllowedNames,
    usernameHeaders: authentication.requestheaderUsernameHeaders,
    uidHeaders: authentication.requestheaderUidHeaders,
    groupHeaders: authentication.requestheaderGroupHeaders,
    extraHeadersPrefix: authentication.requestheaderExtraHeadersPrefix,
  };
}
