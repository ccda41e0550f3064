/** What an `apply` found out that no list shows. Forgotten after a while, and with the process: then it is found out again. */
import type { Clock } from '@outrigger/cloud-provider';
import type { MemberWithoutGroup, WhyWithout } from './observed-tree.ts';

const BELIEVED_MS = 600_000;
/** What nova does not say now it says once it reaches the server's cell again. */
const UNNAMED_MS = 60_000;

interface ServerNames {
  /** `undefined`: nova does not say them now. */
  readonly names: readonly string[] | undefined;
}

export class LearnedFacts {
  readonly #clock: Clock;
  /** By the security group's ID, then the address: when it was learned; monotonic. */
  readonly #withoutGroup = new Map<string, Map<string, { readonly why: WhyWithout; readonly at: number }>>();
  /** By the ID of the server. */
  readonly #serverNames = new Map<string, ServerNames & { readonly at: number }>();
  /** By the ID of a floating IP or a security group. */
  readonly #triedTags = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** These members did not get the group. They are a few of many: what was said of the first holds until the last have been asked about. */
  noteWithoutGroup(groupId: string, members: readonly MemberWithoutGroup[]): void {
    const known = this.#withoutGroup.get(groupId) ?? new Map();
    const at = this.#clock.monotonic();
    const isUnnamed = ({ why }: { readonly why: WhyWithout }): boolean => why === 'unnamed';
    if (members.some(isUnnamed)) {
      for (const [address, one] of known) if (isUnnamed(one)) known.set(address, { ...one, at });
    }
    for (const { address, why } of members) known.set(address, { why, at });
    if (known.size > 0) this.#withoutGroup.set(groupId, known);
  }

  membersWithoutGroup(groupId: string): readonly MemberWithoutGroup[] {
    const known = this.#withoutGroup.get(groupId) ?? [];
    return [...known].flatMap(([address, { at, why }]) =>
      this.#isFresh(at, why === 'unnamed' ? UNNAMED_MS : BELIEVED_MS) ? [{ address, why }] : [],
    );
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
    for (const [id, at] of this.#triedTags) if (!this.#isFresh(at)) this.#triedTags.delete(id);
    for (const [id, { at }] of this.#serverNames) if (!this.#isFresh(at)) this.#serverNames.delete(id);
    for (const [id, known] of this.#withoutGroup) {
      for (const [address, { at }] of known) if (!this.#isFresh(at)) known.delete(address);
      if (known.size === 0) this.#withoutGroup.delete(id);
    }
  }

  #isFresh(at: number | undefined, believedMs = BELIEVED_MS): boolean {
    return at !== undefined && this.#clock.monotonic() - at < believedMs;
  }
}
