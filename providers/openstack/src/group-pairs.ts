/** What belongs to each key, where one thing may belong to several. */

/** The values of each key in their order; keys in that of their first. */
export function groupPairs<Key, Value>(pairs: Iterable<readonly [Key, Value]>): ReadonlyMap<Key, readonly Value[]> {
  const groups = new Map<Key, Value[]>();
  for (const [key, value] of pairs) {
    const there = groups.get(key);
    if (there) there.push(value);
    else groups.set(key, [value]);
  }
  return groups;
}
