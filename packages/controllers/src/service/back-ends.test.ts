import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeAddress } from '@outrigger/cloud-provider';
import type { Node } from '@outrigger/kube';
import { backEndOf } from './back-ends.ts';

const internal = (address: string): NodeAddress => ({ type: 'InternalIP', address });
const hostname: NodeAddress = { type: 'Hostname', address: 'n1' };

function addressesOf(status: readonly NodeAddress[], ofCloud: readonly NodeAddress[] | undefined): readonly string[] {
  const node: Node = {
    metadata: { name: 'n1', uid: 'u1' },
    spec: { providerID: 'fake://1' },
    status: { addresses: [...status] },
  };
  return backEndOf(node, () => ofCloud)?.addresses.map(({ address }) => address) ?? [];
}

test('an address that a node alone says it has gets no traffic; one that the cloud gives does, however it is written', () => {
  const status = [internal('10.0.0.9'), internal('10.0.0.1'), internal('2001:DB8:0::1'), hostname];
  const ofCloud = [internal('10.0.0.1'), internal('2001:db8::1')];
  assert.deepEqual(addressesOf(status, ofCloud), ['10.0.0.1', '2001:DB8:0::1', 'n1']);
  assert.deepEqual(addressesOf([internal('10.0.0.9')], ofCloud), []);
});

test('an address that a node gives as its host name is one that the cloud has to give', () => {
  const named = (address: string): NodeAddress => ({ type: 'Hostname', address });
  const status = [named('10.0.0.9'), named('::ffff:10.0.0.9'), named('10.0.0.1'), named('10-0-0-9.example'), hostname];
  assert.deepEqual(addressesOf(status, [internal('10.0.0.1')]), ['10.0.0.1', '10-0-0-9.example', 'n1']);
});

test('where the cloud has not said, or gives none, the status is what there is', () => {
  const status = [internal('10.0.0.9')];
  for (const ofCloud of [undefined, []]) assert.deepEqual(addressesOf(status, ofCloud), ['10.0.0.9']);
});

test('a node that the cloud has not confirmed does not become a back end; one that is stays as it was confirmed', () => {
  const node = (uid: string, address: string): Node => ({
    metadata: { name: 'n1', uid },
    spec: { providerID: 'fake://1' },
    status: { addresses: [internal(address)] },
  });
  assert.equal(
    backEndOf(node('u1', '10.0.0.9'), () => 'unconfirmed'),
    undefined,
  );
  const before = backEndOf(node('u1', '10.0.0.1'), () => [internal('10.0.0.1')]);
  assert.equal(
    backEndOf(node('u1', '10.0.0.9'), () => 'unconfirmed', before),
    before,
  );
  // Another Node with its name.
  assert.equal(
    backEndOf(node('u2', '10.0.0.9'), () => 'unconfirmed', before),
    undefined,
  );
});
