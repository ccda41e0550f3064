import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DesiredLoadBalancer } from '@outrigger/cloud-provider';
import { desiredOf, NlbRig, serviceOf } from './nlb-rig.suite.ts';

const before = serviceOf({ 'additional-resource-tags': 'a=1' }, {}, [80, 443]);
const changed = {
  internal: 'true',
  'cross-zone-load-balancing-enabled': 'true',
  'additional-resource-tags': 'b=2',
};
const after = serviceOf(changed, {}, [443, 8080]);
const stages: readonly DesiredLoadBalancer[] = [
  desiredOf(before),
  desiredOf(after, ['i-0000000b', 'i-0000000c']),
  desiredOf(after, [], false),
];

/** Until it comes to an end, with a new process after each failure. */
async function persist(rig: NlbRig, desired: DesiredLoadBalancer): Promise<void> {
  for (let attempt = 0; attempt < 8; attempt++) {
    try {
      await rig.bring(desired);
      return;
    } catch {
      await rig.clock.advance(5_000);
      rig.started();
    }
  }
  throw new Error('it comes to no end');
}

const byText = (a: unknown, b: unknown): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);

function stateOf({ elbv2 }: NlbRig): unknown {
  const { attributes, listeners, loadBalancers, tags, targetGroups } = elbv2;
  return structuredClone({
    balancers: [...loadBalancers].map(([arn, { thing }]) => [
      thing.LoadBalancerName,
      thing.Scheme,
      attributes.get(arn),
      tags.get(arn),
    ]),
    groups: [...targetGroups]
      .map(([arn, { thing }]) => [thing.Port, elbv2.targetsOf(arn).toSorted(), tags.get(arn)])
      .toSorted(byText),
    listeners: [...listeners.values()].map(({ thing }) => thing.Port).toSorted(byText),
  });
}

for (const lagMs of [0, 15_000]) {
  for (const takesEffect of [false, true]) {
    test(`killed at each write, ${takesEffect ? 'after' : 'before'} it took effect, lists ${lagMs} ms behind`, async () => {
      const clean = new NlbRig();
      const expected: unknown[] = [];
      for (const stage of stages) {
        await clean.bring(stage);
        expected.push(stateOf(clean));
      }
      const writes = clean.elbv2.writes().length;
      assert.ok(writes > 20, `${writes} writes`);
      for (let at = 0; at < writes; at++) {
        const rig = new NlbRig();
        rig.elbv2.lagMs = lagMs;
        rig.elbv2.fault = { after: at, takesEffect };
        for (const [i, stage] of stages.entries()) {
          await persist(rig, stage);
          assert.deepEqual(stateOf(rig), expected[i], `stage ${i}, killed at write ${at}`);
          await rig.clock.advance(20_000);
        }
        assert.equal(rig.groups.size, 0);
      }
    });
  }
}

test('"not found" proves nothing of what is young, and then it does', async () => {
  const rig = new NlbRig();
  const desired = desiredOf(serviceOf());
  await rig.bring(desired);
  const parts = await rig.parts(desired.service);
  rig.elbv2.loadBalancers.clear();
  rig.elbv2.targetGroups.clear();
  rig.elbv2.listeners.clear();
  const ask = async (): Promise<unknown> => {
    const questions = parts
      .filter(({ kind }) => kind !== 'security-group')
      .map(({ id, kind }) => ({ id, kind, owner: desired.owner }));
    return (await rig.balancers.read(questions, rig.call)).map(({ kind }) => kind);
  };
  assert.deepEqual(await ask(), ['failed', 'failed', 'failed']);
  rig.started();
  assert.deepEqual(await ask(), ['failed', 'failed', 'failed'], 'the process before it may just have made it');
  await rig.clock.advance(120_000);
  assert.deepEqual(await ask(), ['absent', 'absent', 'absent']);
});

test('an ID that is none is not sent', async () => {
  const rig = new NlbRig();
  const owner = { clusterId: 'cluster-uid', uid: 'x' };
  const questions = ['load-balancer', 'target-group', 'listener'].map((kind) => ({
    kind,
    id: 'arn:aws:iam::1:role/x',
    owner,
  }));
  const answers = await rig.balancers.read(questions, rig.call);
  assert.deepEqual([answers.map(({ kind }) => kind), rig.elbv2.calls], [['failed', 'failed', 'failed'], []]);
});

test('a listener is gone with the load balancer that was deleted, however young it is', async () => {
  const rig = new NlbRig();
  const desired = desiredOf(serviceOf());
  await rig.bring(desired);
  const [listener] = (await rig.parts(desired.service)).filter(({ kind }) => kind === 'listener');
  const [owned] = (await rig.balancers.listOwned(rig.call)).filter(({ kind }) => kind === 'listener');
  assert.equal(owned?.id, listener?.id);
  await rig.bring({ ...desired, wanted: false });
  const [answer] = await rig.balancers.read([{ kind: 'listener', id: listener!.id, owner: desired.owner }], rig.call);
  assert.equal(answer?.kind, 'absent');
});
