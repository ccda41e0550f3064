/** From one kind to the other, where something is in the way. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isCloudError } from '@outrigger/cloud-provider';
import { FakeRig } from './fake-rig.suite.ts';
import { serviceOf } from './nlb/nlb-rig.suite.ts';

const HOUR = 3_600_000;

test('whoever has changed kinds before has ten minutes again for the way back', async () => {
  const rig = new FakeRig();
  const { balancers, classics, knobs } = rig.aws.account;
  const network = rig.desired(serviceOf());
  const classic = rig.desired({ ...serviceOf(), annotations: {} });
  await rig.bring(classic);
  await rig.bring(network);
  await rig.clock.advance(HOUR);
  knobs.targetInitialMs = HOUR;
  await assert.rejects(rig.bring(classic), /it comes to no end/);
  assert.equal(balancers.all().length, 1);
  assert.equal(classics.all().length, 1);
});

test('where AWS does not tell whether the new one serves, the old one stays, that is said, and no other Service waits', async () => {
  const rig = new FakeRig();
  const { balancers } = rig.aws.account;
  const classic = { ...serviceOf(), annotations: {} };
  const other = serviceOf({}, { uid: '2f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0', name: 'other' });
  await rig.bring(rig.desired(serviceOf()));
  await rig.bring(rig.desired(other));
  rig.aws.faults.set({ operation: 'DescribeInstanceHealth', status: 403, code: 'AccessDenied', times: 1_000 });
  await assert.rejects(
    rig.bring(rig.desired(classic)),
    (error) =>
      isCloudError(error, 'forbidden') &&
      /^whether the new load balancer serves is not known, so the old one stays: .*DescribeInstanceHealth/u.test(
        error.message,
      ),
  );
  assert.equal(balancers.all().length, 2);
  const seen = await rig.balancers.observe([classic, other], rig.call);
  assert.deepEqual(
    seen.map(({ kind }) => kind),
    ['parts', 'parts'],
  );
  rig.aws.faults.set();
  await rig.bring(rig.desired(classic));
  assert.equal(balancers.all().length, 1);
});

test('a Classic one serves until its Network one has all listeners, and targets behind each', async () => {
  const rig = new FakeRig({ knobs: { elbLagMs: 15_000 } });
  const { classics } = rig.aws.account;
  const service = serviceOf({}, {}, [80, 443]);
  await rig.bring(rig.desired({ ...service, annotations: {} }));
  const desired = rig.desired(service);
  /** Without what starts with `refused`. */
  const rounds = async (refused: string, count: number): Promise<void> => {
    for (let round = 0; round < count; round++) {
      const { actions } = rig.balancers.plan(desired, await rig.parts(service));
      for (const action of actions) {
        const { key = '' } = action.input as { readonly key?: string };
        if (`${action.kind} ${action.part} ${key}`.startsWith(refused)) continue;
        await rig.balancers.apply(action, desired, rig.call);
        await rig.clock.advance(1_000);
      }
      await rig.clock.advance(2_000);
    }
  };
  await rounds('create listener 443', 15);
  assert.equal(classics.all().length, 1);
  const second = rig.aws.account.targetGroups.all().find(({ port }) => port === 30_443);
  assert.ok(second);
  rig.aws.account.targets.forget(second.id);
  await rounds('update target-group', 8);
  assert.equal(rig.aws.account.listeners.all().length, 2);
  assert.equal(classics.all().length, 1);
  // Targets that somebody took away are seen missing.
  await rig.clock.advance(HOUR);
  await rounds('nothing', 15);
  assert.equal(classics.all().length, 0);
});

/** To die after a write is to die before the next one, so that the two tests take every write. */
const STEP = 2;

for (const takesEffect of [false, true]) {
  test(`killed at each write on the way there and back, ${takesEffect ? 'after' : 'before'} it took effect: one serves at each moment, and nothing is left over`, async () => {
    const kindsOf = ({ aws }: FakeRig): readonly number[] => [
      aws.account.classics.all().length,
      aws.account.balancers.all().length,
    ];
    const stagesOf = (rig: FakeRig) => {
      const [network, classic] = [serviceOf(), { ...serviceOf(), annotations: {} }].map((one) => rig.desired(one));
      return [
        [classic!, [1, 0]],
        [network!, [0, 1]],
        [classic!, [1, 0]],
        [{ ...classic!, wanted: false }, [0, 0]],
      ] as const;
    };
    const clean = new FakeRig({}, 2);
    for (const [stage] of stagesOf(clean)) await clean.bring(stage);
    assert.ok(clean.writes > 25, `${clean.writes} writes`);
    for (let at = 0; at < clean.writes; at += STEP) {
      const rig = new FakeRig({ knobs: { elbLagMs: 3_000, ec2LagMs: 2_000 } }, 2);
      rig.fault = { after: at, takesEffect };
      for (const [stage, kinds] of stagesOf(rig)) {
        const atDeletions: unknown[] = [];
        rig.before = async (body) => {
          if (stage.wanted && body.includes('Action=DeleteLoadBalancer&')) atDeletions.push(kindsOf(rig));
        };
        await rig.persist(stage);
        assert.deepEqual(kindsOf(rig), kinds, `write ${at}`);
        // One that is asked for again, as its answer was lost, is gone.
        assert.deepEqual(atDeletions[0] ?? [1, 1], [1, 1], `write ${at}`);
      }
      const { groups, targetGroups } = rig.aws.account;
      const owned = groups
        .all()
        .filter(({ tags }) => Object.keys(tags).some((tag) => tag.startsWith('outrigger.dev/')));
      assert.deepEqual([owned, targetGroups.all()], [[], []], `write ${at}`);
    }
  });
}
