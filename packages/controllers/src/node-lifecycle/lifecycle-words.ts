/** The plan for a node that may be shut down or gone, in sentences. Pure. */
import type { Fact } from '../finding.ts';
import type { Evidence } from './evidence.ts';
import { HOLDS } from './lifecycle-notes.ts';
import type { LifecyclePlan } from './plan.ts';
import { factOfAnswer } from '../answer-words.ts';

export interface LifecycleSituation {
  readonly plan: LifecyclePlan;
  /** Between the two proofs, in milliseconds. */
  readonly graceMs: number;
  /** When the cloud will be asked next. */
  readonly inMs: number | undefined;
  /** Monotonic. */
  readonly now: number;
}

/** What the cloud has said since the node stopped being Ready. */
export function factsOfEvidence({ since, lookUp, read, firstAbsence }: Evidence, now: number): readonly Fact[] {
  return [
    {
      text: 'It was first seen not to be Ready; only later answers of the cloud count.',
      agoMs: Math.max(0, now - since),
    },
    ...(lookUp ? [factOfAnswer(lookUp, now, 'Batched look-up')] : []),
    ...(read ? [factOfAnswer(read, now, 'Direct read')] : []),
    ...(firstAbsence
      ? [{ text: `First proof that the machine is gone: ${firstAbsence.proof}.`, agoMs: now - firstAbsence.asOf }]
      : []),
  ];
}

export function factsOfLifecyclePlan({ plan, graceMs, inMs }: LifecycleSituation): readonly Fact[] {
  const again = { text: 'Look it up in the cloud again.', ...(inMs === undefined ? {} : { inMs }) };
  switch (plan.kind) {
    case 'nothing':
      return [{ text: IDLE[plan.reason] }];
    case 'look-up':
      return [
        {
          text: 'Look it up in the cloud, in one batch with the other nodes that are not Ready.',
          ...(inMs ? { inMs } : {}),
        },
      ];
    case 'read':
      return [{ text: 'Read the machine by its ID: only that can prove that it does not exist.' }];
    case 'add-shutdown-taint':
      return [{ text: 'Add the shutdown taint: the machine is shut down.' }];
    case 'remove-shutdown-taint':
      return [{ text: 'Remove the shutdown taint: the node is Ready again.' }];
    case 'delete':
      return [
        {
          text: 'Delete the node if it is unchanged on the API server: both reads have confirmed that its machine does not exist.',
        },
      ];
    case 'hold':
      return [
        {
          text: `Its deletion is held back: ${HOLDS[plan.hold]}.`,
          ...(Number.isFinite(plan.endsInMs) ? { inMs: plan.endsInMs } : {}),
        },
        again,
      ];
    default:
      return plan.reason === 'newborn'
        ? [{ text: WAITS.newborn, inMs: plan.afterMs }]
        : plan.reason === 'grace'
          ? [{ text: `${WAITS.grace} The grace period is ${graceMs / 1_000} s.`, inMs: plan.afterMs }]
          : [{ text: WAITS[plan.reason] }, again];
  }
}

const IDLE: Readonly<Record<(LifecyclePlan & { kind: 'nothing' })['reason'], string>> = {
  'being-deleted': 'Nothing: the node is being deleted.',
  unmanaged: 'Nothing: it is a node without a machine in the cloud (--unmanaged-nodes).',
  'not-ours': 'Nothing: it is not a node of this cloud.',
  ready: 'Nothing: the node is Ready.',
};

const WAITS: Readonly<Record<(LifecyclePlan & { kind: 'wait' })['reason'], string>> = {
  running: 'Nothing: the node is not Ready, but its machine runs.',
  'shut-down': 'Nothing: its machine is shut down, and it has the shutdown taint.',
  'look-up-failed': 'Nothing: the look-up failed (inconclusive).',
  'read-failed': 'Nothing: the read failed (inconclusive).',
  unproved: 'Nothing: the cloud does not list its machine, and there is no proof that it does not exist.',
  newborn:
    'Nothing: it was never initialized, and its machine may not be listed yet. It can be deleted when it is old enough.',
  'no-provider-id': 'Nothing: it has no provider ID, and such nodes are not deleted (--unknown-node-deletion-period).',
  grace: 'It will be deleted if a second read after the grace period confirms that the machine does not exist.',
};
