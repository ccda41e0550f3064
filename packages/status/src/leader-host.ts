/** Whose host the holder of the Lease is named after. */

/** `worker-1` of `worker-1_0b6f…`: the name of a node, or of a Pod. */
export function hostOf(holder: string): string {
  return holder.replace(/_[^_]*$/u, '');
}
