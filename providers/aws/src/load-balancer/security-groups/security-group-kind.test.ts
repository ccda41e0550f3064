import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isCloudError, type DesiredLoadBalancer } from '@outrigger/cloud-provider';
import type { ListedPart } from '@outrigger/provider-kit';
import { FakeClock } from '@outrigger/testing';
import type { AwsClient } from '../../client/aws-client.ts';
import { aService } from '../annotations/a-service.suite.ts';
import { settingsOf } from '../annotations/service-settings.ts';
import { InUse } from '../in-use.ts';
import { aCall } from '../scripted-aws.suite.ts';
import { Ec2Groups } from './ec2-groups.suite.ts';
import { GroupLook } from './group-look.ts';
import { NodeAccess } from './node-access.ts';
import { securityGroupKind } from './security-group-kind.ts';

const CLUSTER = 'kubernetes.io/cluster/c1';
const service = aService();
const owner = { clusterId: 'uid-1', uid: service.uid };

function rig() {
  const cloud = new Ec2Groups();
  const clock = new FakeClock();
  const known = { vpcId: 'vpc-1', tags: { id: 'c1', isLegacy: false } };
  const look = new GroupLook({ client: cloud.client, clock, cluster: { id: 'uid-1', name: 'blue' }, own: { known } });
  const access = new NodeAccess({ look, config: () => ({ nodeSecurityGroups: [] }) });
  const kind = securityGroupKind({
    client: cloud.client as unknown as AwsClient,
    look,
    access,
    inUse: new InUse(clock),
    facts: () => ({ clusterTags: { [CLUSTER]: 'owned' }, vpcId: 'vpc-1', subnetsFor: () => [], rangesOf: () => [] }),
    settingsOf: (desired) => settingsOf(desired.service, {}),
  });
  const wanted = (given: Parameters<typeof aService>[0] = {}) => {
    const desired: DesiredLoadBalancer = { service: aService(given), wanted: true, owner, backEnds: [] };
    const [part] = kind.wanted(desired, () => undefined) ?? [];
    return { desired, owner, key: '', attributes: part?.attributes ?? {} };
  };
  const list = async (): Promise<readonly ListedPart[]> => kind.list({ ...aCall });
  return { access, clock, cloud, kind, list, wanted };
}

test('one is made with its owner in the same request, under the name of upstream, and with its rules', async () => {
  const { cloud, kind, list, wanted } = rig();
  const { id } = await kind.create(wanted({ set: { tags: 'team=shop' } }), aCall);
  const group = cloud.groups.get(id);
  assert.equal(group?.name, 'k8s-elb-a0a1b2c3d000040008000000000000000'.slice(0, 40));
  assert.deepEqual(Object.fromEntries(group?.tags ?? []), {
    team: 'shop',
    'outrigger.dev/additional-tags': 'team',
    [CLUSTER]: 'owned',
    'kubernetes.io/service-name': 'shop/web',
    'outrigger.dev/cluster': 'uid-1',
    'outrigger.dev/owner': service.uid,
  });
  assert.deepEqual(cloud.rules(id), ['icmp 3-4 0.0.0.0/0', 'tcp 80-80 0.0.0.0/0']);
  const nlb = await kind.create(wanted({ set: { type: 'nlb' } }), aCall);
  assert.match(`${cloud.groups.get(nlb.id)?.name}`, /^k8s-shop-web-[0-9a-f]{10}$/);
  const [part] = await list();
  assert.deepEqual([part?.id, part?.owner, part?.state], [id, owner, 'ready']);
});

test('a Service that names groups, or whose groups the config names, gets none', () => {
  const { kind } = rig();
  const named = aService({ set: { securityGroups: 'sg-00000001' } });
  assert.deepEqual(
    kind.wanted({ service: named, wanted: true, owner, backEnds: [] }, () => undefined),
    [],
  );
});

test('of changed rules the new ones come first, and then the old ones go', async () => {
  const { cloud, kind, wanted } = rig();
  const { id } = await kind.create(wanted(), aCall);
  const before = cloud.calls().length;
  const change = { ...wanted({ sourceRanges: ['10.0.0.0/8'] }), changed: ['rules'] };
  await kind.update?.(id, change, aCall);
  assert.deepEqual(cloud.rules(id), ['icmp 3-4 10.0.0.0/8', 'tcp 80-80 10.0.0.0/8']);
  assert.deepEqual(cloud.calls().slice(before + 1), ['AuthorizeSecurityGroupIngress', 'RevokeSecurityGroupIngress']);
});

test('where the group is too full for both, the old ones go first; what never fits says what to do', async () => {
  const { cloud, kind, wanted } = rig();
  cloud.most = 3;
  const { id } = await kind.create(wanted(), aCall);
  await kind.update?.(id, { ...wanted({ sourceRanges: ['10.0.0.0/8'] }), changed: ['rules'] }, aCall);
  assert.deepEqual(cloud.rules(id), ['icmp 3-4 10.0.0.0/8', 'tcp 80-80 10.0.0.0/8']);
  const many = { ...wanted({ sourceRanges: ['10.0.0.0/8', '11.0.0.0/8'] }), changed: ['rules'] };
  await assert.rejects(
    async () => kind.update?.(id, many, aCall),
    (error) => {
      assert.ok(isCloudError(error, 'quota'));
      return /is full, and \d more would be needed/.test(error.message);
    },
  );
});

test('of a full group not one rule goes for more than fit; more than there are come in its place as far as they fit', async () => {
  const { cloud, kind, wanted } = rig();
  cloud.most = 8;
  const { id } = await kind.create(wanted(), aCall);
  const ranges = (count: number) => Array.from({ length: count }, (_, i) => `10.${i}.0.0/16`);
  const ask = async (sourceRanges: readonly string[]) =>
    kind.update?.(id, { ...wanted({ sourceRanges }), changed: ['rules'] }, aCall);
  await ask(['10.0.0.0/8', '11.0.0.0/8', '12.0.0.0/8']);
  const accepted = cloud.rules(id);
  const before = cloud.calls().length;
  await assert.rejects(ask(ranges(5)), { code: 'quota' });
  assert.deepEqual(cloud.rules(id), accepted);
  assert.ok(!cloud.calls().slice(before).includes('RevokeSecurityGroupIngress'), 'clients were shut out meanwhile');
  await ask(ranges(4));
  assert.equal(cloud.rules(id).filter((rule) => / 10\.\d\.0\.0\/16$/u.test(rule)).length, 8);
  assert.equal(cloud.rules(id).length, 8);
});

test('tags that the Service asks for no more go, and those of others stay', async () => {
  const { cloud, kind, wanted } = rig();
  const { id } = await kind.create(wanted({ set: { tags: 'team=shop,cost=1' } }), aCall);
  cloud.groups.get(id)?.tags.set('by-hand', 'x');
  await kind.update?.(id, { ...wanted({ set: { tags: 'cost=2' } }), changed: ['tags'] }, aCall);
  const tags = cloud.groups.get(id)?.tags;
  assert.deepEqual([tags?.get('team'), tags?.get('cost'), tags?.get('by-hand')], [undefined, '2', 'x']);
});

test('what upstream made is known by the cluster’s tag and the name of the Service’s group', async () => {
  const { cloud, kind, list } = rig();
  const name = 'k8s-elb-a0a1b2c3d00004000800000000000000';
  const id = cloud.put(name, { [CLUSTER]: 'owned' });
  cloud.put('k8s-elb-a0a1b2c3d00004000800000000000009', { [CLUSTER]: 'owned' });
  cloud.put('of-others', { 'kubernetes.io/cluster/other': 'owned' });
  const parts = await list();
  assert.deepEqual(
    parts.filter((part) => kind.isPredecessors?.(part, service)).map((part) => part.id),
    [id],
  );
  assert.deepEqual(parts.map(({ attributes }) => attributes['name']).includes('of-others'), false);
  await kind.claim?.(id, owner, aCall);
  assert.deepEqual((await list()).find((part) => part.id === id)?.owner, owner);
});

test('one goes with the rules that refer to it, and waits while it is in use', async () => {
  const { access, clock, cloud, kind, wanted } = rig();
  const nodes = cloud.put('nodes', { [CLUSTER]: 'owned' });
  cloud.instances.set('i-1', [nodes]);
  const { id } = await kind.create(wanted(), aCall);
  await access.open(id, ['i-1'], aCall);
  cloud.inUse.add(id);
  const before = cloud.calls().length;
  const begun = await kind.delete(id, aCall);
  assert.deepEqual([begun?.pollAfterMs, cloud.calls().slice(before)], [20_000, ['DescribeNetworkInterfaces']]);
  cloud.inUse.clear();
  await clock.advance(5_000);
  assert.equal(await kind.delete(id, aCall), undefined);
  assert.deepEqual(cloud.rules(nodes), []);
  assert.equal(cloud.groups.has(id), false);
  await assert.rejects(async () => kind.delete(id, aCall), /InvalidGroup.NotFound/);
  await clock.advance(1);
});

test('one that nobody refers to goes by two requests, and one of whose interfaces there is no answer as well', async () => {
  const { clock, cloud, kind, wanted } = rig();
  const { id } = await kind.create(wanted(), aCall);
  const before = cloud.calls().length;
  assert.equal(await kind.delete(id, aCall), undefined);
  assert.deepEqual(cloud.calls().slice(before), ['DescribeNetworkInterfaces', 'DeleteSecurityGroup']);
  const second = await kind.create(wanted(), aCall);
  cloud.mayNotRead.add('DescribeNetworkInterfaces');
  cloud.inUse.add(second.id);
  assert.equal((await kind.delete(second.id, aCall))?.pollAfterMs, 20_000);
  assert.ok(cloud.groups.has(second.id));
  cloud.inUse.clear();
  await clock.advance(5_000);
  assert.equal(await kind.delete(second.id, aCall), undefined);
  assert.equal(cloud.groups.has(second.id), false);
});

test('of one whose interfaces there is no answer nodes let in what may still have it, and after ten minutes it is said why it stays', async () => {
  const { access, clock, cloud, kind, wanted } = rig();
  const nodes = cloud.put('nodes', { [CLUSTER]: 'owned' });
  cloud.instances.set('i-1', [nodes]);
  const { id } = await kind.create(wanted(), aCall);
  await access.open(id, ['i-1'], aCall);
  cloud.inUse.add(id);
  cloud.mayNotRead.add('DescribeNetworkInterfaces');
  for (let pass = 0; pass < 30; pass++) {
    assert.equal((await kind.delete(id, aCall))?.pollAfterMs, 20_000);
    assert.deepEqual(cloud.rules(nodes), [`all ${id}`]);
    await clock.advance(20_000);
  }
  await assert.rejects(async () => kind.delete(id, aCall), {
    code: 'conflict',
    message: new RegExp(`within 10 minutes: security group ${id} is in use: UnauthorizedOperation`, 'u'),
  });
  assert.deepEqual(cloud.rules(nodes), [`all ${id}`]);
  cloud.mayNotRead.clear();
  cloud.inUse.clear();
  await clock.advance(5_000);
  assert.equal(await kind.delete(id, aCall), undefined);
  assert.deepEqual([cloud.rules(nodes), cloud.groups.has(id)], [[], false]);
});

test('one that rules of others let in stays, and it is said whose', async () => {
  const { cloud, kind, wanted } = rig();
  const { id } = await kind.create(wanted(), aCall);
  const database = cloud.put('database', {}, { [`tcp 5432-5432 ${id}`]: 'by hand' });
  await assert.rejects(async () => kind.delete(id, aCall), new RegExp(`rules of ${database} let in`));
  assert.ok(cloud.groups.has(id));
});

test('what EC2 does not show yet is there, and what it still shows is not', async () => {
  const { cloud, kind, list, wanted } = rig();
  const { id } = await kind.create(wanted(), aCall);
  const group = cloud.groups.get(id);
  cloud.groups.delete(id);
  assert.deepEqual(
    (await list()).map((part) => part.id),
    [id],
  );
  if (group) cloud.groups.set(id, group);
  await kind.delete(id, aCall);
  if (group) cloud.groups.set(id, group);
  assert.deepEqual(await list(), []);
});
