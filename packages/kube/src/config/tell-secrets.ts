/** Tells of each secret before it is used, so that a log can keep it out of its lines. */
import type { ClusterConfig } from './cluster-config.ts';
import type { Credential, Credentials } from './credentials.ts';

/** Takes a secret: a token, a password, a private key. `rotating`: one of many in the life of the program, newest last. */
export type OnSecret = (secret: string, options?: { readonly rotating?: boolean }) => void;

/** The same configuration; what its credentials give from now on is told first. */
export function tellSecrets(config: ClusterConfig, onSecret: OnSecret): ClusterConfig {
  const { credentials, proxyUrl, tls } = config;
  if (tls?.key !== undefined && 'data' in tls.key) tellKey(tls.key.data, onSecret, false);
  const password = proxyUrl === undefined ? '' : (URL.parse(proxyUrl)?.password ?? '');
  if (password !== '') onSecret(decodeURIComponent(password));
  return credentials === undefined ? config : { ...config, credentials: telling(credentials, onSecret) };
}

function telling(source: Credentials, onSecret: OnSecret): Credentials {
  const told = new WeakSet<Credential>();
  const tell = (credential: Credential): Credential => {
    if (told.has(credential)) return credential;
    told.add(credential);
    const value = credential.headers['authorization']?.replace(/^(?:Bearer|Basic) /u, '');
    if (value !== undefined) onSecret(value, { rotating: true });
    if (credential.certificate) tellKey(credential.certificate.key, onSecret, true);
    return credential;
  };
  return {
    current: async (signal) => tell(await source.current(signal)),
    renew: async (rejected, signal) => {
      const renewed = await source.renew(rejected, signal);
      return renewed && tell(renewed);
    },
  };
}

/** The lines of a PEM key one by one: a message may quote any of them. */
function tellKey(pem: string, onSecret: OnSecret, rotating: boolean): void {
  for (const line of pem.split('\n')) if (!line.startsWith('-----')) onSecret(line.trim(), { rotating });
}
