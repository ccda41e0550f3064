/** How many hold each of any ranges: for ranges that somebody else chose, of which no size and no cluster range is known. */
import { cidrAt, overlaps, type Cidr } from '@outrigger/cloud-provider';

interface Counted {
  readonly cidr: Cidr;
  count: number;
}

export class RangeIndex {
  /** By prefix length, then by text. Ranges lie in one another or apart, and there are few lengths. */
  readonly #byBits = new Map<number, Map<string, Counted>>();

  /** One more holds this range. Returns whether another one held a part of it. */
  occupy(cidr: Cidr): boolean {
    const shared = this.holders(cidr) > 0;
    const ranges = this.#byBits.get(cidr.bits) ?? new Map<string, Counted>();
    this.#byBits.set(cidr.bits, ranges);
    const known = ranges.get(cidr.text);
    if (known) known.count += 1;
    else ranges.set(cidr.text, { cidr, count: 1 });
    return shared;
  }

  /** Undoes one `occupy`. */
  release(cidr: Cidr): void {
    const ranges = this.#byBits.get(cidr.bits);
    const known = ranges?.get(cidr.text);
    if (!ranges || !known || --known.count > 0) return;
    ranges.delete(cidr.text);
    if (ranges.size === 0) this.#byBits.delete(cidr.bits);
  }

  /** How many hold a part of this range. */
  holders(cidr: Cidr): number {
    let count = 0;
    for (const [bits, ranges] of this.#byBits) {
      if (bits <= cidr.bits) count += ranges.get(cidrAt(cidr.family, cidr.first, bits).text)?.count ?? 0;
      else for (const one of ranges.values()) if (overlaps(one.cidr, cidr)) count += one.count;
    }
    return count;
  }
}
