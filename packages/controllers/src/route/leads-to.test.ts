import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Route } from '@outrigger/cloud-provider';
import type { Node, NodeAddress } from '@outrigger/kube';
import { leadsTo } from './leads-to.ts';

const addresses: readonly NodeAddress[] = [
  { type: 'InternalIP', address: 'FD00::0A' },
  { type: 'Hostname', address: 'node-1' },
];
const node: Node = { metadata: { name: 'node-1' }, status: { addresses: [...addresses] } };

for (const [hop, leads] of [
  ['fd00::a', true],
  ['FD00::0A', true],
  ['fd00::b', false],
  ['local', false],
  ['node-2', false],
  ['', false],
] as const) {
  test(`a route whose next hop is ${JSON.stringify(hop)} ${leads ? 'leads' : 'does not lead'} to a node with ${addresses.map(({ address }) => address).join()}`, () => {
    const route: Route = {
      id: 'r',
      destination: '10.0.1.0/24',
      nextHops: [hop],
      blackhole: false,
      ownership: 'owned',
    };
    assert.equal(leadsTo(route, node), leads);
    assert.equal(leadsTo({ ...route, targetNodeName: 'node-1' }, node), leads);
  });
}
