/** The ranges in which routes are looked after, as the file of additional ones changes. Pure. */
import { overlaps, parseCidr, type Cidr } from '@outrigger/cloud-provider';
import type { Node } from '@outrigger/kube';
import { parseRangeLines, rangeInUse } from '../node-ipam/additional-ranges.ts';
import { podCidrsOf } from '../pod-cidrs.ts';

export interface FollowedRanges {
  /** `--cluster-cidr`. */
  readonly fixed: readonly Cidr[];
  /** In force now. */
  readonly current: readonly Cidr[];
  /** Of the file: one range a line. */
  readonly text: string;
  readonly nodes: Iterable<Node>;
}

/**
 * The ranges that are in force from now on. Throws a `RangeError` that says what is wrong; then the old ones stay, as where a
 * range would go that a node has a part of: the node would be said to have no route.
 */
export function followRanges({ fixed, current, text, nodes }: FollowedRanges): readonly Cidr[] {
  const wanted = [...fixed, ...parseRangeLines(text)];
  const gone = current.filter((one) => !wanted.some((other) => other.text === one.text));
  if (gone.length === 0) return wanted;
  for (const node of nodes) {
    for (const cidr of podCidrsOf(node).map(parseCidr)) {
      const range = cidr && gone.find((one) => overlaps(one, cidr));
      if (range) throw rangeInUse(range, node.metadata?.name ?? '');
    }
  }
  return wanted;
}
