/** What `startControlPlane` takes and gives. */
import type { Clock, Logger } from '@outrigger/kube';
import type { AuditLog } from './audit-log.ts';
import type { Identity } from './certificate-authority.ts';
import type { Flags } from './component-flags.ts';
import type { BinaryMaker, FoundBinary } from './find-binaries.ts';
import type { Component, KubernetesMinor } from './releases.ts';

export interface ControlPlaneOptions {
  /** Default: the environment variable `KUBERNETES`, then `1.37`. */
  readonly kubernetes?: KubernetesMinor;
  /** Also run kube-controller-manager (service accounts, node lifecycle, garbage collection). Default: false. */
  readonly kubeControllerManager?: boolean;
  /** Also find kubectl: `controlPlane.kubectl`. Default: false. */
  readonly kubectl?: boolean;
  /** Record every request: `controlPlane.auditLog`. Default: true. */
  readonly auditLog?: boolean;
  /** Users who get a bearer token; `admin` always has one. The API server reads tokens only when it starts. */
  readonly tokenUsers?: readonly Identity[];
  /** More flags, or others than the default ones; a value `undefined` takes one away. */
  readonly flags?: Readonly<Partial<Record<Exclude<Component, 'kubectl'>, Flags>>>;
  /** Milliseconds until the API server must be ready. Default: 180,000. */
  readonly startTimeoutMs?: number;
  /** Where everything is kept, and left. Default: a temporary directory that goes with the control plane. */
  readonly directory?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly clock?: Clock;
  /** Told of downloads and builds. */
  readonly logger?: Logger;
  /** How programs that are missing are got. Default: download, then build. */
  readonly makers?: readonly BinaryMaker[];
  readonly signal?: AbortSignal;
}

/** What a kubeconfig is wanted for. */
export interface KubeconfigRequest extends Partial<Identity> {
  /** Default: `certificate`. A `token` passes through the fault proxy; it needs a user of `tokenUsers`, or `admin`. */
  readonly credential?: 'certificate' | 'token';
  /** Another address than the API server's own: that of a proxy. */
  readonly server?: string;
  /** PEM text; needed with `server` when the proxy's certificate has another authority. */
  readonly certificateAuthority?: string;
}

export interface Kubeconfig {
  /** The file, mode 0600. */
  readonly path: string;
  readonly text: string;
}

/** A running control plane. Dispose of it; but nothing outlives the test process even when that is killed with -9. */
export interface ControlPlane extends AsyncDisposable {
  readonly kubernetes: KubernetesMinor;
  /** `https://127.0.0.1:<port>`; stays the same through restarts. */
  readonly server: string;
  /** PEM text. */
  readonly certificateAuthority: string;
  /** Kubeconfig of `admin` in group `system:masters`, with a client certificate. */
  readonly kubeconfig: Kubeconfig;
  /** Bearer token of `admin`. */
  readonly adminToken: string;
  /** Path of kubectl; only with the option `kubectl`. */
  readonly kubectl: string | undefined;
  /** Throws when started with `auditLog: false`. */
  readonly auditLog: AuditLog;
  /** Data, certificates and the programs' logs (`logs/<program>.log`). */
  readonly directory: string;
  readonly binaries: Readonly<Partial<Record<Component, FoundBinary>>>;
  /** Process ids of the programs that run now. */
  readonly pids: Readonly<Record<string, number>>;
  /** Milliseconds from the first process to ready. */
  readonly startMs: number;
  /** A kubeconfig for any user in any groups. */
  kubeconfigFor(request: KubeconfigRequest): Promise<Kubeconfig>;
  /** A client certificate and key, PEM. */
  certificateFor(identity: Identity): Promise<{ readonly certificate: string; readonly key: string }>;
  /** A token of a service account, which is made when there is none. Valid for a day. */
  serviceAccountToken(namespace: string, name: string): Promise<string>;
  /** SIGTERM, then the same server again on the same port; resolves when it is ready. */
  restartApiServer(): Promise<void>;
  /** `kill -9`; resolves when it is gone. `startApiServer` brings it back. */
  killApiServer(): Promise<void>;
  startApiServer(): Promise<void>;
  /**
   * Ends kube-controller-manager, which must have been asked for; resolves with its exit code when it is gone, `null` after
   * a signal that it does not catch. `startControllerManager` brings it back.
   */
  endControllerManager(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null>;
  /** With the same flags and, over them, `flags`. Resolves when the process runs, which may be before it leads. */
  startControllerManager(flags?: Flags): Promise<void>;
  /** Compacts etcd and restarts the API server, whose cache would go on serving what etcd has forgotten. */
  compact(): Promise<void>;
  /**
   * Takes away every object that was made since the start, finalizers or not, with nobody asked: the API server learns of it by its
   * watches, some milliseconds later. Objects that were there at the start stay as they are now; the audit log keeps what it has.
   */
  reset(): Promise<void>;
  /** SIGSTOP and SIGCONT: connections stay open, nothing is answered. */
  freezeApiServer(): void;
  thawApiServer(): void;
}
