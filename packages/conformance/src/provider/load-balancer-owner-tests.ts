/** What `LoadBalancers` promises of what is another's: another Service's, another cluster's, nobody's. */
import { strict as assert } from 'node:assert';
import { randomUUID } from 'node:crypto';
import { isCloudError, sameOwner, type LoadBalancerPart, type Owner } from '@outrigger/cloud-provider';
import type { ConformanceTest } from './conformance-test.ts';
import { assertTouchesDeclared } from './declared-touches.ts';
import { assertGone } from './load-balancer-tests.ts';
import { promise } from './load-balancer-promise.ts';
import { LoadBalancerUser, shapeOf, type BringOptions, type Brought } from './load-balancer-user.ts';
import type { NamedThing } from './provider-fixture.ts';

const TYPES = 'packages/cloud-provider/src/load-balancers.ts';
/** Of a provider, in what the host says of its plan. */
const MISTAKE = /^the provider (?:planned|reported) |is not known to belong/;
const OTHERS = 'docs/reference/what-the-host-does.md#parts-of-others';

export const loadBalancerOwnerTests: readonly ConformanceTest[] = [
  promise(
    'each part says whose it is: this cluster and this Service',
    `${TYPES} LoadBalancerPart.owner`,
    async (user, rig) => {
      const desired = user.desired(user.service('owner'), [await rig.createBackEnd('a')]);
      const before = await rig.fixture.listParts?.();
      const { actions, parts } = await user.bring(desired);
      const made = new Set(actions.filter(({ kind }) => kind === 'create').map(({ part }) => part));
      for (const kind of made) {
        const own = parts.filter((part) => part.kind === kind && sameOwner(part.owner, desired.owner));
        assert.ok(own.length > 0, `${kind} was made, and no tag says that it is this Service's`);
      }
      const owned = (await user.listOwned()).map(({ id }) => id);
      const more = await rig.fixture.listParts?.();
      for (const { id, kind } of parts) {
        assert.ok(owned.includes(id), `listOwned leaves out ${kind} ${id}`);
        assert.ok(!more || (more.includes(id) && !before?.includes(id)), `${kind} ${id} was not there, and is now`);
      }
    },
  ),

  promise(
    'another cluster sees nothing of this one as its own, and takes nothing of it away',
    OTHERS,
    async (user, rig) => {
      const service = user.service('shared-cloud');
      const backEnds = [await rig.createBackEnd('a')];
      const here = user.desired(service, backEnds);
      const { parts } = await user.bring(here);
      const neighbour = new LoadBalancerUser(await rig.beside());
      // Of the same name and UID, as after a backup that was restored twice.
      const there = neighbour.desired(service, backEnds);
      const seen = await neighbour.own(there);
      assert.equal(shapeOf(seen), 'nothing', "this cluster's parts are the other one's too");
      const listed = (await neighbour.listOwned()).filter(({ id }) => parts.some((part) => part.id === id));
      assert.equal(shapeOf(listed), 'nothing', "the other cluster lists this one's parts");
      await neighbour.remove(there);
      await assertAsBefore(user, here.owner, parts);
      const served = await bringOrRefuse(neighbour, there);
      await assertAsBefore(user, here.owner, parts);
      if (served) await neighbour.remove(there);
      await assertAsBefore(user, here.owner, parts);
      const planned = user.plan(here, await user.look(service));
      const isIdle = planned.kind === 'plan' && planned.plan.actions.length === 0;
      assert.ok(isIdle, 'after the other cluster came and went, there is something to do');
      if (user.balancers.read) {
        const [first] = parts;
        assert.ok(first);
        const [answer] = await neighbour.ask({ kind: first.kind, id: first.id, owner: there.owner });
        assert.equal(answer?.kind, 'absent', "another cluster's part is absent for this one");
      }
    },
  ),

  promise(
    'a Service of the same name waits for the earlier one, or has parts of its own',
    OTHERS,
    async (user, rig) => {
      const backEnds = [await rig.createBackEnd('a')];
      const earlier = user.desired(user.service('named'), backEnds);
      const { parts } = await user.bring(earlier);
      const later = user.desired({ ...earlier.service, uid: randomUUID() }, backEnds);
      const served = await bringOrRefuse(user, later);
      await assertAsBefore(user, earlier.owner, parts);
      for (const { id } of served?.parts ?? []) {
        assert.ok(!parts.some((part) => part.id === id), `${id} is both Services'`);
      }
      await user.remove(earlier);
      await assertGone(user, earlier);
      const { ingress } = await user.bring(later);
      assert.ok(ingress.length > 0, 'the earlier one is gone, and the later one is not served');
      await user.remove(later);
      await assertGone(user, later);
    },
  ),

  promise('the deletion of one Service leaves the others as they are', OTHERS, async (user, rig) => {
    const backEnds = [await rig.createBackEnd('a')];
    const [stays, goes] = [user.desired(user.service('stays'), backEnds), user.desired(user.service('goes'), backEnds)];
    const { parts } = await user.bring(stays);
    await user.bring(goes);
    await user.remove(goes);
    await assertGone(user, goes);
    await assertAsBefore(user, stays.owner, parts);
  }),

  promise(
    "the plan touches no part that is another's, and only claims what is nobody's",
    `${TYPES} LoadBalancers.plan`,
    async (user, rig) => {
      const desired = user.desired(user.service('strangers'), [await rig.createBackEnd('a')]);
      await user.bring(desired);
      const seen = await user.look(desired.service);
      const owners: readonly (Owner | undefined)[] = [
        { ...desired.owner, uid: randomUUID() },
        { ...desired.owner, clusterId: randomUUID() },
        undefined,
      ];
      for (const owner of owners) {
        for (const { id } of seen.parts) {
          const shown = {
            ...seen,
            parts: seen.parts.map((part): LoadBalancerPart => (part.id === id ? { ...part, owner } : part)),
          };
          for (const wanted of [true, false]) {
            const goal = { ...desired, wanted, backEnds: wanted ? desired.backEnds : [] };
            // What the host would refuse is thrown.
            const planned = safely(() => user.plan(goal, shown));
            const actions = planned?.kind === 'plan' ? planned.plan.actions : [];
            const wrong = actions.find(
              (action) => action.id === id && (owner !== undefined || action.kind !== 'claim'),
            );
            assert.equal(
              wrong,
              undefined,
              `${wrong?.kind} ${wrong?.part}, which is ${owner ? "another's" : "nobody's"}`,
            );
          }
        }
      }
    },
  ),

  promise(
    'what a Service names of others is used only where a plan declares it and its namespace may use it',
    `${TYPES} LoadBalancerAction.touches`,
    async (user, rig) => {
      const backEnds = [await rig.createBackEnd('a')];
      for (const isAllowed of [false, true]) {
        const { namespace } = user.service('names');
        const things = await rig.fixture.createNamedThings?.(isAllowed ? namespace : undefined);
        for (const thing of things ?? []) {
          for (const isServed of [false, true]) {
            const plain = user.desired(user.service('names'), backEnds);
            if (isServed) await user.bring(plain);
            const naming = { ...plain, service: { ...plain.service, ...thing.wish } };
            await bringNaming(user, naming, thing);
            const isServable = isAllowed && !isServed && isDeclared(user, thing);
            const isServedYet = async (): Promise<boolean> => !isServable || (await thing.isUsed());
            // A provider may know of it, or that it is allowed, only a while after it was made.
            for (let waits = 60; !(await isServedYet()); waits--) {
              assert.ok(waits > 0, `the ${thing.kind} is allowed, and not used within two minutes`);
              await rig.wait(2_000);
              await bringNaming(user, naming, thing);
            }
            await user.remove(plain);
          }
        }
      }
    },
    { hooks: ['createNamedThings'] },
  ),
];

/** Until it is served, or refused. Fails when the thing comes into use by an action that may not use it. */
async function bringNaming(
  user: LoadBalancerUser,
  desired: Parameters<LoadBalancerUser['bring']>[0],
  thing: NamedThing,
): Promise<void> {
  let wasUsed = await thing.isUsed();
  const onAction: NonNullable<BringOptions['onAction']> = async (action, judged, parts) => {
    const isUsed = await thing.isUsed();
    if (isUsed && !wasUsed) assertTouchesDeclared(action, [thing], judged, parts);
    wasUsed = isUsed;
  };
  try {
    await user.bring(desired, { onAction });
  } catch (error) {
    if (!isCloudError(error) || MISTAKE.test(error.message)) throw error;
  }
}

const isDeclared = ({ balancers }: LoadBalancerUser, { wish: { annotations = {} } }: NamedThing): boolean =>
  Object.keys(annotations).every((one) => balancers.annotations.some(({ name }) => name === one));

/** What it came to, or nothing where the name is taken; another failure is one. */
async function bringOrRefuse(
  user: LoadBalancerUser,
  desired: Parameters<LoadBalancerUser['bring']>[0],
): Promise<Brought | undefined> {
  try {
    return await user.bring(desired);
  } catch (error) {
    assert.ok(
      isCloudError(error, 'conflict') || isCloudError(error, 'not-owned') || isCloudError(error, 'invalid'),
      String(error),
    );
    return undefined;
  }
}

async function assertAsBefore(user: LoadBalancerUser, owner: Owner, parts: readonly LoadBalancerPart[]): Promise<void> {
  const now = (await user.listOwned()).filter((part) => sameOwner(part.owner, owner));
  const ids = (those: readonly LoadBalancerPart[]): readonly string[] =>
    those.map(({ id, kind }) => `${kind} ${id}`).toSorted();
  assert.deepEqual(ids(now), ids(parts), 'the parts of a Service that nobody has touched');
}

/** A plan that the provider itself, or the host, refuses changes nothing; what the host refuses is the provider's mistake. */
function safely<T>(plan: () => T): T | undefined {
  try {
    return plan();
  } catch (error) {
    if (isCloudError(error) && MISTAKE.test(error.message)) throw error;
    return undefined;
  }
}
