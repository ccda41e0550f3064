/** Load balancers as parts that are observed, planned and applied. Upstream: `LoadBalancer`, where each step is opaque. */
import type { CallContext } from './call-context.ts';
import type { LoadBalancerFeatures, ServiceAnnotation } from './load-balancer-features.ts';
import type { BackEnd, LoadBalancerService, PartName } from './load-balancer-service.ts';
import type { LoadBalancerIngress } from './load-balancer-status.ts';
import type { Owner } from './owner.ts';

/** One thing in the cloud that a load balancer consists of. */
export interface LoadBalancerPart {
  /** `address`, `firewall`, `load-balancer`, `dns`, or the provider's own word. */
  readonly kind: string;
  /** The cloud's own ID. */
  readonly id: string;
  /** What its tags say; `undefined` when it has none that can be read. */
  readonly owner: Owner | undefined;
  /** `pending`: being made or changed; `deleting`: still seen, going away. */
  readonly state: 'ready' | 'pending' | 'deleting' | 'failed';
  /** What the provider's own `plan` needs to know. JSON: it is logged, shown and compared. No secrets. */
  readonly attributes: Readonly<Record<string, unknown>>;
  /**
   * The IP addresses at which it is reached, as the cloud says, whatever the Service asks for: the status of the Service gets no other, and
   * one that its parts had and have no more is taken out of it after 90 s, also while the Service is refused. Default: none. Host names
   * in the status are the provider's word; they draw no traffic by themselves.
   */
  readonly addresses?: readonly string[] | undefined;
}

/**
 * Something in the cloud that is no part of the Service's load balancer, and that the Service names, or that is attached to what it
 * uses: a floating IP of the project, a port, a network, another's load balancer.
 */
export interface ForeignThing extends PartName {
  /** Whose part it is, by its tags: whether the Service may use it is for the host to say (`--load-balancer-sharing`). */
  readonly owner?: Owner | undefined;
  /** Namespace of the Service that it was made for, as its name says: counts where no tag says an owner, as that of a predecessor's. */
  readonly ownerNamespace?: string | undefined;
  /** The namespaces that the cloud's administrator has set it aside for, as the cloud or the cloud config says; `*`: all. */
  readonly allowed: readonly string[];
}

/** With the host's word on it. */
export interface JudgedThing extends ForeignThing {
  /** Whether the Service may use it. Where not, nothing is said of it but that: who writes the Service may not know of it. */
  readonly mayUse: boolean;
}

/**
 * What is there for one Service: 10,000 `parts` and `others` at most, whose kind and ID together have 1,024 characters at most; more counts as
 * `failed`. `failed`: it could not be found out; nothing is planned from it.
 */
export type LoadBalancerObservation =
  | {
      readonly kind: 'parts';
      /** `host.clock.monotonic()` from before the first request was sent; of a cached look, its own. Default: when the host called. */
      readonly asOf?: number | undefined;
      readonly parts: readonly LoadBalancerPart[];
      /** Default: none. */
      readonly others?: readonly ForeignThing[] | undefined;
    }
  | { readonly kind: 'failed'; readonly error: Error };

/** What should be there for one Service. */
export interface DesiredLoadBalancer {
  readonly service: LoadBalancerService;
  /** `false`: nothing; all parts have to go. */
  readonly wanted: boolean;
  readonly owner: Owner;
  /** Already narrowed by `selectBackEnds`. */
  readonly backEnds: readonly BackEnd[];
  /** As `observe` found them, together with the parts. Default: none. */
  readonly others?: readonly JudgedThing[] | undefined;
}

/** One change. JSON, without functions, so that a plan can be shown, logged and compared. */
export interface LoadBalancerAction {
  /** `claim`: put our owner tag onto a predecessor's part. */
  readonly kind: 'create' | 'update' | 'delete' | 'claim';
  /** The kind of the part. */
  readonly part: string;
  /** The part's ID; absent for `create`. */
  readonly id?: string | undefined;
  /**
   * For people, in one line, what it does: `open TCP 443 to 3 nodes`. The host puts kind, part and ID before it. Default: nothing more
   * than these.
   */
  readonly summary?: string | undefined;
  /**
   * For the provider's own `apply`. JSON; no secrets. What it has as `request`, and as `otherwise` (sent where the cloud refuses the
   * first), a dry run shows as what would be sent.
   */
  readonly input: Readonly<Record<string, unknown>>;
  /**
   * Observed parts that are the Service's no more once this took effect, beside the one that a `delete` names: that one's
   * address which goes with it, or what an `update` leaves to others. The host does not look for them again; only of a `delete` that
   * is `pending`, `read` is asked about them before the finalizer goes. Only the provider can know it: what the host is not told, it
   * asks `read` about, or waits for as for any part that a look leaves out. The host refuses a plan that ends what is another's. Default: none.
   */
  readonly ends?: readonly PartName[] | undefined;
  /**
   * What it attaches, detaches, joins or places something in, and that is no part of the Service's own: each of the observed
   * `others`. The host refuses the plan where nothing proves that the Service may. Default: none.
   */
  readonly touches?: readonly PartName[] | undefined;
  /**
   * Of an `update`: it removes what traffic flows through, such as a listener, a rule or a member. `migrate check` warns of it where the Service
   * is served, as it does of each `create` and `delete`. Default: false.
   */
  readonly mayCutTraffic?: boolean | undefined;
}

/** What a person should know. Becomes an Event of type Warning on the Service. */
export interface LoadBalancerWarning {
  /** CamelCase, as Event reasons are. */
  readonly reason: string;
  readonly message: string;
}

/** What is to be done for one Service now. */
export interface LoadBalancerPlan {
  /** Only actions whose inputs exist now, in order. Empty and `complete`: all is as it should be. */
  readonly actions: readonly LoadBalancerAction[];
  /**
   * Nothing more to do and nothing pending. With `wanted: false`: no part is left, so that the finalizer may go. A plan with
   * actions is never complete. Say it where `state` does not say what is pending. Default: with `wanted: false`, that no part is shown
   * but what is another's; else that each of the Service's own parts is `ready`, there is one, and, but for a plan of members,
   * `ingress` is not empty.
   */
  readonly complete?: boolean | undefined;
  /** The status as it can be said now; empty while there is no address. */
  readonly ingress: readonly LoadBalancerIngress[];
  /** Annotations to set on the Service (`null`: remove). Only the provider's own names. */
  readonly annotations?: Readonly<Record<string, string | null>>;
  readonly warnings?: readonly LoadBalancerWarning[];
  /**
   * Complete, and to be looked at again after this time, a minute at least: something that it could not do may be possible by then, which
   * no event tells. A warning says what. Default: when the Service, its back ends or the config change.
   */
  readonly againAfterMs?: number | undefined;
  /** The Service asks for what can not be: an Event says so, and what is there stays until it changes; its members: `planMembers`. */
  readonly refused?: Error | undefined;
}

/** What the cloud says to a Service that is being written. */
export interface LoadBalancerVerdict {
  /** It asks for what cannot be, and waiting does not mend that: the API server refuses it with this message. */
  readonly refused?: Error | undefined;
  /** What it will have to wait for (a quota that is used up). It is stored, and who writes it is told; one line each. */
  readonly warnings?: readonly string[];
}

/**
 * What came of an action. `pending`: observe again after `pollAfterMs`, and then ever more seldom by that measure; `handle`
 * names the cloud's own task, for people. `made`: the part that a `create` has made, where the cloud's answer names it: with its
 * ID it can be asked about. Without it, the host expects to see one more of this kind. Of `failed`, `CloudErrorShape.effect` speaks
 * of the whole action: `none` only where none of its requests changed anything.
 */
export type LoadBalancerActionResult =
  | { readonly kind: 'done'; readonly made?: PartName | undefined }
  | {
      readonly kind: 'pending';
      readonly handle: string;
      readonly pollAfterMs: number;
      readonly made?: PartName | undefined;
    }
  | { readonly kind: 'failed'; readonly error: Error };

/** One part that the host asks `LoadBalancers.read` about. */
export interface PartQuestion {
  readonly kind: string;
  /**
   * The cloud's own ID, as `observe` or `made` named it. Absent: it is not known whether there is one; what is asked about is whatever
   * of this kind is named after the owner. Only of kinds in `namedByOwner`.
   */
  readonly id?: string | undefined;
  /** Whose it is expected to be. */
  readonly owner: Owner;
}

/**
 * What the cloud says of one part. Unknown is never absent:
 * - `there`: it exists, and is the owner's. Also while it is being deleted. `isUnowned`: nothing on it says whose it is; it may be
 *   what a predecessor made, or of no concern to the Service any more. The host waits for looks to leave it out for 90 s then.
 * - `absent`: the cloud said directly that it does not exist, or it proves to be another's by now. `proof` names the call and the answer.
 * - `failed`: it could not be found out. A `CloudError` where the cause is known.
 */
export type PartAnswer =
  | { readonly kind: 'there'; readonly isUnowned?: boolean | undefined }
  | { readonly kind: 'absent'; readonly proof: string }
  | { readonly kind: 'failed'; readonly error: Error };

export interface LoadBalancers {
  /** What Services may ask for. The docs table and the admission policy are made from it. */
  readonly features: LoadBalancerFeatures;
  /** Values of `spec.loadBalancerClass` that it serves. */
  readonly classes: readonly string[];
  /** Annotations that it reads. */
  readonly annotations: readonly ServiceAnnotation[];
  /** Most Services that one `observe` takes. The host never gives more. Default: 100. */
  readonly batchSize?: number | undefined;
  /**
   * How sure it is that `observe` shows all. `strong`: whatever was done before the look began, also by another process, is in
   * it, half made or not; what it leaves out is not there. Say so only where the cloud promises it: lists from the database that
   * the writes went to, no cache, no index that is behind. `eventual`: what a look leaves out proves nothing. Then `read` is asked;
   * without `read`, the host waits until looks have left out the same for 90 s, and says so in an Event. Default: `eventual`.
   */
  readonly consistency?: 'strong' | 'eventual';
  /**
   * For how long `observe` usually does not show what an `apply` has done, in milliseconds: the host looks again only then, and with
   * `strong`, only looks that begin so long after the last change count as complete. Default: 0.
   */
  readonly listLagMs?: number;
  /**
   * The kinds of parts that `read` finds without an ID, by a name (or a unique key) that `apply` makes from the owner, so that there is
   * one of a kind at most. All kinds that `apply` may create, or none: the host takes what is not named here for never made. Then
   * nothing is recorded on the Service.
   * Default: none, IDs are the cloud's own.
   */
  readonly namedByOwner?: readonly string[];
  /**
   * Whether nodes that are not known to be machines of this cloud are back ends too: those whose provider ID has a prefix that no
   * provider of this program has, and those without one that carry no taint `node.cloudprovider.kubernetes.io/uninitialized`. For
   * clouds that balance to addresses, whoever runs the machine. Their addresses are what their kubelets say. `at-start`: those that are
   * nodes of the cluster when the controller begins, at the addresses that they have then, so that a cluster is taken over as it is; whoever joins
   * later does not choose where traffic goes. A changed cloud config may change it. Default: false.
   */
  readonly takesForeignNodes?: boolean | 'at-start';
  /**
   * Which option of the cloud config says so, `true` or `false`, as people write it: the log and Events of such nodes name it. Default:
   * none does.
   */
  readonly foreignNodesOption?: string;
  /**
   * Services with the same key are never worked on at the same time: the name of the load balancer where several share one.
   * Pure. `parts`: those of a look that the Service may change: its own, those without an owner, and those of `others` that it may use. So answer
   * with what is among them, and not with what the Service merely names: its owner would wait for it. Without `parts` nothing is known of them.
   * Called before what a look shows is acted on, and before an orphan is removed: of its Service nothing but the UID is known. Default: the
   * Service's UID.
   */
  lockKey?(service: LoadBalancerService, parts?: readonly LoadBalancerPart[]): string;
  /**
   * Narrows the back ends of one Service (its zone, its network, a node selector). Pure. Called before each plan, and when a node's
   * provider ID, addresses or labels have changed: a change of its annotations alone wakes no Service. All Services are given the same array
   * until a node changes, so that what was selected of it can be remembered by it.
   */
  selectBackEnds?(service: LoadBalancerService, backEnds: readonly BackEnd[]): readonly BackEnd[];
  /**
   * What only the cloud can say of a Service before it is stored: a name that another has, a quota. What `features` and
   * `annotations` say needs no question. Reads only; also asked about a Service that has its parts. Asked by the webhook
   * `service` in every replica, leading or not, while the API server waits: 4.5 s at most. Throw when it could not be found
   * out: the Service is stored then, with a warning. Default: the cloud is not asked.
   */
  validate?(service: LoadBalancerService, call: CallContext): Promise<LoadBalancerVerdict>;
  /**
   * Finds all parts of the Services, by owner tag, half made and deleting ones included, and untagged ones whose address is
   * in `service.ingress`; in the order of `services`. Also those that `service.adopt` names, whoever owns them: the host
   * refuses what is another's, `plan` claims what is nobody's. Of a Service that is gone nothing but the UID may be known.
   * Called before each plan and after each apply that was `pending`.
   * Throw only when nothing at all could be found out. Upstream: `GetLoadBalancer`.
   */
  observe(services: readonly LoadBalancerService[], call: CallContext): Promise<readonly LoadBalancerObservation[]>;
  /**
   * What has to be done. Pure: no I/O, no clock; the same input gives the same plan. Never an action on a part whose owner is
   * another, and none but `claim` on a part without one; what it does to anything else is said in `touches`, effects on the way to a
   * part of the Service's own included. Its texts become Events, which who may write the Service reads: they name nothing of others. Upstream: what `EnsureLoadBalancer`,
   * `UpdateLoadBalancer` and `EnsureLoadBalancerDeleted` decide inside.
   */
  plan(desired: DesiredLoadBalancer, parts: readonly LoadBalancerPart[]): LoadBalancerPlan;
  /**
   * What has to be done so that what is there, as it was last accepted, has `desired.backEnds`: actions of kind `update` on parts of
   * the Service's own, and nothing but its members; while `isRefused` also what they wait for, changed to what it is. Pure. Of `desired.service` only what tells which parts and node ports are meant is
   * to be read: the rest may be what is refused. `complete`: its members are these; no other member of the plan is read.
   * Called while the wish is refused, by the host, by `plan` or by the cloud: `isRefused`; and before `plan`, after something of that has failed. Default:
   * the members stay as they are until the wish is accepted. Upstream: `UpdateLoadBalancer`.
   */
  planMembers?(desired: DesiredLoadBalancer, parts: readonly LoadBalancerPart[], isRefused?: boolean): LoadBalancerPlan;
  /**
   * Carries one action out, once the host has checked the whole plan; never two at a time for Services of one `lockKey`. Idempotent: the program may die after it took effect and before that was noted. Tags what it
   * makes with the owner in the same request, or finds it again by a name made from the owner. Throwing is `failed`.
   */
  apply(action: LoadBalancerAction, desired: DesiredLoadBalancer, call: CallContext): Promise<LoadBalancerActionResult>;
  /**
   * Asks the cloud about each of these parts directly, never from a list or a cache; in the order of `parts`. On `absent` a finalizer
   * goes, and a part is made anew: answer so only for the cloud's own "no such thing" about this very ID or name, in the
   * account that is known to be the cluster's. Called when a look leaves out a part that was there, before a finalizer goes and before
   * something is made, where something may be there that no look has shown; not in the ordinary life of a Service. IDs may come from
   * an annotation that users can edit: check them before they go into a path. Throw only when nothing at all could be found out.
   * Default: parts cannot be asked about; see `consistency`.
   */
  read?(parts: readonly PartQuestion[], call: CallContext): Promise<readonly PartAnswer[]>;
  /** All parts that carry this cluster's ID, of Services that are gone too. A part of them is an error: throw. Called once an orphan pass (default 10 min), and by nothing else. */
  listOwned(call: CallContext): Promise<readonly LoadBalancerPart[]>;
}
