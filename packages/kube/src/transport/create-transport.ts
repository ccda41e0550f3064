/** A `Transport` to one cluster, with everything that belongs on it. Entry point: `createTransport`. */
import { readFile } from 'node:fs/promises';
import { systemClock, type Clock } from '../clock.ts';
import type { ClusterConfig, ReadFile } from '../config/cluster-config.ts';
import { anonymous, type Credentials } from '../config/credentials.ts';
import { silentLogger, type Logger } from '../logger.ts';
import { noMetrics, type Metrics } from '../metrics.ts';
import { systemRandom } from '../system-random.ts';
import type { Transport, TransportLayer } from '../transport.ts';
import { HttpTransport } from './http-transport.ts';
import { stackLayers, withRequestHeaders } from './transport-layer.ts';
import { userAgent } from './user-agent.ts';
import { withCredentials } from './with-credentials.ts';
import { withMetrics } from './with-metrics.ts';
import { withRateLimit } from './with-rate-limit.ts';
import { withRetry, type RetryOptions } from './with-retry.ts';
import { withTracing } from './with-tracing.ts';

export interface CreateTransportOptions {
  /** Default: `systemClock`. */
  readonly clock?: Clock;
  /** Default: silent. */
  readonly logger?: Logger;
  /** Default: none. */
  readonly metrics?: Metrics;
  /** Default: `userAgent()`. */
  readonly userAgent?: string;
  /**
   * Nearest to the connection, below retries, rate limit and credentials: what they see is what is sent, when it is
   * sent. The place of fencing by leadership. They see credentials and must not log them.
   */
  readonly layers?: readonly TransportLayer[];
  /** Default: no limit. Leases are exempt. */
  readonly rateLimit?: { readonly qps: number; readonly burst: number } | undefined;
  /** `false`: nothing is sent again. Default: `withRetry`'s. */
  readonly retry?: Pick<RetryOptions, 'maxRetries' | 'maxTotalMs'> | false;
  /** Milliseconds until a connection must stand. Default: 10,000. */
  readonly connectTimeoutMs?: number;
  /** Milliseconds between two PINGs on connections with open streams. Default: 10,000. */
  readonly pingIntervalMs?: number;
  /** Milliseconds that the peer has for its answer. Default: 10,000: a frozen peer is noticed within 20 s. */
  readonly pingTimeoutMs?: number;
  /** HTTP/1.1 only: longest silence of a watch, in milliseconds. Default: 150,000, two and a half bookmarks. */
  readonly idleTimeoutMs?: number;
  /** Default: HTTP/2 wherever the server offers it over TLS. */
  readonly http2?: boolean;
  /** In [0, 1). Default: the system's. */
  readonly random?: () => number;
  /** Default: from disk. */
  readonly readFile?: ReadFile;
}

/**
 * Connects when the first request is sent. HTTP/2 over TLS where the server offers it, with connections of their own
 * for watches and for leases; HTTP/1.1 for plain http, old servers and through a proxy. Credentials go over TLS only.
 */
export function createTransport(config: ClusterConfig, options: CreateTransportOptions = {}): Transport {
  const { clock = systemClock, logger = silentLogger, metrics = noMetrics } = options;
  const random = options.random ?? systemRandom;
  const { origin, host } = new URL(config.server);
  const credentials = sendable(config, logger);
  const connections = new HttpTransport(config, {
    clock,
    logger,
    readFile: options.readFile ?? ((path) => readFile(path, 'utf8')),
    connectTimeoutMs: options.connectTimeoutMs ?? 10_000,
    pingIntervalMs: options.pingIntervalMs ?? 10_000,
    pingTimeoutMs: options.pingTimeoutMs ?? 10_000,
    idleTimeoutMs: options.idleTimeoutMs ?? 150_000,
    http2: options.http2 ?? true,
  });
  const layers: TransportLayer[] = [];
  if (options.retry !== false) layers.push(withRetry({ clock, logger, random, ...options.retry }));
  if (options.rateLimit) layers.push(withRateLimit({ ...options.rateLimit, clock, metrics, host }));
  layers.push(
    withRequestHeaders({ 'user-agent': options.userAgent ?? userAgent() }),
    withCredentials(credentials, {
      server: origin,
      reloadCertificates: () => connections.reloadCertificates(),
    }),
    withMetrics({ metrics, clock, host }),
    withTracing(origin),
    ...(options.layers ?? []),
  );
  return stackLayers(connections, layers);
}

/** As client-go: over plain http everybody on the way could read them, and an exec plugin is not even asked. */
function sendable({ credentials = anonymous, server }: ClusterConfig, logger: Logger): Credentials {
  if (credentials === anonymous || new URL(server).protocol === 'https:') return credentials;
  logger.warn('Credentials are not sent over plain http; use an https server', { server });
  return anonymous;
}
