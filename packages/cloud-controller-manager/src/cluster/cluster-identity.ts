/** Which cluster this is: read once at the start, put onto everything that is made in the cloud. */
import type { ClusterIdentity } from '@outrigger/cloud-provider';
import {
  isConfigError,
  isForbidden,
  isUnauthorized,
  resources,
  type Client,
  type Clock,
  type Logger,
} from '@outrigger/kube';

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;

export interface ClusterIdentityOptions {
  readonly client: Client;
  /** `--cluster-name`. */
  readonly name: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/**
 * The UID of kube-system stands for the cluster: it is there from the first moment and lives as long as the cluster does.
 * Waits for an API server that does not answer yet. Throws the signal's reason, and what the server said when it knows
 * this program and refuses it, or what is wrong with the configuration: waiting does not mend that.
 */
export async function readClusterIdentity(options: ClusterIdentityOptions): Promise<ClusterIdentity> {
  const { client, clock, logger, name, signal } = options;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      const ref = { name: 'kube-system' };
      const { metadata } = await client.of(resources.namespaces).get(ref, { signal, answer: 'metadata' });
      if (!metadata.uid) throw new Error('namespace kube-system has no UID');
      return { id: metadata.uid, name };
    } catch (error) {
      signal.throwIfAborted();
      if (isForbidden(error)) throw error;
      const cause = (error as Error).cause;
      // A file that the kubeconfig names: it is found out when it is first needed.
      if (isConfigError(cause)) throw cause;
      if (isUnauthorized(error)) {
        // The server's own words are one, and name neither file nor remedy.
        const what = 'the API server does not accept the credentials';
        const remedy = 'renew the token or certificate of the kubeconfig or service account';
        throw Object.assign(new Error(`${what}: ${remedy}: ${error.message}`, { cause: error }), { code: error.code });
      }
      logger.warn('API server is not reachable; retrying', { retryIn: `${pauseMs}ms`, error });
      await clock.sleep(pauseMs, signal);
    }
  }
}
