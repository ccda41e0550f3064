/** Where AWS has no room for all machines: quotas of targets. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DesiredLoadBalancer } from '@outrigger/cloud-provider';
import { FakeRig } from '../fake-rig.suite.ts';
import { desiredOf, NlbRig, serviceOf } from './nlb-rig.suite.ts';

const instances = (from: number, to: number): readonly string[] =>
  Array.from({ length: to - from }, (_, i) => `i-${(from + i).toString(16).padStart(8, '0')}`);

function registeredIn({ elbv2 }: NlbRig): readonly string[] {
  const [arn = ''] = elbv2.targetGroups.keys();
  return elbv2.targetsOf(arn).toSorted();
}

test('room that machines leave is used at once, however long the others were to wait', async () => {
  const rig = new NlbRig();
  rig.elbv2.mostTargets = 100;
  const all = desiredOf(serviceOf(), instances(0, 120));
  for (const waitedMs of [0, 60_000, 120_000, 240_000, 480_000, 960_000]) {
    await rig.clock.advance(waitedMs);
    await rig.bring(all);
  }
  const fewer = desiredOf(serviceOf(), instances(50, 120));
  await rig.bring(fewer);
  assert.deepEqual(registeredIn(rig), instances(50, 120));
  assert.equal((await rig.plan(fewer)).warnings, undefined);
});

test('of a full target group whose machines are all replaced, half make room, and the others go once a new one is a target', async () => {
  const rig = new NlbRig();
  rig.elbv2.mostTargets = 5;
  await rig.bring(desiredOf(serviceOf(), instances(0, 5)));
  rig.elbv2.calls.length = 0;
  let fewest = Infinity;
  rig.elbv2.onWrite = () => (fewest = Math.min(fewest, registeredIn(rig).length));
  await rig.bring(desiredOf(serviceOf(), instances(16, 21)));
  assert.deepEqual(registeredIn(rig), instances(16, 21));
  assert.ok(fewest >= 2, `${fewest} served`);
});

test('of a full target group with one machine that one stays, and of others no more than half go until those have drained', async () => {
  for (const [had, left] of [
    [1, 1],
    [5, 3],
  ] as const) {
    const rig = new NlbRig();
    rig.elbv2.mostTargets = had;
    await rig.bring(desiredOf(serviceOf(), instances(0, had)));
    // What drains takes its room, or something else of the load balancer does.
    rig.elbv2.mostTargets = 0;
    const replaced = desiredOf(serviceOf(), instances(16, 16 + had));
    for (let attempt = 0; attempt < 3; attempt++) await assert.rejects(rig.bring(replaced), /maximum of targets/u);
    assert.equal(registeredIn(rig).length, left);
    // It has drained.
    const [[, targets] = []] = rig.elbv2.targets;
    for (const [id, state] of targets ?? []) if (state === 'draining') targets?.delete(id);
    rig.elbv2.mostTargets = had;
    if (had > 1) await rig.bring(replaced);
    assert.deepEqual(registeredIn(rig), had > 1 ? instances(16, 16 + had) : instances(0, 1));
  }
});

test('where all machines are targets too often, few requests find out', async () => {
  const rig = new NlbRig();
  for (const id of instances(0, 100)) rig.elbv2.tooOften.add(id);
  await assert.rejects(rig.bring(desiredOf(serviceOf(), instances(0, 100))), /maximum of registrations/u);
  const { RegisterTargets: count = 0 } = rig.elbv2.counts();
  // Tried three times: beside the creations of the load balancer and of the listener, and alone.
  assert.equal(count, 3 * 27);
});

test('however many machines are targets too often, those of another request are none the worse', async () => {
  const rig = new NlbRig();
  for (const id of instances(0, 100)) rig.elbv2.tooOften.add(id);
  // Scattered, each of them is found.
  for (let i = 100; i < 200; i += 5) rig.elbv2.tooOften.add(instances(i, i + 1)[0]!);
  await rig.bring(desiredOf(serviceOf(), instances(0, 300)));
  const taken = instances(0, 300).filter((id) => !rig.elbv2.tooOften.has(id));
  assert.deepEqual(registeredIn(rig), taken);
});

test('a zone that is full keeps no node of another zone out', async () => {
  const rig = new FakeRig({ knobs: { mostTargets: 3 } }, 8);
  const { instances: machines, subnets, targetGroups, targets } = rig.aws.account;
  const zoneOf = (id: string): string => subnets.get(machines.get(id)?.subnetId ?? '')?.zone ?? '';
  const sorted = rig.instances.toSorted();
  const full = zoneOf(sorted[0]!);
  const inFull = sorted.filter((id) => zoneOf(id) === full);
  const others = sorted.filter((id) => zoneOf(id) !== full);
  assert.deepEqual([inFull.length, others.length], [4, 4]);
  const labelled = (nodes: readonly string[]): DesiredLoadBalancer => {
    const desired = rig.desired(serviceOf(), nodes);
    const backEnds = desired.backEnds.map(({ addresses, node }) => ({
      addresses,
      node: { ...node, labels: { 'topology.kubernetes.io/zone': zoneOf(node.name) } },
    }));
    return { ...desired, backEnds };
  };
  // Whichever of them come first by their IDs.
  for (const nodes of [
    [...inFull, ...others.slice(1)],
    [...inFull.slice(1), ...others],
  ]) {
    await rig.bring(labelled([]));
    await rig.bring(labelled(nodes));
    const zones = targetGroups
      .all()
      .flatMap(({ id }) => targets.of(id))
      .filter(({ drainsUntil }) => drainsUntil === undefined)
      .map(({ id }) => zoneOf(id));
    assert.deepEqual([zones.length, zones.filter((zone) => zone === full).length], [6, 3]);
  }
});

for (const code of ['TooManyTargets', 'TooManyRegistrationsForTargetId']) {
  test(`a listener that AWS refuses with ${code} holds up no other port`, async () => {
    const rig = new FakeRig();
    const { listeners, targetGroups } = rig.aws.account;
    const refuses = (operation: string): void => rig.aws.faults.set({ operation, status: 400, code, times: 1 });
    const both = rig.desired(serviceOf({}, {}, [80, 443]));
    // What was made with the last action is told instead; the next pass makes the other one.
    refuses('CreateListener');
    await rig.bring(both);
    assert.equal(listeners.all().length, 2);
    const ports = both.service.ports.map((one) => ({ ...one, nodePort: (one.nodePort ?? 0) + 1_000 }));
    const moved = rig.desired(serviceOf({}, { ports }));
    refuses('ModifyListener');
    await assert.rejects(rig.bring(moved), /ModifyListener/u);
    const nodePorts = listeners.all().map(({ targetGroupIds: [id = ''] }) => targetGroups.get(id)?.port ?? 0);
    assert.equal(nodePorts.filter((port) => port > 31_000).length, 1);
    await rig.bring(moved);
    assert.equal(targetGroups.all().length, 2);
  });
}

test('where AWS refuses each listener for a quota of targets, that is an error', async () => {
  const rig = new FakeRig();
  rig.aws.faults.set({ operation: 'CreateListener', status: 400, code: 'TooManyTargets', times: 4 });
  const both = rig.desired(serviceOf({}, {}, [80, 443]));
  for (let attempt = 0; attempt < 2; attempt++) await assert.rejects(rig.bring(both), /CreateListener/u);
  await rig.bring(both);
  assert.equal(rig.aws.account.listeners.all().length, 2);
});
