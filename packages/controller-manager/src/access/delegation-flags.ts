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
        'Kubeconfig of the API server that verifies bearer tokens (TokenReview). Without it, and without a client CA, no request can be authenticated.',
    },
    authenticationSkipLookup: {
      type: bool,
      default: false,
      usage:
        'Do not read the client CA and the request header settings from ConfigMap kube-system/extension-apiserver-authentication.',
    },
    authenticationTokenWebhookCacheTtl: {
      type: duration(),
      default: 10_000,
      usage: 'How long responses of the TokenReview API are cached.',
    },
    authenticationTolerateLookupFailure: {
      type: bool,
      default: false,
      usage:
        'Start even if that ConfigMap cannot be read; client certificates are then not accepted until it can be. Otherwise, the start fails.',
    },
    clientCaFile: {
      type: string,
      default: '',
      usage:
        'File with the certificate authorities (PEM) whose client certificates are accepted; reloaded when it changes.',
    },
    requestheaderAllowedNames: {
      type: strings,
      default: [],
      usage:
        'Common names of the client certificates of proxies that may set the user in headers. If empty, any that --requestheader-client-ca-file signed.',
    },
    requestheaderClientCaFile: {
      type: string,
      default: '',
      usage:
        'File with the certificate authorities (PEM) that sign the certificates of such proxies; reloaded when it changes.',
    },
    requestheaderExtraHeadersPrefix: {
      type: strings,
      default: ['x-remote-extra-'],
      usage: 'Prefixes of headers that contain extra attributes of the user.',
    },
    requestheaderGroupHeaders: {
      type: strings,
      default: ['x-remote-group'],
      usage: 'Headers that contain the groups of the user.',
    },
    requestheaderUidHeaders: { type: strings, default: [], usage: 'Headers that contain the UID of the user.' },
    requestheaderUsernameHeaders: {
      type: strings,
      default: ['x-remote-user'],
      usage: 'Headers that contain the user name; the first one that is set is used.',
    },
  },
};

export const authorizationFlags: FlagGroup<AuthorizationOptions> = {
  title: 'Authorization',
  flags: {
    authorizationAlwaysAllowPaths: {
      type: strings,
      default: healthPaths,
      usage: 'Paths that are served without authorization, on any bind address.',
    },
    authorizationKubeconfig: {
      type: string,
      default: '',
      usage:
        'Kubeconfig of the API server that authorizes requests (SubjectAccessReview). Without it, all other paths are served on loopback addresses only.',
    },
    authorizationWebhookCacheAuthorizedTtl: {
      type: duration(),
      default: 10_000,
      usage: "How long 'authorized' responses are cached.",
    },
    authorizationWebhookCacheUnauthorizedTtl: {
      type: duration(),
      default: 10_000,
      usage: "How long 'unauthorized' responses are cached.",
    },
    insecureLoopback: {
      type: bool,
      default: false,
      usage:
        'On a loopback --bind-address without delegated authorization: serve /explain/, /debug/plan and PUT /debug/flags/v too, to every user of this machine. Only for a machine that is not shared.',
    },
  },
};
