/** Opens a TLS connection and learns which HTTP the server speaks. */
import { isIP } from 'node:net';
import { checkServerIdentity, connect, type TLSSocket } from 'node:tls';
import { onAbort } from '../abort.ts';
import type { Clock } from '../clock.ts';
import type { TlsMaterial } from './tls-material.ts';
import { TransportError, toTransportError } from './transport-error.ts';

export interface TlsTarget {
  /** `https://host:port`. */
  readonly origin: string;
  /** The name that the certificate must bear. Default: the host. */
  readonly serverName?: string | undefined;
  /** The organization that it must not bear. Default: it may bear any. */
  readonly refusedOrganization?: string | undefined;
  readonly insecureSkipVerify: boolean;
}

/** Probes of the kernel: they find a peer that is gone from the network, but not one whose process is frozen. */
export const KEEP_ALIVE_MS = 15_000;

/** A host as `tls.connect` wants it: IPv6 without brackets. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1');
}

/** The name to ask for in SNI. An IP address must not be sent (RFC 6066 §3). */
export function serverNameOf(target: TlsTarget): string | undefined {
  const name = target.serverName ?? hostOf(new URL(target.origin));
  return isIP(name) === 0 ? name : undefined;
}

/** Checks the name in the server's certificate, which may be another than the host's, even an IP address; and whose it must not be. */
export function identityCheck({ origin, refusedOrganization, serverName }: TlsTarget): typeof checkServerIdentity {
  return (host, certificate) => {
    const { O: organizations = [] } = certificate.subject;
    if (refusedOrganization === undefined || ![organizations].flat().includes(refusedOrganization))
      return checkServerIdentity(serverName ?? host, certificate);
    const what = `the server's certificate is of the organization ${refusedOrganization}, which is refused here: nothing was sent`;
    return new TransportError('tls-name-mismatch', origin, what, { sent: false });
  };
}

export function connectTls(
  target: TlsTarget,
  material: TlsMaterial,
  options: { readonly clock: Clock; readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<TLSSocket> {
  const url = new URL(target.origin);
  const serverName = serverNameOf(target);
  return new Promise((resolve, reject) => {
    options.signal.throwIfAborted();
    const socket = connect({
      host: hostOf(url),
      port: Number(url.port || 443),
      ...(serverName !== undefined && { servername: serverName }),
      secureContext: material.context,
      checkServerIdentity: identityCheck(target),
      rejectUnauthorized: !target.insecureSkipVerify,
      ALPNProtocols: ['h2', 'http/1.1'],
    });
    const stop = (error: Error): void => {
      timer.cancel();
      forget();
      socket.destroy();
      reject(error);
    };
    const timer = options.clock.setTimer(options.timeoutMs, () => {
      const what = `no TLS connection within ${options.timeoutMs} ms; check address and firewall`;
      stop(new TransportError('connect-timeout', target.origin, what, { sent: false }));
    });
    const forget = onAbort(options.signal, () => stop(options.signal.reason as Error));
    // Stays: an error after the promise has settled has nobody else to catch it until the session takes over.
    socket.on('error', (error) => stop(toTransportError(error, target.origin, false)));
    socket.once('close', () =>
      stop(
        new TransportError('connection-reset', target.origin, 'the connection was closed in the TLS handshake', {
          sent: false,
        }),
      ),
    );
    socket.once('secureConnect', () => {
      timer.cancel();
      forget();
      socket.setNoDelay(true);
      socket.setKeepAlive(true, KEEP_ALIVE_MS);
      resolve(socket);
    });
  });
}
