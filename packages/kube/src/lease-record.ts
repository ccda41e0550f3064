/** What a Lease says about who leads, read and written so that nothing else in it is lost. */
import type { Lease } from './types/index.ts';

/** The record of a holder. A Lease without one of the fields reads as free, with 0 transitions. */
export interface LeaseRecord {
  /** Empty: free. */
  readonly holder: string;
  readonly durationMs: number;
  readonly acquireTime: string;
  readonly transitions: number;
}

/** `fallbackDurationMs`: for a Lease whose duration is missing or makes no sense. */
export function readLease(lease: Lease, fallbackDurationMs: number): LeaseRecord {
  const { holderIdentity, leaseDurationSeconds, acquireTime, leaseTransitions } = lease.spec ?? {};
  const seconds = leaseDurationSeconds ?? 0;
  return {
    holder: holderIdentity ?? '',
    durationMs: seconds > 0 ? seconds * 1000 : fallbackDurationMs,
    acquireTime: acquireTime ?? '',
    transitions: leaseTransitions ?? 0,
  };
}

/** The Lease with another record; labels, annotations and fields that this version does not know stay. */
export function writeLease(
  lease: Lease,
  record: LeaseRecord & { /** Wall clock, in milliseconds. */ readonly renewedAt: number },
): Lease {
  return {
    ...lease,
    spec: {
      ...lease.spec,
      holderIdentity: record.holder,
      // Rounded up: others then never wait less than the holder believes.
      leaseDurationSeconds: Math.ceil(record.durationMs / 1000),
      acquireTime: record.acquireTime,
      renewTime: differentFrom(lease.spec?.renewTime, record.renewedAt),
      leaseTransitions: record.transitions,
    },
  };
}

/** `meta/v1 MicroTime`: RFC 3339 with six digits, as Go prints it. `ms`: wall clock, fractions count. */
export function microTime(ms: number): string {
  const micros = Math.floor((ms - Math.floor(ms)) * 1000);
  return new Date(Math.floor(ms)).toISOString().replace('Z', `${String(micros).padStart(3, '0')}Z`);
}

/**
 * Others see a renewal by its change alone, and the server swallows an update that changes nothing: a wall clock that was
 * set back must not make a renewal equal to the one before.
 */
function differentFrom(previous: string | undefined, now: number): string {
  const time = microTime(now);
  return time === previous ? microTime(now + 0.001_5) : time;
}
