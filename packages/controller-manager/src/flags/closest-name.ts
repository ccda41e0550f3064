/** A beginning of fewer letters says nothing. */
const BEGUN = 3;

/** The name out of `known` that somebody who wrote `wrong` may have meant: a near one, else the first that begins so; `undefined` when there is none. */
export function closestName(wrong: string, known: Iterable<string>): string | undefined {
  let best: string | undefined;
  let begun: string | undefined;
  // A third of the letters may differ: `--leader-elct` is near `--leader-elect`, `--foo` is near nothing.
  let bestDistance = Math.max(1, Math.floor(wrong.length / 3)) + 1;
  for (const name of known) {
    const distance = editDistance(wrong, name, bestDistance);
    if (distance < bestDistance) {
      best = name;
      bestDistance = distance;
    }
    if (wrong.length >= BEGUN && name.startsWith(wrong)) begun ??= name;
  }
  return best ?? begun;
}

/** Levenshtein distance, or `limit` as soon as it cannot be less. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(substitution, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    if (Math.min(...next) >= limit) return limit;
    row = next;
  }
  return row[b.length] ?? limit;
}
