/** Which node holds which ranges: what is in the API, and what is on its way there. */
import { parseCidr, type Cidr } from '../ip/cidr.ts';
import type { CidrSet } from './cidr-set.ts';

interface Holding {
  readonly name: string;
  readonly cidrs: readonly Cidr[];
}

export class NodeRanges {
  readonly #sets: readonly CidrSet[];
  /** By UID of the node. */
  readonly #holdings = new Map<string, Holding>();
  readonly #uids = new Map<string, Set<string>>();

  /** `reserved`: ranges that no node gets, as those of Services. */
  constructor(sets: readonly CidrSet[], reserved: readonly Cidr[] = []) {
    this.#sets = sets;
    for (const cidr of reserved) this.#occupy(cidr);
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

  /** The node has these pod CIDRs. Returns those of which another node holds a part. */
  hold(name: string, uid: string, texts: readonly string[]): readonly string[] {
    if (sameTexts(this.heldBy(uid), texts)) return [];
    this.release(uid);
    const cidrs = texts.map(parseCidr).filter((cidr) => cidr !== undefined);
    this.#enter(name, uid, cidrs);
    return cidrs.filter((cidr) => this.#occupy(cidr)).map(({ text }) => text);
  }

  /** Gives the node a range of each cluster range, or none at all: `exhausted` is the cluster range that has none left. */
  allocate(
    name: string,
    uid: string,
  ):
    | { readonly kind: 'allocated'; readonly cidrs: readonly string[] }
    | { readonly kind: 'exhausted'; readonly cluster: string } {
    const cidrs: Cidr[] = [];
    for (const set of this.#sets) {
      const cidr = set.allocate();
      if (!cidr) {
        for (const [i, taken] of cidrs.entries()) this.#sets[i]?.release(taken);
        return { kind: 'exhausted', cluster: set.cluster.text };
      }
      cidrs.push(cidr);
    }
    this.#enter(name, uid, cidrs);
    return { kind: 'allocated', cidrs: cidrs.map(({ text }) => text) };
  }

  /** The node is gone for certain. Returns whether it held something. */
  release(uid: string): boolean {
    const holding = this.#holdings.get(uid);
    if (!holding) return false;
    for (const cidr of holding.cidrs) for (const set of this.#sets) set.release(cidr);
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
    const shared = this.#sets.map((set) => set.occupy(cidr));
    return shared.includes(true);
  }
}

function sameTexts(held: readonly string[] | undefined, texts: readonly string[]): boolean {
  return held?.length === texts.length && held.every((text, i) => text === parseCidr(texts[i] ?? '')?.text);
}
