/**
 * What somebody who misspelt a name may have meant. Flags have much the same rule in controller-manager; no package is
 * below both: a provider imports the contract alone, which is above controller-manager and depends on nothing.
 */

/** The nearest of `known`, of which at most a third of the letters differ, in any case; `undefined` when there is none. */
export function closestName(wrong: string, known: Iterable<string>): string | undefined {
  let most = Math.max(1, Math.floor(wrong.length / 3));
  let best: string | undefined;
  for (const name of known) {
    // Also so that a name of any length costs no more than a known one.
    if (Math.abs(name.length - wrong.length) > most) continue;
    const distance = editDistance(wrong.toLowerCase(), name.toLowerCase());
    if (distance > most) continue;
    best = name;
    most = distance - 1;
  }
  return best;
}

/** Levenshtein's. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (const [i, letter] of a.split('').entries()) {
    const above = row;
    row = [i + 1];
    for (const [j, other] of b.split('').entries()) {
      const replaced = (above[j] ?? 0) + (letter === other ? 0 : 1);
      row.push(Math.min(replaced, (above[j + 1] ?? 0) + 1, (row[j] ?? 0) + 1));
    }
  }
  return row[b.length] ?? 0;
}

/** For a message about an unknown name: ` (did you mean lb-provider?)`; empty when none is near. */
export function didYouMean(wrong: string, known: Iterable<string>): string {
  const near = closestName(wrong, known);
  return near === undefined ? '' : ` (did you mean ${near}?)`;
}
