/** What an author gives the suite: a cloud in which it can make, stop, delete and list machines, and what else can be tried there. */
import type {
  ConfigText,
  InstanceMaintenance,
  LoadBalancerService,
  NodeRef,
  PartName,
  VolumeRef,
} from '@outrigger/cloud-provider';
import type { Clock } from '@outrigger/kube';

/**
 * How the cloud itself fails. `status`: each request is answered so. `empty`: lists have no entries. `lost`: writes are carried out, and
 * answered with a failure.
 */
export type CloudFailure =
  | { readonly kind: 'status'; readonly status: number; readonly retryAfterSeconds?: number | undefined }
  | { readonly kind: 'empty' }
  | { readonly kind: 'lost' };

/** A clock that stands still until it is moved, as `FakeClock` of `@outrigger/testing`. */
export interface MovableClock extends Clock {
  advance(ms: number): Promise<void>;
}

/** How many requests a call of the contract costs, connected as it is. */
export interface DeclaredRequests {
  /** Look-up of 20 nodes with all metadata. */
  readonly lookUp?: number | undefined;
  /** Two routes to each of two machines. */
  readonly createRoutes?: number | undefined;
  /** Look-up of two volumes, one of them twice, and one that there is not. */
  readonly volumes?: number | undefined;
}

/** Something of the cloud that no load balancer has made, and that a Service can ask for. Its kind and ID are those of `touches`. */
export interface NamedThing extends PartName {
  /** How a Service asks for it. */
  readonly wish: Partial<Pick<LoadBalancerService, 'annotations' | 'requestedIP'>>;
  /** Whether a load balancer, or anything else that was made for a Service, uses it. */
  isUsed(): Promise<boolean>;
}

/**
 * One cloud, made anew for each test, or one that stays: the suite takes away what it has made. The first four members are needed; each
 * of the others lets the suite try more, and what needs one that is missing is `unverifiable`.
 */
export interface ProviderFixture extends AsyncDisposable {
  /** With which the provider reaches this cloud. Default: the one that the suite was started with. */
  readonly config?: ConfigText | undefined;
  /** By which the cloud goes, and the provider will. Default: the machine's own; waits are real ones then. */
  readonly clock?: MovableClock | undefined;
  /**
   * Makes a running machine, and gives the node that a kubelet on it would register, without a provider ID (with it, where the provider has no
   * `instances`). `name` is a DNS label of 20 characters at most; the node may have another one.
   */
  createMachine(name: string): Promise<NodeRef>;
  /** Shuts it down; resolves when the cloud says that it is. */
  stopMachine(node: NodeRef): Promise<void>;
  /** Resolves when the cloud says that it is gone. */
  deleteMachine(node: NodeRef): Promise<void>;
  /** Names of the nodes of all machines that are there. */
  listMachines(): Promise<readonly string[]>;

  /** From now on, the cloud fails; `undefined` ends it. */
  fail?(how: CloudFailure | undefined): Promise<void>;
  /** From now on, lists show what was so many milliseconds ago; 0 ends it. Direct reads do not. */
  lag?(ms: number): Promise<void>;
  /** The cloud announces maintenance of the machine, or carries it out; `undefined` ends it. */
  setMaintenance?(node: NodeRef, state: InstanceMaintenance['state'] | undefined): Promise<void>;
  /** Requests that the cloud has got so far. */
  requests?(): Promise<number>;
  readonly requestsOf?: DeclaredRequests | undefined;
  /** IDs of all that load balancers are made of, whoever made it. */
  listParts?(): Promise<readonly string[]>;
  /** Makes one of each kind that Services can name, as somebody else would, and allows it to this namespace; `undefined`: to none. */
  createNamedThings?(namespace: string | undefined): Promise<readonly NamedThing[]>;
  /** Makes a route as somebody else would. */
  createForeignRoute?(destination: string, node: NodeRef): Promise<void>;
  /** So many routes may be there from now on. */
  limitRoutes?(most: number): Promise<void>;
  /** Two zones at least, in which volumes can be made. */
  readonly zones?: readonly string[] | undefined;
  /** In so many zones a volume can be used at most. Default: 2. */
  readonly zonesOfVolume?: 1 | 2 | undefined;
  /** Makes a volume that can be used in these zones, and gives the PersistentVolume that names it. */
  createVolume?(name: string, zones: readonly string[]): Promise<VolumeRef>;
  deleteVolume?(volume: VolumeRef): Promise<void>;
  /**
   * Where the provider speaks HTTP to one root: the suite puts a proxy of its own between the two, which fails on demand, where the fixture has
   * no `fail`. `config`: the cloud config with this root in place of the cloud's own.
   */
  readonly http?: { readonly root: string; readonly config: (root: string) => ConfigText } | undefined;
}

/** The members that may be missing. */
export type FixtureHook = Exclude<
  keyof ProviderFixture,
  'createMachine' | 'stopMachine' | 'deleteMachine' | 'listMachines' | typeof Symbol.asyncDispose
>;
