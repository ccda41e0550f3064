/** Rules in groups of nodes for a Network Load Balancer alone, where lists of EC2 are behind, or may not be read: they go with it, and not before. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeRig } from './fake-rig.suite.ts';
import { serviceOf } from './nlb/nlb-rig.suite.ts';
import { rigOf, rulesIn, untagNodes } from './upstream-nlb.suite.ts';

/** As they are, whatever lists show. */
const rulesNow = (rig: FakeRig): ReturnType<FakeRig['aws']['account']['rules']['all']> =>
  rig.aws.account.rules.all().filter(({ description = '' }) => description.startsWith('kubernetes.io/rule/nlb/'));

/** What one plan says. `after`: each of its actions. */
async function pass(
  rig: FakeRig,
  desired: ReturnType<FakeRig['desired']>,
  after: (action: string) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const { actions } = rig.balancers.plan(desired, await rig.parts(desired.service));
  for (const action of actions) {
    await rig.balancers.apply(action, desired, rig.call);
    await after(`${action.kind} ${action.part}`);
  }
}

/** With a second port since a moment ago, which lists of EC2 do not show yet. */
async function withYoungPort(rig: FakeRig): Promise<void> {
  rig.aws.knobs.ec2LagMs = 5_000;
  const more = rig.desired(serviceOf({}, {}, [80, 443]));
  for (let i = 0; i < 2; i++) await pass(rig, more);
}

test('rules that were just made, and that no list shows yet, go with the load balancer', async () => {
  const service = serviceOf();
  const rig = await rigOf(service);
  await rig.bring(rig.desired(service));
  await withYoungPort(rig);
  const gone = rig.desired(service, [], false);
  while (rig.aws.account.balancers.all().length > 0) await pass(rig, gone);
  assert.deepEqual(rulesNow(rig), []);
  await rig.bring(gone);
});

test('a rule that is listed still, though somebody has removed it, leaves none of the others behind', async () => {
  const service = serviceOf({}, {}, [80, 443]);
  const rig = await rigOf(service);
  await rig.bring(rig.desired(service));
  rig.aws.knobs.ec2LagMs = 5_000;
  const [first] = rig.aws.account.rules
    .all()
    .filter(({ description = '' }) => description.includes('/rule/nlb/client'));
  assert.ok(first);
  rig.aws.account.rules.remove(first.id);
  const gone = rig.desired(service, [], false);
  while (rig.aws.account.balancers.all().length > 0) await pass(rig, gone);
  assert.deepEqual(rulesNow(rig), []);
});

test('a rule that somebody else has just made, and that the load balancer needs too, stays when it goes', async () => {
  const service = serviceOf();
  const rig = await rigOf(service);
  await rig.bring(rig.desired(service));
  rig.aws.knobs.ec2LagMs = 5_000;
  const GroupId = rulesNow(rig)[0]?.groupId ?? '';
  const IpRanges = [{ CidrIp: '0.0.0.0/0', Description: 'by hand' }];
  const IpPermissions = [{ IpProtocol: 'tcp', FromPort: 30_443, ToPort: 30_443, IpRanges }];
  await rig.client.ec2(rig.call, 'AuthorizeSecurityGroupIngress', { GroupId, IpPermissions });
  await withYoungPort(rig);
  const gone = rig.desired(service, [], false);
  while (rig.aws.account.balancers.all().length > 0) await pass(rig, gone);
  assert.deepEqual(rulesNow(rig), []);
  assert.ok(rig.aws.account.rules.all().some(({ description }) => description === 'by hand'));
});

/** The same, where the answer to the rules is lost: nobody knows whether they are there. */
async function withLostRules(rig: FakeRig): Promise<void> {
  rig.before = (body) => {
    if (body.includes('AuthorizeSecurityGroupIngress')) rig.fault = { after: 0, takesEffect: true };
    return Promise.resolve();
  };
  await assert.rejects(withYoungPort(rig));
  rig.before = () => Promise.resolve();
}

test('rules of which the answer was lost, and that lists show since the last look, go with the load balancer', async () => {
  const service = serviceOf();
  const rig = await rigOf(service);
  await rig.bring(rig.desired(service));
  await withLostRules(rig);
  const gone = rig.desired(service, [], false);
  const { actions } = rig.balancers.plan(gone, await rig.parts(service));
  await rig.clock.advance(6_000);
  for (const action of actions) await rig.balancers.apply(action, gone, rig.call);
  assert.deepEqual([rig.aws.account.balancers.all(), rulesNow(rig)], [[], []]);
});

test('rules of which the answer was lost, and that lists show when the load balancer has gone, go with its target groups', async () => {
  const service = serviceOf();
  const rig = await rigOf(service);
  await rig.bring(rig.desired(service));
  await withLostRules(rig);
  rig.aws.faults.set({ operation: 'DeleteTargetGroup', status: 400, code: 'ResourceInUse', times: 2 });
  const gone = rig.desired(service, [], false);
  while (rig.aws.account.balancers.all().length > 0) await pass(rig, gone);
  assert.ok(rig.aws.account.targetGroups.all().length > 0);
  assert.equal(rulesNow(rig).length, 2, 'that of the second port, and that of path MTU discovery');
  await rig.clock.advance(6_000);
  await rig.bring(gone);
  assert.deepEqual(rulesNow(rig), []);
});

for (const isTagged of [true, false]) {
  test(`where rules may not be listed, a Service goes, with those in ${isTagged ? 'a group of the cluster' : 'the groups of its targets'}`, async () => {
    const service = serviceOf();
    const rig = await rigOf(service);
    if (!isTagged) await untagNodes(rig);
    await rig.bring(rig.desired(service));
    const refused = { operation: 'DescribeSecurityGroupRules', status: 403, code: 'UnauthorizedOperation' };
    rig.aws.faults.set({ ...refused, times: 1_000 });
    await rig.bring(rig.desired(service, [], false));
    const { balancers, targetGroups } = rig.aws.account;
    assert.deepEqual([balancers.all(), targetGroups.all(), rulesNow(rig)], [[], [], []]);
  });
}

test('of a port that goes, whose target group is in use still, no rule of the others goes at any moment, in a group that no look shows', async () => {
  const rig = await rigOf(serviceOf({}, {}, [80, 443]));
  const nodes = await untagNodes(rig);
  await rig.bring(rig.desired(serviceOf({}, {}, [80, 443])));
  rig.aws.faults.set({ operation: 'DeleteTargetGroup', status: 400, code: 'ResourceInUse', times: 1 });
  const less = rig.desired(serviceOf({}, {}, [443]));
  for (let i = 0; i < 4; i++) {
    await pass(rig, less, async (action) => {
      const rules = await rulesIn(rig, nodes);
      assert.ok(
        rules.some((rule) => rule.startsWith('tcp 30443-30443 0.0.0.0/0')),
        action,
      );
    });
  }
  assert.equal(rig.aws.account.targetGroups.all().length, 1);
});

test('while it is not known which cluster this is, target groups go whose load balancer, which had a security group of its own, has gone', async () => {
  const rig = new FakeRig();
  const service = serviceOf();
  await rig.bring(rig.desired(service));
  rig.fault = { after: 0, takesEffect: true };
  await assert.rejects(rig.bring(rig.desired(service, [], false)));
  assert.deepEqual(rig.aws.account.balancers.all(), []);
  rig.aws.metadata.isServed = false;
  rig.started('');
  await rig.bring(rig.desired(service, [], false));
  assert.deepEqual(rig.aws.account.targetGroups.all(), []);
});
