/** The flags of delegated authentication and authorization, as upstream names them. */
import type { FlagGroup } from '../flags/flag-group.ts';
import { bool, duration, string, strings } from '../flags/flag-type.ts';
import { healthPaths } from './access-policy.ts';

export interface AuthenticationOptions {
  authenticationKubeconfig: string;
  authenticationSkipLookup: boolean;
  authenticationTokenWebhookCacheTtl: number;
  authenticationTolerateLookupFailure: boolean;
  clientCaFile: string;
  requestheaderAllowedNames: readonly string[];
  requestheaderClientCaFile: string;
  requestheaderExtraHeadersPrefix: readonly string[];
  requestheaderGroupHeaders: readonly string[];
  requestheaderUidHeaders: readonly string[];
  requestheaderUsernameHeaders: readonly string[];
}

export interface AuthorizationOptions {
  authorizationAlwaysAllowPaths: readonly string[];
  authorizationKubeconfig: string;
  authorizationWebhookCacheAuthorizedTtl: number;
  authorizationWebhookCacheUnauthorizedTtl: number;
  insecureLoopback: boolean;
}

export const authenticationFlags: FlagGroup<AuthenticationOptions> = {
  title: 'Authentication',
  flags: {
    authenticationKubeconfig: {
      type: string,
      default: '',
      usage:
        'Kubeconfig of the API server that checks the tokens of callers (TokenReview). Without it, and without a client CA, nobody can prove who they are.',
    },
    authenticationSkipLookup: {
      type: bool,
      default: false,
      usage: 'Do not read client CA and request headers from ConfigMap kube-system/extension-apiserver-authentication.',
    },
    authenticationTokenWebhookCacheTtl: {
      type: duration(),
      default: 10_000,
      usage: 'How long the answer about a token is remembered.',
    },
    authenticationTolerateLookupFailure: {
      type: bool,
      default: false,
      usage:
        'Start although that ConfigMap cannot be read: client certificates are then not accepted until it can be. Else the start fails.',
    },
    clientCaFile: {
      type: string,
      default: '',
      usage: 'File with the authorities (PEM) whose client certificates are accepted; read again when it changes.',
    },
    requestheaderAllowedNames: {
      type: strings,
      default: [],
      usage:
        'Common names of proxies that may name a user in headers. Empty: any that --requestheader-client-ca-file signed.',
    },
    requestheaderClientCaFile: {
      type: string,
      default: '',
      usage: 'File with the authorities (PEM) that sign the certificates of such proxies; read again when it changes.',
    },
    requestheaderExtraHeadersPrefix: {
      type: strings,
      default: ['x-remote-extra-'],
      usage: 'Prefixes of headers that carry more about the user.',
    },
    requestheaderGroupHeaders: { type: strings, default: ['x-remote-group'], usage: 'Headers that carry groups.' },
    requestheaderUidHeaders: { type: strings, default: [], usage: 'Headers that carry the UID.' },
    requestheaderUsernameHeaders: {
      type: strings,
      default: ['x-remote-user'],
      usage: 'Headers that carry the name; the first that is set counts.',
    },
  },
};

export const authorizationFlags: FlagGroup<AuthorizationOptions> = {
  title: 'Authorization',
  flags: {
    authorizationAlwaysAllowPaths: {
      type: strings,
      default: healthPaths,
      usage: 'Paths that are served to everybody, whatever address is bound.',
    },
    authorizationKubeconfig: {
      type: string,
      default: '',
      usage:
        'Kubeconfig of the API server that says what callers may ask for (SubjectAccessReview). Without it, all else is for loopback addresses only.',
    },
    authorizationWebhookCacheAuthorizedTtl: {
      type: duration(),
      default: 10_000,
      usage: 'How long a yes is remembered.',
    },
    authorizationWebhookCacheUnauthorizedTtl: {
      type: duration(),
      default: 10_000,
      usage: 'How long a no is remembered.',
    },
    insecureLoopback: {
      type: bool,
      default: false,
      usage:
        'On a loopback --bind-address without delegated authorization: serve /explain/ and PUT /debug/flags/v too, to every user of this machine. Only for a machine that is not shared.',
    },
  },
};
