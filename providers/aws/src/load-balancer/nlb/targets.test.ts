import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sameSet } from './nlb-setup.ts';
import type { DesiredLoadBalancer, LoadBalancerPlan } from '@outrigger/cloud-provider';
import { desiredOf, NlbRig, serviceOf } from './nlb-rig.suite.ts';

const instances = (from: number, to: number): readonly string[] =>
  Array.from({ length: to - from }, (_, i) => `i-${(from + i).toString(16).padStart(8, '0')}`);

test('250 nodes come in three requests, and a node that leaves or joins is one', async () => {
  const rig = new NlbRig();
  await rig.bring(desiredOf(serviceOf(), instances(0, 250)));
  assert.equal(rig.elbv2.counts()['RegisterTargets'], 3);
  rig.elbv2.calls.length = 0;
  assert.deepEqual(await rig.bring(desiredOf(serviceOf(), instances(1, 251))), ['update target-group']);
  assert.deepEqual(rig.elbv2.writes(), ['RegisterTargets', 'DeregisterTargets']);
  assert.equal(rig.elbv2.counts()['DescribeTargetHealth'], undefined, 'what it has written it knows');
  const [[group] = []] = rig.elbv2.targetGroups;
  assert.deepEqual(rig.elbv2.targetsOf(group!).toSorted(), instances(1, 251));
});

test('a target that drains is none: it is registered when its node comes back', async () => {
  const rig = new NlbRig();
  await rig.bring(desiredOf(serviceOf(), ['i-0000000a', 'i-0000000b']));
  await rig.bring(desiredOf(serviceOf(), ['i-0000000a']));
  const [[group] = []] = rig.elbv2.targetGroups;
  assert.deepEqual(rig.elbv2.targetsOf(group!), ['i-0000000a']);
  rig.started();
  await rig.bring(desiredOf(serviceOf(), ['i-0000000a', 'i-0000000b']));
  assert.deepEqual(rig.elbv2.targetsOf(group!), ['i-0000000a', 'i-0000000b']);
});

/** The plan is complete, and a warning names who is left out. */
async function assertLeftOut(rig: NlbRig, desired: DesiredLoadBalancer, message: RegExp): Promise<void> {
  await rig.bring(desired);
  const { actions, complete, ingress, warnings } = await rig.plan(desired);
  assert.deepEqual([actions, complete, ingress.length], [[], true, 1]);
  assert.deepEqual(
    warnings?.map(({ reason }) => reason),
    ['InstancesLeftOut'],
  );
  assert.match(warnings?.[0]?.message ?? '', message);
}

test('of a target group that has room for some of its machines those are targets, in few requests, and of each port', async () => {
  const rig = new NlbRig();
  const ports = serviceOf({}, {}, [80, 443]);
  rig.elbv2.mostTargets = 130;
  const desired = desiredOf(ports, instances(0, 250));
  await assertLeftOut(rig, desired, /i-00000082, .* and 115 others\. the maximum of targets/u);
  const registered = (): readonly (readonly string[])[] =>
    [...rig.elbv2.targetGroups.keys()].map((arn) => rig.elbv2.targetsOf(arn).toSorted());
  assert.deepEqual(registered(), [instances(0, 130), instances(0, 130)]);
  // Of each port: one for the first hundred, the others by few and by halves, none for what comes when it is full.
  assert.equal(rig.elbv2.counts()['RegisterTargets'], 2 * (1 + 10));
  // Machines are replaced: what has gone makes room for those that were refused.
  await assertLeftOut(rig, desiredOf(ports, instances(100, 250)), /and 15 others/u);
  assert.deepEqual(registered(), [instances(100, 230), instances(100, 230)]);
});

test('a machine that is a target too often keeps no other out, and where it is the only one the load balancer is made all the same', async () => {
  const rig = new NlbRig();
  rig.elbv2.tooOften.add('i-00000003');
  await assert.rejects(rig.bring(desiredOf(serviceOf(), ['i-00000003'])), /maximum of registrations/u);
  assert.equal(rig.elbv2.loadBalancers.size, 1);
  await assertLeftOut(rig, desiredOf(serviceOf(), instances(0, 10)), /: i-00000003\. the maximum of registrations/u);
  const [[group] = []] = rig.elbv2.targetGroups;
  assert.deepEqual(
    rig.elbv2.targetsOf(group!).toSorted(),
    instances(0, 10).filter((id) => id !== 'i-00000003'),
  );
});

test('a machine that AWS does not take keeps no other out, and the Service says so until it is taken', async () => {
  const rig = new NlbRig();
  rig.elbv2.stopped.add('i-0000000b');
  const desired = desiredOf(serviceOf(), ['i-0000000a', 'i-0000000b', 'i-0000000c']);
  await assertLeftOut(rig, desired, /i-0000000b/u);
  const [[group] = []] = rig.elbv2.targetGroups;
  assert.deepEqual(rig.elbv2.targetsOf(group!), ['i-0000000a', 'i-0000000c']);
  assert.equal((await rig.plan(desired)).againAfterMs, 60_000);
  await rig.clock.advance(60_000);
  await assertLeftOut(rig, desired, /i-0000000b/u);
  rig.elbv2.stopped.clear();
  await rig.clock.advance(119_000);
  assert.deepEqual(await rig.bring(desired), []);
  await rig.clock.advance(1_000);
  await rig.bring(desired);
  assert.deepEqual(rig.elbv2.targetsOf(group!).toSorted(), ['i-0000000a', 'i-0000000b', 'i-0000000c']);
  const { complete, againAfterMs, warnings } = await rig.plan(desired);
  assert.deepEqual([complete, againAfterMs, warnings], [true, undefined, undefined]);
});

test('one that has become a target without us, or has left, is left out no more', async () => {
  const rig = new NlbRig();
  rig.elbv2.stopped.add('i-0000000b');
  const desired = desiredOf(serviceOf(), ['i-0000000a', 'i-0000000b']);
  await assertLeftOut(rig, desired, /i-0000000b/u);
  await rig.bring(desiredOf(serviceOf(), ['i-0000000a']));
  await assertLeftOut(rig, desired, /i-0000000b/u);
  const [[group] = []] = rig.elbv2.targetGroups;
  rig.elbv2.targets.get(group!)?.set('i-0000000b', 'initial');
  // As long as what AWS has is believed.
  await rig.clock.advance(600_000);
  assert.deepEqual(await rig.bring(desired), []);
});

const shuts = (rig: NlbRig, id: string): void => {
  rig.opened.delete(id);
  rig.closed.add(id);
};

test('a target that lets the load balancer in again is left out no more, when another does not', async () => {
  const rig = new NlbRig();
  const desired = desiredOf(serviceOf(), ['i-0000000a', 'i-0000000b']);
  await rig.bring(desired);
  shuts(rig, 'i-0000000a');
  await assertLeftOut(rig, desired, /: i-0000000a\. the group has no tag/u);
  rig.closed.delete('i-0000000a');
  shuts(rig, 'i-0000000b');
  await assertLeftOut(rig, desired, /: i-0000000b\. /u);
});

test('a target of which it is not clear which group is its node’s stays, and counts as served', async () => {
  const rig = new NlbRig();
  await rig.bring(desiredOf(serviceOf()));
  rig.unclear.add('i-0000000a');
  shuts(rig, 'i-0000000b');
  await assertLeftOut(rig, desiredOf(serviceOf()), /: i-0000000b\. the group has no tag/u);
  const [[group] = []] = rig.elbv2.targetGroups;
  assert.deepEqual(rig.elbv2.targetsOf(group!), ['i-0000000a', 'i-0000000b']);
});

test('one that does not let the load balancer in and one that AWS does not take are tried together', async () => {
  const rig = new NlbRig();
  const desired = desiredOf(serviceOf(), ['i-0000000a', 'i-0000000b', 'i-0000000c']);
  rig.elbv2.stopped.add('i-0000000c');
  await assertLeftOut(rig, desired, /: i-0000000c\. /u);
  shuts(rig, 'i-0000000a');
  await assertLeftOut(rig, desired, /: i-0000000a, i-0000000c\. /u);
  await rig.clock.advance(60_000);
  assert.deepEqual(await rig.bring(desired), ['update target-group']);
  await assertLeftOut(rig, desired, /: i-0000000a, i-0000000c\. /u);
  assert.equal((await rig.plan(desired)).againAfterMs, 120_000);
});

test('a Service that is refused says who is left out', async () => {
  const rig = new NlbRig();
  await rig.bring(desiredOf(serviceOf(), ['i-0000000a']));
  rig.elbv2.stopped.add('i-0000000b');
  const attributes = { 'target-group-attributes': 'colour=blue' };
  const refused = desiredOf(serviceOf(attributes), ['i-0000000a', 'i-0000000b']);
  const planned = async (): Promise<LoadBalancerPlan> =>
    rig.balancers.planMembers(refused, await rig.parts(refused.service));
  for (const action of (await planned()).actions) await rig.balancers.apply(action, refused, rig.call);
  const { actions, againAfterMs, warnings } = await planned();
  assert.deepEqual([actions, againAfterMs], [[], 60_000]);
  assert.match(warnings?.[0]?.message ?? '', /i-0000000b/u);
});

test('an ID that AWS does not know the form of keeps no other out, of all ports, and those that leave go', async () => {
  const rig = new NlbRig();
  const service = serviceOf({}, {}, [80, 443, 8443]);
  await rig.bring(desiredOf(service, ['i-0000000a', 'i-0000000b']));
  rig.elbv2.malformed.add('i-00000000');
  rig.elbv2.malformed.add('i-00000001');
  rig.elbv2.stopped.add('i-0000000d');
  const wanted = ['i-00000000', 'i-0000000a', 'i-0000000c', 'i-0000000d', 'i-00000001'];
  const plan = await rig.plan(desiredOf(service, wanted));
  assert.equal(plan.actions.length, 3);
  await assertLeftOut(rig, desiredOf(service, wanted), /i-00000000, i-00000001, i-0000000d/u);
  for (const [group] of rig.elbv2.targetGroups)
    assert.deepEqual(rig.elbv2.targetsOf(group), ['i-0000000a', 'i-0000000c']);
});

test('those that leave go whatever AWS answers to those that come', async () => {
  const rig = new NlbRig();
  await rig.bring(desiredOf(serviceOf(), ['i-0000000a', 'i-0000000b']));
  rig.elbv2.fault = { after: 0, takesEffect: false };
  await assert.rejects(rig.bring(desiredOf(serviceOf(), ['i-0000000a', 'i-0000000c'])), { code: 'unavailable' });
  const [[group] = []] = rig.elbv2.targetGroups;
  assert.deepEqual(rig.elbv2.targetsOf(group!), ['i-0000000a']);
});

test('where AWS takes none of the machines that are to be targets, those that are stay', async () => {
  const rig = new NlbRig();
  await rig.bring(desiredOf(serviceOf(), ['i-0000000a']));
  rig.elbv2.stopped.add('i-0000000b');
  await assert.rejects(rig.bring(desiredOf(serviceOf(), ['i-0000000b'])), { code: 'conflict', message: /i-0000000b/u });
  const [[group] = []] = rig.elbv2.targetGroups;
  assert.deepEqual(rig.elbv2.targetsOf(group!), ['i-0000000a']);
  rig.elbv2.stopped.clear();
  await rig.clock.advance(60_000);
  await rig.bring(desiredOf(serviceOf(), ['i-0000000b']));
  assert.deepEqual(rig.elbv2.targetsOf(group!), ['i-0000000b']);
});

test('those that leave go also where the others could not be opened for the load balancer', async () => {
  const rig = new NlbRig();
  await rig.bring(desiredOf(serviceOf(), ['i-0000000a', 'i-0000000b']));
  rig.opened.clear();
  rig.unreachable = true;
  await assert.rejects(rig.bring(desiredOf(serviceOf(), ['i-0000000a', 'i-0000000c'])), { code: 'unavailable' });
  const [[group] = []] = rig.elbv2.targetGroups;
  assert.deepEqual(rig.elbv2.targetsOf(group!), ['i-0000000a']);
});

test('where no machine can be a target that is an error, and not a Service that is as it can be', async () => {
  const rig = new NlbRig();
  const desired = desiredOf(serviceOf());
  for (const id of ['i-0000000a', 'i-0000000b']) rig.closed.add(id);
  for (let pass = 0; pass < 3; pass++) await assert.rejects(rig.bring(desired), /the group has no tag/u);
  assert.equal((await rig.plan(desired)).complete, false);
  rig.closed.clear();
  await rig.bring(desired);
  assert.equal((await rig.plan(desired)).complete, true);
});

test('what has to wait is told, also where the Service is explained while its plan is carried out', async () => {
  const rig = new NlbRig();
  await rig.bring(desiredOf(serviceOf(), ['i-0000000a']));
  rig.closed.add('i-0000000b');
  const desired = desiredOf(serviceOf({ 'cross-zone-load-balancing-enabled': 'true' }), ['i-0000000b']);
  const { actions } = await rig.plan(desired);
  assert.deepEqual(
    actions.map(({ part }) => part),
    ['target-group', 'load-balancer'],
  );
  assert.deepEqual(await rig.balancers.apply(actions[0]!, desired, rig.call), { kind: 'done' });
  await rig.plan(desired);
  await assert.rejects(rig.balancers.apply(actions[1]!, desired, rig.call), /the group has no tag/u);
});

test('one that is left out is tried again as soon as it is the only one, however long it was to wait', async () => {
  const rig = new NlbRig();
  rig.elbv2.stopped.add('i-0000000b');
  const both = desiredOf(serviceOf(), ['i-0000000a', 'i-0000000b']);
  for (const waitedMs of [0, 60_000, 120_000, 240_000, 480_000]) {
    await rig.clock.advance(waitedMs);
    await assertLeftOut(rig, both, /i-0000000b/u);
  }
  assert.equal((await rig.plan(both)).againAfterMs, 960_000);
  // Its instance was terminated, and AWS has taken it out.
  const [[group] = []] = rig.elbv2.targetGroups;
  rig.elbv2.targets.get(group!)?.delete('i-0000000a');
  await rig.clock.advance(600_000);
  const alone = desiredOf(serviceOf(), ['i-0000000b']);
  await assert.rejects(rig.bring(alone), /i-0000000b/u);
  rig.elbv2.stopped.clear();
  assert.deepEqual(await rig.bring(alone), ['update target-group']);
  // Nobody is left out of what has no node at all.
  await rig.bring(desiredOf(serviceOf(), []));
  assert.equal((await rig.plan(desiredOf(serviceOf(), []))).warnings, undefined);
});

const moved = serviceOf({}, { ports: [{ name: 'p80', port: 80, protocol: 'UDP', nodePort: 31_000 }] });

/** Node ports of target groups, with their targets; the first is the one that the listener leads to. */
function serving({ elbv2 }: NlbRig): readonly (readonly [number | undefined, readonly string[]])[] {
  const [{ thing } = { thing: undefined }] = elbv2.listeners.values();
  const current = thing?.DefaultActions?.[0]?.TargetGroupArn;
  return [...elbv2.targetGroups]
    .map(([arn, stored]) => ({ arn, row: [stored.thing.Port, elbv2.targetsOf(arn).toSorted()] as const }))
    .toSorted((a, b) => Number(b.arn === current) - Number(a.arn === current))
    .map(({ row }) => row);
}

test('a listener stays with the target group that serves until the one in its place has a target', async () => {
  const rig = new NlbRig();
  await rig.bring(desiredOf(serviceOf(), ['i-0000000a', 'i-0000000b', 'i-0000000c']));
  for (const id of ['i-0000000a', 'i-0000000b', 'i-0000000c']) rig.closed.add(id);
  for (let pass = 0; pass < 3; pass++) await assert.rejects(rig.bring(desiredOf(moved)), /the group has no tag/u);
  // It follows the nodes meanwhile.
  assert.deepEqual(serving(rig), [
    [30_080, ['i-0000000a', 'i-0000000b']],
    [31_000, []],
  ]);
  assert.equal((await rig.plan(desiredOf(moved))).complete, false);
  assert.equal(rig.elbv2.counts()['ModifyListener'], undefined);
  rig.closed.delete('i-0000000b');
  await rig.bring(desiredOf(moved));
  assert.deepEqual(serving(rig), [[31_000, ['i-0000000b']]]);
});

test('without any node a listener leads to the new target group, and the old one goes', async () => {
  const rig = new NlbRig();
  await rig.bring(desiredOf(serviceOf()));
  await rig.bring(desiredOf(moved, []));
  assert.deepEqual(serving(rig), [[31_000, []]]);
  assert.equal((await rig.plan(desiredOf(moved, []))).complete, true);
});

test('what others took out by hand is back within ten minutes', async () => {
  const rig = new NlbRig();
  const desired = desiredOf(serviceOf());
  await rig.bring(desired);
  const [[group] = []] = rig.elbv2.targetGroups;
  rig.elbv2.targets.get(group!)?.delete('i-0000000a');
  assert.deepEqual(await rig.bring(desired), []);
  await rig.clock.advance(600_000);
  assert.deepEqual(await rig.bring(desired), ['update target-group']);
  assert.deepEqual(rig.elbv2.targetsOf(group!).toSorted(), ['i-0000000a', 'i-0000000b']);
});

test('nodes that are no instances are no targets, and labels narrow them', () => {
  const { balancers } = new NlbRig();
  const [one, two] = desiredOf(serviceOf()).backEnds;
  const fargate = { ...one!, node: { ...one!.node, providerID: 'aws:///eu-1a/0123-abc/fargate-10.0.0.1' } };
  const other = { ...one!, node: { ...one!.node, providerID: 'eks-hybrid:///x/i-0000000d' } };
  const long = { ...one!, node: { ...one!.node, providerID: `aws:///eu-1a/i-${'0'.repeat(250)}` } };
  const short = { ...one!, node: { ...one!.node, providerID: 'aws:///eu-1a/i-0d' } };
  const labelled = { ...two!, node: { ...two!.node, labels: { pool: 'edge', zone: 'a' } } };
  const all = [one!, fargate, other, long, short, labelled];
  assert.deepEqual(balancers.selectBackEnds(serviceOf(), all), [one, labelled]);
  const narrowed = serviceOf({ 'target-node-labels': 'pool=edge,zone=' });
  assert.deepEqual(balancers.selectBackEnds(narrowed, all), [labelled]);
  assert.deepEqual(balancers.selectBackEnds(serviceOf({ 'target-node-labels': 'constructor=' }), all), []);
  assert.deepEqual(balancers.selectBackEnds(serviceOf({ 'healthcheck-interval': 'x' }), all), [one, labelled]);
});

test('the nodes are gone through once for all Services that ask for the same labels', () => {
  const { balancers } = new NlbRig();
  let visited = 0;
  const all = desiredOf(serviceOf(), instances(0, 1_000)).backEnds.map(({ addresses, node }) => ({
    addresses,
    get node() {
      visited += 1;
      return node;
    },
  }));
  const wishes = [serviceOf, () => serviceOf({ 'target-node-labels': 'pool=edge' })];
  for (let i = 0; i < 100; i++) for (const wish of wishes) balancers.selectBackEnds(wish(), all);
  // Whose they are, and which of them are targets by each of the two wishes.
  assert.equal(visited, 3 * all.length);
  assert.equal(balancers.selectBackEnds(serviceOf(), all), all);
});

test('the targets of hundreds of ports are one list, and are compared as sets', async () => {
  const rig = new NlbRig();
  const desired = desiredOf(serviceOf({}, {}, [80, 443]), instances(0, 100));
  const asked = (await rig.plan(desired)).actions.flatMap(({ input, part }) =>
    part === 'target-group' ? [(input['attributes'] as { readonly targets: unknown }).targets] : [],
  );
  assert.equal(asked.length, 2);
  assert.equal(asked[0], asked[1]);
  for (const [a, b, isSame] of [
    [['x', 'y'], ['y', 'x'], true],
    [['x', 'x', 'y'], ['x', 'y', 'y'], true],
    [['x', 'y'], ['x'], false],
    [['x'], ['x', 'y'], false],
    [[], ['x'], false],
    [['x'], [], false],
    [[], [], true],
    [undefined, [], false],
  ] as const)
    assert.equal(sameSet(a, b), isSame, JSON.stringify([a, b]));
  const wanted = ['x', 'y'];
  let reads = 0;
  const iterate = wanted[Symbol.iterator].bind(wanted);
  Object.defineProperty(wanted, Symbol.iterator, { value: () => (reads++, iterate()) });
  assert.deepEqual([sameSet(['y', 'x'], wanted), sameSet(['y', 'x', 'y'], wanted), reads], [true, true, 1]);
});
