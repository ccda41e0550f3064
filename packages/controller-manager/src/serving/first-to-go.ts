/**
 * Who gives way when callers, of whom nobody knows yet who they are, want more than there is. A listener that refuses the newest one
 * serves nobody once somebody has taken everything; one that ends the oldest who waits, of the caller who holds most, goes on serving.
 */

export interface Claim {
  /** The address that it comes from. */
  readonly peer: string;
  /** How much of it is held, in whatever there is too little of. */
  readonly size: number;
  /** The caller has shown who it is, and this is for such callers. */
  readonly trusted: boolean;
  /** All of the request is here, and its answer is under way. */
  readonly busy: boolean;
}

/**
 * Of the callers that are not trusted (of all, where there are no others) the one that holds most; of its claims the oldest one that
 * waits for the caller, else the oldest. `claims`: oldest first. `undefined`: there are none.
 */
export function firstToGo<C extends Claim>(claims: Iterable<C>): C | undefined {
  const all = [...claims];
  const unknown = all.filter(({ trusted }) => !trusted);
  const candidates = unknown.length > 0 ? unknown : all;
  const held = new Map<string, number>();
  for (const { peer, size } of candidates) held.set(peer, (held.get(peer) ?? 0) + size);
  const most = Math.max(...held.values());
  const theirs = candidates.filter(({ peer }) => held.get(peer) === most);
  return theirs.find(({ busy }) => !busy) ?? theirs[0];
}
