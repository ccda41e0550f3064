import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { VersionedMap } from './versioned-map.ts';

const ascending = (a: number, b: number): number => a - b;

test('property: shows what was there at any time that is still kept, and keeps nothing else', () => {
  const change = fc.record({
    afterMs: fc.nat(30),
    id: fc.constantFrom('a', 'b', 'c', 'd'),
    value: fc.option(fc.nat(9), { nil: undefined }),
  });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 40 }), fc.constantFrom(0, 10, 50), (changes, keepMs) => {
      const map = new VersionedMap<number>();
      const truth: { at: number; id: string; value: number | undefined }[] = [];
      let now = 0;
      for (const { afterMs, id, value } of changes) {
        now += afterMs;
        map.set(id, value, now, keepMs);
        truth.push({ at: now, id, value });
        for (const at of [now, now - keepMs, now - keepMs / 2]) {
          const seen = (one: string): number | undefined =>
            truth.findLast((other) => other.id === one && other.at <= at)?.value;
          for (const one of ['a', 'b', 'c', 'd']) assert.equal(map.get(one, at), seen(one));
          const there = ['a', 'b', 'c', 'd'].map(seen).filter((one) => one !== undefined);
          assert.deepEqual([...map.list(at)].toSorted(ascending), there.toSorted(ascending));
        }
      }
    }),
  );
});

test('what was deleted is forgotten once nobody can see it any more', () => {
  const map = new VersionedMap<number>();
  for (let i = 0; i < 1000; i++) {
    map.set(`id-${i}`, i, i * 10, 100);
    map.set(`id-${i}`, undefined, i * 10 + 5, 100);
  }
  assert.ok(map.size <= 12, `${map.size} entries`);
});
