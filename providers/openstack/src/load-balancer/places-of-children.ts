/** What failed is known by its place below the load balancer: its ID is another each time it is made anew. */
/** Of what is in ERROR, and should not be any more after a change; or of what is to go. */
export interface Mending {
  readonly place: string;
  /** By what it should be two tries are known as one (`wishOf`). */
  readonly wish: string;
}

interface Identified {
  readonly id: string;
}

export const placeOf = {
  listener: (
    loadBalancerId: string,
    { port, protocol }: { readonly port: number; readonly protocol: string },
  ): string => `${loadBalancerId} ${protocol} ${port}`,
  /** The default pool of this listener. */
  pool: ({ id }: Identified): string => `${id} pool`,
  /** Of this pool, all of them. */
  members: ({ id }: Identified): string => `${id} members`,
  /** Of this pool. */
  monitor: ({ id }: Identified): string => `${id} monitor`,
  /** Of this one, whatever it is: another in its place is not concerned. */
  removal: ({ id }: Identified): string => `${id} removal`,
};
