/**
 * The first of each group, then the second of each, and so on: one with thousands does not hold up the others. `lastTurn`: of a group; the lowest
 * goes first. Default: all are alike.
 */
export function* inTurns<K>(
  keys: Iterable<K>,
  groupOf: (key: K) => string,
  lastTurn: (group: string) => number = () => 0,
): Generator<K> {
  const groups = [...Map.groupBy(keys, groupOf)].toSorted(([a], [b]) => lastTurn(a) - lastTurn(b));
  let left = groups.map(([, ofOne]) => ofOne.values());
  while (left.length > 0) {
    const others: typeof left = [];
    for (const ofOne of left) {
      const { done, value } = ofOne.next();
      if (done) continue;
      yield value;
      others.push(ofOne);
    }
    left = others;
  }
}
