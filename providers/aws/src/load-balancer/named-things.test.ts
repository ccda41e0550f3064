import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isCloudError } from '@outrigger/cloud-provider';
import { aService } from './annotations/a-service.suite.ts';
import { ClassicRig, type Given } from './clb/classic-rig.suite.ts';

const GRANT = 'outrigger.dev/namespaces';

function rig() {
  const site = new ClassicRig();
  const { vpcId } = site.cluster;
  const bring = (set: NonNullable<Given>['set'] = {}): Promise<readonly string[]> =>
    site.bring(site.desired(aService({ set })));
  const refused = (set: NonNullable<Given>['set']): Promise<void> =>
    assert.rejects(bring(set), (error) => isCloudError(error, 'not-owned') && error.message.includes(`${GRANT}=shop`));
  return { site, vpcId, bring, refused };
}

test('a security group is joined by whom its tag names, by nobody without, and one that there is not reads the same', async () => {
  const { bring, refused, site, vpcId } = rig();
  const group = (name: string, namespaces?: string): string =>
    site.aws.addSecurityGroup({ vpcId, name, ...(namespaces !== undefined && { tags: { [GRANT]: namespaces } }) });
  for (const id of [group('plain'), group('others', 'web'), 'sg-0123456789abcdef0', site.cluster.nodeGroupId]) {
    await refused({ securityGroups: id });
    await refused({ extraSecurityGroups: id, type: 'nlb' });
  }
  assert.deepEqual([site.aws.account.classics.all(), site.aws.account.balancers.all()], [[], []]);
  const allowed = [group('ours', 'web shop'), group('all', '*')];
  await bring({ securityGroups: allowed.join() });
  assert.deepEqual(site.classic.groupIds.toSorted(), allowed.toSorted());
});

test('subnets of the cluster are for all, others for whom their tag names', async () => {
  const { bring, refused, site, vpcId } = rig();
  const [zone] = site.aws.account.zones;
  const subnet = (cidr: string, tags: Readonly<Record<string, string>> = {}): string =>
    site.aws.addSubnet({ vpcId, zone: `${zone?.name}`, cidr, tags });
  const [plain, ofOthers] = [subnet('10.0.240.0/24'), subnet('10.0.241.0/24', { Name: 'x', [GRANT]: 'web' })];
  const ours = subnet('10.0.242.0/24', { [GRANT]: 'shop' });
  await refused({ internal: 'true', subnets: plain });
  for (const name of [ofOthers, 'x']) await refused({ internal: 'true', subnets: name, type: 'nlb' });
  await bring({ subnets: site.cluster.publicSubnets.join() });
  await bring({ subnets: ours });
  assert.equal(site.classic.subnets.length, 1);
});

test('a name that a Service guesses tells nothing of subnets that are not for it', async () => {
  const { bring, site, vpcId } = rig();
  const [zone] = site.aws.account.zones;
  const add = (cidr: string, tags: Readonly<Record<string, string>>): string =>
    site.aws.addSubnet({ vpcId, zone: `${zone?.name}`, cidr, tags });
  add('10.0.240.0/24', { Name: 'one', [GRANT]: 'web' });
  for (const cidr of ['10.0.241.0/24', '10.0.242.0/24']) add(cidr, { Name: 'two' });
  const ours = add('10.0.243.0/24', { Name: 'two', [GRANT]: 'shop' });
  const said = async (subnets: string, type: string): Promise<string> => {
    let message = '';
    await assert.rejects(bring({ internal: 'true', subnets, type }), (error: Error) => {
      ({ message } = error);
      return isCloudError(error, 'not-owned');
    });
    return message.replaceAll(subnets, '<name>');
  };
  for (const type of ['clb', 'nlb'])
    assert.deepEqual(new Set([await said('one', type), await said('none', type)]).size, 1);
  await bring({ internal: 'true', subnets: 'two' });
  assert.deepEqual(
    site.classic.subnets.map(({ id }) => id),
    [ours],
  );
});

test('an Elastic IP is taken by whom its tag names', async () => {
  const { bring, refused, site } = rig();
  const eip = (tags: Readonly<Record<string, string>> = {}): string => site.aws.addAddress({ tags }).allocationId;
  await refused({ type: 'nlb', eipAllocations: [eip(), eip()].join() });
  await bring({ type: 'nlb', eipAllocations: [eip({ [GRANT]: 'shop' }), eip({ [GRANT]: '*' })].join() });
  assert.equal(site.aws.account.balancers.all().length, 1);
});

test('what a load balancer has, it keeps without asking: a lost tag cuts nobody off', async () => {
  const { bring, site, vpcId } = rig();
  const id = site.aws.addSecurityGroup({ vpcId, name: 'ours', tags: { [GRANT]: 'shop' } });
  await bring({ securityGroups: id });
  const group = site.aws.account.groups.get(id);
  if (group) site.aws.account.groups.seed({ ...group, tags: {} });
  await bring({ securityGroups: id, idleTimeout: '90' });
  assert.deepEqual(site.classic.groupIds, [id]);
});

test('what a namespace is allowed, a load balancer of the other kind gets too', async () => {
  const { bring, site, vpcId } = rig();
  const id = site.aws.addSecurityGroup({ vpcId, name: 'ours', tags: { [GRANT]: 'shop' } });
  for (const type of ['nlb', 'clb', 'nlb'])
    for (const key of ['securityGroups', 'extraSecurityGroups'] as const) {
      await bring({ [key]: id, type });
      const { balancers, classics } = site.aws.account;
      const all = type === 'nlb' ? balancers.all() : classics.all();
      assert.ok(all.length === 1 && all[0]?.groupIds.includes(id), `${type} ${key}`);
    }
});

test('a Service is not refused what it is allowed, while AWS does not show the load balancer that has it', async () => {
  const { bring, site, vpcId } = rig();
  const id = site.aws.addSecurityGroup({ vpcId, name: 'ours', tags: { [GRANT]: 'shop' } });
  site.aws.knobs.elbLagMs = 15_000;
  await bring({ securityGroups: id });
  assert.deepEqual(site.classic.groupIds, [id]);
});

test('what a Service writes itself, such as a tag, is no leave to use what is another’s', async () => {
  const { bring, refused, site, vpcId } = rig();
  const group = site.aws.addSecurityGroup({ vpcId, name: 'others', tags: { [GRANT]: 'web' } });
  const subnet = site.aws.addSubnet({ vpcId, zone: `${site.aws.account.zones[0]?.name}`, cidr: '10.0.240.0/24' });
  const tags = `a=${group},${subnet}=b`;
  for (const type of ['clb', 'nlb']) {
    await bring({ tags, type });
    await refused({ tags, type, securityGroups: group });
    await refused({ tags, type, subnets: subnet });
  }
});

test('neither is a name that a Service may choose, such as the prefix of access logs', async () => {
  const { bring, refused, site, vpcId } = rig();
  const group = site.aws.addSecurityGroup({ vpcId, name: 'others', tags: { [GRANT]: 'web' } });
  for (const type of ['clb', 'nlb']) {
    const logs = { type, accessLog: 'true', accessLogBucket: 'logs', accessLogPrefix: group };
    await bring(logs);
    await refused({ ...logs, securityGroups: group });
    await refused({ ...logs, extraSecurityGroups: group });
  }
});
