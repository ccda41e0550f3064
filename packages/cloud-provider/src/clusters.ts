/** Clusters that a cloud manages. Upstream: `Clusters`; no controller calls it there, and none does here yet. */
import type { CallContext } from './call-context.ts';

export interface Clusters {
  /** Names of the clusters that the cloud knows. Nothing calls it yet. Upstream: `ListClusters`. */
  list(call: CallContext): Promise<readonly string[]>;
  /** Address of the cluster's control plane; `undefined` when the cloud does not know the cluster. Upstream: `Master`. */
  controlPlaneAddress(name: string, call: CallContext): Promise<string | undefined>;
}
