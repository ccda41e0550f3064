/**
 * Which routes this cluster has, in a cloud that keeps no owner with them: when a node is gone, or its address has changed, nothing
 * else says that the route to it was ours. Noted before a route is made, and forgotten when a list no longer has it.
 */
import { parseCidr, type Route } from '@outrigger/cloud-provider';
import { hopsOf, type KnownHops } from './route-owners.ts';

export class RouteRecord implements KnownHops {
  /** By `destination hop`: when it was noted last; monotonic. */
  readonly #entries = new Map<string, number>();
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
      if (!this.#entries.has(entry)) this.#version++;
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
      for (const hop of hopsOf(route)) there.add(entryOf(destination, hop));
    }
    for (const [entry, at] of this.#entries) {
      if (at < asOf && !there.has(entry) && this.#entries.delete(entry)) this.#version++;
    }
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
