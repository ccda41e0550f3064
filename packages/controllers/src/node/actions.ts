/** What a plan for one node can ask for: data, so that it can be shown, compared and tested before anything is done. */
import type { EventNote, Node, NodeCondition } from '@outrigger/kube';
import type { StatusAddress } from './addresses.ts';
import type { LabelDifference, LabelSet } from './labels.ts';

/** One write of the `status` subresource. */
export interface PatchStatus {
  readonly kind: 'patch-status';
  /** Replaces `status.addresses` whole. */
  readonly addresses?: readonly StatusAddress[];
  /** Set by type; the others stay. */
  readonly conditions?: readonly NodeCondition[];
}

/** One write of the object. Always after the status, so that a node without its taint has its addresses. */
export interface PatchObject {
  readonly kind: 'patch-object';
  /** Only where the node has none: it can be set once. */
  readonly providerID?: string;
  readonly setLabels: LabelSet;
  /** Only those that the node still lacks when the patch arrives. */
  readonly addLabels: LabelSet;
  /** Set, whatever is there. */
  readonly setAnnotations?: LabelSet;
  /** Removes the uninitialized taint, as the last operation of the patch. */
  readonly removeTaint: boolean;
}

/** Tells a person. The same event is not told again while nothing changes. */
export interface TellEvent {
  readonly kind: 'event';
  readonly note: EventNote;
  /** Labels on which the node and the cloud do not agree: counted when the event is told. */
  readonly differences?: readonly LabelDifference[];
}

/** One write to the cloud, after all others. */
export interface TagMachine {
  readonly kind: 'tag-machine';
  readonly providerID: string;
  /** That it lacks; one at least. */
  readonly tags: Readonly<Record<string, string>>;
}

export type NodeAction = PatchStatus | PatchObject | TagMachine | TellEvent;

/** Why a tainted node has to wait. */
export type WaitReason =
  | 'missing'
  | 'absent'
  | 'failed'
  | 'ambiguous'
  | 'no-provider-id'
  | 'foreign-provider-id'
  | 'provider-id-too-long'
  | 'duplicate-provider-id'
  | 'no-addresses'
  | 'provided-ip-refused';

/** Why there is nothing to do. */
export type IdleReason =
  | 'being-deleted'
  | 'foreign'
  | 'unmanaged'
  | 'not-ours'
  | 'implemented-elsewhere'
  | 'cloud-says-nothing'
  | 'up-to-date';

export type NodePlan =
  | { readonly kind: 'nothing'; readonly reason: IdleReason }
  /** The cloud has to be asked before anything can be said. */
  | { readonly kind: 'look-up' }
  /** The taint stays; ask the cloud again later. */
  | {
      readonly kind: 'wait';
      readonly reason: WaitReason;
      readonly note: EventNote;
      /** How often in a row the node has to wait before a person is told: a new machine may take seconds to show up. */
      readonly tellAfter: number;
      /** Another node that this is about, and what is told of it. */
      readonly other?: { readonly node: Node; readonly note: EventNote };
      /** The cloud's own wish, in milliseconds. */
      readonly retryAfterMs?: number;
    }
  | { readonly kind: 'act'; readonly actions: readonly NodeAction[] };
