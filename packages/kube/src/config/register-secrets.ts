/** Registers each secret before it is used, so that a log can keep it out of its lines. */
import type { ClusterConfig } from './cluster-config.ts';
import type { Credential, Credentials } from './credentials.ts';

/**
 * Takes a secret: a token, a password, a private key in PEM, whose lines a message may quote one by one. `rotating`: what gives it,
 * `token` or `key`, where it is one of many in the life of the program, the newest last.
 */
export type OnSecret = (secret: string, options?: { readonly rotating?: string }) => void;

/** The same configuration; what its credentials give from now on is registered first. */
export function registerSecrets(config: ClusterConfig, onSecret: OnSecret): ClusterConfig {
  const { credentials, proxyUrl, tls } = config;
  if (tls?.key !== undefined && 'data' in tls.key) onSecret(tls.key.data);
  const password = proxyUrl === undefined ? '' : (URL.parse(proxyUrl)?.password ?? '');
  if (password !== '') onSecret(decodeURIComponent(password));
  return credentials === undefined ? config : { ...config, credentials: registering(credentials, onSecret) };
}

function registering(source: Credentials, onSecret: OnSecret): Credentials {
  const registered = new WeakSet<Credential>();
  const register = (credential: Credential): Credential => {
    if (registered.has(credential)) return credential;
    registered.add(credential);
    const value = credential.headers['authorization']?.replace(/^(?:Bearer|Basic) /u, '');
    if (value !== undefined) onSecret(value, { rotating: 'token' });
    if (credential.certificate) onSecret(credential.certificate.key, { rotating: 'key' });
    return credential;
  };
  return {
    current: async (signal) => register(await source.current(signal)),
    renew: async (rejected, signal) => {
      const renewed = await source.renew(rejected, signal);
      return renewed && register(renewed);
    },
  };
}
