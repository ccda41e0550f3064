/** Instances of the memory cloud: 500 a look-up, and a direct read that proves absence. */
import {
  isCloudError,
  type CallContext,
  type Clock,
  type Instance,
  type InstanceAnswer,
  type InstanceNeed,
  type Instances,
  type NodeRef,
} from '@outrigger/cloud-provider';
import type { CloudClient } from './cloud-client.ts';
import type { MemoryInstance } from './cloud-model.ts';

const PROVIDER_ID = /^memory:\/\/[^/]*\/([^/]+)$/;

export class MemoryInstances implements Instances {
  readonly batchSize = 500;
  readonly #client: () => CloudClient;
  readonly #clock: Clock;

  constructor(client: () => CloudClient, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  async lookUp(nodes: readonly NodeRef[], need: InstanceNeed, call: CallContext): Promise<readonly InstanceAnswer[]> {
    const ids = nodes.map(instanceIdOf).filter((id) => id !== undefined);
    const names = nodes.filter(({ providerID }) => !providerID).map(({ name }) => name);
    const asOf = this.#clock.monotonic();
    const { instances } = await this.#client().request<{ instances: readonly MemoryInstance[] }>(
      call,
      'POST /instances:batchGet',
      { method: 'POST', path: '/instances:batchGet', body: { ids, names } },
    );
    const byId = new Map(instances.map((instance) => [instance.id, instance]));
    const byName = new Map(instances.map((instance) => [instance.name, instance]));
    return nodes.map((node) => {
      const id = instanceIdOf(node);
      // Of another provider's ID, or a broken one, nothing is known here.
      if (id === undefined && node.providerID) return { asOf, result: { kind: 'missing' } };
      const instance = id === undefined ? byName.get(node.name) : byId.get(id);
      return { asOf, result: instance ? { kind: 'found', instance: instanceOf(instance, need) } : { kind: 'missing' } };
    });
  }

  async read(node: NodeRef, need: InstanceNeed, call: CallContext): Promise<InstanceAnswer> {
    const id = instanceIdOf(node);
    const asOf = this.#clock.monotonic();
    // Without an ID there is nothing to read directly, and a search by name proves nothing.
    if (id === undefined) return { asOf, result: { kind: 'missing' } };
    const path = `/instances/${encodeURIComponent(id)}`;
    try {
      const found = await this.#client().request<MemoryInstance>(call, 'GET /instances/{id}', { method: 'GET', path });
      return { asOf, result: { kind: 'found', instance: instanceOf(found, need) } };
    } catch (error) {
      if (!isCloudError(error, 'not-found')) throw error;
      return { asOf, result: { kind: 'absent', proof: `GET ${path}: 404 not-found` } };
    }
  }
}

function instanceIdOf({ providerID }: NodeRef): string | undefined {
  return providerID === undefined ? undefined : PROVIDER_ID.exec(providerID)?.[1];
}

function instanceOf(
  { providerID, state, type, zone, region, addresses, labels }: MemoryInstance,
  need: InstanceNeed,
): Instance {
  return need === 'state' ? { providerID, state } : { providerID, state, type, zone, region, addresses, labels };
}
