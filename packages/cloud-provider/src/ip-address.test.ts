import assert from 'node:assert/strict';
import { isIP, SocketAddress } from 'node:net';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { canonicalAddress, canonicalIp, familyOf } from './ip-address.ts';

test('an address has one form', () => {
  for (const [text, canonical] of [
    ['2600:0:0::1', '2600::1'],
    ['::FFFF:10.0.0.1', '10.0.0.1'],
    ['::ffff:a00:1', '10.0.0.1'],
    ['010.0.00.1', '10.0.0.1'],
    ['64:ff9b::10.0.0.1', '64:ff9b::a00:1'],
    ['::10.0.0.1', '::a00:1'],
    ['0:0:0:0:0:0:0:0', '::'],
    ['1:0:0:2:0:0:0:3', '1:0:0:2::3'],
    ['1:0:2:3:4:5:6:7', '1:0:2:3:4:5:6:7'],
    ['1::2:3:4:5:6:7', '1:0:2:3:4:5:6:7'],
    ['fd00:0:0:1::', 'fd00:0:0:1::'],
  ] as const) {
    assert.equal(canonicalIp(text), canonical, text);
    assert.equal(canonicalAddress(text), canonical, text);
  }
});

test('what is no address has none', () => {
  for (const text of [
    '',
    '10.0.0',
    '10.0.0.256',
    '1.2.3.4.5',
    'a.b.c.d',
    '1.2.3.-4',
    ':',
    ':::',
    '1::2::3',
    '12345::',
  ]) {
    assert.equal(canonicalIp(text), undefined, text);
  }
  for (const text of ['fe80::1%eth0', '::1.2.3', '1.2.3.4::', '1:2:3:4:5:6:7', '1:2:3:4:5:6:7::8', ' ::1', '::g']) {
    assert.equal(canonicalIp(text), undefined, text);
    assert.equal(canonicalAddress(text), text);
  }
});

test('property: Node agrees, on what is an address and on which', () => {
  const group = fc.stringMatching(/^[\da-fA-F]{1,4}$/);
  const written = fc.oneof(
    fc.ipV4(),
    fc.ipV6(),
    fc.string({ unit: fc.constantFrom('0', '1', 'f', ':', '::', '.', '25', '%') }),
    fc
      .array(fc.oneof(group, fc.constant('0'), fc.constant('')), { minLength: 2, maxLength: 9 })
      .map((all) => all.join(':')),
  );
  fc.assert(
    fc.property(written, (text) => {
      const family = isIP(text);
      const canonical = canonicalIp(text);
      // Node refuses leading zeros, and takes a zone.
      if (family === 0 || text.includes('%')) {
        if (canonical !== undefined) assert.match(text, /(^|[.:])0+\d/);
        return;
      }
      assert.ok(canonical !== undefined, text);
      const address = (ip: string): string =>
        new SocketAddress({ address: ip, family: isIP(ip) === 6 ? 'ipv6' : 'ipv4' }).address.replace(
          /^::ffff:(?=.*\.)/,
          '',
        );
      assert.equal(address(canonical), address(text));
      assert.equal(canonicalIp(canonical), canonical);
      assert.equal(familyOf(canonical), isIP(canonical));
    }),
    { numRuns: 2_000 },
  );
});
