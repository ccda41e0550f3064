/** Which changes of what is there are said to cut traffic. */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import type { LoadBalancerService } from '@outrigger/cloud-provider';
import { portOf } from './desired/tree-inputs.suite.ts';
import { Rig, served, serviceNamed } from './rig.suite.ts';

/** Of the plan for what is there, what is marked, and what is not. */
async function cutsOf(rig: Rig, service: LoadBalancerService): Promise<readonly (readonly string[])[]> {
  const { others, parts } = await rig.lookAround(service);
  const { actions } = rig.provider.plan({ ...rig.desired(service), others }, parts);
  return [true, false].map((marked) =>
    actions.filter((one) => (one.mayCutTraffic ?? false) === marked).map(({ summary = '' }) => summary),
  );
}

const web = serviceNamed('web', { ports: [portOf(80)] });
const forwarded = { 'loadbalancer.openstack.org/x-forwarded-for': 'true' };

test('a listener that goes for another of its port may cut traffic, with its pool', async () => {
  const rig = await Rig.open();
  const was = served(web, await rig.bring(web));
  const [marked, others] = await cutsOf(rig, { ...was, annotations: { ...was.annotations, ...forwarded } });
  assert.match(String(marked), /^delete the pool [^,]+,delete the listener TCP 80$/u);
  assert.deepEqual(others, ['create the listener HTTP 80']);
});

for (const serial of [false, true]) {
  test(`a member that goes may cut traffic, one that comes does not${serial ? ', one by one too' : ''}`, async () => {
    const rig = await Rig.open({ loadBalancer: { providerRequiresSerialApiCalls: serial } });
    const was = served(web, await rig.bring(web));
    const [first, ...rest] = rig.backEnds;
    assert.ok(first);
    rig.backEnds = [first, ...rest, rig.addNode('node-3')];
    assert.deepEqual((await cutsOf(rig, was))[0], []);
    rig.backEnds = rest;
    const [marked, others] = await cutsOf(rig, was);
    assert.deepEqual([marked?.length, others], [1, []]);
  });
}

test('a health monitor that goes cuts nothing', async () => {
  const rig = await Rig.open({ loadBalancer: { createMonitor: true } });
  const was = served(web, await rig.bring(web));
  rig.config = { createMonitor: false };
  const [marked, others] = await cutsOf(rig, was);
  assert.deepEqual([marked, others?.length], [[], 1]);
});

test('a rule that goes from the security group may cut traffic, and so may the group that leaves a port', async () => {
  const rig = await Rig.open({ loadBalancer: { manageSecurityGroups: true } });
  const was = served(web, await rig.bring(web));
  const [group] = (await rig.look(was)).filter(({ kind }) => kind === 'security-group');
  assert.ok(group);
  const rule = { security_group_id: group.id, ethertype: 'IPv4', direction: 'ingress', protocol: 'udp' } as const;
  rig.cloud.networking.securityGroups.addRules(rig.seeded.project.id, [rule]);
  assert.deepEqual(await cutsOf(rig, was), [['no longer allow udp any from anywhere'], []]);
  rig.config = { manageSecurityGroups: false };
  const [marked, others] = await cutsOf(rig, was);
  assert.deepEqual(
    [marked, others],
    [['remove the security group from 2 ports'], [`delete the security group ${group.id}`]],
  );
});

test('a floating IP that is detached may cut traffic, one that is attached does not', async () => {
  const rig = await Rig.open();
  const was = served(web, await rig.bring(web));
  const internal = { 'service.beta.kubernetes.io/openstack-internal-load-balancer': 'true' };
  const kept = { 'loadbalancer.openstack.org/keep-floatingip': 'true' };
  const [marked] = await cutsOf(rig, { ...was, annotations: { ...was.annotations, ...kept, ...internal } });
  assert.match(String(marked), /^detach the floating IP/u);
});

test('source ranges that shut somebody out may cut traffic, those that let more in do not', async () => {
  const [first, second] = ['192.0.2.0/24', '198.51.100.0/24'];
  const everywhere = ['0.0.0.0/0'];
  for (const [before, after, cuts] of [
    [everywhere, [first], true],
    [[first, second], [first], true],
    [[first], [second], true],
    [[first], [first, second], false],
    [[first, second], everywhere, false],
    [[], [first], true],
    [[], everywhere, false],
  ] as const) {
    const rig = await Rig.open();
    const service = { ...web, sourceRanges: before.length > 0 ? before : everywhere };
    const was = served(service, await rig.bring(service));
    const { listeners } = rig.cloud.octavia.store;
    for (const one of listeners.values()) if (before.length === 0) Object.assign(one, { allowed_cidrs: null });
    const [marked = [], others = []] = await cutsOf(rig, { ...was, sourceRanges: after });
    assert.deepEqual(
      [marked, others].map(({ length }) => length),
      cuts ? [1, 0] : [0, 1],
      JSON.stringify([before, after]),
    );
  }
});
