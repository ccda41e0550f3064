import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeRig } from './fake-rig.suite.ts';
import { serviceOf } from './nlb/nlb-rig.suite.ts';

const SLOW = { provisioningMs: 120_000, interfaceReleaseMs: 60_000, elbLagMs: 2_000, ec2LagMs: 2_000 };
const SHARED = 'outrigger.dev/shared-by';

const sharedGroups = ({ aws }: FakeRig): number => aws.account.groups.all().filter(({ tags }) => SHARED in tags).length;

test('of Services that all name groups of their own, the last one takes the shared group along, and none before', async () => {
  const rig = new FakeRig({ knobs: SLOW });
  const named = rig.aws.addSecurityGroup({ vpcId: rig.vpcId, name: 'by-hand' });
  const [first, second] = ['1', '2'].map((digit) =>
    serviceOf(
      { 'security-groups': named },
      { uid: `${digit}f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0`, name: `web-${digit}` },
    ),
  );
  await rig.bring(rig.desired(first!));
  await rig.bring(rig.desired(second!));
  assert.equal(sharedGroups(rig), 1);
  rig.started();
  await rig.bring(rig.desired(first!, [], false));
  assert.equal(sharedGroups(rig), 1);
  assert.deepEqual(await rig.bring(rig.desired(second!)), [], 'the other one is let in as before');
  await rig.bring(rig.desired(second!, [], false));
  assert.equal(sharedGroups(rig), 0);
  assert.deepEqual(rig.aws.takeProblems(), []);
});

test('of a Service whose load balancer AWS never made, the shared group goes too', async () => {
  const rig = new FakeRig({ knobs: { ...SLOW, mostNetworkLoadBalancers: 0 } });
  await assert.rejects(rig.bring(rig.desired(serviceOf())), /maximum number|quota|limit/iu);
  assert.equal(sharedGroups(rig), 1);
  await rig.bring(rig.desired(serviceOf(), [], false));
  assert.equal(sharedGroups(rig), 0);
});

test('from Network to Classic, the shared group goes with the Network one', async () => {
  const rig = new FakeRig({ knobs: SLOW });
  await rig.bring(rig.desired(serviceOf()));
  await rig.bring(rig.desired({ ...serviceOf(), annotations: {} }));
  assert.equal(sharedGroups(rig), 0);
});
