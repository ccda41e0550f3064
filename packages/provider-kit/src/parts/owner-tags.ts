/** The owner of a part, as tags on it. */
import type { Owner } from '@outrigger/cloud-provider';

/** Valid as labels, tags or metadata of every cloud that is known to take any: lower case, no dots, no slashes. */
const CLUSTER = 'outrigger-cluster';
const UID = 'outrigger-uid';

export function tagsOf({ clusterId, uid }: Owner): Readonly<Record<string, string>> {
  return { [CLUSTER]: clusterId, [UID]: uid };
}

/** `undefined`: they do not say both. */
export function ownerIn(tags: Readonly<Record<string, string | undefined>> | undefined): Owner | undefined {
  const { [CLUSTER]: clusterId, [UID]: uid } = tags ?? {};
  return clusterId && uid ? { clusterId, uid } : undefined;
}
