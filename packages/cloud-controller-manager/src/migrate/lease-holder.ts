/** Who holds a Lease, as far as one look at it can tell. Pure. */
import type { Lease } from '@outrigger/kube';

const DEFAULT_LEASE_SECONDS = 15;
/** By so much the clocks of two machines may differ before a Lease is said to have run out. */
const CLOCKS_MS = 60_000;

/** `now`: Unix time in milliseconds. */
export function isHeld(lease: Lease, now: number): 'yes' | 'no' | 'unsure' {
  const { holderIdentity = '', leaseDurationSeconds = DEFAULT_LEASE_SECONDS, renewTime = '' } = lease.spec ?? {};
  if (holderIdentity === '') return 'no';
  const over = now - Date.parse(renewTime) - leaseDurationSeconds * 1000;
  if (Number.isNaN(over)) return 'unsure';
  return over <= 0 ? 'yes' : over > CLOCKS_MS ? 'no' : 'unsure';
}

export function holderOf({ spec }: Lease): string {
  return spec?.holderIdentity ?? '';
}
