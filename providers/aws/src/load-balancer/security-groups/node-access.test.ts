import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isCloudError } from '@outrigger/cloud-provider';
import { FakeClock } from '@outrigger/testing';
import { aCall } from '../scripted-aws.suite.ts';
import { Ec2Groups } from './ec2-groups.suite.ts';
import { GroupLook } from './group-look.ts';
import { NodeAccess, type NodeAccessOptions } from './node-access.ts';
import { hasNodeRules } from './node-rules.ts';

const CLUSTER = 'kubernetes.io/cluster/c1';

function rig(config: Partial<ReturnType<NodeAccessOptions['config']>> = {}) {
  const cloud = new Ec2Groups();
  const clock = new FakeClock();
  const known = { vpcId: 'vpc-1', tags: { id: 'c1', isLegacy: false } };
  const groups = new GroupLook({ client: cloud.client, clock, cluster: { id: 'uid-1', name: 'blue' }, own: { known } });
  const access = new NodeAccess({ look: groups, config: () => ({ nodeSecurityGroups: [], ...config }) });
  const look = (): Promise<void> => access.refresh({ ...aCall });
  const nodes = cloud.put('nodes', { [CLUSTER]: 'owned' });
  for (const id of ['i-1', 'i-2']) cloud.instances.set(id, [nodes]);
  return { access, clock, cloud, look, nodes };
}

test('nodes let the shared group in by one rule, however many load balancers there are', async () => {
  const { access, cloud, look, nodes } = rig();
  await look();
  const [shared, again] = await Promise.all([access.ensureShared(aCall), access.ensureShared(aCall)]);
  assert.equal(shared, again);
  assert.equal(cloud.groups.get(shared)?.tags.get('outrigger.dev/shared-by'), 'uid-1');
  await access.open(shared, ['i-1', 'i-2'], aCall);
  await access.open(shared, ['i-2'], aCall);
  assert.deepEqual(cloud.rules(nodes), [`all ${shared}`]);
  assert.equal(cloud.calls('DescribeInstances').length, 1);
  assert.equal(cloud.calls('AuthorizeSecurityGroupIngress').length, 1);
  assert.ok(access.isOpen(shared, ['i-1', 'i-2']));
});

test('another process finds the shared group by its tag, and one that no look shows yet by its name', async () => {
  const first = rig();
  const shared = await first.access.ensureShared(aCall);
  await first.look();
  assert.equal(first.access.sharedId, shared);
  const second = rig();
  for (const [id, group] of first.cloud.groups) second.cloud.groups.set(id, group);
  assert.equal(await second.access.ensureShared(aCall), shared);
  first.cloud.groups.get(shared)?.tags.clear();
  const third = rig();
  for (const [id, group] of first.cloud.groups) third.cloud.groups.set(id, group);
  await assert.rejects(third.access.ensureShared(aCall), (error) => isCloudError(error, 'conflict'));
});

test('a rule that somebody takes away is missed by the next look, and a young one is believed until looks can show it', async () => {
  const { access, clock, cloud, look, nodes } = rig();
  await access.open('sg-000000aa', ['i-1'], aCall);
  cloud.groups.get(nodes)?.rules.clear();
  await look();
  assert.ok(access.isOpen('sg-000000aa', ['i-1']));
  await clock.advance(60_000);
  await look();
  assert.equal(access.isOpen('sg-000000aa', ['i-1']), false);
});

test('a node has the group of the config, else the only one with the cluster’s tag, else, with that tag itself, its only one', async () => {
  const { access, cloud, look, nodes } = rig();
  const other = cloud.put('other');
  const second = cloud.put('second', { [CLUSTER]: 'shared' });
  cloud.instances.set('i-3', [other, nodes]);
  cloud.instances.set('i-4', [other]);
  cloud.instances.set('i-5', [nodes, second]);
  await look();
  await access.open('sg-000000aa', ['i-3', 'i-4'], aCall);
  assert.deepEqual([cloud.rules(nodes), cloud.rules(other)], [['all sg-000000aa'], ['all sg-000000aa']]);
  const closed = await access.open('sg-000000aa', ['i-5'], aCall);
  assert.match(`${closed?.error.message}`, /i-5 has 2 security groups .* NodeSecurityGroups/);
  assert.ok(access.isOpen('sg-000000aa', ['i-5']), 'nothing can be done, so an update ends');
  const named = rig({ nodeSecurityGroups: ['sg-0000ffff', second] });
  for (const [id, group] of cloud.groups) named.cloud.groups.set(id, group);
  named.cloud.instances.set('i-5', [nodes, second]);
  await named.look();
  await named.access.open('sg-000000bb', ['i-5'], aCall);
  assert.deepEqual(named.cloud.rules(second), ['all sg-000000bb']);
});

test('groups of load balancers are no node’s, though they have the cluster’s tag', async () => {
  const { access, cloud, look, nodes } = rig();
  const ours = cloud.put('k8s-elb-a1', { [CLUSTER]: 'owned', 'outrigger.dev/cluster': 'uid-1' });
  cloud.instances.set('i-6', [ours, nodes]);
  await look();
  await access.open('sg-000000aa', ['i-6'], aCall);
  assert.deepEqual([cloud.rules(nodes), cloud.rules(ours)], [['all sg-000000aa'], []]);
});

test('an instance that there is not costs one more request, and nothing else', async () => {
  const { access, cloud, look, nodes } = rig();
  await look();
  await access.open('sg-000000aa', ['i-1', 'i-99', 'i-2'], aCall);
  assert.deepEqual(cloud.rules(nodes), ['all sg-000000aa']);
  assert.equal(cloud.calls('DescribeInstances').length, 2);
});

test('a full group says what to do', async () => {
  const { access, cloud } = rig();
  cloud.most = 0;
  const closed = await access.open('sg-000000aa', ['i-1'], aCall);
  assert.match(`${closed?.error.message}`, /is full, and 1 more would be needed .* raise the quota/);
  assert.equal(access.isOpen('sg-000000aa', ['i-1']), false);
});

test('with DisableSecurityGroupIngress nothing is asked and nothing is done', async () => {
  const { access, cloud } = rig({ disableSecurityGroupIngress: true });
  assert.equal(access.usesShared, false);
  await access.open('sg-000000aa', ['i-1'], aCall);
  assert.ok(access.isOpen('sg-000000aa', ['i-1']));
  assert.deepEqual(cloud.calls(), []);
});

test('rules of upstream for an NLB go alone, by their description', async () => {
  const { access, cloud, look, nodes } = rig();
  const rule = 'kubernetes.io/rule/nlb';
  const all = {
    'tcp 30080-30080 0.0.0.0/0': `${rule}/client=a1`,
    'tcp 30080-30080 10.0.0.0/16': `${rule}/health=a1`,
    'tcp 30082-30082 0.0.0.0/0': `${rule}/client=a12`,
    'icmp 3-4 0.0.0.0/0': `${rule}/mtu`,
    'tcp 22-22 10.0.0.0/8': 'by hand',
  };
  for (const [text, description] of Object.entries(all)) cloud.groups.get(nodes)?.rules.set(text, description);
  await look();
  const own = (name: string): readonly string[] => access.rulesFor(name, []).own;
  assert.deepEqual([own('a1'), own('a2')], [['tcp 30080-30080 0.0.0.0/0', 'tcp 30080-30080 10.0.0.0/16'], []]);
  await access.setRules('a1', {}, [], aCall);
  assert.deepEqual(cloud.rules(nodes), ['icmp 3-4 0.0.0.0/0', 'tcp 22-22 10.0.0.0/8', 'tcp 30082-30082 0.0.0.0/0']);
});

test('a rule of the port that answers for the health of all is handed on, and goes with the last who needs it', async () => {
  const { access, cloud, look, nodes } = rig();
  const health = 'tcp 10256-10256 10.0.0.0/20';
  const all = {
    'tcp 30080-30080 192.0.2.0/24': 'client=a1',
    [health]: 'health=a1',
    'tcp 30081-30081 192.0.2.0/24': 'client=a2',
    'icmp 3-4 192.0.2.0/24': 'mtu',
  };
  const rules = cloud.groups.get(nodes)?.rules;
  for (const [text, said] of Object.entries(all)) rules?.set(text, `kubernetes.io/rule/nlb/${said}`);
  const wanted = { [health]: 'health', 'tcp 30081-30081 192.0.2.0/24': 'client' } as const;
  await look();
  await access.learnRules(['i-1'], aCall);
  assert.ok(hasNodeRules(access.rulesFor('a2', ['i-1']), wanted), 'it has the rule of another');
  await access.setRules('a1', {}, [], aCall);
  assert.deepEqual(rules?.get(health), 'kubernetes.io/rule/nlb/health=a2');
  await look();
  assert.ok(hasNodeRules(access.rulesFor('a2', ['i-1']), wanted));
  await access.setRules('a2', {}, [], aCall);
  assert.deepEqual(cloud.rules(nodes), []);
});

test('a rule of the port that answers for the health of all stays when the one that has it asks another port, until nobody may need it', async () => {
  const { access, cloud, look, nodes } = rig();
  const [health, own] = ['tcp 10256-10256 10.0.0.0/20', 'tcp 31000-31000 10.0.0.0/20'];
  const [first, second] = ['tcp 30080-30080 192.0.2.0/24', 'tcp 30081-30081 192.0.2.0/24'];
  const all = { [first]: 'client=a1', [health]: 'health=a1', [second]: 'client=a2', 'icmp 3-4 192.0.2.0/24': 'mtu' };
  const rules = cloud.groups.get(nodes)?.rules;
  for (const [text, said] of Object.entries(all)) rules?.set(text, `kubernetes.io/rule/nlb/${said}`);
  const wanted = { [own]: 'health', [first]: 'client' } as const;
  await look();
  await access.learnRules(['i-1'], aCall);
  await access.setRules('a1', wanted, ['i-1'], aCall);
  assert.ok(rules?.has(health), 'the other one needs it');
  await look();
  assert.ok(hasNodeRules(access.rulesFor('a1', ['i-1']), wanted), 'it is not asked for again');
  assert.ok(hasNodeRules(access.rulesFor('a2', ['i-1']), { [health]: 'health', [second]: 'client' }));
  await access.setRules('a2', {}, [], aCall);
  await look();
  assert.equal(hasNodeRules(access.rulesFor('a1', ['i-1']), wanted), false);
  await access.setRules('a1', wanted, ['i-1'], aCall);
  assert.equal(rules?.has(health), false);
});

test('the shared group goes with the rules that let it in, and not while network interfaces have it', async () => {
  const { access, clock, cloud, look, nodes } = rig();
  const shared = await access.ensureShared(aCall);
  await access.open(shared, ['i-1'], aCall);
  cloud.inUse.add(shared);
  await look();
  assert.equal(await access.releaseShared(aCall), false);
  assert.deepEqual(cloud.rules(nodes), [`all ${shared}`]);
  cloud.inUse.clear();
  await clock.advance(5_000);
  assert.equal(await access.releaseShared(aCall), true);
  assert.deepEqual([cloud.groups.has(shared), cloud.rules(nodes), access.sharedId], [false, [], undefined]);
});

test('a node that EC2 does not show yet is asked about again, and its group lets load balancers in', async () => {
  const { access, clock, cloud, look } = rig();
  await look();
  await access.open('sg-000000aa', ['i-7'], aCall);
  const group = cloud.put('pool', { [CLUSTER]: 'owned' });
  cloud.instances.set('i-7', [group]);
  await clock.advance(60_000);
  await look();
  await access.learn(['i-7'], aCall);
  assert.equal(access.isOpen('sg-000000aa', ['i-7']), false);
  await access.open('sg-000000aa', ['i-7'], aCall);
  assert.deepEqual(cloud.rules(group), ['all sg-000000aa']);
});

test('rules of a group that is not the cluster’s are left to whoever made them', async () => {
  const { access, cloud, look, nodes } = rig();
  const database = cloud.put('database', {}, { 'tcp 5432-5432 sg-000000aa': 'by hand' });
  await look();
  await access.open('sg-000000aa', ['i-1'], aCall);
  await assert.rejects(access.close('sg-000000aa', aCall), (error) => {
    return isCloudError(error, 'conflict') && error.message.includes(database);
  });
  assert.deepEqual(cloud.rules(database), ['tcp 5432-5432 sg-000000aa']);
  cloud.groups.get(database)?.rules.clear();
  await access.close('sg-000000aa', aCall);
  assert.deepEqual(cloud.rules(nodes), []);
});

test('of a group that is not the cluster’s only rules of this program go, and those of others hold up the group', async () => {
  const { access, cloud, look } = rig();
  const plain = cloud.put('plain', {}, { 'tcp 5432-5432 sg-000000aa': 'by hand' });
  cloud.instances.set('i-8', [plain]);
  await look();
  await access.open('sg-000000aa', ['i-8'], aCall);
  await assert.rejects(access.close('sg-000000aa', aCall), (error) => {
    return isCloudError(error, 'conflict') && error.message.includes(plain);
  });
  assert.ok(cloud.rules(plain).includes('tcp 5432-5432 sg-000000aa'));
  cloud.groups.get(plain)?.rules.delete('tcp 5432-5432 sg-000000aa');
  await access.close('sg-000000aa', aCall);
  assert.deepEqual(cloud.rules(plain), []);
});

test('the only group of a node, which has no tag of the cluster and is in no look, is not asked to let in each minute', async () => {
  const { access, clock, cloud, look } = rig();
  const plain = cloud.put('plain');
  cloud.instances.set('i-8', [plain]);
  await access.open('sg-000000aa', ['i-8'], aCall);
  for (let minute = 0; minute < 9; minute++) {
    await clock.advance(60_000);
    await look();
    assert.ok(access.isOpen('sg-000000aa', ['i-8']), `after ${minute + 1} min`);
  }
  await clock.advance(60_000);
  await look();
  await access.open('sg-000000aa', ['i-8'], aCall);
  assert.equal(cloud.calls('AuthorizeSecurityGroupIngress').length, 2);
});

test('a group that no look shows is asked about as long as it is there, or a target has it', async () => {
  const { access, clock, cloud, look } = rig();
  const plain = cloud.put('plain', {}, { 'tcp 30080-30080 0.0.0.0/0': 'kubernetes.io/rule/nlb/client=a1' });
  cloud.instances.set('i-8', [plain]);
  await look();
  /** How often groups are asked for. */
  const learn = async (id: string): Promise<number> => {
    const before = cloud.calls('DescribeSecurityGroups').length;
    await clock.advance(60_000);
    await access.learnRules([id], aCall);
    return cloud.calls('DescribeSecurityGroups').length - before;
  };
  assert.equal(await learn('i-8'), 1);
  assert.equal(await learn('i-1'), 1);
  assert.deepEqual(access.rulesFor('a1', []).own, ['tcp 30080-30080 0.0.0.0/0'], 'it is remembered');
  cloud.groups.delete(plain);
  assert.equal(await learn('i-8'), 1);
  assert.equal(await learn('i-8'), 1);
  assert.equal(await learn('i-1'), 1);
  assert.equal(await learn('i-1'), 0);
});

test('an instance whose group is unclear, a stranger’s, in another VPC or full keeps no other out', async () => {
  const { access, cloud, look, nodes } = rig();
  const second = cloud.put('second', { [CLUSTER]: 'shared' });
  const stranger = cloud.put('stranger');
  const full = cloud.put('full', { [CLUSTER]: 'owned' });
  cloud.full.add(full);
  for (const [id, groups] of Object.entries({
    'i-a': [nodes, second],
    'i-b': [stranger],
    'i-c': [stranger],
    'i-d': [full],
  }))
    cloud.instances.set(id, groups);
  cloud.untagged.add('i-b');
  cloud.elsewhere.set('i-c', 'vpc-2');
  await look();
  const closed = await access.open('sg-000000aa', ['i-a', 'i-b', 'i-c', 'i-d', 'i-1'], aCall);
  assert.deepEqual([...(closed?.instances ?? [])].toSorted(), ['i-a', 'i-b', 'i-c', 'i-d']);
  assert.match(`${closed?.error.message}`, /is full/u);
  assert.deepEqual(
    [nodes, stranger, second].map((id) => cloud.rules(id)),
    [['all sg-000000aa'], [], []],
  );
  const why = async (id: string): Promise<string> =>
    `${(await access.open('sg-000000aa', [id], aCall))?.error.message}`;
  assert.match(await why('i-b'), /neither instance i-b nor its .* has the tag kubernetes\.io\/cluster\/c1/);
  assert.match(await why('i-c'), /i-c is in vpc-2/);
  assert.match(await why('i-d'), /is full/);
  assert.ok(access.isOpen('sg-000000aa', ['i-a', 'i-b', 'i-c', 'i-1']), 'an update ends');
});

test('rules for one NLB come where it is clear, and stay where it is not', async () => {
  const { access, cloud, look, nodes } = rig();
  const rule = 'tcp 30080-30080 0.0.0.0/0';
  const second = cloud.put('second', { [CLUSTER]: 'shared' }, { [rule]: 'kubernetes.io/rule/nlb/client=a1' });
  const third = cloud.put('third', { [CLUSTER]: 'shared' });
  cloud.instances.set('i-a', [second, third]);
  await look();
  const closed = await access.setRules('a1', { [rule]: 'client' }, ['i-a', 'i-1'], aCall);
  assert.deepEqual([...(closed?.instances ?? [])], ['i-a']);
  assert.ok(cloud.rules(nodes).includes(rule));
  assert.deepEqual([cloud.rules(second), cloud.rules(third)], [[rule], []]);
});
