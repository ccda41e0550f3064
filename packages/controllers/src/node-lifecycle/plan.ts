/** From what is known about a node to what is to be done about it. Pure: entry point `planNodeLifecycle`. */
import type { Instance } from '@outrigger/cloud-provider';
import { retryAfterMsOf } from '@outrigger/cloud-runtime';
import type { Node } from '@outrigger/kube';
import { isUninitialized } from '../node/taints.ts';
import { ownerOf } from '../provider-id.ts';
import { isUnmanaged, type UnmanagedRule } from '../unmanaged-nodes.ts';
import type { Absence, Evidence } from './evidence.ts';
import { readinessOf } from './readiness.ts';
import { hasShutdownTaint } from './shutdown-taint.ts';

/** Clouds take minutes to show a new machine; a node that was never initialised is not deleted before it is so old. */
const NEWBORN_MS = 600_000;
/** Two proofs at once would be one. */
const SHORTEST_GRACE_MS = 1_000;
/** A proof that could not be acted on for so long (the API server is away) is asked for again. */
const PROOF_KEPT_MS = 60_000;
/** What a large share of a zone or of the cluster needs: longer than clouds are wrong for, and within 6 minutes of the machines' end. */
const LARGE_SHARE_MS = 340_000;
/** What everything at once needs, where no machine of the cluster is found any more. */
const EVERYTHING_MS = 1_800_000;
/** Another machine of the cluster must have been found so lately for the cloud to be believed about a large share. */
const WITNESS_KEPT_MS = 150_000;
/** Amid a long proof, lists are asked each minute, and each machine is read so often. */
const READ_AGAIN_MS = 600_000;
const LOOK_UP_AGAIN_MS = 60_000;

export interface LifecycleOptions {
  /** The prefix of our provider IDs. */
  readonly providerName: string;
  /** Nodes that are left alone. Default: none. */
  readonly unmanaged?: readonly UnmanagedRule[] | undefined;
  /** Between the two proofs of absence on which a node is deleted, in milliseconds. */
  readonly deletionGraceMs: number;
  /** The same for nodes without a provider ID, whose proof is by name; 0: they are never deleted. */
  readonly unknownNodeDeletionMs: number;
}

/** What is known of the other nodes, and of where was asked. */
export interface Surroundings {
  /** More of its zone, or of the cluster, seem to be gone than go at the normal pace. */
  readonly isLargeShare: boolean;
  /** Monotonic: an answer to a request from then had a machine of the cluster, in the place that was asked about this one. */
  readonly witnessAsOf?: number | undefined;
  /** A node of this cloud is Ready: its machine exists. */
  readonly anyReady: boolean;
  /** The place that was asked is proved to be the one in which the node's machine was. */
  readonly isOwnPlace: boolean;
}

/** One node of many that are well. */
const ALONE: Surroundings = { isLargeShare: false, anyReady: true, isOwnPlace: false };

export interface ObservedNode {
  readonly node: Node;
  /** Absent while the node is Ready. */
  readonly evidence?: Evidence | undefined;
  /** Monotonic, milliseconds. */
  readonly now: number;
  /** Wall clock, milliseconds since the epoch. */
  readonly wallNow: number;
  readonly options: LifecycleOptions;
  /** Default: few nodes are gone. */
  readonly surroundings?: Surroundings | undefined;
}

/**
 * Why a node that is proved to be gone stays longer. The last two have no end by themselves:
 * - `large-share`: many others of its zone or of the cluster are gone too.
 * - `everything`: no machine of the cluster is found any more.
 * - `no-witness`: there are Ready nodes, and the cloud does not show their machines either.
 * - `unproved-place`: no machine is found, and nothing proves that this is the place where they were.
 */
export type LifecycleHold = 'large-share' | 'everything' | 'no-witness' | 'unproved-place';

/** Why a node that is not Ready stays as it is, for now. */
type LifecycleWait =
  | 'running'
  | 'shut-down'
  | 'look-up-failed'
  | 'read-failed'
  | 'unproved'
  | 'newborn'
  | 'no-provider-id'
  | 'grace';

export type LifecyclePlan =
  | { readonly kind: 'nothing'; readonly reason: 'being-deleted' | 'unmanaged' | 'not-ours' | 'ready' }
  /** The cloud has to be asked, in a batch. */
  | { readonly kind: 'look-up' }
  /** The batch did not have the machine: it has to be read by its own ID. */
  | { readonly kind: 'read' }
  /** Ask again later, and not before `afterMs`. */
  | { readonly kind: 'wait'; readonly reason: LifecycleWait; readonly afterMs: number; readonly error?: Error }
  /** Proved to be gone, and not for long enough. Ask again after `afterMs`; `endsInMs`: `Infinity` where only other news help. */
  | { readonly kind: 'hold'; readonly hold: LifecycleHold; readonly afterMs: number; readonly endsInMs: number }
  | { readonly kind: 'add-shutdown-taint' }
  | { readonly kind: 'remove-shutdown-taint' }
  /** Both proofs are there. Carried out only after the node was read live. */
  | { readonly kind: 'delete'; readonly first: Absence; readonly second: Absence };

/**
 * What to do about one node. Deletion needs two direct reads that said "no such machine", begun after the node stopped
 * being Ready and a grace period apart, with nothing in between that spoke for the machine. The more nodes are gone, the longer
 * must they be apart. Everything else, and every failure, leaves the node. Nodes of other providers are left alone altogether.
 */
export function planNodeLifecycle(observed: ObservedNode): LifecyclePlan {
  const { node, evidence, now, wallNow, options, surroundings = ALONE } = observed;
  if (node.metadata?.deletionTimestamp) return { kind: 'nothing', reason: 'being-deleted' };
  if (isUnmanaged(node, options)) return { kind: 'nothing', reason: 'unmanaged' };
  const owner = ownerOf(node.spec?.providerID, options.providerName);
  if (owner === 'foreign' || owner === 'opaque') return { kind: 'nothing', reason: 'not-ours' };
  if (readinessOf(node).ready) {
    return hasShutdownTaint(node) ? { kind: 'remove-shutdown-taint' } : { kind: 'nothing', reason: 'ready' };
  }
  const age = wallNow - Date.parse(node.metadata?.creationTimestamp ?? '');
  // The node controller asks about it, and whatever the cloud says, nothing would be done. An age that cannot be read is no age.
  if (isUninitialized(node) && !(age >= NEWBORN_MS)) {
    // By a clock that is behind it may be below nothing; that clock may be set right at any time.
    return wait('newborn', age > 0 ? NEWBORN_MS - age : NEWBORN_MS);
  }
  const lookUp = evidence?.lookUp;
  if (!evidence || !lookUp) return { kind: 'look-up' };
  if (lookUp.result.kind === 'found') return planFound(node, lookUp.result.instance);
  if (lookUp.result.kind === 'failed') return waitFor('look-up-failed', lookUp.result.error);

  // What can never be deleted need not be proved.
  const graceMs = owner === 'ours' ? options.deletionGraceMs : options.unknownNodeDeletionMs;
  if (owner === 'none' && graceMs === 0) return wait('no-provider-id');
  const shortestMs = Math.max(graceMs, options.deletionGraceMs, SHORTEST_GRACE_MS);
  return planMissing(evidence, { now, graceMs: shortestMs, node, surroundings });
}

interface Situation {
  readonly now: number;
  readonly graceMs: number;
  readonly node: Node;
  readonly surroundings: Surroundings;
}

function planMissing(evidence: Evidence, situation: Situation): LifecyclePlan {
  const { now, node } = situation;
  const { lookUp, read, readAt = 0, firstAbsence: first } = evidence;
  if (!lookUp || !read) return { kind: 'read' };
  const { result } = read;
  const { hold, proofMs } = neededProof(first?.asOf ?? now, situation);
  const isAmidProof = first && hold && result.kind === 'absent' && now < first.asOf + proofMs;
  if (read.asOf < lookUp.asOf && !(isAmidProof && now - read.asOf < READ_AGAIN_MS)) return { kind: 'read' };
  if (result.kind === 'found') return planFound(node, result.instance);
  if (result.kind === 'failed') return waitFor('read-failed', result.error);
  if (result.kind === 'missing' || !first) return wait('unproved');
  const proofEnds = first.asOf + proofMs;
  if (read.asOf < proofEnds) {
    const endsInMs = Math.max(0, proofEnds - now);
    if (!hold) return wait('grace', endsInMs);
    // On the minute: all that are held share their lists.
    return { kind: 'hold', hold, afterMs: Math.min(endsInMs, LOOK_UP_AGAIN_MS - (now % LOOK_UP_AGAIN_MS)), endsInMs };
  }
  if (now - readAt > PROOF_KEPT_MS) return { kind: 'look-up' };
  return { kind: 'delete', first, second: { asOf: read.asOf, proof: result.proof } };
}

/** How far apart the first and the last proof must be. `hold`: why longer than the grace period. */
function neededProof(
  firstAsOf: number,
  { now, graceMs, surroundings }: Situation,
): { readonly proofMs: number; readonly hold?: LifecycleHold } {
  const { anyReady, isLargeShare, isOwnPlace, witnessAsOf = -Infinity } = surroundings;
  if (!isLargeShare) return { proofMs: graceMs };
  const largeShareMs = Math.max(graceMs, LARGE_SHARE_MS);
  const isWitnessed = witnessAsOf > firstAsOf && now - witnessAsOf <= WITNESS_KEPT_MS;
  // The machine of a node that is Ready can be found: until the time is up, it may be yet.
  if (isWitnessed || (anyReady && now < firstAsOf + largeShareMs))
    return { proofMs: largeShareMs, hold: 'large-share' };
  if (anyReady) return { proofMs: Infinity, hold: 'no-witness' };
  return isOwnPlace
    ? { proofMs: Math.max(graceMs, EVERYTHING_MS), hold: 'everything' }
    : { proofMs: Infinity, hold: 'unproved-place' };
}

/** The taint goes only when Ready is True again: a machine that is starting is of no use yet. */
function planFound(node: Node, { state }: Instance): LifecyclePlan {
  if (state === 'running') return wait('running');
  return hasShutdownTaint(node) ? wait('shut-down') : { kind: 'add-shutdown-taint' };
}

function wait(reason: LifecycleWait, afterMs = 0): LifecyclePlan {
  return { kind: 'wait', reason, afterMs: Math.max(0, afterMs) };
}

function waitFor(reason: LifecycleWait, error: Error): LifecyclePlan {
  return { kind: 'wait', reason, afterMs: retryAfterMsOf(error) ?? 0, error };
}
