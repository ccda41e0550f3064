/** The configuration of a pod: https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/ */
import { isIPv6 } from 'node:net';
import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import type { ClusterConfig, ReadFile } from './cluster-config.ts';
import { ConfigError } from './config-error.ts';
import { tokenFile } from './token-file.ts';

/** Where the kubelet mounts the service account. */
export const SERVICE_ACCOUNT_DIRECTORY = '/var/run/secrets/kubernetes.io/serviceaccount';

export interface InClusterOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly readFile: ReadFile;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Whether the environment is that of a pod. */
export function isInCluster(env: InClusterOptions['env']): boolean {
  return Boolean(env['KUBERNETES_SERVICE_HOST'] && env['KUBERNETES_SERVICE_PORT']);
}

/**
 * The cluster that this pod runs in, as its service account. Token and CA are read again while the program runs.
 * @throws ConfigError `config-not-found` outside of a pod, `config-file-unreadable` without a service account.
 */
export async function loadInClusterConfig(options: InClusterOptions): Promise<ClusterConfig> {
  const { env, readFile, clock, logger } = options;
  const host = env['KUBERNETES_SERVICE_HOST'];
  const port = env['KUBERNETES_SERVICE_PORT'];
  if (!host || !port) {
    throw new ConfigError(
      'config-not-found',
      'in-cluster',
      'KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set: this is not a pod',
    );
  }
  const credentials = tokenFile({
    path: `${SERVICE_ACCOUNT_DIRECTORY}/token`,
    where: 'in-cluster: service account token (is automountServiceAccountToken off?)',
    readFile,
    clock,
    logger,
  });
  await credentials.current();
  const namespace = await readFile(`${SERVICE_ACCOUNT_DIRECTORY}/namespace`).catch(() => '');
  return {
    server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`,
    tls: { ca: { file: `${SERVICE_ACCOUNT_DIRECTORY}/ca.crt`, where: 'in-cluster: service account ca.crt' } },
    credentials,
    namespace: namespace.trim() || 'default',
    source: 'in-cluster',
  };
}
