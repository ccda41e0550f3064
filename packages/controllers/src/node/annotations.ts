/** Which annotations a node gets of its provider. Pure. */
import type { Instance } from '@outrigger/cloud-provider';
import type { Node } from '@outrigger/kube';
import type { PatchObject } from './actions.ts';
import { isLabelKey } from './label-syntax.ts';
import { RESERVED } from './labels.ts';

/** A note, not a store: Nodes are written and watched by many. */
const MOST_CHARACTERS = 255;

/** Those that the node does not have with this value; nothing at all where it has them all. */
export function newAnnotations(
  { metadata }: Node,
  { annotations = {} }: Instance,
): Pick<PatchObject, 'setAnnotations'> {
  const there = metadata?.annotations ?? {};
  const wanted = Object.entries(annotations).filter(
    ([key, value]) => there[key] !== value && value.length <= MOST_CHARACTERS && isLabelKey(key) && !RESERVED.test(key),
  );
  return wanted.length > 0 ? { setAnnotations: Object.fromEntries(wanted) } : {};
}
