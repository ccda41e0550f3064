/** What the cloud has said about one node since it stopped being Ready. Pure: each answer makes new evidence from the old. */
import type { DatedAnswer } from '@outrigger/cloud-runtime';

/** One answer by which a machine did not exist. */
export interface Absence {
  /** Monotonic: before its request was sent. */
  readonly asOf: number;
  /** The call and its answer. */
  readonly proof: string;
  /** Where was asked, if the provider says so. */
  readonly place?: string;
}

export interface Evidence {
  /** Monotonic: when we saw that the node is not Ready. Answers to older requests say nothing about it. */
  readonly since: number;
  /** The last answer of a batch. */
  readonly lookUp?: DatedAnswer;
  /** The last answer of a direct read. */
  readonly read?: DatedAnswer;
  /** Monotonic: when it came. */
  readonly readAt?: number;
  /** The first direct read that proved absence, with nothing since that spoke for the machine. */
  readonly firstAbsence?: Absence;
  /** The last answer that was no failure did not have the machine: no proof, and enough to count for the breaker. */
  readonly suspected: boolean;
}

export function noEvidence(since: number): Evidence {
  return { since, suspected: false };
}

/** A batch proves nothing against a machine; it can speak for one. */
export function withLookUp(evidence: Evidence, answer: DatedAnswer): Evidence {
  if (answer.asOf < evidence.since) return evidence;
  const { kind } = answer.result;
  if (kind === 'found') return { ...noEvidence(evidence.since), lookUp: answer };
  return { ...evidence, lookUp: answer, suspected: kind !== 'failed' || evidence.suspected };
}

/** Failures leave what was proved before: they say nothing either way. What was proved elsewhere is void. */
export function withRead(evidence: Evidence, answer: DatedAnswer, now: number): Evidence {
  const { asOf, place, result } = answer;
  if (asOf < evidence.since) return evidence;
  const next = { ...evidence, read: answer, readAt: now };
  if (result.kind === 'absent') {
    const first = { asOf, proof: result.proof, ...(place === undefined ? {} : { place }) };
    const before = evidence.firstAbsence;
    return { ...next, suspected: true, firstAbsence: before && before.place === place ? before : first };
  }
  if (result.kind !== 'found') return next;
  const { firstAbsence: _, ...others } = next;
  return { ...others, suspected: false };
}
