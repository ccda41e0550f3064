/** The ranges of one size within one cluster range, and how many hold each of them. A byte a range. */
import { ADDRESS_BITS, cidrAt, overlaps, type Cidr } from '@outrigger/cloud-provider';

/** 2²⁰ ranges: 1 MB. */
const MOST_RANGE_BITS = 20;
/** A count that has come here stays: a range that so many hold is never given away again. */
const MOST_HOLDERS = 255;
/**
 * A node may have several ranges, from when the node mask was wider, and they must stay its own. But a kubelet says at its
 * registration what it likes, so one node can have no more than these, or a sixteenth of a large set, and never more than half.
 * Neither the age of a node nor the name of a writer tells a true claim from a false one: anyone can be first, and choose a name.
 */
const MOST_OF_ONE = 16;

export class CidrSet {
  readonly cluster: Cidr;
  /** Prefix length of each range. */
  readonly bits: number;
  /** Ranges there are. */
  readonly size: number;
  readonly #holders: Uint8Array;
  #used = 0;
  /** Where the search goes on: a range that was given back is taken again as late as can be. */
  #next = 0;

  /** Throws a `RangeError` when the sizes do not fit. */
  constructor(cluster: Cidr, bits: number) {
    if (!Number.isInteger(bits) || bits < cluster.bits || bits > ADDRESS_BITS[cluster.family]) {
      throw new RangeError(
        `the node mask size ${bits} does not fit ${cluster.text}: it must be from ${cluster.bits} to ${ADDRESS_BITS[cluster.family]}`,
      );
    }
    if (bits - cluster.bits > MOST_RANGE_BITS) {
      throw new RangeError(
        `${cluster.text} has more than 2^${MOST_RANGE_BITS} ranges of /${bits}: give a smaller range, or a node mask size of at most ${cluster.bits + MOST_RANGE_BITS}`,
      );
    }
    this.cluster = cluster;
    this.bits = bits;
    this.size = 2 ** (bits - cluster.bits);
    this.#holders = new Uint8Array(this.size);
  }

  /** Ranges that somebody holds. */
  get used(): number {
    return this.#used;
  }

  /** Takes a range that nobody holds; `undefined` when there is none. */
  allocate(): Cidr | undefined {
    if (this.#used === this.size) return undefined;
    let index = this.#holders.indexOf(0, this.#next);
    if (index < 0) index = this.#holders.indexOf(0);
    this.#next = (index + 1) % this.size;
    this.#holders[index] = 1;
    this.#used += 1;
    const { family, first } = this.cluster;
    return cidrAt(family, first + (BigInt(index) << this.#hostBits), this.bits);
  }

  /** Whether this is more than one node can have for true, so that it is not to be taken from the others. */
  isTooWide(cidr: Cidr): boolean {
    const most = Math.max(1, this.size / 16, Math.min(MOST_OF_ONE, this.size / 2));
    return 2 ** (this.bits - cidr.bits) > most && overlaps(this.cluster, cidr);
  }

  /** One more holds all ranges that `cidr` touches. Returns whether another one held any of them. */
  occupy(cidr: Cidr): boolean {
    const holders = this.#holders;
    let shared = false;
    for (const index of this.#indexes(cidr)) {
      const count = holders[index] ?? 0;
      if (count > 0) shared = true;
      else this.#used += 1;
      if (count < MOST_HOLDERS) holders[index] = count + 1;
    }
    return shared;
  }

  /** Undoes one `occupy` or `allocate`. */
  release(cidr: Cidr): void {
    const holders = this.#holders;
    for (const index of this.#indexes(cidr)) {
      const count = holders[index] ?? 0;
      if (count === 0 || count === MOST_HOLDERS) continue;
      holders[index] = count - 1;
      if (count === 1) this.#used -= 1;
    }
  }

  get #hostBits(): bigint {
    return BigInt(ADDRESS_BITS[this.cluster.family] - this.bits);
  }

  *#indexes(cidr: Cidr): IterableIterator<number> {
    if (!overlaps(this.cluster, cidr)) return;
    const { first, last } = this.cluster;
    const from = cidr.first < first ? 0n : (cidr.first - first) >> this.#hostBits;
    const to = ((cidr.last > last ? last : cidr.last) - first) >> this.#hostBits;
    for (let index = Number(from); index <= Number(to); index++) yield index;
  }
}
