/** Times and states in words. */

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** `0.42 s`, `12 s`, `5 min`, `3 h`, `12 d`. */
export function duration(ms: number): string {
  if (ms < 10 * SECOND_MS) return `${(ms / SECOND_MS).toFixed(2)} s`;
  if (ms < 2 * MINUTE_MS) return `${Math.round(ms / SECOND_MS)} s`;
  if (ms < 2 * HOUR_MS) return `${Math.round(ms / MINUTE_MS)} min`;
  if (ms < 2 * DAY_MS) return `${Math.round(ms / HOUR_MS)} h`;
  return `${Math.round(ms / DAY_MS)} d`;
}

export function age(since: number, now: number): string {
  return since === 0 ? '' : duration(Math.max(0, Math.round((now - since) / SECOND_MS) * SECOND_MS)).replace('.00', '');
}

/** `in 12 s`, `3 s ago`. `at`: seconds since the Unix epoch. */
export function distance(at: number, now: number): string {
  const ms = at * SECOND_MS - now;
  if (Math.abs(ms) < SECOND_MS) return 'now';
  return ms > 0 ? `in ${age(now, now + ms)}` : `${age(now + ms, now)} ago`;
}

export function many(count: number, one: string, more = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : more}`;
}

type Tone = 'good' | 'busy' | 'bad' | 'quiet';

interface StateWord {
  readonly label: string;
  readonly tone: Tone;
  /** Not by colour alone. */
  readonly sign: string;
}

const WORDS: Readonly<Record<string, StateWord>> = {
  // Nodes
  held: { label: 'Deletion held', tone: 'bad', sign: '▲' },
  'not-ready': { label: 'Not ready', tone: 'bad', sign: '▲' },
  'shut-down': { label: 'Shut down', tone: 'quiet', sign: '■' },
  // Both
  waiting: { label: 'Waiting', tone: 'busy', sign: '◔' },
  deleting: { label: 'Deleting', tone: 'busy', sign: '◔' },
  ready: { label: 'Ready', tone: 'good', sign: '●' },
  failing: { label: 'Failing', tone: 'bad', sign: '▲' },
  unknown: { label: 'Unknown', tone: 'quiet', sign: '○' },
  // Parts
  pending: { label: 'Pending', tone: 'busy', sign: '◔' },
  failed: { label: 'Failed', tone: 'bad', sign: '▲' },
  // Routes
  owned: { label: 'Owned', tone: 'good', sign: '●' },
  foreign: { label: 'Foreign', tone: 'quiet', sign: '○' },
  missing: { label: 'Missing', tone: 'busy', sign: '◔' },
  waits: { label: 'Blocked', tone: 'bad', sign: '▲' },
  orphan: { label: 'Orphan', tone: 'bad', sign: '▲' },
};

export function stateWord(state: string): StateWord {
  return WORDS[state] ?? { label: state, tone: 'quiet', sign: '○' };
}

/** Sorts `node-9` before `node-10`. */
export function sortKey(name: string): string {
  return name.replace(/\d+/gu, (digits) => digits.padStart(9, '0'));
}
