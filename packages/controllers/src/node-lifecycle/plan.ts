/** From what is known about a node to what is to be done about it. Pure: entry point `planNodeLifecycle`. */
import { isCloudError, type Instance } from '@outrigger/cloud-provider';
import type { Node } from '@outrigger/kube';
import { isUninitialized } from '../node/taints.ts';
import { ownerOf } from '../provider-id.ts';
import type { Absence, Evidence } from './evidence.ts';
import { readinessOf } from './readiness.ts';
import { hasShutdownTaint } from './shutdown-taint.ts';

/** Clouds take minutes to show a new machine; a node that was never initialised is not deleted before it is so old. */
const NEWBORN_MS = 600_000;
/** Two proofs at once would be one. */
const SHORTEST_GRACE_MS = 1_000;
/** A proof that could not be acted on for so long (the API server is away) is asked for again. */
const PROOF_KEPT_MS = 60_000;

export interface LifecycleOptions {
  /** The prefix of our provider IDs. */
  readonly providerName: string;
  /** Between the two proofs of absence on which a node is deleted, in milliseconds. */
  readonly deletionGraceMs: number;
  /** The same for nodes without a provider ID, whose proof is by name; 0: they are never deleted. */
  readonly unknownNodeDeletionMs: number;
}

export interface ObservedNode {
  readonly node: Node;
  /** Absent while the node is Ready. */
  readonly evidence?: Evidence | undefined;
  /** Monotonic, milliseconds. */
  readonly now: number;
  /** Wall clock, milliseconds since the epoch. */
  readonly wallNow: number;
  readonly options: LifecycleOptions;
}

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
  | { readonly kind: 'nothing'; readonly reason: 'being-deleted' | 'not-ours' | 'ready' }
  /** The cloud has to be asked, in a batch. */
  | { readonly kind: 'look-up' }
  /** The batch did not have the machine: it has to be read by its own ID. */
  | { readonly kind: 'read' }
  /** Ask again later, and not before `afterMs`. */
  | { readonly kind: 'wait'; readonly reason: LifecycleWait; readonly afterMs: number; readonly error?: Error }
  | { readonly kind: 'add-shutdown-taint' }
  | { readonly kind: 'remove-shutdown-taint' }
  /** Both proofs are there. Carried out only after the node was read live, and if the breaker lets it. */
  | { readonly kind: 'delete'; readonly first: Absence; readonly second: Absence };

/**
 * What to do about one node. Deletion needs two direct reads that said "no such machine", begun after the node stopped
 * being Ready and a grace period apart, with nothing in between that spoke for the machine. Everything else, and every
 * failure, leaves the node. Nodes of other providers are left alone altogether.
 */
export function planNodeLifecycle({ node, evidence, now, wallNow, options }: ObservedNode): LifecyclePlan {
  if (node.metadata?.deletionTimestamp) return { kind: 'nothing', reason: 'being-deleted' };
  const owner = ownerOf(node.spec?.providerID, options.providerName);
  if (owner === 'foreign' || owner === 'opaque') return { kind: 'nothing', reason: 'not-ours' };
  if (readinessOf(node).ready) {
    return hasShutdownTaint(node) ? { kind: 'remove-shutdown-taint' } : { kind: 'nothing', reason: 'ready' };
  }
  const age = wallNow - Date.parse(node.metadata?.creationTimestamp ?? '');
  // The node controller asks about it, and whatever the cloud says, nothing would be done. An age that cannot be read is no age.
  if (isUninitialized(node) && !(age >= NEWBORN_MS)) {
    return wait('newborn', Number.isNaN(age) ? NEWBORN_MS : NEWBORN_MS - age);
  }
  const lookUp = evidence?.lookUp;
  if (!evidence || !lookUp) return { kind: 'look-up' };
  if (lookUp.result.kind === 'found') return planFound(node, lookUp.result.instance);
  if (lookUp.result.kind === 'failed') return waitFor('look-up-failed', lookUp.result.error);

  // What can never be deleted need not be proved.
  const graceMs = owner === 'ours' ? options.deletionGraceMs : options.unknownNodeDeletionMs;
  if (owner === 'none' && graceMs === 0) return wait('no-provider-id');
  return planMissing(evidence, { now, graceMs: Math.max(graceMs, options.deletionGraceMs, SHORTEST_GRACE_MS), node });
}

function planMissing(
  evidence: Evidence,
  { now, graceMs, node }: { readonly now: number; readonly graceMs: number; readonly node: Node },
): LifecyclePlan {
  const { lookUp, read, readAt = 0, firstAbsence: first } = evidence;
  if (!lookUp || !read || read.asOf < lookUp.asOf) return { kind: 'read' };
  const { result } = read;
  if (result.kind === 'found') return planFound(node, result.instance);
  if (result.kind === 'failed') return waitFor('read-failed', result.error);
  if (result.kind === 'missing' || !first) return wait('unproved');
  const graceEnds = first.asOf + graceMs;
  if (read.asOf < graceEnds) return wait('grace', graceEnds - now);
  if (now - readAt > PROOF_KEPT_MS) return { kind: 'look-up' };
  return { kind: 'delete', first, second: { asOf: read.asOf, proof: result.proof } };
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
  return { kind: 'wait', reason, afterMs: (isCloudError(error) && error.retryAfterMs) || 0, error };
}
