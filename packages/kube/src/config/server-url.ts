/** The address of an API server, as it may be written in a kubeconfig or a flag. */
import { isIPv4 } from 'node:net';
import { ConfigError } from './config-error.ts';

/**
 * `https://host:port[/prefix]` without a slash at its end. Without a scheme it is https when TLS material is configured
 * (`tls`), else http, as in client-go.
 * @throws ConfigError `config-invalid`, at `where`.
 */
export function parseServer(where: string, server: string, tls: boolean): string {
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(server) ? server : `${tls ? 'https' : 'http'}://${server}`);
  if (!url || url.host === '') throw new ConfigError('config-invalid', where, 'is not a URL like https://host:6443');
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new ConfigError(
      'config-invalid',
      where,
      `has scheme ${url.protocol.slice(0, -1)}; only https and http are known`,
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw new ConfigError('config-invalid', where, 'holds a user name or password; set them in the user entry');
  }
  // The URL standard reads `7` as an address, and `010.0.0.1` as octal; Go takes them for names, and a person for a slip.
  if (isIPv4(url.hostname) && hostOf(server) !== url.hostname) {
    const text = `is not a URL like https://host:6443 (its host would be read as ${url.hostname})`;
    throw new ConfigError('config-invalid', where, text);
  }
  if (url.search !== '' || url.hash !== '') throw new ConfigError('config-invalid', where, 'holds a query or fragment');
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

/** As it is written. */
function hostOf(server: string): string {
  return server.replace(/^[a-z][a-z0-9+.-]*:\/\//i, '').replace(/[/?#:].*$/s, '');
}
