/** Names that the node lifecycle controller gives a meaning to. */

/** On nodes whose machine is shut down. https://kubernetes.io/docs/reference/labels-annotations-taints/ */
export const shutdownTaintKey = 'node.cloudprovider.kubernetes.io/shutdown';

/** `true`, on a node: it may be deleted although more are gone than `--node-deletion-max-fraction` allows. Proof is still needed. */
export const allowDeletionAnnotation = 'outrigger.dev/allow-node-deletion';
