/**
 * Which parts of one Service should be in the cloud, by what this process has seen and done. While there are some, a look that
 * leaves them out may be a lie: clouds answer with empty lists when they are unwell.
 */
import type {
  LoadBalancerAction,
  LoadBalancerActionResult,
  LoadBalancerPart,
  LoadBalancerService,
  Owner,
  PartName,
} from '@outrigger/cloud-provider';
import { isNamed, isOwnedBy } from './check-plan.ts';
import { isUncertain } from './failure.ts';
import type { Bring } from './plan.ts';

/** So long looks have to leave out what is expected before that is believed. */
const BELIEVED_AFTER_MS = 90_000;

export class ExpectedParts {
  /** Seen, and not ended since; by name. */
  readonly #parts = new Map<string, PartName>();
  /** Names of those that were ended, and were going away when they were last heard of. */
  #leaving = new Set<string>();
  /** How many of a kind this process has made and not seen yet. An action may have made none: nothing waits for that alone. */
  #made = new Map<string, number>();
  /** Kinds of what was asked for without an answer: it may be there, and is asked for again. */
  readonly #unanswered = new Set<string>();
  /** Another process may have made anything. */
  #before: boolean;
  /** Since when each look leaves out the same; monotonic. */
  #missing: { readonly what: string; readonly since: number; readonly lookedAt: number } | undefined;

  /** `before`: something was made for the Service, or was about to be, before this process looked. */
  constructor(before: boolean) {
    this.#before = before;
  }

  get any(): boolean {
    return this.#before || this.#made.size > 0 || this.#parts.size > 0;
  }

  /** Besides what was seen. What is asked for again may be there already, which counts only for one that goes. */
  get #mayHaveMore(): boolean {
    return this.#before || this.#made.size > 0 || this.#unanswered.size > 0;
  }

  /** What a look shows, where it shows anything. */
  noteSeen(parts: readonly LoadBalancerPart[], owner: Owner, { adopt = [] }: Pick<LoadBalancerService, 'adopt'>): void {
    const own = parts.filter((part) => isOwnedBy(part, owner));
    // Of no owner: a predecessor's, which will be claimed. What is only asked for is the Service's once it is claimed.
    const unowned = parts.filter((part) => part.owner === undefined && !adopt.some((name) => isNamed(part, name)));
    const mine = [...own, ...unowned];
    for (const part of parts) if (part.owner && !own.includes(part)) this.#parts.delete(nameOf(part));
    this.#forgetRenamed(own);
    for (const part of mine) {
      if (part.owner && part.state !== 'deleting' && !this.#parts.has(nameOf(part))) this.#noteFound(part.kind);
      // What is seen going away may be gone at the next look.
      if (part.state === 'deleting') this.#parts.delete(nameOf(part));
      else this.#parts.set(nameOf(part), { kind: part.kind, id: part.id });
    }
    this.#leaving = new Set(mine.filter(({ state }) => state === 'deleting').map(nameOf));
  }

  /**
   * A look that began at `startedAt` has shown these parts. What it leaves out is believed to be gone after 90 s of looks that
   * leave out the same. Looks that are further apart than that prove nothing about the time between them.
   */
  noteLook(parts: readonly LoadBalancerPart[], startedAt: number): void {
    const what = this.missingIn(parts).join();
    const last = this.#missing;
    const goesOn = last?.what === what && startedAt - last.lookedAt <= BELIEVED_AFTER_MS;
    this.#missing = what === '' ? undefined : { what, since: goesOn ? last.since : startedAt, lookedAt: startedAt };
  }

  /** From when on a look that leaves out the same is believed; monotonic. */
  believedAt(startedAt: number): number {
    return (this.#missing?.since ?? startedAt) + BELIEVED_AFTER_MS;
  }

  /**
   * What can be done of a plan although something may be there that these parts, which a look has shown, leave out; `undefined`:
   * all of it, and it is complete where it says so. `served`: the Service has an address, so that all that it needs was there once.
   */
  sureOf(bring: Bring, parts: readonly LoadBalancerPart[], served: boolean): readonly LoadBalancerAction[] | undefined {
    const { complete, desired, plan } = bring;
    if (!desired.wanted && complete) return this.#mayHaveMore ? [] : undefined;
    const shows = (kind: string): boolean => parts.some((part) => part.kind === kind && isOwnedBy(part, desired.owner));
    const isUnsure = ({ ends = [], kind, part }: LoadBalancerAction): boolean => {
      // What is left to others because nothing is seen to use it would not be found again.
      if (!desired.wanted) return kind !== 'delete' && ends.length > 0 && this.#mayHaveMore;
      return kind === 'create' && (this.#made.has(part) || (this.#before && served && !shows(part)));
    };
    const first = plan.actions.findIndex(isUnsure);
    return first < 0 ? undefined : plan.actions.slice(0, first);
  }

  /**
   * Whether a look leaves something out: then it may be a lie, whatever else it shows. Lists of the kinds of parts are asked of
   * different services, one of which may be unwell.
   */
  isHiddenIn(parts: readonly LoadBalancerPart[]): boolean {
    if (parts.length === 0) return this.any;
    return [...this.#parts.values()].some((part) => !this.#isShown(part, parts));
  }

  /** What came of an action. What was asked for and not answered may not have taken effect: it is expected as before. */
  noteApplied(action: LoadBalancerAction, result: LoadBalancerActionResult): void {
    const { ends = [], id, kind, part } = action;
    const failed = result.kind === 'failed';
    if (failed && !isUncertain(result.error)) return;
    if (kind === 'create' && failed) this.#unanswered.add(part);
    else if (kind === 'create') this.#made.set(part, (this.#made.get(part) ?? 0) + 1);
    if (id === undefined) return;
    const name = { kind: part, id };
    if (kind === 'claim') this.#parts.set(nameOf(name), name);
    for (const ended of kind === 'delete' ? [name, ...ends] : ends) {
      if (!failed) this.#parts.delete(nameOf(ended));
      if (result.kind !== 'done') this.#leaving.add(nameOf(ended));
    }
  }

  /** Nothing more of it is there than these: it was looked at for long enough, or they are all that it needs. */
  noteOnly(parts: readonly LoadBalancerPart[]): void {
    for (const [name, part] of this.#parts) if (!this.#isShown(part, parts)) this.#parts.delete(name);
    this.#leaving.clear();
    this.#made.clear();
    this.#unanswered.clear();
    this.#before = false;
    this.#missing = undefined;
  }

  /** What a look that shows these parts may leave out, for people. */
  missingIn(parts: readonly LoadBalancerPart[]): readonly string[] {
    const known = [...this.#parts].filter(([, part]) => !this.#isShown(part, parts));
    const before = this.#before ? ['what may have been made before this process began'] : [];
    return [...known.map(([name]) => name), ...this.#unseen(), ...before];
  }

  /** What a person has to look for in the cloud when the controller does not: kind and ID, and which of it was going away. */
  lastKnown(): readonly string[] {
    const staying = [...this.#parts.keys()].filter((part) => !this.#leaving.has(part));
    return [...staying, ...this.#unseen(), ...Array.from(this.#leaving, (part) => `${part} (being deleted)`)];
  }

  /** Also one that is of another kind by now. Clouds that count by kind have the same ID for several. */
  #isShown({ id, kind }: PartName, parts: readonly LoadBalancerPart[]): boolean {
    return parts.some((part) => part.id === id && (part.kind === kind || !this.#parts.has(nameOf(part))));
  }

  #unseen(): readonly string[] {
    const asked = [...this.#unanswered].filter((kind) => !this.#made.has(kind));
    return [
      ...Array.from(this.#made.keys(), (kind) => `${kind} (just made)`),
      ...asked.map((kind) => `${kind} (asked for, without an answer)`),
    ];
  }

  /** What looks left out until now is no measure for what they may leave out from here on. */
  #noteFound(kind: string): void {
    this.#missing = undefined;
    this.#unanswered.delete(kind);
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

const nameOf = ({ kind, id }: PartName): string => `${kind} ${id}`;
