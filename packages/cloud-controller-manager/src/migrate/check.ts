/** What was found out about one step of the migration guide. */
import { cutText } from '@outrigger/cloud-provider';

/** `unknown`: it could not be looked at, so that it may be either. */
export type CheckState = 'ok' | 'missing' | 'unknown';

export interface Check {
  readonly state: CheckState;
  /** One sentence without a full stop: what is so. */
  readonly text: string;
  /** What to do about it; not for `ok`. */
  readonly todo?: string;
  /** Which ones, at most `MOST_NAMED` of them. */
  readonly objects?: readonly string[];
  /** How many there are of them. */
  readonly count?: number;
}

const MOST_NAMED = 10;
/** Characters of each line: others write what it quotes. */
const MOST_TEXT = 1_000;

export function ok(text: string, objects: readonly string[] = []): Check {
  return { state: 'ok', text: cutText(text, MOST_TEXT), ...named(objects) };
}

export function missing(text: string, todo: string, objects: readonly string[] = []): Check {
  return { state: 'missing', text: cutText(text, MOST_TEXT), todo, ...named(objects) };
}

/** `todo`: how it can be found out otherwise. */
export function unknown(text: string, todo: string, objects: readonly string[] = []): Check {
  return { state: 'unknown', text: cutText(text, MOST_TEXT), todo, ...named(objects) };
}

/** The worst of them: what is missing, then what is unknown. Of none: unknown, for nothing was looked at. */
export function worst(states: readonly CheckState[]): CheckState {
  if (states.includes('missing')) return 'missing';
  return states.length === 0 || states.includes('unknown') ? 'unknown' : 'ok';
}

function named(objects: readonly string[]): Pick<Check, 'objects' | 'count'> {
  if (objects.length === 0) return {};
  return { objects: objects.slice(0, MOST_NAMED).map((one) => cutText(one, MOST_TEXT)), count: objects.length };
}
