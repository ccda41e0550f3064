/** A provider, as the host sees it, and the host, as a provider sees it. Entry point of the contract. */
import type { CallContext, CallPriority } from './call-context.ts';
import type { Clock, Logger } from './clock.ts';
import type { Clusters } from './clusters.ts';
import type { Instances } from './instances.ts';
import type { LoadBalancers } from './load-balancers.ts';
import type { NodeTags } from './node-tags.ts';
import type { PodRanges } from './pod-ranges.ts';
import type { Routes } from './routes.ts';
import type { VolumeTopology } from './volume-topology.ts';

/** One cloud. The default export of a provider module is a `ProviderFactory` that makes one. */
export interface CloudProvider {
  /** The prefix of its provider IDs (`aws` in `aws:///eu-1a/i-1`): letters, digits and dashes. Upstream: `ProviderName`. */
  readonly name: string;
  /** What the credentials have to be granted in the cloud. `outrigger rbac` prints what the controllers that run need of it. Default: nothing is said. */
  readonly permissions?: CloudPermissions;
  /**
   * Names of the buckets that its calls are counted in (`CloudOperation.bucket`), beside `default`: `--cloud-call-limits` may name these.
   * Default: it is not known which there are, and any name is taken.
   */
  readonly buckets?: readonly string[];
  /**
   * By bucket, what the cloud is known to bear: requests `qps` a second in the long run, and `burst` of them at once after a pause. A
   * request in `api.write` counts against the bucket `api` too, for clouds that limit an API as a whole and its parts besides.
   * `--cloud-call-limits` comes before. Default: no limit until the cloud answers `throttled`.
   */
  readonly callLimits?: Readonly<Record<string, { readonly qps: number; readonly burst: number }>>;
  /** Default: none. */
  readonly predecessorMetrics?: PredecessorMetrics | undefined;
  /**
   * Called once, before anything else, when the program starts (before it leads). Reads the configuration and says what the
   * cloud can do. May connect later: a cloud that is down must not keep the program from starting. Throw a `CloudError`
   * `configuration` for what a person has to correct: the program exits with its message. Upstream: `Initialize`.
   */
  open(host: ProviderHost): Promise<Capabilities>;
  /**
   * Called before `open`, and before the program connects to anything: a person with a wrong config should hear of it whether or
   * not the API server answers. Reads the config, and the files that it names; asks no cloud. Throw a `CloudError`
   * `configuration`, as `open` would. No host is there yet that would redact: no secret may be in the message. Without it, what is
   * wrong is told by `open`.
   */
  checkConfig?(config: ConfigText | undefined): Promise<void>;
  /**
   * Called when the cloud config has changed on disk; never while `open` or another `reconfigure` runs. Throwing keeps the
   * old configuration in full: change nothing before all of the new one is checked. Without it, a change asks for a restart.
   */
  reconfigure?(config: ConfigText, call: CallContext): Promise<void>;
  /**
   * Files beside the cloud config whose change is a change of it: a Secret that is mounted, a CA bundle, a second file that it names. The
   * host looks at them every 10 s, follows symbolic links, and calls `reconfigure` with the config as it is. Absolute, or from the working
   * directory. Asked after `open`, at each look and after each `reconfigure`: give those of the configuration that is in use. One
   * that is missing is no error; that it comes or goes is a change. Only with `--cloud-config`. At the start the host warns of one that
   * others on the machine can read, unless it has certificates alone. Default: none.
   */
  watchedFiles?(): readonly string[];
  /** Called once, when the program stops, after the last call has ended. Also after an `open` that threw. */
  close(): Promise<void>;
}

/**
 * How a predecessor names the same in its metrics: the host counts under these names beside its own, so that dashboards and alerts go
 * on. Seconds, and an error is counted in the total too.
 */
export interface PredecessorMetrics {
  /** Of requests: `<prefix>_request_duration_seconds`, `<prefix>_requests_total`, `<prefix>_request_errors_total`, label `request`. */
  readonly requests?:
    | {
        readonly prefix: string;
        /** What the label says of a `CloudOperation.name`; `undefined`: it is not counted. Pure; a bounded number of values. */
        readonly nameOf: (operation: string) => string | undefined;
      }
    | undefined;
  /**
   * Of load balancers that are brought to what they should be: `<prefix>_duration_seconds`, `<prefix>_total`, `<prefix>_errors_total`,
   * label `operation`: `loadbalancer_ensure`, `loadbalancer_update` (nodes alone have changed), `loadbalancer_delete`.
   */
  readonly reconciles?: { readonly prefix: string; readonly buckets: readonly number[] } | undefined;
}

export interface ProviderFactoryOptions {
  /**
   * The name that the provider is to have (`--cloud-provider=<name>=<provider>`), so that two of one kind can be in one cluster.
   * One that cannot take it keeps its own, and the program says so and does not start. Default: its own.
   */
  readonly name?: string;
  /** `--user-agent`: what else goes into the `User-Agent` of its requests. Default: nothing. */
  readonly userAgent?: readonly string[];
}

/**
 * The default export of a provider module. Called once for each time the provider is named in `--cloud-provider`; where there are
 * several, and one could not be opened, again for each further attempt. No I/O.
 */
export type ProviderFactory = (options?: ProviderFactoryOptions) => CloudProvider;

/** What a cloud can do. A missing member means that the controllers which need it do not start. */
export interface Capabilities {
  readonly instances?: Instances | undefined;
  readonly loadBalancers?: LoadBalancers | undefined;
  readonly routes?: Routes | undefined;
  readonly clusters?: Clusters | undefined;
  readonly volumes?: VolumeTopology | undefined;
  readonly podRanges?: PodRanges | undefined;
  readonly nodeTags?: NodeTags | undefined;
}

/** For each capability what has to be granted for it, in the words of the cloud's administrator: a role, an action of a policy. */
export type CloudPermissions = Readonly<Partial<Record<keyof Capabilities, readonly string[]>>>;

/** Which cluster this is. Goes onto everything that is made in the cloud. Upstream: `HasClusterID`, `--cluster-name`. */
export interface ClusterIdentity {
  /** UID of the `kube-system` namespace: unique, and the same for the life of the cluster. */
  readonly id: string;
  /** `--cluster-name`, for people; not unique. */
  readonly name: string;
}

/** The cloud config, unparsed: its format is the provider's own. */
export interface ConfigText {
  readonly text: string;
  /** For error messages. */
  readonly fileName: string;
}

export interface BackgroundOptions {
  /** Default: `background`. */
  readonly priority?: CallPriority;
  /** Ends the work. The host's own end is always part of it. */
  readonly signal?: AbortSignal;
}

export interface SecretOptions {
  /** One of many that replace each other, such as tokens of an hour: only the newest are remembered. Default: false. */
  readonly rotating?: boolean;
}

/** What the host gives to a provider. Valid until `close` returns. */
export interface ProviderHost {
  readonly cluster: ClusterIdentity;
  readonly clock: Clock;
  readonly logger: Logger;
  /** `--cloud-config`; `undefined` when the flag is not given. */
  readonly config: ConfigText | undefined;
  /** Makes the call context for work that no one asked for: token renewals, discovery. Aborts when the provider is closed. */
  callContext(options?: BackgroundOptions): CallContext;
  /**
   * Says that the capabilities are now these (a feature was found after connecting, a service is gone). The host starts
   * and stops the controllers concerned. Members that are the same object as before stay in use undisturbed.
   */
  capabilitiesChanged(capabilities: Capabilities): void;
  /** Never shows this string again in an error, a log line or a page. Call it with each secret before it is first used. */
  redact(secret: string, options?: SecretOptions): void;
}
