/** A listener of the manager: TLS, with certificates that are read again when they change. */
import { existsSync } from 'node:fs';
import type { RequestListener, Server } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer, type ServerOptions } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { noMetrics, onAbort, type Clock, type Logger, type Metrics } from '@outrigger/kube';
import { isApiServer } from '../access/api-server-caller.ts';
import { onceAMinute } from '../logs/once-a-minute.ts';
import { reloadFiles } from '../reload/reload-files.ts';
import { CertificateError, readCertificateFiles } from './certificate-files.ts';
import { limitConnections, type LimitedConnections } from './connection-limit.ts';
import { HandshakePace } from './handshake-pace.ts';
import { listenerOf, type HttpApp } from './http-app.ts';
import type { ServingCertificate } from './self-signed-certificate.ts';
import { ServingContext, type NamedCertificate } from './serving-context.ts';
import type { NamedCertKey } from './serving-flags.ts';
import { toTlsOptions, type TlsSettings } from './tls-settings.ts';

export interface CertificatePair {
  readonly certFile: string;
  readonly keyFile: string;
  /** Until both files are there a self-signed certificate is served. Default: they have to be there. */
  readonly mayComeLater?: boolean;
}

export interface SecureServerOptions {
  readonly app: HttpApp;
  readonly clock: Clock;
  readonly logger: Logger;
  /** An IP address. */
  readonly bindAddress: string;
  /** 0 takes any free one. */
  readonly port: number;
  /** `plain` is for tests. Default: a self-signed certificate, made now. */
  readonly tls?: 'plain' | CertificatePair;
  /** Other certificates, for callers that ask for these names. */
  readonly named?: readonly NamedCertKey[];
  /** Default: TLS 1.2 and the platform's own choice. */
  readonly settings?: TlsSettings;
  /** Set: callers are asked for a certificate, which they need not have. */
  readonly clientAuthorities?: ClientAuthorities | undefined;
  /**
   * API servers call, with certificates of `clientAuthorities`: where there are too many connections, theirs are ended last. Default: false, as
   * a kubelet's probe shows no certificate, and every node has one.
   */
  readonly forApiServers?: boolean;
  /** Default: nothing is counted. */
  readonly metrics?: Metrics;
  /** SO_REUSEPORT. Default: false. */
  readonly sharePort?: boolean;
  /** What the names of its flags begin with, `webhook-`: for messages, and in the metrics of reloads. Default: nothing. */
  readonly flagPrefix?: string;
  /**
   * So long a request may take to arrive, from the first to its last byte. Default: 30,000. A handshake and the headers have a third of
   * it, an answer twice as long to be taken.
   */
  readonly requestTimeoutMs?: number;
  /** Connections at a time, those in a handshake included; for one more, `firstToGo` is ended. Default: 128. */
  readonly mostConnections?: number;
}

/** What of a listener is found in files. */
export type SecureServerFiles = Pick<
  SecureServerOptions,
  'bindAddress' | 'clientAuthorities' | 'clock' | 'flagPrefix' | 'named' | 'settings' | 'tls'
>;

/** Who signs callers' certificates, as it is now. */
export interface ClientAuthorities {
  /** PEM. */
  readonly current: () => readonly string[];
  /** Returns the way to stop. */
  readonly onChange: (listener: () => void) => () => void;
}

export interface SecureServer extends AsyncDisposable {
  /** Where it listens, for example `https://127.0.0.1:10258`. */
  readonly url: string;
  /** What a caller who asks for this name (SNI) is shown now: PEM, with the chain. `plain`: ''. */
  certificateFor(name: string): string;
}

const DEFAULT_SETTINGS: TlsSettings = { minVersion: '', cipherSuites: [], curvePreferences: [] };
/** Why an address cannot be listened on, by the code of the error. */
const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use',
  EADDRNOTAVAIL: 'this machine does not have the address',
  EACCES: 'this process may not use the port',
};
/** A scrape or probe that takes longer than this is not one. */
const REQUEST_TIMEOUT_MS = 30_000;
/** Kubelets and Prometheus have one or two each; a connection that says nothing costs some 45 kB. */
const MOST_CONNECTIONS = 128;
/** Less than a tenth of one processor. Kubelets and Prometheus make one in seconds, an API server dozens when it starts. */
const HANDSHAKES = { perSecond: 100, burst: 100 };
/**
 * A connection without a request is closed after this time. Clients in Go, the API server among them, close it after 90 s themselves; a review that
 * the API server sends as its connection is closed here may fail, and with the failure policy `Ignore` its object is stored unseen.
 */
const IDLE_MS = 120_000;
/** So often within that time Node looks for those that take longer; its own 30 s would double it. */
const LOOKS = 10;

/** Listens. Throws a `ListenError` when the address cannot be had, a `CertificateError` for bad files. */
export async function startSecureServer(options: SecureServerOptions): Promise<SecureServer> {
  const { app, tls } = options;
  const answer = listenerOf(app);
  const context = tls === 'plain' ? undefined : await servingContextOf(options);
  const server: Server | TlsServer = context
    ? createTls(context, options, answer)
    : await createPlain(limitsOf(options), answer);
  const connections = limited(server, options);
  await listen(server, options);
  const stop = new AbortController();
  if (context) {
    followFiles(context, options, stop.signal);
    tellExpiry(context, options, stop.signal);
  }
  const { address, family, port: bound } = server.address() as AddressInfo;
  const host = family === 'IPv6' ? `[${address}]` : address;
  return {
    url: `${context === undefined ? 'http' : 'https'}://${host}:${bound}`,
    certificateFor: (name) => context?.certificateFor(name) ?? '',
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
      connections.endAll();
      await closed;
    },
  };
}

/** Throws a `CertificateError` where `startSecureServer` would for these files, and touches nothing else. */
export async function checkSecureServer(options: SecureServerFiles): Promise<void> {
  await servingContextOf(options);
}

/** The address cannot be listened on. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
  readonly code = 'cannot-listen';
}

async function servingContextOf(options: SecureServerFiles): Promise<ServingContext> {
  const { clientAuthorities, flagPrefix = '', named = [], settings = DEFAULT_SETTINGS } = options;
  const certificate = await certificateOf(options);
  const pairs = await Promise.all(named.map((pair) => readNamed(pair, flagPrefix)));
  const authorities = clientAuthorities?.current() ?? [];
  try {
    return new ServingContext({ certificate, named: pairs, clientAuthorities: authorities }, toTlsOptions(settings));
  } catch (cause) {
    const flag = named.length === 0 ? 'tls-private-key-file' : 'tls-private-key-file and --tls-sni-cert-key';
    const flags = `--${flagPrefix}tls-cert-file and --${flagPrefix}${flag.replace('--', `--${flagPrefix}`)}`;
    throw new CertificateError(`${flags}: these certificates and keys cannot be used`, { cause });
  }
}

async function certificateOf(options: SecureServerFiles): Promise<ServingCertificate> {
  const { bindAddress, clock, flagPrefix, tls } = options;
  if (typeof tls === 'object') {
    const { certFile, keyFile, mayComeLater } = tls;
    const isAwaited = mayComeLater && !(existsSync(certFile) && existsSync(keyFile));
    if (!isAwaited) return readCertificateFiles(certFile, keyFile, { prefix: flagPrefix });
  }
  // Loaded only here: a manager that is given a certificate does not pay for the library.
  const { makeSelfSignedCertificate } = await import('./self-signed-certificate.ts');
  return makeSelfSignedCertificate(clock, [bindAddress]);
}

async function readNamed({ certFile, keyFile, names }: NamedCertKey, prefix: string): Promise<NamedCertificate> {
  return { ...(await readCertificateFiles(certFile, keyFile, { flag: 'tls-sni-cert-key', prefix })), names };
}

/** For the constructor: of limits that are set later the shorter one is the headers', and the longer one the whole request's. */
function limitsOf({ requestTimeoutMs = REQUEST_TIMEOUT_MS }: SecureServerOptions): ServerOptions {
  return {
    requestTimeout: requestTimeoutMs,
    headersTimeout: Math.ceil(requestTimeoutMs / 3),
    keepAliveTimeout: IDLE_MS,
    connectionsCheckingInterval: requestTimeoutMs / LOOKS,
    handshakeTimeout: Math.ceil(requestTimeoutMs / 3),
  };
}

function limited(server: Server | TlsServer, options: SecureServerOptions): LimitedConnections {
  const { clock, forApiServers = false, logger, metrics = noMetrics } = options;
  const { mostConnections = MOST_CONNECTIONS, requestTimeoutMs = REQUEST_TIMEOUT_MS } = options;
  // Of a socket on which nothing moves: by then only an answer that nobody takes is left.
  server.timeout = requestTimeoutMs * 2;
  const listener = nameOf(options);
  const ended = metrics.counter({
    name: 'outrigger_server_connections_ended_total',
    help: 'Connections that were closed because there were too many.',
    labels: ['listener'],
  });
  const isDue = onceAMinute(clock);
  return limitConnections(server, {
    most: mostConnections,
    trusts: (socket) => forApiServers && isApiServer(socket),
    onEnded: (peer) => {
      ended.inc({ listener });
      if (!isDue('connections')) return;
      logger.warn('Too many connections: for each new one an older one is closed', { listener, mostConnections, peer });
    },
  });
}

/** For metrics and logs: `secure`, `webhook`. */
function nameOf({ flagPrefix = '' }: SecureServerOptions): string {
  return flagPrefix === '' ? 'secure' : flagPrefix.replace(/-$/u, '');
}

function tellExpiry(context: ServingContext, options: SecureServerOptions, signal: AbortSignal): void {
  const { metrics = noMetrics } = options;
  const expires = metrics.gauge({
    name: 'outrigger_serving_certificate_expiration_timestamp_seconds',
    help: 'When the serving certificate of the listener expires, in seconds since the Unix epoch.',
    labels: ['listener'],
  });
  metrics.onCollect(() => expires.set(context.expires / 1_000, { listener: nameOf(options) }), signal);
}

/** An import of `node:http` reads all that it exports, and so loads Node's copy of undici: 6 MiB that no listener with TLS needs. */
async function createPlain(limits: ServerOptions, answer: RequestListener): Promise<Server> {
  const { createServer } = await import('node:http');
  return createServer(limits, answer);
}

function createTls(context: ServingContext, options: SecureServerOptions, answer: RequestListener): TlsServer {
  const server = createTlsServer(
    {
      ...context.options,
      ...limitsOf(options),
      // Anonymous callers are let in: what they may see is decided later.
      ...(options.clientAuthorities === undefined ? {} : { requestCert: true, rejectUnauthorized: false }),
      SNICallback: (name, found) => found(null, context.contextFor(name)),
    },
    answer,
  );
  context.attach(server);
  paceHandshakes(server, options.clock);
  return server;
}

/** Node's own listener begins the handshake. */
function paceHandshakes(server: TlsServer, clock: Clock): void {
  const listeners = server.listeners('connection') as ((socket: Socket) => void)[];
  server.removeAllListeners('connection');
  const begin = (socket: Socket): void => {
    for (const listener of listeners) listener.call(server, socket);
  };
  const pace = new HandshakePace({ clock, ...HANDSHAKES, begin });
  server.on('connection', (socket: Socket) => pace.enter(socket));
}

async function listen(server: Server | TlsServer, options: SecureServerOptions): Promise<void> {
  const { bindAddress, flagPrefix = '', port, sharePort = false } = options;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const why = REASONS[cause.code ?? ''] ?? cause.message;
      const text = `cannot listen on ${bindAddress} port ${port}: ${why}; see --${flagPrefix}bind-address and --${flagPrefix}secure-port`;
      reject(new ListenError(text));
    });
    server.listen({ port, host: bindAddress, reusePort: sharePort }, resolve);
  });
}

/** Handshakes from now on get what is new; open connections stay. */
function followFiles(context: ServingContext, options: SecureServerOptions, signal: AbortSignal): void {
  const { clientAuthorities, clock, flagPrefix = '', logger, metrics = noMetrics, named = [], tls } = options;
  const material = context.material;
  const follow = (
    name: string,
    files: readonly { readonly certFile: string; readonly keyFile: string }[],
    pairs: readonly ServingCertificate[],
    use: (pairs: readonly ServingCertificate[]) => void,
  ): void => {
    void reloadFiles({
      name,
      paths: files.flatMap(({ certFile, keyFile }) => [certFile, keyFile]),
      current: pairs.flatMap(({ cert, key }) => [cert, key]),
      // Half-written files are refused here: a certificate and the key of another one do not fit.
      apply: async (texts) => use(files.map((_, i) => ({ cert: texts[2 * i] ?? '', key: texts[2 * i + 1] ?? '' }))),
      clock,
      logger,
      metrics,
      signal,
    });
  };
  if (typeof tls === 'object') {
    const current = [material.certificate].filter(({ isSelfSigned }) => !isSelfSigned);
    follow(`${flagPrefix}serving-certificate`, [tls], current, ([certificate]) => {
      if (certificate) context.replace({ certificate });
    });
  }
  if (named.length > 0) {
    follow(`${flagPrefix}sni-certificates`, named, material.named, (pairs) => {
      context.replace({ named: pairs.map((pair, i) => ({ ...pair, names: named[i]?.names ?? [] })) });
    });
  }
  const stop = clientAuthorities?.onChange(() => context.replace({ clientAuthorities: clientAuthorities.current() }));
  if (stop) onAbort(signal, stop);
}
