/** Where the manager that leads serves, found out from its Lease. */
import { isNotFound, resources, type Client, type Lease } from '@outrigger/kube';
import { hostOf, urlOf } from './leader-host.ts';

export interface FindLeaderOptions {
  readonly client: Client;
  /** Of the Lease. */
  readonly namespace: string;
  readonly name: string;
  /** `--secure-port` of the managers. */
  readonly port: number;
  readonly signal: AbortSignal;
}

/**
 * `https://host:port`. The holder's name begins with the name of its host, which is that of a node or of a pod: their addresses
 * are asked for. Throws an `Error` that says what to do when there is no leader.
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
  const address = (await addressOfNode(host, options)) ?? (await addressOfPod(host, options)) ?? host;
  return urlOf(address, port);
}

async function addressOfNode(name: string, { client, signal }: FindLeaderOptions): Promise<string | undefined> {
  const node = await orNothing(client.of(resources.nodes).get({ name }, { signal }));
  return node?.status?.addresses?.find(({ type }) => type === 'InternalIP')?.address;
}

async function addressOfPod(
  name: string,
  { client, namespace, signal }: FindLeaderOptions,
): Promise<string | undefined> {
  const pod = await orNothing(client.of(resources.pods).get({ name, namespace }, { signal }));
  return pod?.status?.podIP;
}

async function orNothing<T>(get: Promise<T>): Promise<T | undefined> {
  try {
    return await get;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
