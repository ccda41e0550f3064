/** Where the manager that leads serves, found out from its Lease. */
import { isNotFound, resources, type Client, type Lease } from '@outrigger/kube';
import { hostOf, urlOf } from './leader-host.ts';
import { leaderPod, noLeaderPod, selectorsOfLeader } from './leader-pod.ts';

export interface FindLeaderOptions {
  readonly client: Client;
  /** Of the Lease, and of the Pods of the manager. */
  readonly namespace: string;
  readonly name: string;
  /** `--secure-port` of the managers. */
  readonly port: number;
  readonly signal: AbortSignal;
}

/**
 * `https://host:port`. The holder's name begins with the name of its host, which is that of a node or of a Pod. The address is that of the
 * manager's Pod, and of no host that only the Lease names: who asks sends credentials there. Throws an `Error` that says what to do
 * when there is no leader, or no such Pod.
 */
export async function findLeader(options: FindLeaderOptions): Promise<string> {
  const { client, name, namespace, port, signal } = options;
  const where = `${namespace}/${name}`;
  let lease: Lease;
  try {
    lease = await client.of(resources.leases).get({ name, namespace }, { signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw new Error(`Lease ${where} not found: set --leader-elect-resource-name, or --server`, {
      cause: error,
    });
  }
  const holder = lease.spec?.holderIdentity ?? '';
  if (holder === '') throw new Error(`the Lease ${where} has no holder: there is no leader`);
  const host = hostOf(holder);
  const lists = selectorsOfLeader(host).map((fieldSelector) =>
    client.of(resources.pods).list({ namespace, fieldSelector, signal }),
  );
  const pods = (await Promise.all(lists)).flatMap(({ items }) => items);
  const address = leaderPod(pods, host)?.status?.podIP;
  if (address === undefined) throw new Error(noLeaderPod(namespace, host));
  return urlOf(address, port);
}
