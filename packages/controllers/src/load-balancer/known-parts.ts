/** What is known of one Service's parts in the cloud: which were there, which are going, and what may be there that nobody has seen. */
import {
  effectOf,
  type LoadBalancerAction,
  type LoadBalancerActionResult,
  type LoadBalancerPart,
  type LoadBalancerService,
  type Owner,
  type PartName,
} from '@outrigger/cloud-provider';
import { isNamed, isOwnedBy } from './check-plan.ts';

/** What is written down of a Service's parts. */
export interface PartsRecord {
  readonly parts: readonly PartName[];
  /** More may have been made than is named. */
  readonly open: boolean;
}

interface KnownPart extends PartName {
  /**
   * `recorded`: no look and no answer says so, but what is written down, which tenants may write. `asked`: to go, without an answer. `going`: by an
   * answer, or as it was seen; not seeing it any more is no surprise.
   */
  readonly state: 'recorded' | 'there' | 'asked' | 'going';
}

export class KnownParts {
  /** By name: seen, made or recorded, and not ended since. */
  readonly #parts = new Map<string, KnownPart>();
  /** How many of a kind were made without a word of their IDs, and not seen yet. An action may have made none. */
  readonly #made = new Map<string, number>();
  /** Kinds that were asked for without an answer. */
  readonly #asked = new Set<string>();
  /** Another process may have made anything. */
  #anything: boolean;

  /** `begun`: something was made for the Service, or was about to be, before this process looked. */
  constructor(begun: boolean, record?: PartsRecord) {
    this.#anything = begun && (record?.open ?? true);
    for (const { id, kind } of (begun && record?.parts) || []) this.#set({ kind, id, state: 'recorded' });
  }

  copy(): KnownParts {
    const copy = new KnownParts(this.#anything);
    for (const part of this.#parts.values()) copy.#set(part);
    for (const [kind, count] of this.#made) copy.#made.set(kind, count);
    for (const kind of this.#asked) copy.#asked.add(kind);
    return copy;
  }

  /** All that are known by name, going ones included. */
  get names(): readonly PartName[] {
    return Array.from(this.#parts.values(), ({ id, kind }) => ({ kind, id }));
  }

  /** What a person has to look for in the cloud when the controller does not. */
  get words(): readonly string[] {
    const names = Array.from(this.#parts.values(), ({ id, kind, state }) => {
      return state === 'recorded' || state === 'there' ? `${kind} ${id}` : `${kind} ${id} (being deleted)`;
    });
    return [...names, ...this.unseen.filter((word) => word !== ANYTHING)];
  }

  /** What may be there and was never seen; for people. */
  get unseen(): readonly string[] {
    const asked = [...this.#asked].filter((kind) => !this.#made.has(kind));
    return [
      ...Array.from(this.#made.keys(), (kind) => `${kind} (just made)`),
      ...asked.map((kind) => `${kind} (asked for, without an answer)`),
      ...(this.#anything ? [ANYTHING] : []),
    ];
  }

  /** Whether something of this kind may be there that was never seen: `made` by an answer, or by whatever was asked for. */
  mayHave(kind: string, by: 'made' | 'asked' | 'anything'): boolean {
    if (by === 'anything') return this.#anything;
    return by === 'made' ? this.#made.has(kind) : this.#asked.has(kind);
  }

  /** Something was made that no look has shown, by this process or another. */
  get someMade(): boolean {
    return this.#anything || this.#made.size > 0;
  }

  /** Those that were there, or are going, and that these parts leave out. `proved`: there, and not by what is written down alone. */
  missingIn(parts: readonly LoadBalancerPart[], which: 'there' | 'proved' | 'going'): readonly PartName[] {
    return [...this.#parts.values()].filter(
      (part) =>
        (part.state === 'going') === (which === 'going') &&
        (part.state !== 'recorded' || which !== 'proved') &&
        !this.#isShown(part, parts),
    );
  }

  /** What a look shows is there, whatever it leaves out. Returns whether it shows one that was not known. */
  see(parts: readonly LoadBalancerPart[], owner: Owner, { adopt = [] }: Pick<LoadBalancerService, 'adopt'>): boolean {
    const own = parts.filter((part) => isOwnedBy(part, owner));
    // Of no owner: a predecessor's, which will be claimed. What is only asked for is the Service's once it is claimed.
    const unowned = parts.filter((part) => part.owner === undefined && !adopt.some((name) => isNamed(part, name)));
    for (const part of parts) if (part.owner && !own.includes(part)) this.#parts.delete(nameOf(part));
    this.#forgetRenamed(own);
    let found = false;
    for (const part of [...own, ...unowned]) {
      const going = part.state === 'deleting';
      if (part.owner && !going && !this.#parts.has(nameOf(part))) {
        found = true;
        this.#noteFound(part.kind);
      }
      this.#set({ kind: part.kind, id: part.id, state: going ? 'going' : 'there' });
    }
    return found;
  }

  /** What came of an action. What was asked for and not answered may not have taken effect: what it would end stays. */
  noteApplied({ ends = [], id, kind, part }: LoadBalancerAction, result: LoadBalancerActionResult): void {
    const failed = result.kind === 'failed';
    if (failed && effectOf(result.error) === 'none') return;
    if (kind === 'create') {
      if (result.kind === 'failed') this.#asked.add(part);
      else if (result.made) this.#set({ kind: result.made.kind, id: result.made.id, state: 'there' });
      else this.#made.set(part, (this.#made.get(part) ?? 0) + 1);
    }
    if (id === undefined) return;
    const name = { kind: part, id };
    if (kind === 'claim') this.#set({ ...name, state: 'there' });
    for (const ended of kind === 'delete' ? [name, ...ends] : ends) {
      // What is left to others is theirs once the cloud has taken that; what is deleted may be there for a while.
      if (result.kind === 'done' || (kind !== 'delete' && !failed)) this.#parts.delete(nameOf(ended));
      else this.#set({ kind: ended.kind, id: ended.id, state: failed ? 'asked' : 'going' });
    }
  }

  /** They are proved, or believed, to be gone. */
  forget(names: readonly PartName[]): void {
    for (const name of names) this.#parts.delete(nameOf(name));
  }

  /** Nothing is there but what is known by name. */
  beSure(): void {
    this.#made.clear();
    this.#asked.clear();
    this.#anything = false;
  }

  #set(part: KnownPart): void {
    this.#parts.set(nameOf(part), part);
  }

  /** Also one that is of another kind by now. Clouds that count by kind have the same ID for several. */
  #isShown({ id, kind }: PartName, parts: readonly LoadBalancerPart[]): boolean {
    return parts.some((part) => part.id === id && (part.kind === kind || !this.#parts.has(nameOf(part))));
  }

  #noteFound(kind: string): void {
    this.#asked.delete(kind);
    const left = (this.#made.get(kind) ?? 0) - 1;
    if (left > 0) this.#made.set(kind, left);
    else this.#made.delete(kind);
  }

  /** One that is seen for the first time, with the ID of one that is not seen any more, is the same under another kind. */
  #forgetRenamed(own: readonly LoadBalancerPart[]): void {
    const seen = new Set(own.map(nameOf));
    const newIds = new Set(own.filter((part) => !this.#parts.has(nameOf(part))).map(({ id }) => id));
    for (const [name, { id }] of this.#parts) if (!seen.has(name) && newIds.has(id)) this.#parts.delete(name);
  }
}

const ANYTHING = 'what may have been made before this process began';
const nameOf = ({ kind, id }: PartName): string => `${kind} ${id}`;
