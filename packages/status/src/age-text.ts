/** How long ago, in the manner of kubectl's column AGE. */

const SECOND_MS = 1_000;
/** The largest first. */
const UNITS = [
  ['d', 86_400 * SECOND_MS],
  ['h', 3_600 * SECOND_MS],
  ['m', 60 * SECOND_MS],
] as const;

/** `95s`, `12m`, `5h`, `3d`: a unit is used from two of it on. Below zero, which clocks that differ give: `0s`. */
export function ageText(ms: number): string {
  const [unit, unitMs] = UNITS.find(([, length]) => ms >= 2 * length) ?? ['s', SECOND_MS];
  return `${Math.floor(Math.max(0, ms) / unitMs)}${unit}`;
}
