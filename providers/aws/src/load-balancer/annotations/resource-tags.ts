/** Tags that a Service asks for on what is created for it. Pure. */
import { annotations } from './annotation-rows.ts';
import { keyValuesOf } from './key-values.ts';

/** Of the 50 that AWS allows, what is left beside those that say whose it is. */
const MOST = 40;
const KEY_LENGTH = 128;
const VALUE_LENGTH = 256;
/**
 * Of AWS itself, and what says to whom something belongs: here, and to the other programs that would change, delete or use it by that. Karpenter
 * gives new nodes the security groups that have its tag.
 */
const RESERVED =
  /^(?:aws:|eks:|KubernetesCluster$|(?:[a-z0-9-]+\.)*(?:(?:kubernetes|eksctl|(?:x-)?k8s)\.io|k8s\.aws|karpenter\.sh|eks\.amazonaws\.com|outrigger\.dev)\/)/iu;

/** Throws `invalid` where AWS would refuse one, and where one says that something is another's. */
export function additionalTagsOf(text: string | undefined): Readonly<Record<string, string>> {
  const tags = keyValuesOf(text);
  const refuse = (why: string): never => annotations.refuse('tags', `${text}`, why);
  const refuseMore = (why: string): never => annotations.refuse('tags', undefined, why);
  if (tags.size > MOST) refuseMore(`at most ${MOST} tags`);
  for (const [key, value] of tags) {
    if (RESERVED.test(key)) refuse(`the tag ${key} says to whom it belongs, and is not for Services`);
    if (key.length > KEY_LENGTH || value.length > VALUE_LENGTH) {
      refuseMore(`a key has at most ${KEY_LENGTH} characters, a value ${VALUE_LENGTH}`);
    }
    if (!isTagText(key) || !isTagText(value)) refuse('only letters, digits, spaces and _ . : / = + - @');
  }
  return Object.fromEntries([...tags].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

const isTagText = (text: string): boolean => /^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$/u.test(text);
