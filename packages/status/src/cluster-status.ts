/** What is known of a cluster's cloud-controller-manager at one moment: the schema of `outrigger status --output=json`. */

/**
 * Something that was read. Exactly one of the three members is there: the value; why it could not be read; or why this cluster has no such
 * thing (`notReported`: a program other than Outrigger does not say it). What is unknown never counts as healthy.
 */
export type Reading<T> = { readonly value: T } | { readonly unknown: string } | { readonly notReported: string };

/** `healthy`: all was read, and nothing is wrong. `problems`: at least one. `unknown`: none is known, but not all could be read. */
export type ClusterState = 'healthy' | 'problems' | 'unknown';

/** A member of `ClusterStatus` that was read. */
export type Section = Exclude<keyof ClusterStatus, 'apiVersion' | 'kind' | 'at' | 'server' | 'state' | 'problems'>;

/** Times are RFC 3339 in UTC; durations are whole seconds. Members are only ever added within one `apiVersion`. */
export interface ClusterStatus {
  readonly apiVersion: 'status.outrigger.dev/v1alpha1';
  readonly kind: 'ClusterStatus';
  readonly at: string;
  /** URL of the API server. */
  readonly server: string;
  readonly state: ClusterState;
  /** The worst first. */
  readonly problems: readonly Problem[];
  /** From the Lease. */
  readonly leader: Reading<LeaderStatus>;
  /** Deployments and DaemonSets that run it. Empty: it runs outside of the cluster, or as a static Pod. */
  readonly workloads: Reading<readonly WorkloadStatus[]>;
  /** What `/readyz?verbose` of the leader says. */
  readonly health: Reading<HealthStatus>;
  /** What `/metrics` of the leader says of the process. */
  readonly process: Reading<ProcessStatus>;
  /** One entry for each service of each cloud that was asked something. */
  readonly clouds: Reading<readonly CloudStatus[]>;
  readonly nodes: Reading<NodesStatus>;
  /** Nodes that seem to be gone and are not deleted yet. */
  readonly deletions: Reading<DeletionsStatus>;
  /** Of type LoadBalancer only. */
  readonly services: Reading<ServicesStatus>;
  readonly routes: Reading<RoutesStatus>;
  /** What of this cluster is in the cloud without a Kubernetes object. */
  readonly orphans: Reading<readonly OrphanStatus[]>;
  /** One entry for each provider. */
  readonly budget: Reading<readonly BudgetStatus[]>;
  /** About nodes, Services and the cloud: without them a Service that has an address and fails is not noticed. */
  readonly events: Reading<EventsStatus>;
  readonly webhooks: Reading<readonly WebhookStatus[]>;
}

export interface Problem {
  readonly severity: 'error' | 'warning';
  readonly section: Section;
  /** `Node worker-1`, `Service default/web`. Absent: the section as a whole. */
  readonly about?: string;
  /** One sentence. */
  readonly message: string;
  /** One sentence on what to do. Absent: the commands say it. */
  readonly remedy?: string;
  /** Commands that mend it, or say more. */
  readonly commands: readonly string[];
  /** Name of a page in docs/runbooks. */
  readonly runbook?: string;
}

export interface LeaderStatus {
  /** Of the Lease: `kube-system/cloud-controller-manager`. */
  readonly lease: string;
  /** Empty: nobody holds it. */
  readonly holder: string;
  /** Name of the node or of the Pod that the holder is named after. */
  readonly host: string;
  /** Whether somebody holds it whose time has not run out. */
  readonly holds: boolean;
  readonly renewedAt?: string;
  readonly since?: string;
  readonly transitions: number;
}

export interface WorkloadStatus {
  readonly kind: 'DaemonSet' | 'Deployment';
  readonly namespace: string;
  readonly name: string;
  readonly image: string;
  /** The tag of the image, where it has one. */
  readonly version?: string;
  readonly desired: number;
  readonly ready: number;
  readonly updated: number;
}

export interface HealthStatus {
  readonly ready: boolean;
  /** Names of checks that fail. */
  readonly failing: readonly string[];
}

export interface ProcessStatus {
  /** `other`: not Outrigger; what only Outrigger reports is `notReported`. */
  readonly program: 'outrigger' | 'other';
  /** `v0.1.0`. */
  readonly version?: string;
  readonly startedAt?: string;
  /** Names of the controllers that run. */
  readonly controllers: readonly string[];
  /** Reconciles that run for more than 5 minutes. */
  readonly hanging: number;
}

export interface CloudStatus {
  readonly provider: string;
  /** As the provider calls it: `compute`, `network`. Empty: the provider as a whole. */
  readonly service: string;
  readonly answers: boolean;
  /** Why it does not answer: `unauthenticated`, `unavailable` … */
  readonly code?: string;
  readonly failingSince?: string;
}

export interface NodesStatus {
  readonly total: number;
  readonly initialized: number;
  /** Those with the taint `node.cloudprovider.kubernetes.io/uninitialized`, the oldest first. */
  readonly waiting: readonly WaitingNode[];
}

export interface WaitingNode {
  readonly name: string;
  readonly since?: string;
  readonly waitedSeconds: number;
  /** Absent: nothing is told of it. */
  readonly reason?: string;
}

export interface DeletionsStatus {
  /** Nodes that seem to be gone and stay: they are many, or their machines cannot be read. */
  readonly held: number;
  /** Of them those that are never deleted without a person. */
  readonly unproved: number;
}

export interface ServicesStatus {
  readonly total: number;
  /** With an address, and without a failure since it was last brought to what it should be. */
  readonly ready: number;
  /** All others, the oldest first. */
  readonly waiting: readonly WaitingService[];
}

export interface WaitingService {
  readonly namespace: string;
  readonly name: string;
  /**
   * `pending`: no address yet. `updating`: has one, and is not yet as it should be. `failing`: the same, and the last try failed. `deleting`:
   * its load balancer is not yet gone.
   */
  readonly state: 'pending' | 'updating' | 'failing' | 'deleting';
  /** Whether something went wrong; else it is on its way. */
  readonly failed: boolean;
  readonly since?: string;
  readonly waitedSeconds: number;
  /** Reason of the condition `LoadBalancerReady`, else of the Event that says why: `QuotaExceeded`, `SyncLoadBalancerFailed`. Absent: none does. */
  readonly reason?: string;
  readonly message?: string;
  /** `spec.loadBalancerClass`: another controller may be responsible. */
  readonly loadBalancerClass?: string;
}

export interface RoutesStatus {
  /** Routes of nodes that are gone, too many to be removed. */
  readonly removalsHeld: number;
}

export interface OrphanStatus {
  /** `address`, `load-balancer`, `route` … */
  readonly kind: string;
  readonly count: number;
  /** Of them those that are too many to be removed. */
  readonly held: number;
}

/** Since the process was started. */
export interface BudgetStatus {
  readonly provider: string;
  readonly requests: number;
  readonly failed: number;
  /** Refused by the cloud because there were too many. */
  readonly throttled: number;
  readonly inFlight: number;
  /** Requests that have waited for the budget for more than about a second. */
  readonly waited: number;
}

export interface EventsStatus {
  /** Of the type Warning, that the API server still has. */
  readonly warnings: number;
}

export interface WebhookStatus {
  readonly kind: 'MutatingWebhookConfiguration' | 'ValidatingWebhookConfiguration';
  readonly name: string;
  /** Of the webhook in it. */
  readonly webhook: string;
  readonly failurePolicy: 'Fail' | 'Ignore';
  /** Of the certificate of `caBundle` that expires last. Absent: there is none that can be read. */
  readonly authorityExpires?: string;
  /** What each replica that could be asked, or should have been, serves. */
  readonly certificates: readonly ReplicaCertificate[];
}

export interface ReplicaCertificate {
  /** `Pod kube-system/ccm-x7k2p`, or a URL. Empty: no replica is known. */
  readonly replica: string;
  readonly certificate: Reading<CertificateStatus>;
}

export interface CertificateStatus {
  readonly expires: string;
  /** Whether a current authority of `caBundle` has signed it as that of a server. */
  readonly trusted: boolean;
  /** Whether it is for the name that the API server asks for. */
  readonly named: boolean;
}
