/** Proof of ownership, as it is written onto what is made in the cloud and read back from it. */

/** Both are needed: another cluster may have an object of the same name, and another object the same cluster. */
export interface Owner {
  /** `ClusterIdentity.id`. */
  readonly clusterId: string;
  /** UID of the Service or Node that the thing was made for. */
  readonly uid: string;
}
