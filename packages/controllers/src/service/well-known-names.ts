/** Names that the service controller gives a meaning to, or takes over from Kubernetes. */

/** Upstream's, and shared by all controllers of load balancers: whose it is says `loadBalancerOwnerAnnotation`. */
export const cleanupFinalizer = 'service.kubernetes.io/load-balancer-cleanup';

/**
 * `true`: let the finalizer go although the cloud does not answer. Heeded only while the load balancer is being cleaned up
 * and that fails; what is left in the cloud then has to be removed by hand.
 */
export const releaseAnnotation = 'outrigger.dev/release-load-balancer';

/** Read where `spec.loadBalancerSourceRanges` is empty. https://kubernetes.io/docs/reference/labels-annotations-taints/ */
export const sourceRangesAnnotation = 'service.beta.kubernetes.io/load-balancer-source-ranges';

/** On a node: takes no traffic from load balancers, unless its value is false. */
export const excludeLabel = 'node.kubernetes.io/exclude-from-external-load-balancers';

/** The cluster autoscaler is about to delete the node. */
export const toBeDeletedTaintKey = 'ToBeDeletedByClusterAutoscaler';

/** KEP-1435: a port could not be served. */
export const portsErrorCondition = 'LoadBalancerPortsError';

/** Whether the load balancer of a Service is as the Service asks for. */
export const readyCondition = 'LoadBalancerReady';

/**
 * The parts whose IDs the cloud chose, `kind/id` with a space between; a `+` at the end: more may have been made. Written with the
 * addresses, so that a new process knows what to ask about. Without it, anything may have been made.
 */
export const partsAnnotation = 'outrigger.dev/load-balancer-parts';

/** Since when looks leave out what is named behind the time, and nothing proves to be gone. Kept while that is waited for. */
export const missingSinceAnnotation = 'outrigger.dev/load-balancer-missing-since';
