/**
 * Which parts of one Service should be in the cloud, by what this process has seen and done. While there are some, a look that
 * shows nothing may be a lie: clouds answer with empty lists when they are unwell.
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

export class ExpectedParts {
  /** Seen, and not ended since; by name. */
  readonly #parts = new Map<string, PartName>();
  /** Names of those that were ended, and were going away when they were last heard of. */
  #leaving = new Set<string>();
  /** Something should be there that this process has not seen yet. */
  #unseen: boolean;

  /** `unseen`: something was made for the Service, or was about to be, before this process looked. */
  constructor(unseen: boolean) {
    this.#unseen = unseen;
  }

  get any(): boolean {
    return this.#unseen || this.#parts.size > 0;
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
      // What is seen going away may be gone at the next look.
      if (part.state === 'deleting') this.#parts.delete(nameOf(part));
      else this.#parts.set(nameOf(part), { kind: part.kind, id: part.id });
    }
    this.#leaving = new Set(mine.filter(({ state }) => state === 'deleting').map(nameOf));
    if (own.length > 0) this.#unseen = false;
  }

  /**
   * Whether a look leaves something out: then it may be a lie, whatever else it shows. Lists of the kinds of parts are asked of
   * different services, one of which may be unwell.
   */
  isHiddenIn(parts: readonly LoadBalancerPart[]): boolean {
    if (parts.length === 0) return this.any;
    const shown = new Set(parts.map(({ id }) => id));
    return [...this.#parts.values()].some(({ id }) => !shown.has(id));
  }

  /** What came of an action. What was asked for and not answered may not have taken effect: it is expected as before. */
  noteApplied(action: LoadBalancerAction, result: LoadBalancerActionResult): void {
    const { ends = [], id, kind, part } = action;
    const failed = result.kind === 'failed';
    if (failed && !isUncertain(result.error)) return;
    if (kind === 'create' && !failed) this.#unseen = true;
    if (id === undefined) return;
    const name = { kind: part, id };
    if (kind === 'claim') this.#parts.set(nameOf(name), name);
    for (const ended of kind === 'delete' ? [name, ...ends] : ends) {
      if (!failed) this.#parts.delete(nameOf(ended));
      if (result.kind !== 'done') this.#leaving.add(nameOf(ended));
    }
  }

  /** Nothing more of it is there than these, which was looked at for long enough. */
  noteOnly(parts: readonly LoadBalancerPart[]): void {
    const shown = new Set(parts.map(({ id }) => id));
    for (const [name, { id }] of this.#parts) if (!shown.has(id)) this.#parts.delete(name);
    this.#leaving.clear();
    this.#unseen = false;
  }

  /** What a person has to look for in the cloud when the controller does not: kind and ID, and which of it was going away. */
  lastKnown(): readonly string[] {
    const staying = [...this.#parts.keys()].filter((part) => !this.#leaving.has(part));
    return [...staying, ...Array.from(this.#leaving, (part) => `${part} (being deleted)`)];
  }

  /** One that is seen for the first time, with the ID of one that is not seen any more, is the same under another kind. */
  #forgetRenamed(own: readonly LoadBalancerPart[]): void {
    const seen = new Set(own.map(nameOf));
    const newIds = new Set(own.filter((part) => !this.#parts.has(nameOf(part))).map(({ id }) => id));
    for (const [name, { id }] of this.#parts) if (!seen.has(name) && newIds.has(id)) this.#parts.delete(name);
  }
}

const nameOf = ({ kind, id }: PartName): string => `${kind} ${id}`;
