/** The program's ways to the API server. */
import {
  CONTROLLER_SUFFIX,
  createClient,
  createTransport,
  fence,
  loadConfig,
  readOnly,
  userAgent,
  type Client,
  type ClusterConfig,
  type Leadership,
  type Transport,
  type TransportLayer,
} from '@outrigger/kube';
import type { Foundation } from '../program/foundation.ts';

/** A client, and the connections beneath it. */
export interface Connection extends AsyncDisposable {
  readonly client: Client;
}

/** Reads kubeconfig, environment and service account. Throws a `ConfigError` that names file and key. */
export async function loadClusterConfig(foundation: Foundation): Promise<ClusterConfig> {
  const { clock, environment, logger, options, redactor } = foundation;
  const { kubeconfig, master } = options.client;
  return loadConfig({
    kubeconfig: kubeconfig === '' ? undefined : kubeconfig,
    master: master === '' ? undefined : master,
    env: environment.env,
    clock,
    logger,
    onSecret: (secret, how) => redactor.add(secret, how),
  });
}

/** For leases and for what is read before leading: never limited, never fenced. */
export function connectCandidate(foundation: Foundation, config: ClusterConfig): Connection {
  const { clock, logger, metrics, random } = foundation;
  return connection(
    createTransport(config, {
      clock,
      logger,
      metrics,
      random,
      userAgent: userAgent({ suffix: 'leader-election' }),
      layers: dryRunLayers(foundation),
    }),
    foundation,
  );
}

/** For the controllers: nothing starts once `terms` say that this process may not lead any more. */
export function connectControllers(
  foundation: Foundation,
  config: ClusterConfig,
  terms: Pick<Leadership, 'guard' | 'perform'>,
): Connection {
  const { clock, logger, metrics, options, random } = foundation;
  const { kubeApiBurst, kubeApiQps } = options.client;
  return connection(
    createTransport(config, {
      clock,
      logger,
      metrics,
      random,
      userAgent: userAgent({ suffix: CONTROLLER_SUFFIX }),
      layers: [fence(terms), ...dryRunLayers(foundation)],
      ...(kubeApiQps === 0
        ? {}
        : {
            rateLimit: {
              qps: kubeApiQps,
              burst: kubeApiBurst === 0 ? Math.max(1, Math.ceil(2 * kubeApiQps)) : kubeApiBurst,
            },
          }),
    }),
    foundation,
  );
}

/** For tokens of the accounts of controllers: not fenced, for what a former leader is given it cannot use. */
export function connectTokens(foundation: Foundation, config: ClusterConfig): Connection {
  const { clock, logger, metrics, random } = foundation;
  const agent = userAgent({ suffix: 'tokens' });
  return connection(createTransport(config, { clock, logger, metrics, random, userAgent: agent }), foundation);
}

/** The controllers write nothing in a dry run; should one try, this refuses. */
function dryRunLayers({ logger, options }: Foundation): readonly TransportLayer[] {
  if (!options.debugging.dryRun) return [];
  return [readOnly((request) => logger.error('A write was refused: this is a dry run', { request }))];
}

function connection(transport: Transport, { logger }: Foundation): Connection {
  const client = createClient(transport, {
    onWarning: (warning) => logger.warn('The API server warns', { warning }),
  });
  return { client, [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose]() };
}
