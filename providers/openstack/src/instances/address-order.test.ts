import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeAddress, NodeAddressType } from '@outrigger/cloud-provider';
import * as fc from 'fast-check';
import { inSortOrder } from './address-order.ts';
import golden from './golden/address-order.json' with { type: 'json' };

const read = (text: string): NodeAddress => {
  const [type = '', address = ''] = text.split(' ');
  return { type: type as NodeAddressType, address };
};

const written = ({ type, address }: NodeAddress): string => `${type} ${address}`;

for (const { order, want, upstream = 'ours' } of golden.cases) {
  test(`golden vector: ${order.join(', ')} (${upstream})`, () => {
    assert.deepEqual(
      inSortOrder(golden.addresses.map(read), order).map(written),
      want.map((at) => golden.addresses[at]),
    );
  });
}

test('in a range, addresses stand by number and not by text', () => {
  const addresses = ['10.0.0.10', '10.0.0.9', '10.0.0.100'].map((address) => read(`InternalIP ${address}`));
  assert.deepEqual(
    inSortOrder(addresses, ['10.0.0.0/8']).map(({ address }) => address),
    ['10.0.0.9', '10.0.0.10', '10.0.0.100'],
  );
});

test('property: no address is lost or made, and what no range holds keeps its order', () => {
  const address = fc.oneof(fc.ipV4(), fc.ipV6(), fc.domain()).map((text) => read(`InternalIP ${text}`));
  fc.assert(
    fc.property(
      fc.array(address),
      fc.subarray(['10.0.0.0/8', '128.0.0.0/1', '8000::/1', '::/0', 'x']),
      (all, order) => {
        const sorted = inSortOrder(all, order);
        assert.deepEqual(new Set(sorted), new Set(all));
        assert.equal(sorted.length, all.length);
        if (!order.includes('::/0')) return;
        const names = (list: readonly NodeAddress[]): readonly string[] =>
          list.map((item) => item.address).filter((text) => !text.includes(':') && !/^[\d.]+$/.test(text));
        assert.deepEqual(names(sorted), names(all));
      },
    ),
  );
});
