/** From the shape that upstream asks of a provider, one machine a call, to batches. For clouds that have no batch call. */
import type { CallContext } from './call-context.ts';
import { asError } from './errors.ts';
import type { Instance, InstanceAnswer, InstanceNeed, Instances, NodeRef } from './instances.ts';

/** Upstream's `Instances` + `Zones`, or `InstancesV2`, in one method. */
export interface OneInstance {
  /**
   * Reads one machine. `undefined`: the cloud has none of that provider ID or name. Throw for everything else: an answer
   * that could not be had must never look like "none".
   */
  get(node: NodeRef, need: InstanceNeed, call: CallContext): Promise<Instance | undefined>;
}

/** Nodes that one look-up reads at once. The call budget bounds the requests. */
const BATCH_SIZE = 50;

/** One node's failure is its own. Absence is claimed by `read` alone, and only for a node with a provider ID. */
export function adaptInstances(one: OneInstance): Instances {
  const answer = async (node: NodeRef, need: InstanceNeed, call: CallContext): Promise<InstanceAnswer> => {
    try {
      const instance = await one.get(node, need, call);
      return { result: instance ? { kind: 'found', instance } : { kind: 'missing' } };
    } catch (error) {
      return { result: { kind: 'failed', error: asError(error) } };
    }
  };
  return {
    batchSize: BATCH_SIZE,
    lookUp: (nodes, need, call) => Promise.all(nodes.map((node) => answer(node, need, call))),
    read: async (node, need, call) => {
      const read = await answer(node, need, call);
      if (read.result.kind !== 'missing' || !node.providerID) return read;
      return { result: { kind: 'absent', proof: `get ${node.providerID}: none` } };
    },
  };
}
