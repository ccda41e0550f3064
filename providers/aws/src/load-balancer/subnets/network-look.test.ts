import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '@outrigger/testing';
import { aCall, scriptedAws } from '../scripted-aws.suite.ts';
import type { NetworkFacts } from './network-facts.ts';
import { NetworkLook } from './network-look.ts';

const tagged = (tags: Readonly<Record<string, string>>): readonly object[] =>
  Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));

const subnets = [
  {
    SubnetId: 'subnet-1',
    AvailabilityZone: 'x-1a',
    AvailableIpAddressCount: 250,
    Tags: tagged({ Name: 'front', 'kubernetes.io/cluster/c1': 'shared', 'kubernetes.io/role/elb': '1' }),
  },
  {
    SubnetId: 'subnet-2',
    AvailabilityZone: 'x-1b',
    AvailableIpAddressCount: 4,
    CidrBlock: '10.0.0.0/24',
    Ipv6CidrBlockAssociationSet: [
      { Ipv6CidrBlock: 'fd00::/64', Ipv6CidrBlockState: { State: 'associated' } },
      { Ipv6CidrBlock: 'fd01::/64', Ipv6CidrBlockState: { State: 'disassociated' } },
    ],
    Tags: tagged({ 'kubernetes.io/cluster/other': '', 'outrigger.dev/namespaces': 'shop web' }),
  },
  { SubnetId: 'subnet-3', AvailabilityZone: 'x-1-lax-1a', Ipv6Native: true, Tags: [] },
];
const tables = [
  { Associations: [{ Main: true }], Routes: [{ GatewayId: 'local' }, { GatewayId: 'igw-1' }] },
  { Associations: [{ SubnetId: 'subnet-2' }], Routes: [{ GatewayId: 'vgw-1' }, { NatGatewayId: 'nat-1' }] },
];
const zones = [
  { ZoneName: 'x-1a', ZoneType: 'availability-zone' },
  { ZoneName: 'x-1-lax-1a', ZoneType: 'local-zone' },
];

function rig() {
  const state = { isBroken: false };
  const client = scriptedAws({
    DescribeSubnets: () => {
      if (state.isBroken) throw new Error('broken');
      return { Subnets: subnets };
    },
    DescribeRouteTables: () => ({ RouteTables: tables }),
    DescribeAvailabilityZones: () => ({ AvailabilityZones: zones }),
  });
  const clock = new FakeClock();
  const own = { known: { vpcId: 'vpc-1', tags: { id: 'c1', isLegacy: false } } };
  const look = new NetworkLook({ client, clock, own });
  return { client, clock, look, own, state };
}

test('what subnets are told by: tags, the route table that counts, the kind of zone', async () => {
  const { client, look } = rig();
  await look.refresh(aCall);
  assert.deepEqual(look.facts?.subnets, [
    {
      id: 'subnet-1',
      zone: 'x-1a',
      name: 'front',
      cluster: 'own',
      roles: ['elb'],
      isPublic: true,
      isRegular: true,
      families: ['IPv4'],
      ranges: [],
      freeAddresses: 250,
      allowed: [],
    },
    {
      id: 'subnet-2',
      zone: 'x-1b',
      name: undefined,
      cluster: 'other',
      roles: [],
      isPublic: false,
      isRegular: true,
      families: ['IPv4', 'IPv6'],
      ranges: ['10.0.0.0/24', 'fd00::/64'],
      freeAddresses: 4,
      allowed: ['shop', 'web'],
    },
    {
      id: 'subnet-3',
      zone: 'x-1-lax-1a',
      name: undefined,
      cluster: 'none',
      roles: [],
      isPublic: true,
      isRegular: false,
      families: [],
      ranges: [],
      freeAddresses: 0,
      allowed: [],
    },
  ]);
  assert.deepEqual(client.calls[0]?.input['Filters'], [{ Name: 'vpc-id', Values: ['vpc-1'] }]);
});

test('all who ask within a minute share one reading; one that fails leaves what was read', async () => {
  const { client, clock, look, state } = rig();
  await Promise.all([look.refresh(aCall), look.refresh(aCall)]);
  await look.refresh(aCall);
  assert.equal(client.calls.length, 3);
  state.isBroken = true;
  await clock.advance(60_000);
  await look.refresh(aCall);
  assert.equal(look.facts?.subnets.length, 3);
  state.isBroken = false;
  await look.refresh(aCall);
  assert.equal(client.calls.length, 9);
});

test('what was never read is an error', async () => {
  const { look, state } = rig();
  state.isBroken = true;
  await assert.rejects(look.refresh(aCall), /broken/);
});

test('after a reload that names another VPC, or another cluster, what was read before counts no more', async () => {
  const { client, look, own, state } = rig();
  const read = (): readonly unknown[] =>
    client.calls.filter(({ operation }) => operation === 'DescribeSubnets').map(({ input }) => input['Filters']);
  const seen = (): NetworkFacts | undefined => look.facts;
  const underWay = look.refresh(aCall);
  own.known = { ...own.known, vpcId: 'vpc-2' };
  await underWay;
  assert.equal(seen(), undefined);
  state.isBroken = true;
  await assert.rejects(look.refresh(aCall), /broken/);
  state.isBroken = false;
  await look.refresh(aCall);
  assert.equal(seen()?.subnets.length, 3);
  assert.deepEqual(
    read(),
    ['vpc-1', 'vpc-2', 'vpc-2'].map((id) => [{ Name: 'vpc-id', Values: [id] }]),
  );
  own.known = { ...own.known, tags: { id: 'other', isLegacy: false } };
  assert.equal(seen(), undefined);
  await look.refresh(aCall);
  assert.deepEqual(
    seen()?.subnets.map(({ cluster }) => cluster),
    ['other', 'own', 'none'],
  );
});
