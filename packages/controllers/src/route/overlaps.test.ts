import assert from 'node:assert/strict';
import { test } from 'node:test';
import { overlaps, parseCidr, type Cidr } from '@outrigger/cloud-provider';
import * as fc from 'fast-check';
import { refuseOverlaps, type WantedRange } from './overlaps.ts';

function cidrOf(text: string): Cidr {
  const cidr = parseCidr(text);
  assert.ok(cidr);
  return cidr;
}

const clusterCidrs = [cidrOf('10.0.0.0/16'), cidrOf('fd00::/48')];

/** Few addresses and many lengths: nearly all overlap. */
const someCidr = fc.oneof(
  fc
    .record({ third: fc.nat({ max: 7 }), fourth: fc.nat({ max: 3 }), bits: fc.integer({ min: 16, max: 27 }) })
    .map(({ bits, fourth, third }) => cidrOf(`10.0.${third}.${fourth * 64}/${bits}`)),
  fc
    .record({ group: fc.nat({ max: 3 }), bits: fc.integer({ min: 48, max: 66 }) })
    .map(({ bits, group }) => cidrOf(`fd00:0:0:${group}::/${bits}`)),
);

test('property: as when each is compared with all that was granted before; the order makes no difference', () => {
  const someWanted = fc.uniqueArray(fc.record({ cidr: someCidr, age: fc.nat({ max: 99 }), owner: fc.nat() }), {
    maxLength: 30,
    comparator: (a, b) => a.cidr.text === b.cidr.text || a.age === b.age || a.owner === b.owner,
  });
  const shuffled = someWanted.chain((all) =>
    fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length, maxLength: all.length })),
  );
  fc.assert(
    fc.property(shuffled, (orders) => {
      const [one, other] = orders.map((all) => {
        const ranges = all.map(({ age, ...more }) => ({ ...more, age: String(age).padStart(2, '0') }));
        return [...refuseOverlaps(ranges, clusterCidrs)].map(([text]) => text).toSorted();
      });
      assert.deepEqual(one, other);
      const granted: Cidr[] = [];
      const refused: string[] = [];
      const usual = new Map(
        ([4, 6] as const).map((family) => {
          const bits = orders[0].filter(({ cidr }) => cidr.family === family).toSorted((a, b) => a.age - b.age);
          const count = (of: number): number => bits.filter(({ cidr }) => cidr.bits === of).length;
          return [family, bits.toSorted((a, b) => count(b.cidr.bits) - count(a.cidr.bits))[0]?.cidr.bits ?? 0];
        }),
      );
      const rank = ({ age, cidr }: { readonly age: number; readonly cidr: Cidr }): number => {
        const isTooWide = cidr.bits < (usual.get(cidr.family) ?? 0) - 4 || cidr.bits === (cidr.family === 4 ? 16 : 48);
        return isTooWide ? age + 100 : age;
      };
      for (const { cidr } of orders[0].toSorted((a, b) => rank(a) - rank(b))) {
        if (granted.some((older) => overlaps(older, cidr))) refused.push(cidr.text);
        else granted.push(cidr);
      }
      assert.deepEqual(one, refused.toSorted());
    }),
    { numRuns: 1_000 },
  );
});

test('who is in the way is named; one’s own ranges are in nobody’s way', () => {
  const wanted = (owner: string, text: string, age: string): WantedRange<string> => ({
    owner,
    age,
    cidr: cidrOf(text),
  });
  const refused = refuseOverlaps(
    [
      wanted('evil', '10.0.0.0/16', '3'),
      wanted('victim', '10.0.3.0/24', '1'),
      wanted('victim', '10.0.3.0/26', '1'),
      wanted('evil', '10.0.3.128/25', '3'),
      wanted('new', '10.0.4.0/24', '4'),
    ],
    clusterCidrs,
  );
  assert.deepEqual(Array.from(refused, ([text, { owner }]) => `${text} ${owner}`).toSorted(), [
    '10.0.0.0/16 victim',
    '10.0.3.128/25 victim',
  ]);
});
