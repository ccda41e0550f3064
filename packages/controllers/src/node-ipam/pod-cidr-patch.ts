/** The one write of node IPAM to a node. */
import type { Patch } from '@outrigger/kube';

/** Shorter than the time for which the end of the program waits. */
export const WRITE_TIMEOUT_MS = 10_000;

/** Fails for another node of the name; and the server refuses to change pod CIDRs that are set. */
export function podCidrPatch(uid: string, cidrs: readonly string[]): Patch {
  return {
    type: 'json',
    operations: [
      { op: 'test', path: '/metadata/uid', value: uid },
      { op: 'add', path: '/spec/podCIDR', value: cidrs[0] },
      { op: 'add', path: '/spec/podCIDRs', value: cidrs },
    ],
  };
}
