/** What a scenario is, and what the scenarios share: waiting, and counting what a subject asks of the API server. */
import type { AuditMark } from '@outrigger/testing';
import type { Rig } from './rig.ts';
import type { Subject } from './subjects.ts';

/** One number of a scenario. */
export interface Figure {
  readonly what: string;
  readonly value: number;
  /** Default: a count. */
  readonly unit?: 's';
  /** What must be reached. Default: it is only shown. */
  readonly atMost?: number;
  readonly atLeast?: number;
}

export interface Scenario {
  readonly name: string;
  /** What happens, in one line. */
  readonly what: string;
  /** Whether upstream's sample program is measured beside it. */
  readonly upstream: boolean;
  /** Records each figure once it is known: who does not come to the end has those until then. */
  run(rig: Rig, subject: Subject, record: Recorder): Promise<void>;
}

export type Recorder = (...figures: readonly Figure[]) => void;

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Looks again and again. Resolves with the seconds it took; rejects with the signal's reason. */
export async function secondsUntil(
  holds: () => boolean | Promise<boolean>,
  signal: AbortSignal,
  everyMs = 50,
): Promise<number> {
  const began = performance.now();
  while (!(await holds())) {
    signal.throwIfAborted();
    await sleep(everyMs);
  }
  return (performance.now() - began) / 1000;
}

const WRITES = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);

export interface ApiUse {
  /** Without Leases, and without the questions who a caller is. */
  readonly writes: number;
  /** Of the writes. */
  readonly events: number;
  /** Single objects that were read, and lists. */
  readonly reads: number;
  readonly deletedNodes: number;
  /** Answered with 429. */
  readonly throttled: number;
  /** Writes of nodes that were answered with 409 or 422: what was written had changed. */
  readonly refused: number;
}

/** What others than the bench and the control plane have asked since the mark. */
export async function apiUse({ controlPlane }: Rig, since: AuditMark): Promise<ApiUse> {
  const counts = { writes: 0, events: 0, reads: 0, deletedNodes: 0, throttled: 0, refused: 0 };
  await controlPlane.auditLog.count(({ userAgent = '', objectRef, responseStatus, verb }) => {
    if (userAgent.startsWith('bench') || userAgent.startsWith('kube-')) return undefined;
    const { resource = '' } = objectRef ?? {};
    if (['', 'leases', 'tokenreviews', 'subjectaccessreviews'].includes(resource)) return undefined;
    if (WRITES.has(verb)) counts.writes++;
    if (WRITES.has(verb) && resource === 'events') counts.events++;
    if (verb === 'get' || verb === 'list') counts.reads++;
    if (verb === 'delete' && resource === 'nodes') counts.deletedNodes++;
    if (responseStatus?.code === 429) counts.throttled++;
    if (resource === 'nodes' && [409, 422].includes(responseStatus?.code ?? 0)) counts.refused++;
    return undefined;
  }, since);
  return counts;
}

/** `times`: in milliseconds, in order. */
export function mostInOneSecond(times: readonly number[]): number {
  return times.reduce((most, end, index) => {
    const first = times.findIndex((at) => at > end - 1_000);
    return Math.max(most, index - first + 1);
  }, 0);
}
