/** No answer came: why, from whom, and what to do about it. */

/** Stable; what a program may branch on. */
export type TransportErrorCode =
  | 'connection-refused'
  | 'connection-reset'
  | 'host-not-found'
  | 'network-unreachable'
  /** No connection within `connectTimeoutMs`. */
  | 'connect-timeout'
  /** No whole answer within the request's `timeoutMs`. */
  | 'timeout'
  /** The connection stands, but the peer does not react: frozen, or cut off without a word. */
  | 'peer-unresponsive'
  | 'tls-untrusted'
  | 'tls-expired'
  | 'tls-name-mismatch'
  /** The server wants another client certificate, or the handshake failed in another way. */
  | 'tls-failed'
  /** The certificate, key or CA of the configuration cannot be used. */
  | 'tls-material'
  /** The credential plugin failed or the token file cannot be read; the reason is in `cause`. */
  | 'no-credentials'
  /** HTTP/2: the server did not process the request; it may be sent again. */
  | 'request-refused'
  | 'protocol-error'
  | 'proxy-failed'
  /** The transport was closed. */
  | 'closed';

const BRAND = Symbol.for('outrigger.kube.TransportError');

export interface TransportErrorOptions extends ErrorOptions {
  /** Whether the server may have received the request, and acted on it. */
  readonly sent: boolean;
}

/** Thrown by `Transport.send`, and by the body of an answer that breaks off. Holds no header and no body. */
export class TransportError extends Error {
  override readonly name = 'TransportError';
  readonly code: TransportErrorCode;
  /** `https://host:port`. */
  readonly server: string;
  /** `false`: the server cannot have acted on the request, so that it is safe to send it again. */
  readonly sent: boolean;

  constructor(code: TransportErrorCode, server: string, message: string, options: TransportErrorOptions) {
    super(`${server}: ${message}`, options.cause === undefined ? {} : { cause: options.cause });
    this.code = code;
    this.server = server;
    this.sent = options.sent;
    Object.defineProperty(this, BRAND, { value: true });
  }
}

/** Whether `error` is a `TransportError`, of whichever copy of this package. */
export function isTransportError(error: unknown): error is TransportError {
  return typeof error === 'object' && error !== null && BRAND in error;
}

interface Meaning {
  readonly code: TransportErrorCode;
  readonly message: string;
}

/** By the `code` of errors of Node, OpenSSL and undici. */
const MEANINGS: Readonly<Record<string, Meaning>> = {
  ECONNREFUSED: { code: 'connection-refused', message: 'connection refused; is the API server running there?' },
  ECONNRESET: { code: 'connection-reset', message: 'the connection was reset' },
  EPIPE: { code: 'connection-reset', message: 'the connection was reset' },
  UND_ERR_SOCKET: { code: 'connection-reset', message: 'the connection was closed before the answer was complete' },
  ERR_STREAM_PREMATURE_CLOSE: {
    code: 'connection-reset',
    message: 'the connection was closed before the answer was complete',
  },
  ERR_HTTP2_SESSION_ERROR: {
    code: 'connection-reset',
    message: 'the server ended the HTTP/2 connection with an error',
  },
  ERR_HTTP2_GOAWAY_SESSION: { code: 'request-refused', message: 'the server is closing the connection' },
  ERR_HTTP2_INVALID_SESSION: {
    code: 'request-refused',
    message: 'the connection was closed before the request was sent',
  },
  ERR_HTTP2_OUT_OF_STREAMS: { code: 'request-refused', message: 'the connection has no stream numbers left' },
  ENOTFOUND: { code: 'host-not-found', message: 'the host name is unknown; check the server in the configuration' },
  EAI_AGAIN: { code: 'host-not-found', message: 'the host name cannot be looked up now; check DNS' },
  EHOSTUNREACH: { code: 'network-unreachable', message: 'no route to the host; check the network' },
  ENETUNREACH: { code: 'network-unreachable', message: 'the network is unreachable' },
  ETIMEDOUT: { code: 'connect-timeout', message: 'no connection in time; check address and firewall' },
  UND_ERR_CONNECT_TIMEOUT: { code: 'connect-timeout', message: 'no connection in time; check address and firewall' },
  CERT_HAS_EXPIRED: { code: 'tls-expired', message: "the server's certificate has expired; renew it" },
  CERT_NOT_YET_VALID: { code: 'tls-expired', message: "the server's certificate is not valid yet; check the clocks" },
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted('is self-signed'),
  SELF_SIGNED_CERT_IN_CHAIN: untrusted('is signed by an unknown authority'),
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted('is signed by an unknown authority'),
  UNABLE_TO_GET_ISSUER_CERT: untrusted('is signed by an unknown authority'),
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted('is signed by an unknown authority'),
  CERT_SIGNATURE_FAILURE: untrusted('is not signed by the configured authority'),
  ERR_TLS_CERT_ALTNAME_INVALID: {
    code: 'tls-name-mismatch',
    message: "the server's certificate is for another name; check the address, or set tls-server-name",
  },
  // Waited for of a proxy alone.
  UND_ERR_HEADERS_TIMEOUT: {
    code: 'proxy-failed',
    message: 'the proxy did not answer in time whether it opens a tunnel; check proxy-url',
  },
  UND_ERR_PRX_TLS: { code: 'proxy-failed', message: 'the TLS connection to the proxy failed; check proxy-url' },
};

const DIED: Meaning = {
  code: 'peer-unresponsive',
  message: 'connection lost: no response from the server; it is unresponsive or the network is down',
};

function untrusted(how: string): Meaning {
  return { code: 'tls-untrusted', message: `the server's certificate ${how}; check certificate-authority` };
}

/** Errors of the network before a request can have gone out. */
const BEFORE_SENDING: ReadonlySet<TransportErrorCode> = new Set<TransportErrorCode>([
  'connection-refused',
  'host-not-found',
  'network-unreachable',
  'connect-timeout',
  'tls-untrusted',
  'tls-expired',
  'tls-name-mismatch',
  'request-refused',
  'proxy-failed',
]);

/** Turns whatever the network layer threw into a `TransportError`. One that is one already stays as it is. */
export function toTransportError(cause: unknown, server: string, sent: boolean): TransportError {
  if (isTransportError(cause)) return cause;
  const { code, syscall } = originOf(cause);
  // The kernel says of a connection that stood with the same words that it died: what was on it may have arrived.
  const stood = syscall === 'read' || syscall === 'write';
  const known = stood && code === 'ETIMEDOUT' ? DIED : MEANINGS[code];
  const meaning = known ?? meaningOf(code, cause);
  // In brackets, so that a log, which appends causes that are not quoted yet, does not say it after a full sentence.
  const words = known && cause instanceof Error && cause.message !== '' ? ` (${cause.message})` : '';
  return new TransportError(meaning.code, server, `${meaning.message}${words}`, {
    cause,
    sent: sent && (stood || !BEFORE_SENDING.has(meaning.code)),
  });
}

/** The `code` of the error that began it, and what the kernel was asked to do. */
function originOf(cause: unknown): { readonly code: string; readonly syscall?: unknown } {
  if (!(cause instanceof Error)) return { code: '' };
  // Happy eyeballs: one error for each address; the first is as good as any.
  if (cause instanceof AggregateError && cause.errors.length > 0) return originOf(cause.errors[0]);
  const { code, syscall } = cause as { code?: unknown; syscall?: unknown };
  return typeof code === 'string' ? { code, syscall } : originOf(cause.cause);
}

function meaningOf(code: string, cause: unknown): Meaning {
  const words = cause instanceof Error ? cause.message : String(cause);
  if (/proxy response .*!==? ?200|proxy/i.test(words) && code.startsWith('UND_ERR')) {
    return { code: 'proxy-failed', message: 'the proxy did not open a tunnel; check proxy-url' };
  }
  if (/^ERR_SSL|^ERR_TLS|EPROTO/.test(code)) {
    return {
      code: 'tls-failed',
      message: `the TLS handshake failed (${code}); check the client certificate, and that the server speaks TLS`,
    };
  }
  return { code: 'protocol-error', message: `the request failed (${code || words})` };
}
