/** From the API server's own record: who led when, and who wrote all the same. Pure. */
import type { AuditEntry } from '@outrigger/testing';
import { LEASE } from './replica.ts';

/** A write of a node, or of another resource, by a replica while the Lease was another's. */
export interface StrayWrite {
  readonly user: string;
  readonly holder: string;
  readonly node: string;
  /** When the API server received it, RFC 3339. */
  readonly at: string;
  /** How long after the other had taken the Lease. */
  readonly lateMs: number;
}

export interface LeadershipAudit {
  /** How often the Lease went from one user to another, the first time included. */
  readonly terms: number;
  /** Requests that write nodes, refused ones too. */
  readonly nodeWrites: number;
  /** Those that the server carried out. */
  readonly succeeded: number;
  readonly deletions: readonly string[];
  readonly strays: readonly StrayWrite[];
}

const WRITES = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);

/**
 * `entries`: those of the replicas, each with a user of its own, in any order. `written`: the resource whose writes are looked at. A replica may have the Lease from when the
 * server receives its write of it, and has it no more when a write of another is over. The Lease given back is not told
 * from the Lease renewed.
 */
export function auditLeadership(entries: readonly AuditEntry[], written = 'nodes'): LeadershipAudit {
  const leaseWrites = entries
    .filter(({ objectRef, responseStatus, verb }) => {
      const isLease = objectRef?.resource === 'leases' && objectRef.namespace === LEASE.namespace;
      return isLease && (verb === 'create' || verb === 'update') && isSuccess(responseStatus);
    })
    .map(({ requestReceivedTimestamp, stageTimestamp, user }) => ({
      from: microseconds(requestReceivedTimestamp),
      at: microseconds(stageTimestamp),
      user: user.username,
    }))
    .sort((a, b) => a.at - b.at);
  const takings = leaseWrites.filter(({ user }, index) => user !== leaseWrites[index - 1]?.user);

  const writes = entries.filter(({ objectRef, verb }) => objectRef?.resource === written && WRITES.has(verb));
  const strays: StrayWrite[] = [];
  for (const { objectRef, requestReceivedTimestamp, user } of writes) {
    const at = microseconds(requestReceivedTimestamp);
    const taking = takings.findLast((candidate) => candidate.at < at);
    if (taking?.user === user.username) continue;
    // The answer is on its way before the server notes its end: a write that follows it may be received before that.
    if (takings.some((one) => one.user === user.username && one.from < at && one.at >= at)) continue;
    strays.push({
      user: user.username,
      holder: taking?.user ?? 'nobody',
      node: objectRef?.name ?? '',
      at: requestReceivedTimestamp,
      lateMs: taking ? (at - taking.at) / 1_000 : 0,
    });
  }
  return {
    terms: takings.length,
    nodeWrites: writes.length,
    succeeded: writes.filter(({ responseStatus }) => isSuccess(responseStatus)).length,
    deletions: writes.filter(({ verb }) => verb.startsWith('delete')).map(({ requestURI }) => requestURI),
    strays,
  };
}

function isSuccess(status: AuditEntry['responseStatus']): boolean {
  return status?.code !== undefined && status.code < 300;
}

/** `Date` knows milliseconds only. */
function microseconds(timestamp: string): number {
  const fraction = /\.(\d+)Z$/u.exec(timestamp)?.[1] ?? '';
  const seconds = Date.parse(timestamp.replace(/\.\d+Z$/u, 'Z'));
  return seconds * 1_000 + Number(fraction.padEnd(6, '0').slice(0, 6));
}
