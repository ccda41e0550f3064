/** What an action carries for `apply`: each is one change in OpenStack. JSON. */
import type { LoadBalancerAction, Owner, PartName } from '@outrigger/cloud-provider';
import type { PartKind } from '../observed-tree.ts';
import type { MemberNode } from './nodes-by-address.ts';

/** One request that changes a load balancer or what hangs below it; Octavia takes the next when it is ACTIVE again. */
export interface OctaviaRequest {
  readonly method: 'POST' | 'PUT' | 'DELETE';
  /** Without IDs: the metric label. */
  readonly operation: string;
  readonly path: string;
  readonly query?: readonly (readonly [string, string])[];
  readonly body?: Readonly<Record<string, unknown>>;
}

/** An address of a member, with its node: the server whose port has it is known by the provider ID, else by the name. */
export interface MemberAddress extends Partial<MemberNode> {
  readonly address: string;
}

export type Change =
  /** With references (`Reference`) where only Neutron knows an ID. */
  | { readonly op: 'create-load-balancer'; readonly request: OctaviaRequest }
  | { readonly op: 'octavia'; readonly loadBalancerId: string; readonly request: OctaviaRequest }
  /** Unless somebody shares it by now. */
  | {
      readonly op: 'delete-load-balancer';
      readonly loadBalancerId: string;
      readonly cascade: boolean;
      /** The last one who shares it, which its owner has left: it must still be that. */
      readonly lastSharer?: Owner;
    }
  /** The tags are read again right before: others write theirs. */
  | {
      readonly op: 'tags';
      readonly loadBalancerId: string;
      readonly add: readonly string[];
      readonly remove: readonly string[];
      /** Refused when so many Services are named by its tags without this one. */
      readonly maxShared?: number;
      /**
       * What becomes of it: the first of `heirs`, which are UIDs, that still shares it becomes the owner. `must`: nothing is written
       * where none does. `left`: it is left to those who share it without an owner; nothing is written where nobody does.
       */
      readonly passOn?: { readonly heirs: readonly string[]; readonly how: 'may' | 'must' | 'left' };
    }
  | {
      readonly op: 'create-floating-ip';
      /** One for each subnet that will do, in their order: the next where Neutron refuses the one before. */
      readonly bodies: readonly Readonly<Record<string, unknown>>[];
      /** For people: which subnets of which network these are. Absent: there is no choice. */
      readonly among?: string;
      readonly owner: Owner;
    }
  /** To a port, or to none. */
  | {
      readonly op: 'move-floating-ip';
      readonly floatingIPId: string;
      readonly body: Readonly<Record<string, unknown>>;
    }
  | { readonly op: 'delete-floating-ip'; readonly floatingIPId: string }
  /** Writes the owner onto a Neutron part, or takes it off. */
  | {
      readonly op: 'mark';
      readonly collection: 'floatingips' | 'security-groups';
      readonly id: string;
      readonly description: string;
      readonly owner: Owner | null;
    }
  /** Says it in the tags too: the description of this Neutron part says it already. */
  | {
      readonly op: 'neutron-tags';
      readonly collection: 'floatingips' | 'security-groups';
      readonly id: string;
      readonly owner: Owner;
    }
  | { readonly op: 'create-security-group'; readonly name: string; readonly description: string; readonly owner: Owner }
  | { readonly op: 'create-rule'; readonly groupId: string; readonly rule: Readonly<Record<string, unknown>> }
  | { readonly op: 'delete-rule'; readonly ruleId: string }
  | { readonly op: 'attach-security-group'; readonly groupId: string; readonly members: readonly MemberAddress[] }
  | { readonly op: 'detach-security-group'; readonly groupId: string; readonly portIds: readonly string[] }
  | { readonly op: 'delete-security-group'; readonly groupId: string };

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
  return { kind, part, ...(id !== undefined && { id }), summary, input: { ...change } };
}

/** What else the action uses or changes, which is no part of the Service's own. */
export function touching(action: LoadBalancerAction, things: readonly PartName[]): LoadBalancerAction {
  return things.length === 0 ? action : { ...action, touches: things.map(({ id, kind }) => ({ kind, id })) };
}

/** The part stays, and is the Service's no more once this took effect. */
export function leaving(action: LoadBalancerAction): LoadBalancerAction {
  const { id, part } = action;
  return id === undefined ? action : { ...action, ends: [{ kind: part, id }] };
}

/** The change of an action that this provider planned. */
export const changeOf = ({ input }: LoadBalancerAction): Change => input as unknown as Change;
