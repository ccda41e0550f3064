/**
 * What this process has done, laid over lists that do not show it yet. ELBv2 is eventually consistent: for some seconds a list may leave out what was
 * created, show what was deleted, and show old tags.
 */
import type { Clock } from '@outrigger/cloud-provider';
import type { Tags } from '../ownership.ts';

/** A thing of the cloud with its tags. */
export interface Tagged<Thing> {
  readonly thing: Thing;
  readonly tags: Tags;
  /** It was deleted, and is still listed. */
  readonly isDeleted?: boolean;
}

interface Change<Thing> {
  readonly at: number;
  /** As the answer to its creation had it. */
  readonly made?: Tagged<Thing>;
  readonly set: Tags;
  readonly removed: readonly string[];
  readonly isDeleted: boolean;
}

/** So long what AWS shows may be older than what it was asked for. */
const LAG_MS = 120_000;

export class RecentChanges<Thing> {
  readonly #clock: Clock;
  readonly #startedAt: number;
  readonly #changes = new Map<string, Change<Thing>>();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startedAt = clock.monotonic();
  }

  created(id: string, thing: Thing, tags: Tags): void {
    this.#note(id, { made: { thing, tags }, set: {}, removed: [], isDeleted: false });
  }

  deleted(id: string): void {
    this.#note(id, { set: {}, removed: [], isDeleted: true });
  }

  tagged(id: string, set: Tags, removed: readonly string[] = []): void {
    const { made, removed: before = [], set: earlier = {} } = this.#of(id) ?? {};
    const gone = [...before.filter((key) => !(key in set)), ...removed];
    const kept = Object.fromEntries(Object.entries(earlier).filter(([key]) => !removed.includes(key)));
    this.#note(id, { ...(made && { made }), set: { ...kept, ...set }, removed: gone, isDeleted: false });
  }

  /** A "not found" proves nothing of it yet. It may also have been made by the process before this one, just before it ended. */
  isYoung(id: string): boolean {
    const change = this.#of(id);
    if (change) return change.made !== undefined;
    return this.#clock.monotonic() - this.#startedAt < LAG_MS;
  }

  /** As it was made by this process lately. */
  made(id: string): Thing | undefined {
    return this.#of(id)?.made?.thing;
  }

  wasDeleted(id: string): boolean {
    return this.#of(id)?.isDeleted === true;
  }

  /** What was made and is not among these yet. */
  missing(ids: ReadonlySet<string>): readonly (readonly [id: string, made: Tagged<Thing>])[] {
    return [...this.#changes.keys()].flatMap((id) => {
      const made = this.#of(id)?.made;
      return made && !ids.has(id) ? [[id, made] as const] : [];
    });
  }

  tagsOf(id: string, listed: Tags): Tags {
    const change = this.#of(id);
    if (!change) return listed;
    const all = { ...listed, ...change.set };
    return Object.fromEntries(Object.entries(all).filter(([key]) => !change.removed.includes(key)));
  }

  #of(id: string): Change<Thing> | undefined {
    const change = this.#changes.get(id);
    if (!change || this.#clock.monotonic() - change.at < LAG_MS) return change;
    this.#changes.delete(id);
    return undefined;
  }

  #note(id: string, change: Omit<Change<Thing>, 'at'>): void {
    for (const other of this.#changes.keys()) this.#of(other);
    this.#changes.set(id, { ...change, at: this.#clock.monotonic() });
  }
}
