/** Puts the shutdown taint on a node, or takes it away, without undoing what another writer does meanwhile. */
import { isConflict, isInvalid, isNotFound, type Node, type Patch, type ResourceClient } from '@outrigger/kube';
import { addShutdownTaint, removeShutdownTaint } from './shutdown-taint.ts';

export type TaintWrite = 'add-shutdown-taint' | 'remove-shutdown-taint';

export interface WriteTaintOptions {
  readonly nodes: Pick<ResourceClient<Node>, 'get' | 'patch'>;
  readonly signal: AbortSignal;
  /** Whether the same is still to be done, on the node as the server has it now. */
  readonly isWanted: (live: Node) => boolean;
}

export function taintPatch(node: Node, kind: TaintWrite): Patch {
  return kind === 'add-shutdown-taint' ? addShutdownTaint(node) : removeShutdownTaint(node);
}

/**
 * When the server refuses because the node has changed, it is read and judged anew, once. Returns whether something was
 * written. Throws the client's errors, but not for a node that is gone.
 */
export async function writeShutdownTaint(stored: Node, kind: TaintWrite, options: WriteTaintOptions): Promise<boolean> {
  const { nodes, signal, isWanted } = options;
  const ref = { name: stored.metadata?.name ?? '' };
  const write = async (node: Node): Promise<void> =>
    void (await nodes.patch(ref, taintPatch(node, kind), { answer: 'metadata', signal }));
  try {
    try {
      await write(stored);
    } catch (error) {
      if (!isConflict(error) && !isInvalid(error)) throw error;
      const live = await nodes.get(ref, { signal });
      if (live.metadata?.uid !== stored.metadata?.uid || !isWanted(live)) return false;
      await write(live);
    }
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}
