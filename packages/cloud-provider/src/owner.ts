/** Proof of ownership, as it is written onto what is made in the cloud and read back from it. */

/** Both are needed: another cluster may have an object of the same name, and another object the same cluster. */
export interface Owner {
  /** `ClusterIdentity.id`. */
  readonly clusterId: string;
  /** UID of the Service or Node that the thing was made for. */
  readonly uid: string;
}

/** Whether a thing with this mark, if it has one, is the other's own. What has no mark is nobody's. */
export function sameOwner(found: Owner | undefined, { clusterId, uid }: Owner): boolean {
  return found?.clusterId === clusterId && found.uid === uid;
}
