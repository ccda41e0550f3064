/** Names that Kubernetes gives a meaning to. https://kubernetes.io/docs/reference/labels-annotations-taints/ */

/** The kubelet registers with this taint when it runs with `--cloud-provider=external`; it goes once the node is initialised. */
export const uninitializedTaintKey = 'node.cloudprovider.kubernetes.io/uninitialized';

/** The kubelet's `--node-ip`: one address, or one of each family, comma-separated. */
export const providedNodeIpAnnotation = 'alpha.kubernetes.io/provided-node-ip';

/** A label under its stable name and under the beta name that it had before. */
export interface LabelPair {
  readonly stable: string;
  readonly beta: string;
}

export const instanceTypeLabel: LabelPair = {
  stable: 'node.kubernetes.io/instance-type',
  beta: 'beta.kubernetes.io/instance-type',
};

export const zoneLabel: LabelPair = {
  stable: 'topology.kubernetes.io/zone',
  beta: 'failure-domain.beta.kubernetes.io/zone',
};

export const regionLabel: LabelPair = {
  stable: 'topology.kubernetes.io/region',
  beta: 'failure-domain.beta.kubernetes.io/region',
};

export const labelPairs: readonly LabelPair[] = [instanceTypeLabel, zoneLabel, regionLabel];
