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
    { text: 'Since it was seen not to be Ready, the answers of the cloud count.', agoMs: Math.max(0, now - since) },
    ...(lookUp ? [factOfAnswer(lookUp, now, 'asked for many')] : []),
    ...(read ? [factOfAnswer(read, now, 'asked for this machine alone')] : []),
    ...(firstAbsence
      ? [{ text: `First proof that the machine is gone: ${firstAbsence.proof}.`, agoMs: now - firstAbsence.asOf }]
      : []),
  ];
}

export function factsOfLifecyclePlan({ plan, graceMs, inMs }: LifecycleSituation): readonly Fact[] {
  const again = { text: 'Ask the cloud again.', ...(inMs === undefined ? {} : { inMs }) };
  switch (plan.kind) {
    case 'nothing':
      return [{ text: IDLE[plan.reason] }];
    case 'look-up':
      return [{ text: 'Ask the cloud, together with the other nodes that are not Ready.', ...(inMs ? { inMs } : {}) }];
    case 'read':
      return [{ text: 'Read the machine by its own ID: only that can prove that it is gone.' }];
    case 'add-shutdown-taint':
      return [{ text: 'Add the shutdown taint: the machine is shut down.' }];
    case 'remove-shutdown-taint':
      return [{ text: 'Remove the shutdown taint: the node is Ready again.' }];
    case 'delete':
      return [{ text: 'Delete the node, once it is read from the server and is as it was: both proofs are there.' }];
    case 'hold':
      return [
        {
          text: `It is held: ${HOLDS[plan.hold]}.`,
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
  'not-ours': 'Nothing: it is not a node of this cloud.',
  ready: 'Nothing: the node is Ready.',
};

const WAITS: Readonly<Record<(LifecyclePlan & { kind: 'wait' })['reason'], string>> = {
  running: 'Nothing: the node is not Ready, but its machine runs.',
  'shut-down': 'Nothing: its machine is shut down, and the taint says so.',
  'look-up-failed': 'Nothing is concluded from an answer that failed.',
  'read-failed': 'Nothing is concluded from a read that failed.',
  unproved: 'Nothing: the cloud does not list its machine, and does not prove that it is gone either.',
  newborn:
    'Nothing: it was never initialised, and its machine may not be listed yet. It may be deleted when it is old enough.',
  'no-provider-id': 'Nothing: it has no provider ID, and such nodes are not deleted (--unknown-node-deletion-period).',
  grace: 'It is deleted when the machine, read again after the grace period, is still gone.',
};
