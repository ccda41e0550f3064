/** Durations as Go writes them (`time.ParseDuration`): `1m30s`, `500ms`, `1.5h`. */

const MILLISECONDS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};
const PART = /(\d+(?:\.\d*)?|\.\d+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/gu;
const WHOLE = new RegExp(`^(?:${PART.source})+$`, 'u');

/** Of a duration as Go writes it, milliseconds; `undefined` for what is none, and for less than nothing. */
export function parseGoDuration(text: string): number | undefined {
  const unsigned = text.replace(/^\+/u, '');
  if (unsigned === '0') return 0;
  if (!WHOLE.test(unsigned)) return undefined;
  let sum = 0;
  for (const [, count = '', unit = ''] of unsigned.matchAll(PART)) sum += Number(count) * (MILLISECONDS[unit] ?? 0);
  return sum;
}
