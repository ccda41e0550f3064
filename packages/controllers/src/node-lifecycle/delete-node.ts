/** The one place where a node is deleted. */
import { isConflict, isNotFound, isStatusError, type EventNote, type Node, type ResourceClient } from '@outrigger/kube';
import type { DeletionBreaker } from './deletion-breaker.ts';
import { deletingNote, deletionFailedNote } from './lifecycle-notes.ts';

export interface DeleteNodeOptions {
  readonly nodes: Pick<ResourceClient<Node>, 'delete'>;
  readonly breaker: Pick<DeletionBreaker, 'begin' | 'withdraw'>;
  readonly signal: AbortSignal;
  readonly tell: (node: Node, note: EventNote) => void;
}

/**
 * Deletes `node`, which was read from the server a moment ago, exactly as it was then: with its UID and resourceVersion as
 * preconditions, a node that has changed since, or another one of its name, is refused (`conflict`). Throws the client's
 * other errors, after an Event about them.
 */
export async function deleteNode(node: Node, options: DeleteNodeOptions): Promise<'deleted' | 'gone' | 'conflict'> {
  const { nodes, breaker, signal, tell } = options;
  const { name = '', uid = '', resourceVersion = '' } = node.metadata ?? {};
  signal.throwIfAborted();
  breaker.begin(uid);
  tell(node, deletingNote(name));
  try {
    await nodes.delete({ name }, { preconditions: { uid, resourceVersion }, signal });
    return 'deleted';
  } catch (error) {
    if (isNotFound(error)) return 'gone';
    // Without a clear refusal it may have happened: it goes on counting.
    if (isStatusError(error) && error.code < 500) breaker.withdraw(uid);
    if (isConflict(error)) return 'conflict';
    if (!signal.aborted) tell(node, deletionFailedNote(name, error));
    throw error;
  }
}
