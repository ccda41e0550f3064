/** Ages as kubectl shows them: two units where the first alone would be too coarse. */

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

const two = (seconds: number, unit: number, name: string, rest: number, restName: string): string => {
  const small = Math.floor((seconds % unit) / rest);
  return `${Math.floor(seconds / unit)}${name}${small > 0 ? `${small}${restName}` : ''}`;
};

const one = (seconds: number, unit: number, name: string): string => `${Math.floor(seconds / unit)}${name}`;

/** `ms` of 95,000 is `95s`, of 125,000 `2m5s`, of a day `24h`. */
export function humanDuration(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 2 * MINUTE) return `${seconds}s`;
  if (seconds < 10 * MINUTE) return two(seconds, MINUTE, 'm', 1, 's');
  if (seconds < 3 * HOUR) return one(seconds, MINUTE, 'm');
  if (seconds < 8 * HOUR) return two(seconds, HOUR, 'h', MINUTE, 'm');
  if (seconds < 2 * DAY) return one(seconds, HOUR, 'h');
  if (seconds < 8 * DAY) return two(seconds, DAY, 'd', HOUR, 'h');
  if (seconds < 2 * YEAR) return one(seconds, DAY, 'd');
  if (seconds < 8 * YEAR) return two(seconds, YEAR, 'y', DAY, 'd');
  return one(seconds, YEAR, 'y');
}

/** The age of an RFC 3339 time at `now`; `<unknown>` when there is none. */
export function ageOf(time: unknown, now: number): string {
  if (typeof time !== 'string' || time === '') return '<unknown>';
  return humanDuration(now - Date.parse(time));
}
