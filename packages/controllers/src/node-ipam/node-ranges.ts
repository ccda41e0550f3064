/** Which node holds which ranges: what is in the API, and what is on its way there. */
import { overlaps, parseCidr, type Cidr } from '@outrigger/cloud-provider';
import { CidrSet } from './cidr-set.ts';
import { parseCidrs } from './parse-cidrs.ts';

interface Holding {
  readonly name: string;
  readonly cidrs: readonly Cidr[];
}

export interface Holder {
  readonly name: string;
  readonly uid: string;
  readonly cidr: Cidr;
}

/** Counts who holds what. A `CidrSet` can also be allocated from. */
export interface RangeBook {
  /** One more holds `cidr`. Returns whether another one held a part of it. */
  occupy(cidr: Cidr): boolean;
  /** Undoes one `occupy`. */
  release(cidr: Cidr): void;
}

export type Allocation =
  /** `clusters`: the cluster ranges that they are from. */
  | { readonly kind: 'allocated'; readonly cidrs: readonly string[]; readonly clusters: readonly string[] }
  | { readonly kind: 'exhausted'; readonly cluster: string };

export class NodeRanges {
  readonly #books: RangeBook[];
  readonly #reserved: readonly Cidr[];
  /** By UID of the node. */
  readonly #holdings = new Map<string, Holding>();
  readonly #uids = new Map<string, Set<string>>();

  /** `reserved`: ranges that no node gets, as those of Services. */
  constructor(books: readonly RangeBook[], reserved: readonly Cidr[] = []) {
    this.#books = [...books];
    this.#reserved = reserved;
    for (const cidr of reserved) for (const book of books) book.occupy(cidr);
  }

  /** What can be allocated from, in the order in which it is. */
  get sets(): readonly CidrSet[] {
    return this.#books.filter((book) => book instanceof CidrSet);
  }

  /** Allocates from this set too, except what is held in it. */
  add(set: CidrSet): void {
    for (const cidr of this.#reserved) set.occupy(cidr);
    for (const { cidrs } of this.#holdings.values()) {
      for (const cidr of cidrs) if (!set.isTooWide(cidr)) set.occupy(cidr);
    }
    this.#books.push(set);
  }

  /** Allocates from this set no more. */
  remove(set: CidrSet): void {
    this.#books.splice(this.#books.indexOf(set), 1);
  }

  /** Who holds a part of this range, and what it is a part of. */
  *holdersIn(range: Cidr): Generator<Holder> {
    for (const [uid, { name, cidrs }] of this.#holdings) {
      for (const cidr of cidrs) if (overlaps(cidr, range)) yield { name, uid, cidr };
    }
  }

  /** What this node holds, in the order of the cluster's ranges where it was allocated here. */
  heldBy(uid: string): readonly string[] | undefined {
    return this.#holdings.get(uid)?.cidrs.map(({ text }) => text);
  }

  /** UIDs of all nodes that held or hold something under this name. */
  uidsOf(name: string): readonly string[] {
    return [...(this.#uids.get(name) ?? [])];
  }

  /** Names under which something is held. */
  names(): IterableIterator<string> {
    return this.#uids.keys();
  }

  /** Whether the node has more of a set than one node can have: in that set it holds nothing then. */
  isTooWide(text: string): boolean {
    const cidr = parseCidr(text);
    return cidr !== undefined && this.sets.some((set) => set.isTooWide(cidr));
  }

  /** The node has these pod CIDRs. Returns those of which another node holds a part, and those that are too wide. */
  hold(name: string, uid: string, texts: readonly string[]): readonly string[] {
    if (sameTexts(this.heldBy(uid), texts)) return [];
    this.release(uid);
    const cidrs = parseCidrs(texts);
    this.#enter(name, uid, cidrs);
    return cidrs.filter((cidr) => this.#occupy(cidr)).map(({ text }) => text);
  }

  /** Gives the node a range of each family, or none at all: `exhausted` names the cluster ranges that have none left. */
  allocate(name: string, uid: string): Allocation {
    const cidrs: Cidr[] = [];
    const clusters: string[] = [];
    for (const [family, sets] of Map.groupBy(this.sets, ({ cluster }) => cluster.family)) {
      const set = sets.find(({ size, used }) => used < size);
      const cidr = set?.allocate();
      if (!set || !cidr) {
        for (const taken of cidrs) for (const other of this.sets) other.release(taken);
        const full = this.sets.filter(({ cluster }) => cluster.family === family);
        return { kind: 'exhausted', cluster: full.map(({ cluster }) => cluster.text).join(' and ') };
      }
      cidrs.push(cidr);
      clusters.push(set.cluster.text);
    }
    this.#enter(name, uid, cidrs);
    return { kind: 'allocated', cidrs: cidrs.map(({ text }) => text), clusters };
  }

  /** The node is gone for certain. Returns whether it held something. */
  release(uid: string): boolean {
    const holding = this.#holdings.get(uid);
    if (!holding) return false;
    for (const cidr of holding.cidrs) for (const book of this.#booksFor(cidr)) book.release(cidr);
    this.#holdings.delete(uid);
    const uids = this.#uids.get(holding.name);
    uids?.delete(uid);
    if (uids?.size === 0) this.#uids.delete(holding.name);
    return true;
  }

  #enter(name: string, uid: string, cidrs: readonly Cidr[]): void {
    this.#holdings.set(uid, { name, cidrs });
    const uids = this.#uids.get(name);
    if (uids) uids.add(uid);
    else this.#uids.set(name, new Set([uid]));
  }

  #occupy(cidr: Cidr): boolean {
    const books = this.#booksFor(cidr);
    const shared = books.map((book) => book.occupy(cidr));
    return shared.includes(true) || books.length < this.#books.length;
  }

  /** By the same rule when it is held and when it is given back. */
  #booksFor(cidr: Cidr): readonly RangeBook[] {
    return this.#books.filter((book) => !(book instanceof CidrSet && book.isTooWide(cidr)));
  }
}

function sameTexts(held: readonly string[] | undefined, texts: readonly string[]): boolean {
  return held?.length === texts.length && held.every((text, i) => text === parseCidr(texts[i] ?? '')?.text);
}
