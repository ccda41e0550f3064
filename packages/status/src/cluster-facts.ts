/** What is read before anything is judged. */
import type { CoreEvent, KubeObject, Lease, Node, Pod, Service } from '@outrigger/kube';

/** Something that was read, or why it could not be, in one line. */
export type Fact<T> = { readonly value: T } | { readonly unknown: string };

/** A page of the leader. */
export interface LeaderPage {
  /** Of HTTP: 200, or what a health page that fails has. */
  readonly status: number;
  readonly text: string;
}

/** Of Deployments and DaemonSets what is shown. */
export interface Workload extends KubeObject {
  readonly spec?: {
    readonly replicas?: number;
    readonly template?: {
      readonly spec?: { readonly containers?: readonly { readonly name?: string; readonly image?: string }[] };
    };
  };
  readonly status?: {
    readonly replicas?: number;
    readonly readyReplicas?: number;
    readonly updatedReplicas?: number;
    readonly desiredNumberScheduled?: number;
    readonly numberReady?: number;
    readonly updatedNumberScheduled?: number;
  };
}

/** Of both kinds of webhook configurations what is shown. */
export interface WebhookConfiguration extends KubeObject {
  readonly webhooks?: readonly {
    readonly name?: string;
    readonly failurePolicy?: string;
    readonly clientConfig?: {
      /** PEM, in base64. */
      readonly caBundle?: string;
      readonly url?: string;
      readonly service?: { readonly namespace?: string; readonly name?: string; readonly port?: number };
    };
  }[];
}

/** What one replica shows an API server that calls a webhook. */
export interface ServedCertificate {
  /** `Pod kube-system/ccm-x7k2p`, or a URL. Empty: none is known that could be asked. */
  readonly replica: string;
  /** PEM, with the chain. */
  readonly pem: Fact<string>;
  /** The Service that the webhook calls does not exist. */
  readonly isMissing?: true;
}

export interface ClusterFacts {
  /** Milliseconds since the Unix epoch, by the clock of who asks. */
  readonly at: number;
  /** URL of the API server. */
  readonly server: string;
  /** Of the Lease. */
  readonly namespace: string;
  readonly leaseName: string;
  /** `undefined`: there is none. */
  readonly lease: Fact<Lease | undefined>;
  /** Those of the program. */
  readonly workloads: Fact<readonly Workload[]>;
  /** Those of the program: with its label, or on the leader's host. */
  readonly pods: Fact<readonly Pod[]>;
  readonly nodes: Fact<readonly Node[]>;
  /** Of type LoadBalancer, or with its finalizer. */
  readonly services: Fact<readonly Service[]>;
  /** About nodes, Services and the namespace kube-system. */
  readonly events: Fact<readonly CoreEvent[]>;
  readonly webhooks: Fact<readonly WebhookConfiguration[]>;
  /** Of each replica that serves a webhook, by the name that the API server asks for: `serverNameOf`. */
  readonly certificates: ReadonlyMap<string, readonly ServedCertificate[]>;
  /** `/readyz?verbose`. */
  readonly readyz: Fact<LeaderPage>;
  /** `/metrics`. */
  readonly metrics: Fact<LeaderPage>;
  /** What the leader plans for waiting nodes and Services, by `node/<name>` and `service/<namespace>/<name>`. What could not be asked is left out. */
  readonly plans: ReadonlyMap<string, string>;
}
