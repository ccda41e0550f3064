/** What was seen of a cluster that is to be migrated, and what could not be seen. */
import type { PreviewedService } from '@outrigger/controllers';
import type { CSINode, Lease, Node, PersistentVolume, Service } from '@outrigger/kube';
import type { ProgramFlags, SeenProgram } from './seen-program.ts';

/** An answer, or why there is none. Nothing may be concluded from an answer that is not there. */
export type Reading<T> = { readonly known: true; readonly value: T } | { readonly known: false; readonly why: string };

export interface ObservedCluster {
  /** Unix time in milliseconds, when the reading ended. */
  readonly now: number;
  readonly nodes: Reading<readonly Node[]>;
  /** By name of the node: those of all nodes that are known. */
  readonly kubelets: ReadonlyMap<string, ObservedKubelet>;
  /** In kube-system. */
  readonly leases: Reading<readonly Lease[]>;
  /** Programs of the control plane in pods of kube-system. One that runs otherwise is not here. */
  readonly programs: Reading<readonly SeenProgram[]>;
  /** As the API server that answered says itself (`/flagz`). */
  readonly apiServerFlags: Reading<ProgramFlags>;
  readonly csiNodes: Reading<readonly CSINode[]>;
  readonly volumes: Reading<readonly PersistentVolume[]>;
  readonly services: Reading<readonly Service[]>;
  /** What the service controller would do, by the provider that is to take over. */
  readonly plans: Reading<readonly PreviewedService[]>;
}

/** What can be looked at by itself. */
export type Readable = Exclude<keyof ObservedCluster, 'now'>;

/** What was seen of these alone. */
export type Seen<R extends Readable> = Pick<ObservedCluster, R | 'now'>;

/** What a kubelet says of itself, through the API server. */
export interface ObservedKubelet {
  /** `/flagz`: there from Kubernetes 1.36 on. */
  readonly flags: Reading<ProgramFlags>;
  /** `/configz`: what `providerID` its configuration has; empty: none. */
  readonly providerID: Reading<string>;
}

/** What the migration is to, as the person who asks knows it. */
export interface MigrationTarget {
  /** What provider IDs begin with; empty: whatever all nodes agree on. */
  readonly providerName: string;
  /** `--leader-elect-resource-name` of Outrigger. */
  readonly leaseName: string;
}
