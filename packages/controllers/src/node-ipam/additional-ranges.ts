/** Cluster ranges that are added while the program runs: the text of a file, one range a line. */
import { overlaps, parseCidr, type Cidr } from '@outrigger/cloud-provider';
import { CidrSet } from './cidr-set.ts';
import type { NodeRanges } from './node-ranges.ts';

/** The ranges in a text: one a line, `#` begins a comment. Throws a `RangeError` that names the line. */
export function parseRangeLines(text: string): readonly Cidr[] {
  return text.split('\n').flatMap((line, index) => {
    const entry = line.replace(/#.*/, '').trim();
    if (entry === '') return [];
    const cidr = parseCidr(entry);
    if (!cidr) throw new RangeError(`line ${index + 1}: "${entry}" is not a CIDR range: write it as 10.128.0.0/16`);
    return [cidr];
  });
}

export function rangeInUse({ text }: Cidr, holder: string): RangeError {
  return new RangeError(
    `${text} cannot be removed while a node uses a part of it: ${holder}, for example. Restore it, or delete its nodes first`,
  );
}

/**
 * Makes these the ranges that nodes get beside those of `--cluster-cidr`, all of them or, when one will not do, none. `fixed`:
 * the sets of the flags. Throws a `RangeError` that says what is wrong; nothing is changed then.
 */
export function setAdditionalRanges(ranges: NodeRanges, fixed: readonly CidrSet[], wanted: readonly Cidr[]): void {
  const known = ranges.sets.filter((set) => !fixed.includes(set));
  const kept = new Set(known.filter(({ cluster }) => wanted.some(({ text }) => text === cluster.text)));
  const gone = known.filter((set) => !kept.has(set));
  for (const { cluster } of gone) {
    const [holder] = ranges.holdersIn(cluster);
    if (holder) throw rangeInUse(cluster, holder.name);
  }
  const taken = [...fixed, ...kept].map(({ cluster }) => cluster);
  const added: CidrSet[] = [];
  for (const cidr of wanted) {
    if ([...kept].some(({ cluster }) => cluster.text === cidr.text)) continue;
    const other = taken.find((one) => overlaps(one, cidr));
    if (other) throw new RangeError(`${cidr.text} overlaps ${other.text}: each address may be in one range only`);
    const like = fixed.find(({ cluster }) => cluster.family === cidr.family);
    if (!like) throw new RangeError(`--cluster-cidr has no IPv${cidr.family} range, so ${cidr.text} cannot be added`);
    added.push(new CidrSet(cidr, like.bits));
    taken.push(cidr);
  }
  for (const set of gone) ranges.remove(set);
  for (const set of added) ranges.add(set);
}
