/** Reads a cluster and its leader, and judges what was read. Entry point: `collectStatus`. */
import { createClient, type Clock, type Transport } from '@outrigger/kube';
import type { ClusterStatus } from './cluster-status.ts';
import { judgeCluster } from './judge-cluster.ts';
import { readCertificates } from './read-certificates.ts';
import { readCluster, type KnownObjects } from './read-cluster.ts';
import { readLeader, type LeaderAccess } from './read-leader.ts';

export interface CollectStatusOptions {
  /** To the API server, as the user who asks. Nothing is written. */
  readonly transport: Transport;
  /** Its URL, which is shown. */
  readonly server: string;
  /** How the leader is asked. Default: through the proxy of the API server only, which lets its health be read. */
  readonly leader?: LeaderAccess | undefined;
  /** Of the Lease. Default: `kube-system`. */
  readonly namespace?: string;
  /** Of the Lease. Default: `cloud-controller-manager`. */
  readonly leaseName?: string;
  /** For each answer, in milliseconds; a leader that cannot be reached takes no longer than 5 s. Default: 30,000. */
  readonly timeoutMs?: number;
  readonly clock: Clock;
  /** Of who watches nodes and Services anyway. Default: they are listed. */
  readonly known?: KnownObjects | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * What could not be read is `unknown` in the answer, with the reason. Throws only where the API server gives no answer at all, or does not
 * accept the credentials: a `TransportError` or a `StatusError`.
 */
export async function collectStatus(options: CollectStatusOptions): Promise<ClusterStatus> {
  const {
    clock,
    known,
    leader = {},
    leaseName = 'cloud-controller-manager',
    namespace = 'kube-system',
    server,
    signal,
    timeoutMs = 30_000,
    transport,
  } = options;
  const call = { signal, timeoutMs };
  const cluster = await readCluster({ client: createClient(transport), known, namespace, leaseName, call });
  const asked = { access: leader, call, clock, cluster, namespace, transport };
  const [pages, certificates] = await Promise.all([readLeader(asked), readCertificates(asked)]);
  return judgeCluster({ at: clock.now(), server, namespace, leaseName, ...cluster, ...pages, certificates });
}
