/** Where AWS has no room for all machines: quotas of targets. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudError, type CallContext, type DesiredLoadBalancer } from '@outrigger/cloud-provider';
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
  assert.equal(count, 3 * 57);
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

test('of a full target group half stays while the others are replaced, also where one machine stays', async () => {
  const rig = new NlbRig();
  rig.elbv2.mostTargets = 10;
  await rig.bring(desiredOf(serviceOf(), instances(0, 10)));
  let fewest = Infinity;
  rig.elbv2.onWrite = () => (fewest = Math.min(fewest, registeredIn(rig).length));
  const replaced = [...instances(0, 1), ...instances(16, 25)];
  await rig.bring(desiredOf(serviceOf(), replaced));
  assert.deepEqual(registeredIn(rig), replaced);
  assert.ok(fewest >= 5, `${fewest} served`);
});

test('a call that ends between what leaves and what comes is followed by a read of what is there', async () => {
  const rig = new NlbRig();
  rig.elbv2.mostTargets = 5;
  const first = desiredOf(serviceOf(), instances(0, 5));
  await rig.bring(first);
  const replaced = desiredOf(serviceOf(), [...instances(0, 1), ...instances(16, 20)]);
  const stop = new AbortController();
  const call: CallContext = { ...rig.call, signal: stop.signal, call: (_operation, send) => send(stop.signal) };
  rig.elbv2.onWrite = () => {
    if (rig.elbv2.calls.at(-1) !== 'DeregisterTargets') return;
    rig.elbv2.fault = { after: 0, takesEffect: false };
    stop.abort();
  };
  const { actions } = await rig.plan(replaced);
  for (const action of actions) await assert.rejects(rig.balancers.apply(action, replaced, call));
  rig.elbv2.onWrite = () => {};
  assert.ok(registeredIn(rig).length < 5);
  await rig.bring(first);
  assert.deepEqual(registeredIn(rig), instances(0, 5));
});

test('targets are read again where it could not be asked which of them drain', async () => {
  const rig = new NlbRig();
  rig.elbv2.mostTargets = 10;
  const first = desiredOf(serviceOf(), instances(0, 6));
  await rig.bring(first);
  const replaced = desiredOf(serviceOf(), [...instances(0, 1), ...instances(16, 25)]);
  rig.elbv2.onSend = (operation) => {
    const isAsked = operation === 'DescribeTargetHealth' && rig.elbv2.calls.includes('RegisterTargets');
    if (isAsked) throw new CloudError('unavailable', 'throttled');
  };
  const { actions } = await rig.plan(replaced);
  rig.elbv2.calls.length = 0;
  for (const action of actions)
    assert.equal((await rig.balancers.apply(action, replaced, rig.call).catch(() => undefined))?.kind, undefined);
  rig.elbv2.onSend = () => {};
  await rig.bring(first);
  assert.deepEqual(registeredIn(rig), instances(0, 6));
});

test('good machines beside many that are targets too often are taken', async () => {
  const rig = new NlbRig();
  for (const id of [...instances(0, 50), ...instances(99, 100)]) rig.elbv2.tooOften.add(id);
  await rig.bring(desiredOf(serviceOf(), instances(0, 100)));
  assert.deepEqual(registeredIn(rig), instances(50, 99));
});
