/** Instances of the memory cloud: 500 a look-up, and a direct read that proves absence. */
import {
  asError,
  isCloudError,
  parseProviderID,
  type CallContext,
  type Instance,
  type InstanceAnswer,
  type InstanceHint,
  type InstanceNeed,
  type Instances,
  type NodeRef,
  type NodeTagResult,
  type NodeTags,
} from '@outrigger/cloud-provider';
import type { CloudClient } from './cloud-client.ts';
import type { MemoryInstance } from './cloud-model.ts';
import { named } from './provider-name.ts';

const REST = /^[^/]*\/(?!\.\.?$)([^/]+)$/;

export class MemoryInstances implements Instances, NodeTags {
  readonly batchSize = 500;
  readonly #client: () => CloudClient;
  readonly #name: string;

  /** Where the cloud is asked for hints. */
  readonly changes?: NonNullable<Instances['changes']>;

  /** `name`: the provider's. */
  constructor(
    client: () => CloudClient,
    name: string,
    { hints = false }: { readonly hints?: boolean | undefined } = {},
  ) {
    this.#client = client;
    this.#name = name;
    if (hints) this.changes = (call) => this.#poll(call);
  }

  async lookUp(nodes: readonly NodeRef[], need: InstanceNeed, call: CallContext): Promise<readonly InstanceAnswer[]> {
    const ids = nodes.map((node) => this.#idOf(node)).filter((id) => id !== undefined);
    const unnamed = nodes.filter(({ providerID }) => !providerID);
    const names = unnamed.map(({ name }) => name);
    const systemUUIDs = unnamed.flatMap((node) => uuidOf(node) ?? []);
    const client = this.#client();
    const { home } = client;
    const { place } = home;
    const { instances } = await client.request<{ instances: readonly MemoryInstance[] }>(
      call,
      'POST /instances:batchGet',
      { method: 'POST', path: '/instances:batchGet', body: { ids, names, systemUUIDs } },
    );
    const byId = new Map(instances.map((instance) => [instance.id, instance]));
    const byUUID = new Map(instances.map((instance) => [uuidOf(instance), instance]));
    const byName = new Map(instances.map((instance) => [instance.name, instance]));
    return nodes.map((node) => {
      const id = this.#idOf(node);
      // Of another provider's ID, or a broken one, nothing is known here.
      if (id === undefined && node.providerID) return { place, result: { kind: 'missing' } };
      const uuid = uuidOf(node);
      const sought = (uuid === undefined ? undefined : byUUID.get(uuid)) ?? byName.get(node.name);
      const instance = id === undefined ? sought : byId.get(id);
      if (instance && id === undefined) home.sawByName(instance.id);
      else if (instance) home.sawById();
      return {
        place,
        result: instance ? { kind: 'found', instance: this.#given(instance, need) } : { kind: 'missing' },
      };
    });
  }

  async read(node: NodeRef, need: InstanceNeed, call: CallContext): Promise<InstanceAnswer> {
    const id = this.#idOf(node);
    const client = this.#client();
    const { home } = client;
    const { place } = home;
    // Without an ID there is nothing to read directly, and a search by name proves nothing.
    if (id === undefined) return { place, result: { kind: 'missing' } };
    const path = `/instances/${encodeURIComponent(id)}`;
    try {
      const found = await client.request<MemoryInstance>(call, 'GET /instances/{id}', { method: 'GET', path });
      home.sawById();
      return { place, result: { kind: 'found', instance: this.#given(found, need) } };
    } catch (error) {
      if (!isCloudError(error, 'not-found')) throw error;
      const gone = { id, proof: `GET ${path}: 404 not-found.`, remembers: () => this.#hadIt(id, call) };
      return { place, result: await home.machineGone(gone, call) };
    }
  }

  /** One by one: the cloud has nothing for many. */
  put(nodes: readonly NodeRef[], call: CallContext): Promise<readonly NodeTagResult[]> {
    return Promise.all(
      nodes.map(async (node): Promise<NodeTagResult> => {
        const client = this.#client();
        const path = `/instances/${encodeURIComponent(this.#idOf(node) ?? '')}`;
        try {
          await client.request(call, 'PATCH /instances/{id}', { method: 'PATCH', path, body: client.nodeTags });
          return { kind: 'done' };
        } catch (error) {
          return { kind: 'failed', error: asError(error) };
        }
      }),
    );
  }

  /** The cloud keeps the names of those that were deleted. */
  async #hadIt(id: string, call: CallContext): Promise<boolean> {
    const path = `/deletedInstances/${encodeURIComponent(id)}`;
    try {
      await this.#client().request(call, 'GET /deletedInstances/{id}', { method: 'GET', path });
      return true;
    } catch (error) {
      if (!isCloudError(error, 'not-found')) throw error;
      return false;
    }
  }

  /** A long poll. What changed before it began is of no concern: nodes are looked up when the host begins. */
  async *#poll(call: CallContext): AsyncGenerator<InstanceHint> {
    let since: number | undefined;
    while (!call.signal.aborted) {
      const path = since === undefined ? '/changes' : `/changes?since=${since}`;
      const { next, instances } = await this.#client().request<{
        next: number;
        instances: readonly { readonly providerID: string; readonly name: string }[];
      }>(call, 'GET /changes', { method: 'GET', path });
      since = next;
      for (const { name, providerID } of instances) {
        yield { providerID: named(providerID, this.#name) };
        // Its node may have no provider ID yet.
        yield { name };
      }
    }
  }

  #idOf({ providerID }: NodeRef): string | undefined {
    const rest = parseProviderID(providerID, this.#name);
    return rest === undefined ? undefined : REST.exec(rest)?.[1];
  }

  #given(instance: MemoryInstance, need: InstanceNeed): Instance {
    const given = instanceOf({ ...instance, providerID: named(instance.providerID, this.#name) }, need);
    const missing = Object.entries(this.#client().nodeTags).filter(([key, value]) => instance.tags[key] !== value);
    return need === 'state' || missing.length === 0 ? given : { ...given, missingTags: Object.fromEntries(missing) };
  }
}

function instanceOf(
  { name, providerID, state, type, zone, region, addresses, labels, maintenance, podCidrs }: MemoryInstance,
  need: InstanceNeed,
): Instance {
  return need === 'state'
    ? { providerID, state }
    : { providerID, state, name, type, zone, region, addresses, labels, podCidrs, ...(maintenance && { maintenance }) };
}

/** Firmware and hypervisors do not agree on upper and lower case. */
function uuidOf({ systemUUID }: Pick<NodeRef, 'systemUUID'>): string | undefined {
  return systemUUID?.toLowerCase();
}
