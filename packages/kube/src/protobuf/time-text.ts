/** Times as JSON has them. */

/** 0000-01-01 and the last second of 9999: what RFC 3339 can say. */
const FIRST_SECOND = -62_167_219_200;
const LAST_SECOND = 253_402_300_799;
/** A power of two. Nodes of a burst share most of their seconds. */
const KEPT = 64;

const keptSeconds: number[] = Array.from({ length: KEPT }, () => Number.NaN);
const keptTexts: string[] = Array.from({ length: KEPT }, () => '');

/** Seconds since 1970 as `2026-01-31T12:00:00Z`; `undefined` outside of the years 0 to 9999. */
export function timeText(seconds: number): string | undefined {
  if (!(seconds >= FIRST_SECOND && seconds <= LAST_SECOND)) return undefined;
  const slot = seconds & (KEPT - 1);
  const kept = keptTexts[slot];
  if (kept !== undefined && keptSeconds[slot] === seconds) return kept;
  const text = `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
  keptSeconds[slot] = seconds;
  keptTexts[slot] = text;
  return text;
}
