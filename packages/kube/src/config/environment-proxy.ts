/**
 * The proxy that the environment names for a server, by the rules of Go's `net/http` `ProxyFromEnvironment`, which is what
 * client-go uses where a kubeconfig says nothing: https://pkg.go.dev/golang.org/x/net/http/httpproxy
 */
import { BlockList, isIP, isIPv6 } from 'node:net';
import { ConfigError } from './config-error.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * From `HTTPS_PROXY` or `HTTP_PROXY`, by the scheme of the server, unless `NO_PROXY` excepts it; each may be written in small
 * letters too. `undefined`: none. A server on this machine is never reached through a proxy.
 * @throws ConfigError `config-invalid`, `config-unsupported` for what is no proxy of a known kind.
 */
export function environmentProxy(server: string, env: Environment): string | undefined {
  const { protocol, hostname, port } = new URL(server);
  const isTls = protocol === 'https:';
  const name = isTls ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const proxy = valueOf(env, name);
  // In a CGI program, HTTP_PROXY is the header Proxy of whoever asks.
  if (proxy === '' || (!isTls && env['REQUEST_METHOD'])) return undefined;
  const host = hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
  if (isLocal(host) || isExcepted(host, port || (isTls ? '443' : '80'), valueOf(env, 'NO_PROXY'))) return undefined;
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(proxy) ? proxy : `http://${proxy}`);
  // The URL may hold a password, so it is not quoted.
  if (!url || url.host === '') throw new ConfigError('config-invalid', `$${name}`, 'is not a URL');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    const scheme = url.protocol.slice(0, -1);
    throw new ConfigError(
      'config-unsupported',
      `$${name}`,
      `has scheme ${scheme}; only http and https proxies are supported: except the API server with NO_PROXY, or set proxy-url`,
    );
  }
  return url.href;
}

function valueOf(env: Environment, name: string): string {
  return env[name] || env[name.toLowerCase()] || '';
}

function isLocal(host: string): boolean {
  const loopback = new BlockList();
  loopback.addSubnet('127.0.0.0', 8, 'ipv4');
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && loopback.check(host, 'ipv4'));
}

/** `list`: `*`, addresses, ranges, names (and all below them), `.names` (only below them), each but a range with or without a port. */
function isExcepted(host: string, port: string, list: string): boolean {
  return list.split(',').some((item) => {
    const entry = item.trim().toLowerCase();
    if (entry === '') return false;
    if (entry === '*') return true;
    if (entry.includes('/')) return isInRange(host, entry);
    const { name, port: only } = splitPort(entry);
    if (only !== '' && only !== port) return false;
    if (isIP(name) !== 0) return isIP(host) !== 0 && isInRange(host, `${name}/${isIPv6(name) ? 128 : 32}`);
    const domain = name.replace(/^\*\./, '.');
    return domain.startsWith('.') ? host.endsWith(domain) : host === domain || host.endsWith(`.${domain}`);
  });
}

function isInRange(host: string, range: string): boolean {
  const [address = '', bits = ''] = range.split('/');
  const family = isIP(address);
  if (family === 0 || isIP(host) === 0 || !/^\d{1,3}$/.test(bits) || Number(bits) > (family === 4 ? 32 : 128)) {
    return false;
  }
  const list = new BlockList();
  list.addSubnet(address, Number(bits), family === 4 ? 'ipv4' : 'ipv6');
  return list.check(host, isIPv6(host) ? 'ipv6' : 'ipv4');
}

/** `a:1`, `[::1]:1`, `[::1]`, `::1`, `a`. */
function splitPort(entry: string): { readonly name: string; readonly port: string } {
  const bracketed = /^\[(?<name>[^\]]*)\](?::(?<port>\d*))?$/.exec(entry)?.groups;
  if (bracketed) return { name: bracketed['name'] ?? '', port: bracketed['port'] ?? '' };
  if (isIPv6(entry)) return { name: entry, port: '' };
  const [name = '', port = ''] = entry.split(':');
  return { name, port };
}
