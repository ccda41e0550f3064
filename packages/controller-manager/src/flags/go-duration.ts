/** Durations as Go writes them (`1h2m3s`, `1.5s`, `300ms`), because every Kubernetes flag of a time is written so. */

const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};
// Escaped: a bundler leaves patterns as they are, and one character beyond Latin-1 doubles the program in memory.
const WHOLE = /^[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+$/u;
const PART = /(\d+(?:\.\d*)?|\.\d+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/gu;

/**
 * Milliseconds of a Go duration; `undefined` when it is none. A number without a unit is refused, except `0`, as
 * `time.ParseDuration` does.
 */
export function parseGoDuration(text: string): number | undefined {
  if (/^[+-]?0$/u.test(text)) return 0;
  if (!WHOLE.test(text)) return undefined;
  let sum = 0;
  for (const [, amount, unit] of text.matchAll(PART)) sum += Number(amount) * (UNIT_MS[unit ?? ''] ?? 0);
  // Nanoseconds are the grain of Go's type: what is finer than that is an artefact of binary fractions.
  const ms = Math.round(sum * 1e6) / 1e6;
  return text.startsWith('-') ? -ms : ms;
}

/** Writes milliseconds as Go prints a duration: `5m0s`, `1.5s`, `300ms`, `0s`. */
export function formatGoDuration(ms: number): string {
  if (ms === 0) return '0s';
  const sign = ms < 0 ? '-' : '';
  const size = Math.abs(ms);
  if (size < 1e-3) return `${sign}${trim(size * 1e6)}ns`;
  if (size < 1) return `${sign}${trim(size * 1e3)}µs`;
  if (size < 1_000) return `${sign}${trim(size)}ms`;
  const hours = Math.floor(size / 3_600_000);
  const minutes = Math.floor((size % 3_600_000) / 60_000);
  const seconds = `${trim((size % 60_000) / 1_000)}s`;
  if (hours > 0) return `${sign}${hours}h${minutes}m${seconds}`;
  return minutes > 0 ? `${sign}${minutes}m${seconds}` : `${sign}${seconds}`;
}

function trim(value: number): string {
  return String(Math.round(value * 1e9) / 1e9);
}
