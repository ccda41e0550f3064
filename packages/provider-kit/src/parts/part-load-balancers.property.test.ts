import assert from 'node:assert/strict';
import { test } from 'node:test';
import type {
  CallContext,
  DesiredLoadBalancer,
  LoadBalancerPart,
  LoadBalancerPlan,
  LoadBalancers,
  Owner,
} from '@outrigger/cloud-provider';
import { FakeClock } from '@outrigger/testing';
import * as fc from 'fast-check';
import {
  callOf,
  desiredOf,
  KINDS,
  loadBalancersOf,
  ME,
  PartCloud,
  serviceOf,
  type CloudPart,
} from './part-cloud.suite.ts';

const MOST_ROUNDS = 60;
const owner = fc.constantFrom<Owner>(ME, ME, ME, { ...ME, uid: 'other' }, { clusterId: 'other', uid: 'me' });

/** A part that somebody has left there: half made, doubled, of a size that is not wanted any more. */
const leftOver = fc.record({
  kind: fc.constantFrom(...KINDS),
  owner,
  port: fc.constantFrom(80, 443, 8080),
  size: fc.constantFrom('small', 'large'),
  nth: fc.nat({ max: 5 }),
  state: fc.constantFrom<CloudPart['state']>('ready', 'ready', 'failed'),
});
const wish = fc.record({
  ports: fc.uniqueArray(fc.constantFrom(80, 443, 8080), { minLength: 1, maxLength: 3 }),
  size: fc.constantFrom('small', 'large'),
  nodes: fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { maxLength: 3 }),
  rounds: fc.nat({ max: 3 }),
});
/** After how many actions the program dies, and whether the last one's answer is lost. */
const crash = fc.record({ after: fc.nat({ max: 4 }), isLost: fc.boolean() });

function fill(
  cloud: PartCloud,
  leftOvers: readonly (typeof leftOver extends fc.Arbitrary<infer T> ? T : never)[],
): void {
  for (const { kind, nth, owner, port, size, state } of leftOvers) {
    const idsOf = (one: string): readonly string[] =>
      [...cloud.parts.values()].filter((part) => part.kind === one && part.owner === owner).map(({ id }) => id);
    const addressId = idsOf('address')[nth];
    const target = idsOf('load-balancer')[nth];
    const made =
      kind === 'address'
        ? cloud.add(kind, owner, {})
        : kind === 'pool'
          ? cloud.add(kind, owner, { port, nodePort: 1, members: [] }, `TCP-${port}`)
          : kind === 'load-balancer' && addressId !== undefined
            ? cloud.add(kind, owner, { addressId, poolIds: idsOf('pool').slice(0, nth), size })
            : kind === 'dns' && target !== undefined
              ? cloud.add(kind, owner, { name: 'web', target })
              : undefined;
    if (made) made.state = state;
  }
}

/** What the host checks of each plan before anything is done. */
function check(plan: LoadBalancerPlan, desired: DesiredLoadBalancer, parts: readonly LoadBalancerPart[]): void {
  for (const { id, kind, part } of plan.actions) {
    if (kind === 'create') {
      assert.ok(desired.wanted);
      continue;
    }
    const found = parts.find((one) => one.id === id && one.kind === part);
    assert.deepEqual(found?.owner, kind === 'claim' ? undefined : desired.owner);
  }
  assert.deepEqual(structuredClone(plan.actions), plan.actions, 'a plan is data');
}

async function round(
  cloud: PartCloud,
  balancers: LoadBalancers,
  desired: DesiredLoadBalancer,
  call: CallContext,
  { after, isLost }: { readonly after: number; readonly isLost: boolean } = { after: Infinity, isLost: false },
): Promise<LoadBalancerPlan> {
  const [seen] = await balancers.observe([desired.service], call);
  assert.ok(seen?.kind === 'parts');
  const plan = balancers.plan(desired, seen.parts);
  assert.deepEqual(balancers.plan(desired, seen.parts.toReversed()), plan, 'the order of a list says nothing');
  check(plan, desired, seen.parts);
  const all = [...cloud.parts.values()].filter((part) => part.owner);
  const shown = all.map(({ key, ...part }) =>
    key === undefined ? part : { ...part, attributes: { ...part.attributes, key } },
  );
  assert.deepEqual(balancers.plan(desired, shown), plan, 'what is others’ says nothing');
  for (const [i, action] of plan.actions.entries()) {
    if (i > after) break;
    if (i === after && !isLost) break;
    // Nothing that is planned is refused.
    await balancers.apply(action, desired, call);
  }
  cloud.tick();
  return plan;
}

async function untilComplete(...args: Parameters<typeof round>): Promise<LoadBalancerPlan> {
  for (let i = 0; i < MOST_ROUNDS; i++) {
    const plan = await round(...args);
    if (plan.complete) return plan;
  }
  return assert.fail(`not complete after ${MOST_ROUNDS} rounds: ${JSON.stringify([...args[0].parts.values()])}`);
}

test('property: whatever was half made, the parts become what is wanted, then nothing; others’ are never touched', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.boolean(),
      fc.array(leftOver, { maxLength: 12 }),
      fc.array(wish, { minLength: 1, maxLength: 3 }),
      fc.array(crash, { maxLength: 6 }),
      async (isAsync, leftOvers, wishes, crashes) => {
        const cloud = new PartCloud(isAsync);
        fill(cloud, leftOvers);
        const clock = new FakeClock();
        const balancers = loadBalancersOf(cloud);
        const call = callOf(clock);
        const others = (): unknown[] =>
          [...cloud.parts.values()]
            .filter((part) => part.owner !== ME && !isMine(part))
            .map(({ id, kind, key, owner, attributes }) => ({ id, kind, key, owner, attributes }));
        const before = structuredClone(others());
        const deaths = crashes.values();
        for (const { nodes, ports, rounds, size } of wishes) {
          const desired = desiredOf(serviceOf(ports, size), nodes);
          for (let i = 0; i < rounds; i++) await round(cloud, balancers, desired, call, deaths.next().value);
        }
        const { nodes, ports, size } = wishes.at(-1)!;
        const desired = desiredOf(serviceOf(ports, size), nodes);
        const plan = await untilComplete(cloud, balancers, desired, call);
        assert.deepEqual(plan.actions, []);
        const mine = [...cloud.parts.values()].filter(isMine);
        const one = (kind: string): CloudPart => {
          const found = mine.filter((part) => part.kind === kind);
          assert.equal(found.length, 1, kind);
          return found[0]!;
        };
        const pools = mine.filter(({ kind }) => kind === 'pool').toSorted((a, b) => (a.key! < b.key! ? -1 : 1));
        assert.deepEqual(
          pools.map(({ attributes }) => attributes),
          ports
            .toSorted((a, b) => (`TCP-${a}` < `TCP-${b}` ? -1 : 1))
            .map((port) => ({ port, nodePort: 30_000 + port, members: nodes })),
        );
        const { addressId, poolIds, size: made } = one('load-balancer').attributes;
        assert.deepEqual([addressId, made], [one('address').id, size]);
        assert.deepEqual((poolIds as string[]).toSorted(), pools.map(({ id }) => id).toSorted());
        assert.deepEqual(one('dns').attributes, { name: 'web', target: one('load-balancer').id });
        assert.ok(mine.every(({ state }) => state === 'ready'));
        for (const death of deaths) await round(cloud, balancers, desiredOf(desired.service, [], false), call, death);
        await untilComplete(cloud, balancers, desiredOf(desired.service, [], false), call);
        assert.deepEqual([...cloud.parts.values()].filter(isMine), []);
        assert.deepEqual(others(), before);
      },
    ),
    { numRuns: 300 },
  );
});

function isMine({ owner }: CloudPart): boolean {
  return owner?.clusterId === ME.clusterId && owner.uid === ME.uid;
}
