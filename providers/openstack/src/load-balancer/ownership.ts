/**
 * Proof of ownership, as it stands on what is made in OpenStack. Octavia's parts carry it as a tag. Neutron takes no tags when
 * a floating IP is made, so there it stands in the description, which is sent with the POST, and in tags after that.
 */
import type { Owner } from '@outrigger/cloud-provider';

const OWNER = 'outrigger.dev/owner=';
const SHARER = 'outrigger.dev/shared-by=';
/** Neutron's tags had 60 characters at most until 2023.2 (`MAX_TAG_LEN`): one for each half. */
const NEUTRON_CLUSTER = 'outrigger-cluster=';
const NEUTRON_OWNER = 'outrigger-owner=';
const NEUTRON_TAG_LENGTH = 60;
const DESCRIPTION_LENGTH = 255;

/** On load balancers, listeners and pools: made for this Service, and goes with it. */
export const ownerTag = ({ clusterId, uid }: Owner): string => `${OWNER}${clusterId}/${uid}`;

/** On a load balancer that is another's, or nobody's: this Service has listeners there. */
export const sharerTag = ({ clusterId, uid }: Owner): string => `${SHARER}${clusterId}/${uid}`;

/** On a pool: its session persistence is there because the Service asked for it. Any other was set by hand, and stays. */
export const affinityTag = 'outrigger.dev/session-affinity=ClientIP';

/** Its owner has gone, and those who share it are of other namespaces: it is nobody's, and goes with the last of them. */
const LEFT = 'outrigger.dev/left-by=';
export const leftTag = ({ clusterId, uid }: Owner): string => `${LEFT}${clusterId}/${uid}`;
export const isLeft = (tags: readonly string[]): boolean => tags.some((tag) => tag.startsWith(LEFT));

export interface TaggedOwners {
  /** `undefined` where there is none, or more than one: then it is not known whose it is. */
  readonly owner: Owner | undefined;
  /** By UID: Octavia gives tags in no order of its own, and everybody has to take the same for the first. */
  readonly sharers: readonly Owner[];
  /** It has an owner's tag, whether it can be read or not, or that of one who has left it: it is not for the taking. */
  readonly taken: boolean;
}

export function ownersIn(tags: readonly string[]): TaggedOwners {
  const read = (prefix: string): readonly (Owner | undefined)[] =>
    tags.filter((tag) => tag.startsWith(prefix)).map((tag) => parseOwner(tag.slice(prefix.length)));
  const owners = read(OWNER);
  const [owner] = owners;
  return {
    owner: owners.length === 1 ? owner : undefined,
    sharers: read(SHARER)
      .filter((one) => one !== undefined)
      .toSorted((a, b) => (a.uid < b.uid ? -1 : 1)),
    taken: owners.length > 0 || isLeft(tags),
  };
}

/** Also one that cannot be read. */
export const hasOwnerTag = (tags: readonly string[]): boolean => tags.some((tag) => tag.startsWith(OWNER));

/** What a description says of the owner. */
export interface OwnerMark {
  readonly owner: Owner;
  /** `keep-floatingip`: outlives its Service. */
  readonly keep: boolean;
}

/** The description of a Neutron part: the text for people, cut where both do not fit, and the mark. */
export function markedDescription(text: string, { owner, keep }: OwnerMark): string {
  const mark = ` [${ownerTag(owner)}${keep ? ' keep' : ''}]`;
  return unmarked(text).slice(0, Math.max(0, DESCRIPTION_LENGTH - mark.length)) + mark;
}

/** The description without its mark. */
export function unmarked(description: string): string {
  return description.replace(MARK, '');
}

const MARK = / ?\[outrigger\.dev\/owner=([^\]\s]*)( keep)?\]/u;

/** The tags that say it once more: a description is easily edited. Those that Neutron would refuse for their length are left out. */
export function neutronTags({ clusterId, uid }: Owner): readonly string[] {
  return [NEUTRON_CLUSTER + clusterId, NEUTRON_OWNER + uid].filter((tag) => tag.length <= NEUTRON_TAG_LENGTH);
}

/** Ours, of whichever owner. */
export const isNeutronOwnerTag = (tag: string): boolean =>
  tag.startsWith(NEUTRON_CLUSTER) || tag.startsWith(NEUTRON_OWNER);

/** Whether the tags say so once more, and of nobody else: a program that died between the two has left the description alone. */
export function hasNeutronTags(tags: readonly string[], owner: Owner): boolean {
  const own = neutronTags(owner);
  return own.every((tag) => tags.includes(tag)) && tags.filter(isNeutronOwnerTag).length === own.length;
}

/** The description counts, which is written first and cleared last; where it has no mark any more, both tags do. */
export function markOf(description: string, tags: readonly string[]): OwnerMark | undefined {
  const [, text, keep] = MARK.exec(description) ?? [];
  const described = text === undefined ? undefined : parseOwner(text);
  if (described) return { owner: described, keep: keep !== undefined };
  const valueOf = (prefix: string): string | undefined =>
    tags.find((tag) => tag.startsWith(prefix))?.slice(prefix.length);
  const clusterId = valueOf(NEUTRON_CLUSTER);
  const uid = valueOf(NEUTRON_OWNER);
  return clusterId && uid ? { owner: { clusterId, uid }, keep: false } : undefined;
}

function parseOwner(text: string): Owner | undefined {
  const slash = text.indexOf('/');
  if (slash <= 0 || slash === text.length - 1) return undefined;
  return { clusterId: text.slice(0, slash), uid: text.slice(slash + 1) };
}
