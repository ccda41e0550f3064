import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeAddress, RouteRequest } from '@outrigger/cloud-provider';
import { aimRoutes, type Aim } from './aim-routes.ts';

const node = { name: 'n', uid: 'uid', labels: {}, annotations: {} };

function request(destination: string, ...addresses: readonly string[]): RouteRequest {
  return { node, destination, addresses: addresses.map((address): NodeAddress => ({ type: 'InternalIP', address })) };
}

function told(aim: Aim | undefined): string {
  if (aim?.kind === 'failed') return aim.error.code;
  return aim ? `${aim.kind} ${aim.route.destination} via ${aim.route.nexthop}` : '';
}

const aimed = (...args: Parameters<typeof aimRoutes>): readonly string[] => aimRoutes(...args).map(told);

test('the next hop is the first InternalIP of the family', () => {
  // cloud-provider-openstack, pkg/openstack/routes_test.go, TestGetAddrByNodeName.
  const six = ['2001:4800:790e::82a8', '1.2.3.4', '2001:4800:790e::82a9'];
  const four = ['1.2.3.5', '2001:4800:790e::82a8', '1.2.3.4', '2001:4800:790e::82a9'];
  assert.deepEqual(aimed([request('10.0.0.0/24', ...six)], []), ['add 10.0.0.0/24 via 1.2.3.4']);
  assert.deepEqual(aimed([request('fd00::/64', ...four)], []), ['add fd00::/64 via 2001:4800:790e::82a8']);
  const external: NodeAddress = { type: 'ExternalIP', address: '203.0.113.1' };
  assert.deepEqual(aimed([{ node, destination: '10.0.0.0/24', addresses: [external] }], []), ['conflict']);
});

test('what leads to any address of the node is there, however it is written', () => {
  const wanted = request('fd00::/64', 'fd20::1', 'fd20::2');
  const there = [{ destination: 'fd00:0::7/64', nexthop: 'FD20:0::2' }];
  assert.deepEqual(aimed([wanted], there), ['exists fd00:0::7/64 via FD20:0::2']);
});

test('of two that want one destination the first gets it, and one that is asked for twice exists', () => {
  const [a, b] = [request('10.0.0.0/24', '10.9.0.1'), request('10.0.0.7/24', '10.9.0.2')];
  assert.deepEqual(aimed([a, b, a], []), [
    'add 10.0.0.0/24 via 10.9.0.1',
    'conflict',
    'exists 10.0.0.0/24 via 10.9.0.1',
  ]);
});
