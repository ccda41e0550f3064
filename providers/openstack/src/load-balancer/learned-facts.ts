/** What an `apply` found out that no list shows. Forgotten after a while, and with the process: then it is found out again. */
import type { Clock } from '@outrigger/cloud-provider';
import type { MemberWithoutGroup, WhyWithout } from './observed-tree.ts';

const BELIEVED_MS = 600_000;
/** What nova does not say now it says once it reaches the server's cell again. */
const UNNAMED_MS = 60_000;
/** Longer than until a node that was left closed is asked about again. */
const CLOSED_MS = 3_600_000;

interface ServerNames {
  /** `undefined`: nova does not say them now. */
  readonly names: readonly string[] | undefined;
}

interface Without {
  readonly why: WhyWithout;
  readonly since: number;
  /** Of what nova does not say: when a server of the same group was asked about last. */
  readonly at: number;
}

export class LearnedFacts {
  readonly #clock: Clock;
  /** By the security group's ID, then the address: when it was learned; monotonic. */
  readonly #withoutGroup = new Map<string, Map<string, Without>>();
  /** By group and address: when the port of this member was left closed last. */
  readonly #closed = new Map<string, number>();
  /** By the ID of the server. */
  readonly #serverNames = new Map<string, ServerNames & { readonly at: number }>();
  /** By the ID of a floating IP or a security group. */
  readonly #triedTags = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** These members did not get the group. They are a few of many: what is still believed of the first holds until the last have been asked about. */
  noteWithoutGroup(groupId: string, members: readonly MemberWithoutGroup[]): void {
    const known = this.#withoutGroup.get(groupId) ?? new Map<string, Without>();
    const at = this.#clock.monotonic();
    if (members.some(({ why }) => why === 'unnamed')) {
      for (const [address, one] of known) if (this.#isBelieved(one)) known.set(address, { ...one, at });
    }
    for (const { address, why } of members) known.set(address, { why, at, since: at });
    for (const { address, why } of members)
      if (why === 'strange' || why === 'unnamed') this.#closed.set(`${groupId} ${address}`, at);
    if (known.size > 0) this.#withoutGroup.set(groupId, known);
  }

  /** Whether the port of this member was left closed within the last hour. It is asked about again long before that. */
  wasClosed(groupId: string, address: string): boolean {
    return this.#isFresh(this.#closed.get(`${groupId} ${address}`), CLOSED_MS);
  }

  membersWithoutGroup(groupId: string): readonly MemberWithoutGroup[] {
    const known = this.#withoutGroup.get(groupId) ?? [];
    return [...known].flatMap(([address, one]) => (this.#isBelieved(one) ? [{ address, why: one.why }] : []));
  }

  /** Nova calls this server so, or does not say how: the ports of a node are opened for many Services. */
  noteServerNames(id: string, names: ServerNames['names']): void {
    this.#serverNames.set(id, { names, at: this.#clock.monotonic() });
  }

  serverNames(id: string): ServerNames | undefined {
    const known = this.#serverNames.get(id);
    return known && this.#isFresh(known.at, known.names ? BELIEVED_MS : UNNAMED_MS) ? known : undefined;
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
    for (const [key, at] of this.#closed) if (!this.#isFresh(at, CLOSED_MS)) this.#closed.delete(key);
    for (const [id, at] of this.#triedTags) if (!this.#isFresh(at)) this.#triedTags.delete(id);
    for (const [id, { at }] of this.#serverNames) if (!this.#isFresh(at)) this.#serverNames.delete(id);
    for (const [id, known] of this.#withoutGroup) {
      for (const [address, one] of known) if (!this.#isBelieved(one)) known.delete(address);
      if (known.size === 0) this.#withoutGroup.delete(id);
    }
  }

  #isBelieved({ at, since, why }: Without): boolean {
    return this.#isFresh(since) && (why !== 'unnamed' || this.#isFresh(at, UNNAMED_MS));
  }

  #isFresh(at: number | undefined, believedMs = BELIEVED_MS): boolean {
    return at !== undefined && this.#clock.monotonic() - at < believedMs;
  }
}
