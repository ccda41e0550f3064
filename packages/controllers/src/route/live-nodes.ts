/** What the API server itself says about nodes: no route goes because of a store that is behind. */
import { isNotFound, trimNode, type Node, type ResourceClient } from '@outrigger/kube';
import type { DeleteRoute } from './planned-route.ts';

/** Over so many nodes one list is cheaper. */
const MOST_READS = 20;

export interface LiveNodesOptions {
  readonly client: Pick<ResourceClient<Node>, 'get' | 'pages'>;
  /** The store's. */
  readonly nodes: Iterable<Node>;
  readonly signal: AbortSignal;
}

/** The nodes of the store, with those that these removals depend on as they are on the server now. Throws when it cannot be read. */
export async function readLiveNodes(
  deletes: readonly DeleteRoute[],
  options: LiveNodesOptions,
): Promise<readonly Node[]> {
  const { client, nodes, signal } = options;
  const names = new Set<string>();
  for (const { route, node } of deletes) {
    for (const name of [route.targetNodeName, node?.metadata?.name]) if (name) names.add(name);
  }
  // Without a name a node that only the server knows could not be found.
  const nameless = deletes.some(({ route, reason }) => reason === 'node-gone' && !route.targetNodeName);
  if (nameless || names.size > MOST_READS) return listLiveNodes(client, signal);
  const live = await Promise.all(Array.from(names, (name) => readOne(client, name, signal)));
  const others = [...nodes].filter(({ metadata }) => !names.has(metadata?.name ?? ''));
  return [...others, ...live.filter((node) => node !== undefined)];
}

async function readOne(
  client: LiveNodesOptions['client'],
  name: string,
  signal: AbortSignal,
): Promise<Node | undefined> {
  try {
    return trimNode(await client.get({ name }, { signal }));
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** All of them, as the server has them now. Throws when they cannot be read to the end. */
export async function listLiveNodes(
  client: Pick<ResourceClient<Node>, 'pages'>,
  signal: AbortSignal,
): Promise<readonly Node[]> {
  const found: Node[] = [];
  // An answer in JSON is whole.
  for await (const { items } of client.pages({ signal, trimmed: true })) found.push(...items.map(trimNode));
  return found;
}
