/**
 * Tags that the cloud config asks for on the machines of nodes. What a machine lacks of them is in `Instance.missingTags`; here they are put
 * on it. Upstream: the tagging controller of cloud-provider-aws.
 */
import type { CallContext } from './call-context.ts';
import type { NodeRef } from './instances.ts';

/** What came of one machine of a batch. */
export type NodeTagResult = { readonly kind: 'done' } | { readonly kind: 'failed'; readonly error: Error };

export interface NodeTags {
  /**
   * Puts the tags that the cloud config in use asks for on the machines of these nodes, which have their provider IDs, in place of the
   * values that they have there; no other tag changes, and none is ever taken away. The results are in the order of `nodes`; a machine that is
   * gone fails alone. Idempotent: an answer may be lost and the machine come again. Throw only when nothing was tried, or what came of it is
   * not known. Called with 100 nodes at most, for machines with `Instance.missingTags`, for each no sooner than 4 minutes after the last answer.
   */
  put(nodes: readonly NodeRef[], call: CallContext): Promise<readonly NodeTagResult[]>;
}
