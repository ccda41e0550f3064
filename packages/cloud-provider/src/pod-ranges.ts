/**
 * Ranges for the pods of a machine that the cloud itself routes (alias ranges, delegated prefixes). What a machine has is in
 * `Instance.podCidrs`; here it is given some. Upstream: the `cloudAlias` of kubernetes `pkg/controller/nodeipam/ipam/sync`.
 */
import type { CallContext } from './call-context.ts';
import type { NodeRef } from './instances.ts';

/** The ranges that a machine should have. */
export interface PodRangeRequest {
  /** With its provider ID. */
  readonly node: NodeRef;
  /** One of each IP family at most, in canonical form: `10.0.1.0/24`, `fd00:1::/64`. */
  readonly podCidrs: readonly string[];
}

/** What came of one request of a batch. `exists`: the machine had exactly these already. */
export type PodRangeResult =
  | { readonly kind: 'done' }
  | { readonly kind: 'exists' }
  | { readonly kind: 'failed'; readonly error: Error };

export interface PodRanges {
  /** Most requests that one `assign` takes. The host never gives more. Default: 100. */
  readonly batchSize?: number | undefined;
  /**
   * Gives each machine, which has none, its ranges, all of a request or none; the results are in the order of `requests`.
   * `conflict` when the machine has others, or another machine has a part of them; nothing is taken from anybody. Idempotent:
   * an answer may be lost and the request come again. Throw only when nothing was tried, or what came of it is not known.
   * Called by `--cidr-allocator-type=IPAMFromCluster` alone. Upstream: `AddAlias`.
   */
  assign(requests: readonly PodRangeRequest[], call: CallContext): Promise<readonly PodRangeResult[]>;
}
