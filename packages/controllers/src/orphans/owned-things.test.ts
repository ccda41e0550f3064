import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Route } from '@outrigger/cloud-provider';
import type { Node } from '@outrigger/kube';
import { inUseBy } from './owned-things.ts';

const node: Node = {
  metadata: { name: 'n1', uid: 'n1' },
  spec: { providerID: 'memory://r/i-1', podCIDRs: ['10.1.0.0/24'] },
  status: { addresses: [{ type: 'InternalIP', address: '192.168.0.1' }] },
};
const routeOf = (more: Partial<Route>): Route => {
  return { id: 'r', destination: '10.9.0.0/24', blackhole: false, ownership: 'owned', ...more };
};

const routes: readonly (readonly [string, Partial<Route>, boolean])[] = [
  ['to a node by its name', { targetNodeName: 'n1' }, true],
  ['to a node by its provider ID', { targetProviderID: 'memory://r/i-1' }, true],
  ['to an address of a node', { nextHops: ['192.168.0.1'] }, true],
  ['to several addresses, one of them of a node', { nextHops: ['192.168.0.9', '192.168.0.1'] }, true],
  ['from the pod CIDR of a node, wherever it leads', { destination: '10.1.0.7/24', targetNodeName: 'gone' }, true],
  ['to nobody knows where', {}, true],
  ['to nobody knows where, as its machine is gone', { blackhole: true }, false],
  ['to what is no node', { targetNodeName: 'gone', targetProviderID: 'memory://r/i-9' }, false],
  ['to addresses of no node', { nextHops: ['192.168.0.9'] }, false],
];

for (const [what, route, inUse] of routes) {
  test(`a route ${what} is ${inUse ? 'in use' : 'of no use'}`, () => {
    assert.equal(inUseBy([node])(routeOf(route)), inUse);
  });
}
