/** What an `apply` found out that no list shows. Forgotten after a while, and with the process: then it is found out again. */
import type { Clock } from '@outrigger/cloud-provider';

const BELIEVED_MS = 600_000;

export class LearnedFacts {
  readonly #clock: Clock;
  /** By the security group's ID, then the address: when it was learned; monotonic. */
  readonly #withoutPort = new Map<string, Map<string, number>>();
  /** By the ID of the server. */
  readonly #serverNames = new Map<string, { readonly name: string; readonly at: number }>();
  /** By the ID of a floating IP or a security group. */
  readonly #triedTags = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** No port with port security has these addresses of members. */
  noteWithoutPort(groupId: string, addresses: readonly string[]): void {
    const known = this.#withoutPort.get(groupId) ?? new Map<string, number>();
    for (const address of addresses) known.set(address, this.#clock.monotonic());
    if (known.size > 0) this.#withoutPort.set(groupId, known);
  }

  addressesWithoutPort(groupId: string): readonly string[] {
    const known = this.#withoutPort.get(groupId) ?? [];
    return [...known].flatMap(([address, at]) => (this.#isFresh(at) ? [address] : [])).toSorted();
  }

  /** Nova calls this server so: the ports of a node are opened for many Services. */
  noteServerName(id: string, name: string): void {
    if (this.serverName(id) === undefined) this.#serverNames.set(id, { name, at: this.#clock.monotonic() });
  }

  serverName(id: string): string | undefined {
    const known = this.#serverNames.get(id);
    return known && this.#isFresh(known.at) ? known.name : undefined;
  }

  /** Tags were written on this part, or could not be: its description says whose it is, and its Service waits for no tag. */
  noteTriedTags(id: string): void {
    this.#triedTags.set(id, this.#clock.monotonic());
  }

  hasTriedTags(id: string): boolean {
    return this.#isFresh(this.#triedTags.get(id));
  }

  /** What is told of parts that are gone is of no use. */
  prune(): void {
    for (const [id, at] of this.#triedTags) if (!this.#isFresh(at)) this.#triedTags.delete(id);
    for (const [id, { at }] of this.#serverNames) if (!this.#isFresh(at)) this.#serverNames.delete(id);
    for (const [id, known] of this.#withoutPort) {
      for (const [address, at] of known) if (!this.#isFresh(at)) known.delete(address);
      if (known.size === 0) this.#withoutPort.delete(id);
    }
  }

  #isFresh(at: number | undefined): boolean {
    return at !== undefined && this.#clock.monotonic() - at < BELIEVED_MS;
  }
}
