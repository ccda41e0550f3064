/** The first of each group, then the second of each, and so on: one with thousands does not hold up the others. */
export function* inTurns<K>(keys: Iterable<K>, groupOf: (key: K) => string): Generator<K> {
  let left = Array.from(Map.groupBy(keys, groupOf).values(), (ofOne) => ofOne.values());
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
