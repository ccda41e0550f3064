/** Who holds a Lease, as far as one look at it can tell. Pure. */
import type { Lease } from '@outrigger/kube';
import { hostOf } from '../explain/leader-host.ts';
import { unknown, type Check } from './check.ts';
import type { Reading } from './observed-cluster.ts';
import type { SeenProgram } from './seen-program.ts';

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

/**
 * The identity of a manager begins with the name of its host: of the pod, or with the host's network of the node. The name of a mirror
 * Pod proves nothing.
 */
export function isHolder(programs: readonly SeenProgram[], holder: string): boolean {
  const host = hostOf(holder);
  return programs.some(({ isMirror, node, pod }) => host === node || (host === pod && !isMirror));
}

export function noLeases({ why }: Reading<unknown> & { readonly known: false }): Check {
  return unknown(`Leases of kube-system could not be listed: ${why}`, 'kubectl -n kube-system get leases');
}
