import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseSubnets, type SubnetRequest } from './choose-subnets.ts';
import type { SubnetFacts } from './network-facts.ts';

const usual: Omit<SubnetFacts, 'id' | 'zone'> = {
  name: undefined,
  cluster: 'none',
  roles: [],
  isPublic: true,
  isRegular: true,
  families: ['IPv4'],
  freeAddresses: 200,
  ranges: [],
  allowed: [],
};

/** `subnet-a1` is in the zone `a`. */
const subnet = (id: string, given: Partial<SubnetFacts> = {}): SubnetFacts => ({
  ...usual,
  id: `subnet-${id}`,
  zone: id.slice(0, 1),
  ...given,
});

function chosen(subnets: readonly SubnetFacts[], request: Partial<SubnetRequest> = {}): string {
  const full = { subnets: [], isInternal: false, families: ['IPv4'], ...request } as const;
  return chooseSubnets({ subnets }, full)
    .map(({ id }) => id.slice('subnet-'.length))
    .join(' ');
}

test('one of each zone: by role, by the cluster’s tag, by the lowest ID', () => {
  assert.equal(chosen([subnet('b2'), subnet('b1'), subnet('a1')]), 'a1 b1');
  assert.equal(chosen([subnet('a1'), subnet('a2', { cluster: 'own' })]), 'a2');
  const withRole = [subnet('a1', { cluster: 'own' }), subnet('a2', { roles: ['elb'] })];
  assert.equal(chosen(withRole), 'a2');
  assert.equal(chosen(withRole, { isInternal: true }), 'a1');
  assert.equal(chosen([subnet('a1'), subnet('a2', { roles: ['internal-elb'] })], { isInternal: true }), 'a2');
});

test('other clusters’ subnets, and zones without load balancers, are left out; private ones of a public one too', () => {
  const all = [
    subnet('a1', { cluster: 'other' }),
    subnet('b1', { isRegular: false }),
    subnet('c1', { isPublic: false }),
    subnet('d1'),
  ];
  assert.equal(chosen(all), 'd1');
  assert.equal(chosen(all, { isInternal: true }), 'c1 d1');
});

test('a subnet that is set aside for other namespaces is chosen for those alone, unless it is the cluster’s, or has the load balancer already', () => {
  const all = [subnet('a1', { allowed: ['web'] }), subnet('b1', { allowed: ['web'], cluster: 'own' }), subnet('c1')];
  const leave = (namespace: string) => ({ namespace, mayUse: () => true, refused: () => assert.fail() });
  assert.equal(chosen(all, { leave: leave('shop') }), 'b1 c1');
  assert.equal(chosen(all, { leave: leave('shop'), current: ['subnet-a1'] }), 'a1 b1 c1');
  assert.equal(chosen(all, { leave: leave('web') }), 'a1 b1 c1');
  const [first] = all;
  assert.equal(chosen([{ ...first!, allowed: ['*'] }], { leave: leave('shop') }), 'a1');
});

test('a full subnet gets no new load balancer, and keeps the one that it has', () => {
  const all = [subnet('a1', { freeAddresses: 7 }), subnet('a2'), subnet('b1', { freeAddresses: 0 })];
  assert.equal(chosen(all), 'a2');
  assert.equal(chosen(all, { current: ['subnet-a1', 'subnet-b1'] }), 'a1 b1');
});

test('a load balancer is not moved because another subnet of its zone is better', () => {
  const all = [subnet('a1', { roles: ['elb'], cluster: 'own' }), subnet('a2')];
  assert.equal(chosen(all, { current: ['subnet-a2'] }), 'a2');
});

test('two families need subnets with both', () => {
  const all = [subnet('a1'), subnet('a2', { families: ['IPv4', 'IPv6'] }), subnet('b1')];
  assert.equal(chosen(all, { families: ['IPv4', 'IPv6'] }), 'a2');
  assert.throws(() => chosen(all, { families: ['IPv4', 'IPv6'], subnets: ['subnet-b1'] }), /no IPv6 addresses/);
});

test('what is named is taken as it is, in its order', () => {
  const all = [subnet('a1', { isPublic: false, cluster: 'other', freeAddresses: 0 }), subnet('b1', { name: 'front' })];
  assert.equal(chosen(all, { subnets: ['front', 'subnet-a1'] }), 'b1 a1');
});

test('what is named and cannot be is refused, with the reason', () => {
  const all = [subnet('a1', { name: 'x' }), subnet('a2', { name: 'x' }), subnet('b1', { isRegular: false })];
  assert.throws(() => chosen(all, { subnets: ['subnet-9'] }), /aws-load-balancer-subnets: "subnet-9": the VPC/);
  assert.throws(() => chosen(all, { subnets: ['x'] }), /2 subnets have this name/);
  assert.throws(() => chosen(all, { subnets: ['subnet-a1', 'subnet-a2'] }), /subnet-a1 is in its zone a too/);
  assert.throws(() => chosen(all, { subnets: ['subnet-b1'] }), /zone b has no such load balancers/);
});

test('where there is none, the message says what one needs', () => {
  assert.throws(
    () => chosen([subnet('a1', { isPublic: false })]),
    /of 1, none has all of: .*; a route to an internet gateway/,
  );
  assert.throws(() => chosen([subnet('a1', { freeAddresses: 3 })]), /fewer than 8 free addresses/);
});
