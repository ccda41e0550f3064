/**
 * Which routes this cluster has, in a cloud that keeps no owner with them: when a node is gone, or its address has changed, nothing
 * else says that the route to it was ours. Noted before a route is made, and forgotten when two lists, one after the other, no
 * longer have it: one may lack what is there.
 */
import { parseCidr, type Route } from '@outrigger/cloud-provider';
import { linesOf, type KnownHops } from './route-owners.ts';

/** Lines of one destination. A node has eight at most; with more it has had other addresses again and again. */
const MOST_LINES = 64;

export class RouteRecord implements KnownHops {
  /** By `destination hop`: when it was noted last; monotonic. */
  readonly #entries = new Map<string, number>();
  /** Those that the last list did not have, and when that was. */
  readonly #missing = new Map<string, number>();
  /** By destination, how many entries there are. */
  readonly #lines = new Map<string, number>();
  #version = 0;

  /** Grows with each change of what `text` says. */
  get version(): number {
    return this.#version;
  }

  has(destination: string, hops: readonly string[]): boolean {
    return hops.every((hop) => this.#entries.has(entryOf(destination, hop)));
  }

  /** Both in canonical form. `at`: monotonic; no list from before forgets it. */
  note(destination: string, hops: readonly string[], at: number): void {
    for (const hop of hops) {
      const entry = entryOf(destination, hop);
      if (!this.#entries.has(entry)) this.#count(destination, 1);
      this.#missing.delete(entry);
      this.#entries.set(entry, Math.max(at, this.#entries.get(entry) ?? at));
    }
  }

  /** Nothing is under way for these any more that was noted with an `at` of infinity. */
  release(destination: string, hops: readonly string[], at: number): void {
    for (const hop of hops) {
      const entry = entryOf(destination, hop);
      if (this.#entries.has(entry)) this.#entries.set(entry, at);
    }
  }

  /** `routes` are all that the cloud had at `asOf`: of what was noted before, the others are gone. */
  keepOnly(routes: Iterable<Route>, asOf: number): void {
    const there = new Set<string>();
    for (const route of routes) {
      const destination = parseCidr(route.destination)?.text ?? route.destination;
      for (const hop of linesOf(route)) there.add(entryOf(destination, hop));
    }
    for (const [entry, at] of this.#entries) {
      if (at >= asOf) continue;
      const missingSince = this.#missing.get(entry);
      if (there.has(entry)) this.#missing.delete(entry);
      else if (missingSince === undefined) this.#missing.set(entry, asOf);
      else if (missingSince < asOf) this.#forget(entry);
    }
  }

  #forget(entry: string): void {
    this.#entries.delete(entry);
    this.#missing.delete(entry);
    this.#count(entry.split(' ', 1)[0] ?? '', -1);
  }

  #count(destination: string, more: 1 | -1): void {
    this.#version++;
    const lines = (this.#lines.get(destination) ?? 0) + more;
    if (lines > 0) this.#lines.set(destination, lines);
    else this.#lines.delete(destination);
  }

  /** Nothing more is to be made until lists have shown what of it is gone: one node would fill the record of all. */
  isFull(destination: string): boolean {
    return (this.#lines.get(destination) ?? 0) >= MOST_LINES;
  }

  /** One entry a line. */
  get text(): string {
    return [...this.#entries.keys()].toSorted().join('\n');
  }

  /** Adds what `text` said once. */
  read(text: string, at: number): void {
    for (const line of text.split('\n')) {
      const [destination, hop] = line.split(' ');
      if (destination && hop) this.note(destination, [hop], at);
    }
  }
}

function entryOf(destination: string, hop: string): string {
  return `${destination} ${hop}`;
}
