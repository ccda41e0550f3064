/** What the author of a provider declares of one kind of part. */
import type {
  CallContext,
  DesiredLoadBalancer,
  LoadBalancerPart,
  LoadBalancerService,
  Owner,
  PartName,
} from '@outrigger/cloud-provider';

export type Attributes = Readonly<Record<string, unknown>>;

/** A part as the cloud shows it, whoever owns it. */
export interface ListedPart extends Omit<LoadBalancerPart, 'kind'> {
  /** Which one of its kind it is, where a load balancer has several (`TCP-443`): from its name or tags. Default: the only one. */
  readonly key?: string | undefined;
}

/** A part that should be. */
export interface WantedPart {
  /** Default: the only one of its kind. */
  readonly key?: string;
  /** Compared with what the cloud shows, member by member; what the cloud shows besides is not compared. JSON, without secrets. */
  readonly attributes: Attributes;
  /** What it attaches, joins or is placed in, and that is no part of the Service's own: see `LoadBalancerAction.touches`. Default: none. */
  readonly touches?: readonly PartName[];
}

/** The Service's own parts that are ready, by kind and key, or ID; `undefined`: it is not there yet, or will not stay. */
export type ThereParts = (kind: string, key?: string) => LoadBalancerPart | undefined;

/** A request that the cloud has taken and not ended: see `LoadBalancerActionResult`. */
export interface Begun {
  readonly handle: string;
  /** Milliseconds. */
  readonly pollAfterMs: number;
}

/** What is to be made or changed. */
export interface PartRequest {
  readonly key: string;
  readonly attributes: Attributes;
  /** Goes onto the part in the same request, or into its name. */
  readonly owner: Owner;
  readonly desired: DesiredLoadBalancer;
}

export interface PartKind {
  /** `address`, `firewall`, `load-balancer`, `dns`, or the provider's own word. */
  readonly kind: string;
  /** Kinds that must be there before it is made; it goes before they do. Default: none. */
  readonly needs?: readonly string[];
  /**
   * The parts of this kind that a Service should have; `undefined`: that depends on parts that are not there yet. Pure. Throw a
   * `CloudError` for what cannot be: the plan is refused with it.
   */
  readonly wanted: (desired: DesiredLoadBalancer, there: ThereParts) => readonly WantedPart[] | undefined;
  /**
   * Of the attributes, those that follow the nodes. Pure; of `desired.service` it may read nothing but what tells which node ports are
   * meant (`planMembers`). Merged into what `wanted` says. Default: it has no members.
   */
  readonly members?: (desired: DesiredLoadBalancer, key: string) => Attributes;
  /** Attributes that cannot be changed: a part that differs in one is deleted and made again, and what uses it too. Default: none; without `update`, all. */
  readonly fixed?: readonly string[];
  /** How single attributes are compared, where equal JSON is too strict: order, defaults, what the cloud does not show. */
  readonly compare?: Readonly<Record<string, (there: unknown, wanted: unknown) => boolean>>;
  /**
   * Whether the one cannot go while the other is there. Default: the kind of the other needs this one, and an
   * attribute of it, however deep, is this one's ID.
   */
  readonly uses?: (other: LoadBalancerPart, part: LoadBalancerPart) => boolean;
  /**
   * Whether a part of another owner has what the Service asks for and one alone can have: a DNS name. Pure. The plan is refused then, in
   * place of a `create` that the cloud refuses. Default: nothing of others is in the way.
   */
  readonly clashes?: (part: LoadBalancerPart, service: LoadBalancerService) => boolean;
  /**
   * The kind of part that it belongs to (a listener, to a load balancer): what it uses of that kind takes it along, and no request of its
   * own removes it then. Default: it is always removed by itself.
   */
  readonly goesWith?: string;
  /** It can be changed, and what needs it can be made, while it is `pending`. Default: both wait until it is ready. */
  readonly takesRequestsWhilePending?: boolean;
  /**
   * Whether a part without an owner was made for the Service by a predecessor, so that it is claimed. Pure. Default: it is reached at an
   * IP address of the Service's status.
   */
  readonly isPredecessors?: (part: ListedPart, service: LoadBalancerService) => boolean;
  /**
   * All parts of this kind, those of others included or not. Half made and deleting ones too. A whole list or an error. With `services`,
   * those that can be theirs are enough, of which nothing but the UID may be known.
   */
  readonly list: (call: CallContext, services?: readonly LoadBalancerService[]) => Promise<readonly ListedPart[]>;
  /** Makes one, with its owner. Resolves to its ID as soon as the cloud has given it. */
  readonly create: (
    request: PartRequest,
    call: CallContext,
  ) => Promise<{ readonly id: string; readonly begun?: Begun | undefined }>;
  /** Changes one in place; `changed` names the attributes that differ. Default: it is made again. */
  readonly update?: (
    id: string,
    request: PartRequest & { readonly changed: readonly string[] },
    call: CallContext,
  ) => Promise<Begun | void>;
  /** Removes one. A `not-found` counts as done. */
  readonly delete: (id: string, call: CallContext) => Promise<Begun | void>;
  /** Puts the owner onto one that has none. Default: it cannot be taken over, and is not shown. */
  readonly claim?: (id: string, owner: Owner, call: CallContext) => Promise<Begun | void>;
  /** Asks the cloud for this very one. Throw `not-found` for the cloud's own word about this ID alone. */
  readonly read?: (id: string, call: CallContext) => Promise<ListedPart>;
  /** The same by a name that `create` makes from the owner, where there is one of a kind at most. */
  readonly readNamed?: (owner: Owner, call: CallContext) => Promise<ListedPart>;
}
