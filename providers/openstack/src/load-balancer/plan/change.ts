/** What an action carries for `apply`: each is one change in OpenStack. JSON. */
import type { LoadBalancerAction, Owner, PartName } from '@outrigger/cloud-provider';
import type { ApiRequest } from '../../client/api-client.ts';
import type { BackEndAddress } from '../desired/desired-tree.ts';
import type { MarkedCollection, PartKind } from '../observed-tree.ts';
import type { Mending } from '../places-of-children.ts';

/** One request, as it is sent; with references (`Reference`) where only Neutron knows an ID. A dry run shows it. */
export interface PlannedRequest extends Pick<
  ApiRequest,
  'service' | 'operation' | 'method' | 'path' | 'query' | 'revision'
> {
  readonly body?: Readonly<Record<string, unknown>>;
}

/** An address of a member, with its node: the server whose port has it is known by the provider ID, else by the name. */
export interface MemberAddress extends Partial<BackEndAddress> {
  readonly address: string;
}

export type Change =
  /**
   * `otherwise`: in its place where a subnet of it is not to be had, or Octavia does not support what it asks for (501). `nodes`: in whose
   * subnet it lies, where a reference is to that.
   */
  | {
      readonly op: 'create-load-balancer';
      readonly request: PlannedRequest;
      readonly otherwise?: PlannedRequest;
      readonly nodes?: readonly BackEndAddress[];
    }
  /** Of a load balancer, or of what hangs below it: Octavia takes the next when it is ACTIVE again. */
  | {
      readonly op: 'octavia';
      readonly loadBalancerId: string;
      readonly request: PlannedRequest;
      readonly mends?: Mending;
    }
  /** Done where what is to go is gone, or what is to come is there. */
  | { readonly op: 'neutron'; readonly request: PlannedRequest }
  /** Of a floating IP that is as it was read: Neutron would take it from where others have put it since. `portId`: where to; absent: it is deleted. */
  | {
      readonly op: 'floating-ip';
      readonly id: string;
      readonly portId?: string | null;
      readonly request: PlannedRequest;
    }
  /** Unless somebody shares it by now. */
  | {
      readonly op: 'delete-load-balancer';
      readonly loadBalancerId: string;
      readonly request: PlannedRequest;
      /** Of the Services of a CPO that were here: one more has come to share it. */
      readonly cpoTags: readonly string[];
      /** The listeners that were here: such a Service writes its tag after its own. Absent: they were not looked at. */
      readonly listenerIds?: readonly string[];
      /** The last one who shares it, which its owner has left: it must still be that. */
      readonly lastSharer?: Owner;
    }
  /** The tags are read again right before: others write theirs. `request`: what is sent where nobody has. */
  | {
      readonly op: 'tags';
      readonly loadBalancerId: string;
      readonly request: PlannedRequest;
      readonly add: readonly string[];
      readonly remove: readonly string[];
      /** Refused when so many Services are named by its tags without this one. */
      readonly maxShared?: number;
      /** Refused where none of these is there any more: those to whom the load balancer is left. */
      readonly needs?: readonly string[];
    }
  /** A part of Neutron's, with the owner in its description by this request, then in its tags. */
  | {
      readonly op: 'create-marked';
      readonly collection: MarkedCollection;
      readonly request: PlannedRequest;
      /** A floating IP in each further subnet that will do, in their order: the next where Neutron refuses the one before. */
      readonly otherwise?: readonly PlannedRequest[];
      /** For people: which subnets of which network these are. Absent: there is no choice. */
      readonly among?: string;
      readonly owner: Owner;
    }
  /** Writes the owner onto a Neutron part, or takes it off: into its description by this request, then into its tags. */
  | {
      readonly op: 'mark';
      readonly collection: MarkedCollection;
      readonly id: string;
      readonly request: PlannedRequest;
      readonly owner: Owner | null;
    }
  /** Says it in the tags too: the description of this Neutron part says it already. */
  | {
      readonly op: 'neutron-tags';
      readonly collection: MarkedCollection;
      readonly id: string;
      readonly owner: Owner;
    }
  | {
      readonly op: 'attach-security-group';
      readonly groupId: string;
      readonly members: readonly MemberAddress[];
      /** The port of another member has it: the Service is served without these. */
      readonly isServed: boolean;
    }
  | { readonly op: 'detach-security-group'; readonly groupId: string; readonly portIds: readonly string[] };

export type ChangeOf<Op extends Change['op']> = Extract<Change, { op: Op }>;

/** What an action is about; without an ID what is to be made. */
export interface Target {
  readonly kind: PartKind;
  readonly id?: string;
}

export function actionOf(
  kind: LoadBalancerAction['kind'],
  { kind: part, id }: Target,
  summary: string,
  change: Change,
): LoadBalancerAction {
  const mayCutTraffic = kind === 'update' && takesAway(change);
  return {
    kind,
    part,
    ...(id !== undefined && { id }),
    summary,
    input: { ...change },
    ...(mayCutTraffic && { mayCutTraffic }),
  };
}

/** A listener, a pool, a member, a rule, or a floating IP from its port. Without its health monitor a pool serves on. */
function takesAway(change: Change): boolean {
  if (change.op === 'detach-security-group') return true;
  if (change.op === 'floating-ip') return change.portId === null;
  if (change.op !== 'octavia' && change.op !== 'neutron') return false;
  const { method, operation } = change.request;
  return method === 'DELETE' && !operation.includes('/healthmonitors/');
}

/** What else the action uses or changes, which is no part of the Service's own. */
export function touching(action: LoadBalancerAction, things: readonly PartName[]): LoadBalancerAction {
  if (things.length === 0) return action;
  return { ...action, touches: [...(action.touches ?? []), ...things.map(({ id, kind }) => ({ kind, id }))] };
}

/** The part stays, and is the Service's no more once this took effect. */
export function leaving(action: LoadBalancerAction): LoadBalancerAction {
  const { id, part } = action;
  return id === undefined ? action : { ...action, ends: [{ kind: part, id }] };
}

/** The change of an action that this provider planned. */
export const changeOf = ({ input }: LoadBalancerAction): Change => input as unknown as Change;
