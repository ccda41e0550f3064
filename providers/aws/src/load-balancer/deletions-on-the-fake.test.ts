import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeRig } from './fake-rig.suite.ts';
import { loadBalancerName } from './names.ts';
import { serviceOf } from './nlb/nlb-rig.suite.ts';
import { rigOf, rulesIn, untagNodes } from './upstream-nlb.suite.ts';

/** Until somebody has changed it. */
function putBalancer(rig: FakeRig, change: Partial<ReturnType<FakeRig['aws']['account']['balancers']['all']>[number]>) {
  const [balancer] = rig.aws.account.balancers.all();
  assert.ok(balancer);
  rig.aws.account.balancers.put({ ...balancer, ...change });
}

for (const [why, isIt, isNot, told] of [
  [
    'that another service has',
    { isAssociated: true },
    { isAssociated: false },
    /currently associated with another service/u,
  ],
  [
    'that is protected from deletion',
    { attributes: { 'deletion_protection.enabled': 'true' } },
    { attributes: {} },
    /deletion protection is enabled/u,
  ],
] as const) {
  test(`of a load balancer ${why} it is said that it cannot be deleted, and nodes let it in still`, async () => {
    const service = serviceOf();
    const rig = await rigOf(service);
    await rig.bring(rig.desired(service));
    const nodes = rig.aws.account.rules.all();
    putBalancer(rig, isIt);
    for (let pass = 0; pass < 2; pass++) {
      await assert.rejects(rig.bring(rig.desired(service, [], false)), { code: 'conflict', message: told });
      assert.deepEqual(rig.aws.account.rules.all(), nodes);
    }
    putBalancer(rig, isNot);
    await rig.bring(rig.desired(service, [], false));
    const { balancers, rules, targetGroups } = rig.aws.account;
    assert.deepEqual([...balancers.all(), ...targetGroups.all()], []);
    assert.ok(!rules.all().some(({ description = '' }) => description.includes(loadBalancerName(service.uid))));
  });
}

for (const [what, isTagged, name] of [
  ['', true, undefined],
  [' in a group that no look shows', false, undefined],
  [' of one that was adopted with another name', true, 'of-another-cluster'],
] as const) {
  for (const takesEffect of [false, true]) {
    test(`a process that dies at a write of a deletion, ${takesEffect ? 'after' : 'before'} it took effect, leaves no rule${what}, and takes none as long as the load balancer is there`, async () => {
      let tried = 0;
      for (let n = 0; ; n++) {
        const service = serviceOf({}, {}, [80, 443]);
        const rig = await rigOf(service, name);
        const adopted = name ? { ...service, adopt: [{ kind: 'load-balancer', id: rig.arn }] } : service;
        const nodes = await untagNodes(rig);
        const group = rig.aws.account.groups.get(nodes);
        const tags = { 'kubernetes.io/cluster/kubernetes': 'owned' };
        if (isTagged && group) rig.aws.account.groups.put({ ...group, tags });
        await rig.bring(rig.desired(adopted));
        const before = await rulesIn(rig, nodes);
        assert.equal(before.length, 2);
        rig.started();
        rig.fault = { after: n, takesEffect };
        for (let attempt = 0; ; attempt++) {
          assert.ok(attempt < 8, 'it comes to no end');
          try {
            await rig.bring(rig.desired(adopted, [], false));
            break;
          } catch {
            if (rig.aws.account.balancers.all().length > 0) assert.deepEqual(await rulesIn(rig, nodes), before);
            await rig.clock.advance(5_000);
            rig.started();
          }
        }
        const { balancers, targetGroups } = rig.aws.account;
        assert.deepEqual([balancers.all(), targetGroups.all(), await rulesIn(rig, nodes)], [[], [], []], `write ${n}`);
        if (rig.fault) break;
        tried++;
      }
      assert.ok(tried >= 4, `${tried} writes were lost`);
    });
  }
}

test('while it is not known which cluster this is, rules of a load balancer that has gone are not forgotten', async () => {
  const service = serviceOf();
  const rig = await rigOf(service);
  await rig.bring(rig.desired(service));
  rig.fault = { after: 0, takesEffect: true };
  await assert.rejects(rig.bring(rig.desired(service, [], false)));
  assert.deepEqual(rig.aws.account.balancers.all(), []);
  rig.aws.metadata.isServed = false;
  rig.started('');
  await assert.rejects(rig.bring(rig.desired(service, [], false)), /it is not known which cluster this is/u);
  rig.started();
  await rig.bring(rig.desired(service, [], false));
  assert.ok(!rig.aws.account.rules.all().some(({ description = '' }) => description.includes('/rule/nlb/')));
});

test('a target group that a listener of somebody else leads to waits ten minutes, and then it is said', async () => {
  const rig = new FakeRig();
  const service = serviceOf();
  await rig.bring(rig.desired(service));
  const { listeners, targetGroups } = rig.aws.account;
  const [listener] = listeners.all();
  assert.ok(listener);
  const foreign = { ...listener, id: `${listener.id}0`, balancerId: `${listener.balancerId}0` };
  listeners.put(foreign);
  const startedAt = rig.clock.monotonic();
  const gone = rig.desired(service, [], false);
  const told = { code: 'conflict', message: /not deleted within 10 minutes: .*in use by a listener/u };
  await assert.rejects(rig.bring(gone), told);
  const waitedMs = rig.clock.monotonic() - startedAt;
  assert.ok(waitedMs >= 600_000 && waitedMs < 630_000, `${waitedMs} ms`);
  await rig.clock.advance(300_000);
  await assert.rejects(rig.bring(gone), told);
  listeners.remove(foreign.id);
  await rig.bring(gone);
  assert.deepEqual(targetGroups.all(), []);
});

for (const isShared of [false, true]) {
  test(`the ${isShared ? 'shared security group' : 'security group of a Service'}, where a network interface of somebody else has it, waits ten minutes, and then it is said which, and where to look`, async () => {
    const rig = new FakeRig({ knobs: { interfaceReleaseMs: 120_000 } });
    const service = serviceOf();
    await rig.bring(rig.desired(service));
    const { groups, interfaces } = rig.aws.account;
    const tag = isShared ? 'outrigger.dev/shared-by' : 'outrigger.dev/owner';
    const group = groups.all().find(({ tags }) => tag in tags);
    const [one] = interfaces.all();
    assert.ok(group && one);
    interfaces.put({ ...one, id: 'eni-0123456789abcdef0', groupIds: [group.id], attachment: undefined });
    const gone = rig.desired(service, [], false);
    const message = new RegExp(
      `not deleted within 10 minutes: security group ${group.id} is in use: .*describe-network-interfaces`,
      'u',
    );
    await assert.rejects(rig.bring(gone), { code: 'conflict', message });
    interfaces.remove('eni-0123456789abcdef0');
    await rig.clock.advance(20_000);
    await rig.bring(gone);
    assert.ok(!groups.all().some(({ tags }) => tag in tags));
  });
}

test('interfaces that are kept for minutes are no error; one that has them years later waits as long as the first', async () => {
  const rig = new FakeRig({ knobs: { interfaceReleaseMs: 540_000 } });
  for (const digit of ['1', '2']) {
    const service = serviceOf({}, { uid: `${digit}f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0` });
    await rig.bring(rig.desired(service));
    await rig.bring(rig.desired(service, [], false));
    await rig.clock.advance(3_600_000);
  }
  assert.ok(!rig.aws.account.groups.all().some(({ tags }) => 'outrigger.dev/shared-by' in tags));
});

test('the shared group that another Service came to use meanwhile is waited for as long as at first, when that one goes too', async () => {
  const rig = new FakeRig({ knobs: { interfaceReleaseMs: 120_000 } });
  const [first, second] = ['1', '2'].map((digit) =>
    serviceOf({}, { uid: `${digit}f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0`, name: `web-${digit}` }),
  );
  await rig.bring(rig.desired(first!));
  const gone = rig.desired(first!, [], false);
  const pending: string[] = [];
  for (let pass = 0; pass < 3 && pending.length === 0; pass++) {
    const { actions } = rig.balancers.plan(gone, await rig.parts(first!));
    for (const action of actions)
      if ((await rig.balancers.apply(action, gone, rig.call)).kind === 'pending') pending.push(action.part);
  }
  assert.deepEqual(pending, ['target-group', 'security-group'], 'interfaces hold the groups');
  await rig.bring(rig.desired(second!));
  await rig.bring(gone);
  await rig.clock.advance(580_000 - rig.clock.monotonic());
  await rig.bring(rig.desired(second!, [], false));
  assert.ok(!rig.aws.account.groups.all().some(({ tags }) => 'outrigger.dev/shared-by' in tags));
});
