/**
 * A field that another writer sets too. What it undoes is written again with exponential back-off, so that two controllers that
 * disagree cost a few writes an hour and not thousands a minute. Pure: entry points `reviewField` and `afterWrite`.
 */
import type { EventNote, KubeObject } from '@outrigger/kube';

const FIRST_DELAY_MS = 1_000;
const FACTOR = 5;
const LONGEST_DELAY_MS = 300_000;
/** What stood for so long before it was undone was not contested: a person has edited it, or a program has started. */
const QUIET_MS = 3 * LONGEST_DELAY_MS;
/** Undone so often in a row: there is another writer. Once may be a person. */
const CONTESTED_AFTER = 2;

/** What is remembered of one field of one object (one UID). Absent until it was written once. */
export interface FieldState {
  /** What we wrote last. */
  readonly written: string;
  /** Monotonic, milliseconds: when. */
  readonly writtenAt: number;
  /** How often in a row another writer has replaced what we wrote. */
  readonly undone: number;
  /** What we wrote last is among those. */
  readonly isUndone: boolean;
}

export interface ObservedField {
  /** What the field should be, as a string that is the same for values that mean the same: JSON, or one word of it. */
  readonly wanted: string;
  /** What it is, in the same form. Never from before our last write (`WrittenVersions.isBehind`), which would look like another writer. */
  readonly observed: string | undefined;
  /** Monotonic, milliseconds. */
  readonly now: number;
}

type FieldVerdict =
  /** It is as it should be, whoever wrote it. */
  | { readonly kind: 'accept' }
  | { readonly kind: 'write' }
  /** Another writer asserts it too: not to be written before `atMs` (monotonic), with no cloud call until then. */
  | { readonly kind: 'wait'; readonly atMs: number };

export interface FieldReview {
  /** For the next review and for `afterWrite`; `undefined`: nothing needs to be remembered. */
  readonly state: FieldState | undefined;
  readonly verdict: FieldVerdict;
  /** There is another writer: whom `managerOf` names. Worth an Event (`contestedNote`), once. */
  readonly isContested: boolean;
}

/**
 * Whether the field is to be written now. The first write, and each for a new wish, is due at once; so is the first after it
 * was undone, if what we wrote has stood for a second. After that the delays grow fourfold up to 5 minutes, counted from our
 * last write, until what we write stands for a quarter of an hour.
 */
export function reviewField(before: FieldState | undefined, { wanted, observed, now }: ObservedField): FieldReview {
  if (observed === wanted) {
    const isOver = before !== undefined && now - before.writtenAt >= QUIET_MS;
    return { state: isOver ? undefined : before, verdict: { kind: 'accept' }, isContested: false };
  }
  if (!before) return { state: undefined, verdict: { kind: 'write' }, isContested: false };
  const state = withUndone(before, { wanted, observed, now });
  const isContested = state.undone >= CONTESTED_AFTER;
  const atMs = state.isUndone && state.written === wanted ? state.writtenAt + delayMs(state.undone) : now;
  return { state, verdict: now >= atMs ? { kind: 'write' } : { kind: 'wait', atMs }, isContested };
}

/** What was written has taken effect. */
export function afterWrite(before: FieldState | undefined, written: string, now: number): FieldState {
  return { written, writtenAt: now, undone: before?.undone ?? 0, isUndone: false };
}

/** Only another value than the one that we wrote is another writer's; our own wish may have changed since. */
function withUndone(before: FieldState, { observed, now }: ObservedField): FieldState {
  if (before.isUndone || observed === before.written) return before;
  const isNew = now - before.writtenAt >= QUIET_MS;
  return { ...before, isUndone: true, undone: isNew ? 1 : before.undone + 1 };
}

function delayMs(undone: number): number {
  return Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * FACTOR ** (undone - 1));
}

/**
 * Who set the field last, by the managedFields of the object, which stores do not keep: read it once from the server. `path`
 * as in fieldsV1: `['f:status', 'f:loadBalancer']`. `undefined`: the server does not say.
 */
export function managerOf({ metadata = {} }: KubeObject, path: readonly string[]): string | undefined {
  let last: { readonly manager: string; readonly time: string } | undefined;
  for (const entry of metadata.managedFields ?? []) {
    const { manager = '', time = '', fieldsV1 } = (entry ?? {}) as ManagedFields;
    if (manager === '' || !hasPath(fieldsV1, path)) continue;
    // RFC 3339 in UTC: the later sorts behind.
    if (!last || time > last.time) last = { manager, time };
  }
  return last?.manager;
}

/** The parts of `metadata.managedFields[]` that are of use here. */
interface ManagedFields {
  readonly manager?: string;
  readonly time?: string;
  readonly fieldsV1?: unknown;
}

function hasPath(fields: unknown, path: readonly string[]): boolean {
  let at: unknown = fields;
  for (const part of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, part)) return false;
    at = (at as Record<string, unknown>)[part];
  }
  return true;
}

export const CONTESTED_REASON = 'FieldContested';

/** What a person is told who runs two writers. `field`: as in `status.loadBalancer`. */
export function contestedNote(field: string, manager: string | undefined): EventNote {
  const who = manager === undefined ? 'Another program' : `The field manager ${manager}`;
  return {
    type: 'Warning',
    reason: CONTESTED_REASON,
    message: `${who} writes ${field} too, with another value. It is written again with back-off, up to 5 minutes apart: disable one of the two.`,
  };
}
