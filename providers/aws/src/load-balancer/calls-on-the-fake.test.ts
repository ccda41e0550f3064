import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeRig } from './fake-rig.suite.ts';
import { serviceOf } from './nlb/nlb-rig.suite.ts';
import { untagNodes } from './upstream-nlb.suite.ts';

const SLOW = { provisioningMs: 120_000, interfaceReleaseMs: 60_000, elbLagMs: 1_000, ec2LagMs: 1_000 };
const SERVICES = 10;

/** Since it was asked last, those of these operations: `[all, refused]`. */
function taken({ aws }: FakeRig, ...operations: readonly string[]): Readonly<Record<string, readonly number[]>> {
  const calls = aws.calls.all();
  aws.calls.clear();
  return Object.fromEntries(
    operations.map((name) => {
      const own = calls.filter(({ operation }) => operation === name);
      return [name, [own.length, own.filter(({ status }) => status >= 400).length]];
    }),
  );
}

test('Services that are made and deleted together ask for little that AWS refuses', async () => {
  const rig = new FakeRig({ knobs: SLOW });
  const services = Array.from({ length: SERVICES }, (_, i) =>
    serviceOf({}, { uid: `${i}f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0`, name: `web-${i}` }, [80, 443]),
  );
  /** As the host does it for all at once: looks, acts, and looks ever later from what the cloud's answers say on. How many looks it took. */
  const all = async (wanted: boolean): Promise<number> => {
    let [pollMs, polls] = [1_000, 0];
    for (let looks = 1; looks < 50; looks++) {
      let waitMs = 0;
      let isComplete = true;
      let hasActed = false;
      const seen = await rig.balancers.observe(services, rig.call);
      for (const [i, service] of services.entries()) {
        const desired = rig.desired(service, rig.instances, wanted);
        const look = seen[i];
        assert.ok(look?.kind === 'parts');
        const { actions, complete } = rig.balancers.plan(desired, look.parts);
        isComplete &&= complete === true;
        hasActed ||= actions.length > 0;
        for (const action of actions) {
          const result = await rig.balancers.apply(action, desired, rig.call);
          if (result.kind === 'pending') waitMs = Math.max(waitMs, result.pollAfterMs);
        }
      }
      if (isComplete) return looks;
      if (hasActed) [pollMs, polls] = [waitMs || 1_000, 0];
      else waitMs = Math.min(30_000, pollMs * 1.5 ** polls++);
      await rig.clock.advance(waitMs);
    }
    throw new Error('it comes to no end');
  };
  const startedAt = rig.clock.monotonic();
  // Parts in three rounds, and five looks while AWS makes the load balancers, which serve after two minutes.
  assert.equal(await all(true), 8);
  assert.ok(rig.clock.monotonic() - startedAt <= 150_000, 'nobody waits longer than before');
  const made = taken(rig, 'elbv2:DescribeLoadBalancers', 'elbv2:DescribeListeners');
  // Of load balancers that are not listed yet none are asked for.
  assert.deepEqual(made, { 'elbv2:DescribeLoadBalancers': [8, 0], 'elbv2:DescribeListeners': [5 * SERVICES, 0] });
  await all(false);
  const gone = taken(
    rig,
    'ec2:DeleteSecurityGroup',
    'ec2:DescribeNetworkInterfaces',
    'ec2:DescribeSecurityGroups',
    'ec2:RevokeSecurityGroupIngress',
  );
  // The first five groups are asked about by themselves, then all together until their interfaces are gone, after a minute.
  assert.deepEqual(gone, {
    'ec2:DeleteSecurityGroup': [SERVICES + 1, 0],
    'ec2:DescribeNetworkInterfaces': [9, 0],
    'ec2:DescribeSecurityGroups': [8, 0],
    'ec2:RevokeSecurityGroupIngress': [1, 0],
  });
  assert.deepEqual(
    rig.aws.account.groups
      .all()
      .filter(({ tags }) => 'outrigger.dev/owner' in tags || 'outrigger.dev/shared-by' in tags),
    [],
  );
});

test('where each load balancer has security groups, a look asks once for these, also where none shows the group of the nodes', async () => {
  const rig = new FakeRig();
  const service = serviceOf();
  await untagNodes(rig);
  await rig.bring(rig.desired(service));
  await rig.clock.advance(200_000);
  await rig.parts(service);
  taken(rig);
  for (let minute = 0; minute < 5; minute++) {
    await rig.clock.advance(60_000);
    await rig.parts(service);
  }
  assert.deepEqual(taken(rig, 'ec2:DescribeSecurityGroups'), { 'ec2:DescribeSecurityGroups': [5, 0] });
});
