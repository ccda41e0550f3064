/** Whose host the holder of the Lease is named after, and the URL of a manager on it. */

/** `worker-1` of `worker-1_0b6f…`: the name of a node, or of a Pod. */
export function hostOf(holder: string): string {
  return holder.replace(/_[^_]*$/u, '');
}

/** `https://10.0.0.1:10258` */
export function urlOf(address: string, port: number): string {
  return `https://${address.includes(':') ? `[${address}]` : address}:${port}`;
}
