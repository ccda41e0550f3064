import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { ADDRESS_BITS, cidrAt, contains, overlaps, parseCidr, type Cidr } from './cidr.ts';

test('ranges are read into one form', () => {
  for (const [text, canonical] of [
    ['10.0.1.0/24', '10.0.1.0/24'],
    ['10.0.1.7/24', '10.0.1.0/24'],
    ['010.000.1.0/24', '10.0.1.0/24'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['255.255.255.255/32', '255.255.255.255/32'],
    ['fd00:0:0:1:0:0:0:0/64', 'fd00:0:0:1::/64'],
    ['FD00:0:0:1:2::/64', 'fd00:0:0:1::/64'],
    ['::/0', '::/0'],
    ['64:ff9b::10.0.0.1/96', '64:ff9b::/96'],
    ['::1/128', '::1/128'],
  ] as const) {
    assert.equal(parseCidr(text)?.text, canonical, text);
  }
});

test('what is no range is refused', () => {
  for (const text of [
    '',
    '10.0.0.0',
    '10.0.0.0/',
    '10.0.0.0/33',
    'fd00::/129',
    '10.0.0/8',
    '10.0.0.0/8/8',
    '10.0.0.0/+8',
    'fe80::1%eth0/64',
    'a/b',
    '1.2.3.4/0x8',
    '::ffff:10.0.0.0/120',
  ]) {
    assert.equal(parseCidr(text), undefined, text);
  }
});

const range = fc
  .constantFrom<4 | 6>(4, 6)
  .chain((family) =>
    fc
      .tuple(
        fc.bigInt({ min: 0n, max: (1n << BigInt(ADDRESS_BITS[family])) - 1n }),
        fc.integer({ min: 0, max: ADDRESS_BITS[family] }),
      )
      .map(([address, bits]): Cidr => cidrAt(family, address, bits)),
  );

test('property: a range is what its text says', () => {
  fc.assert(
    fc.property(range, (cidr) => {
      // IPv4 written as IPv6 is read as IPv4, as Go does.
      if (!cidr.text.includes('.') === (cidr.family === 6)) assert.deepEqual(parseCidr(cidr.text), cidr);
    }),
  );
});

test('property: ranges are apart or inside of one another', () => {
  fc.assert(
    fc.property(range, range, (a, b) => {
      assert.equal(overlaps(a, b), contains(a, b) || contains(b, a));
      if (contains(a, b)) assert.ok(a.bits <= b.bits && a.first <= b.first && b.last <= a.last);
    }),
  );
});
