/** Which pod CIDRs are in the way of others. Pure. Entry point: `refuseOverlaps`. */
import { contains, type Cidr } from '@outrigger/cloud-provider';

export interface WantedRange<T> {
  readonly cidr: Cidr;
  readonly owner: T;
  /** Who wanted it first: the lesser text is the older one. */
  readonly age: string;
}

/** In the tree of ranges, of which any two are apart or one inside of the other. */
interface Place<T> {
  readonly wanted: WantedRange<T>;
  /** The narrowest range around it. */
  readonly parent: Place<T> | undefined;
  granted: boolean;
  /** The first that was granted inside of it. */
  below?: WantedRange<T>;
}

/** Bits. A range 16 times as wide as those of others is more than one node needs. */
const MOST_BITS_WIDER = 4;

/**
 * Those that overlap what an older one has, each with that one. A range that is too wide for one node counts as the youngest: Node IPAM
 * does not keep it from others, and who comes first with the range of all would keep all from theirs. What is refused is in nobody's way.
 * `wanted`: each range once. O(n log n), and O(n) while the ranges of a family are equally long, as these do not overlap.
 */
export function refuseOverlaps<T>(
  wanted: readonly WantedRange<T>[],
  clusterCidrs: readonly Cidr[],
): ReadonlyMap<string, WantedRange<T>> {
  const refused = new Map<string, WantedRange<T>>();
  const lengths = lengthsOf(wanted);
  if (lengths.size === new Set(wanted.map(({ cidr }) => cidr.family)).size) return refused;
  const usual = { 4: usualBits(lengths, 4), 6: usualBits(lengths, 6) };
  const ranked = entangled(wanted).map((place) => {
    const { age, cidr } = place.wanted;
    const isTooWide =
      cidr.bits < usual[cidr.family] - MOST_BITS_WIDER || clusterCidrs.some((range) => contains(cidr, range));
    return { place, rank: `${isTooWide ? 1 : 0} ${age}` };
  });
  for (const { place } of ranked.toSorted((a, b) => order(a.rank, b.rank))) {
    const { owner, cidr } = place.wanted;
    const first = place.below ?? grantedAround(place);
    if (first && first.owner !== owner) {
      refused.set(cidr.text, first);
      continue;
    }
    place.granted = true;
    for (let around = place.parent; around && !around.below; around = around.parent) around.below = place.wanted;
  }
  return refused;
}

interface Length {
  readonly family: 4 | 6;
  readonly bits: number;
  count: number;
  /** Of the oldest. */
  age: string;
}

function lengthsOf(wanted: readonly WantedRange<unknown>[]): ReadonlyMap<number, Length> {
  const lengths = new Map<number, Length>();
  for (const { age, cidr } of wanted) {
    const { bits, family } = cidr;
    const key = family * 1_000 + bits;
    const known = lengths.get(key);
    if (!known) lengths.set(key, { family, bits, count: 1, age });
    else {
      known.count++;
      if (age < known.age) known.age = age;
    }
  }
  return lengths;
}

/** The length that most have; of two equally frequent ones that of the oldest. */
function usualBits(lengths: ReadonlyMap<number, Length>, family: 4 | 6): number {
  const own = [...lengths.values()].filter((one) => one.family === family);
  return own.toSorted((a, b) => b.count - a.count || order(a.age, b.age))[0]?.bits ?? 0;
}

/** Those with another one inside or around, the wider before the narrower. */
function entangled<T>(wanted: readonly WantedRange<T>[]): Place<T>[] {
  const sorted = wanted.toSorted(
    ({ cidr: a }, { cidr: b }) => a.family - b.family || order(a.first, b.first) || a.bits - b.bits,
  );
  const found = new Set<Place<T>>();
  let parent: Place<T> | undefined;
  for (const one of sorted) {
    while (parent && !contains(parent.wanted.cidr, one.cidr)) parent = parent.parent;
    const place: Place<T> = { wanted: one, parent, granted: false };
    if (parent) found.add(parent).add(place);
    parent = place;
  }
  return [...found];
}

function grantedAround<T>({ parent }: Place<T>): WantedRange<T> | undefined {
  for (let around = parent; around; around = around.parent) if (around.granted) return around.wanted;
  return undefined;
}

function order<V extends string | bigint>(a: V, b: V): number {
  return a < b ? -1 : Number(a > b);
}
