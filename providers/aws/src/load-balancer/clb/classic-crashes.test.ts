import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isCloudError, type DesiredLoadBalancer } from '@outrigger/cloud-provider';
import { aService } from '../annotations/a-service.suite.ts';
import { ClassicRig } from './classic-rig.suite.ts';

const service = aService({
  set: { certificate: 'arn:aws:acm:eu-central-1:123456789012:certificate/c-1', proxyProtocol: '*' },
});

/** Until a plan is complete, as AWS shows things later; with a new process after each failure, unless one goes on. */
async function comesTo(site: ClassicRig, desired: DesiredLoadBalancer, goesOn = false): Promise<void> {
  for (let round = 0; round < 60; round++) {
    const { actions, complete, refused } = await site.plan(desired);
    assert.equal(refused, undefined);
    if (complete) return;
    try {
      for (const action of actions) await site.balancers.apply(action, desired, site.call);
    } catch (error) {
      if (!isCloudError(error)) throw error;
      if (!goesOn) site.restart();
    }
    await site.clock.advance(10_000);
  }
  throw new Error('it comes to no end');
}

const made = (site: ClassicRig): DesiredLoadBalancer => site.desired(service);
const gone = (site: ClassicRig): DesiredLoadBalancer => ({ ...made(site), wanted: false });

const left = (site: ClassicRig): readonly unknown[] => [
  ...site.aws.account.classics.all(),
  ...site.letIn(),
  ...site.aws.account.groups.all().filter(({ name }) => name.startsWith('k8s-')),
];

for (const takesEffect of [true, false]) {
  test(`a process that dies at any write ${takesEffect ? 'after' : 'before'} it took effect leaves nothing twice and nothing behind`, async () => {
    let tried = 0;
    for (let n = 0; n < 40; n++) {
      const site = new ClassicRig();
      site.loseWrite(n, takesEffect);
      await comesTo(site, made(site));
      assert.equal(site.aws.account.classics.all().length, 1, `write ${n}`);
      assert.equal(site.letIn().length, 1, `write ${n}`);
      await comesTo(site, gone(site));
      assert.deepEqual(left(site), [], `write ${n}`);
      if (site.isLossPending) break;
      tried++;
    }
    assert.ok(tried >= 10, `${tried} writes were lost`);
  });
}

test('lists and reads that lag make nothing twice, and hide nothing for good', async () => {
  const site = new ClassicRig();
  Object.assign(site.aws.knobs, { elbLagMs: 15_000, ec2LagMs: 15_000 });
  await comesTo(site, made(site));
  assert.equal(site.classic.instanceIds.length, 3);
  assert.equal(site.aws.calls.counts()['elb:CreateLoadBalancer'], 1);
  await comesTo(site, gone(site));
  assert.deepEqual(left(site), []);
});

/** All that can be changed in place, from one to the other: listeners of each protocol, node ports, subnets of one zone, groups, policies. */
function changesOf(site: ClassicRig): readonly [DesiredLoadBalancer, DesiredLoadBalancer] {
  const named = site.aws.addSecurityGroup({
    vpcId: site.cluster.vpcId,
    name: 'by-hand',
    tags: { 'outrigger.dev/namespaces': 'shop' },
  });
  const port = (name: string, number: number, nodePort: number) =>
    ({ name, port: number, protocol: 'TCP', nodePort }) as const;
  const certificate = (name: string): string => `arn:aws:acm:eu-central-1:123456789012:certificate/${name}`;
  const one = aService({
    ports: [port('https', 443, 30_443), port('http', 80, 30_080), port('mail', 25, 30_025)],
    set: {
      internal: 'true',
      subnets: site.cluster.privateSubnets.join(),
      certificate: certificate('c-1'),
      tlsPorts: 'https',
      tlsPolicy: 'ELBSecurityPolicy-TLS-1-2-2017-01',
      proxyProtocol: '*',
      securityGroups: named,
      tags: 'team=shop',
    },
  });
  const other = aService({
    ports: [port('https', 443, 30_443), port('http', 80, 31_080), port('more', 8080, 30_025)],
    set: {
      internal: 'true',
      subnets: site.cluster.publicSubnets.join(),
      certificate: certificate('c-2'),
      tlsPorts: 'https',
      healthProtocol: 'http',
      healthPath: '/up',
      crossZone: 'true',
      tags: 'env=prod',
    },
  });
  return [site.desired(one, [0, 1]), site.desired(other, [1, 2])];
}

function stateOf(site: ClassicRig): unknown {
  const { attributes, backEndPolicies, groupIds, health, instanceIds, listeners, subnets, tags } = site.classic;
  const { groups } = site.aws.account;
  const namesOf = (ids: readonly string[]): readonly string[] => ids.map((id) => groups.get(id)?.name ?? id).toSorted();
  return structuredClone({
    attributes,
    backEndPolicies,
    health,
    tags,
    groups: namesOf(groupIds),
    letIn: namesOf(site.letIn()),
    instances: instanceIds.toSorted(),
    listeners: listeners.toSorted((a, b) => a.port - b.port),
    subnets: subnets.map(({ id }) => id).toSorted(),
  });
}

for (const takesEffect of [false, true]) {
  for (const ends of ['taken back', 'deleted']) {
    test(`a process that dies at any write of other groups, ${takesEffect ? 'after' : 'before'} it took effect, leaves no rule of a Service that is then ${ends}`, async () => {
      let tried = 0;
      for (let n = 0; ; n++) {
        const site = new ClassicRig();
        const tags = { 'outrigger.dev/namespaces': 'shop' };
        const add = (name: string): string => site.aws.addSecurityGroup({ vpcId: site.cluster.vpcId, name, tags });
        const [one, two] = [add('one'), add('two')];
        const named = (securityGroups: string): DesiredLoadBalancer =>
          site.desired(aService({ set: { securityGroups } }));
        await comesTo(site, named(one));
        site.loseWrite(n, takesEffect);
        const { actions } = await site.plan(named(two));
        for (const action of actions) await site.balancers.apply(action, named(two), site.call).catch(() => undefined);
        const isOver = site.isLossPending;
        site.restart();
        await comesTo(site, ends === 'deleted' ? { ...named(two), wanted: false } : named(one));
        assert.deepEqual(site.letIn(), ends === 'deleted' ? [] : [one], `write ${n}`);
        if (isOver) break;
        tried++;
      }
      assert.ok(tried >= 3, `${tried} writes were lost`);
    });
  }
}

for (const [failure, goesOn, takesEffect] of [
  ['a process that dies before a write of a change', false, false],
  ['a process that dies after a write of a change', false, true],
  ['a request of a change that is lost', true, false],
  ['an answer to a change that is lost', true, true],
] as const) {
  test(`${failure} makes no difference in the end, there and back`, async () => {
    const clean = new ClassicRig();
    const expected: unknown[] = [];
    const [one, other] = changesOf(clean);
    for (const desired of [one, other, one]) {
      await comesTo(clean, desired);
      expected.push(stateOf(clean));
    }
    assert.deepEqual(expected[2], expected[0]);
    let tried = 0;
    // To die after a write is to die before the next one, so that the two tests of that take every write.
    const step = goesOn ? 1 : 2;
    for (let n = 0; n < 80; n += step) {
      const site = new ClassicRig();
      const [before, after] = changesOf(site);
      await comesTo(site, before);
      site.loseWrite(n, takesEffect);
      await comesTo(site, after, goesOn);
      assert.deepEqual(stateOf(site), expected[1], `there, write ${n}`);
      // Who goes on may believe what is so no more.
      if (goesOn || site.isLossPending) {
        await comesTo(site, before, goesOn);
        assert.deepEqual(stateOf(site), expected[0], `back, write ${n}`);
      }
      await comesTo(site, gone(site));
      assert.deepEqual(left(site), [], `write ${n}`);
      if (site.isLossPending) break;
      tried++;
    }
    assert.ok(tried >= 40 / step, `${tried} writes were lost`);
  });
}
