/** What `LoadBalancers` promises amid faults: nothing is made twice, nothing is left over, and no failure says that nothing is there. */
import { strict as assert } from 'node:assert';
import { randomUUID } from 'node:crypto';
import { isCloudError, type DesiredLoadBalancer, type LoadBalancerPart } from '@outrigger/cloud-provider';
import { FAILURES, STATUSES } from './cloud-failures.ts';
import type { ConformanceTest } from './conformance-test.ts';
import { assertGone } from './load-balancer-tests.ts';
import { promise } from './load-balancer-promise.ts';
import { LoadBalancerUser, shapeOf } from './load-balancer-user.ts';
import type { ProviderRig } from './provider-rig.ts';

const TYPES = 'packages/cloud-provider/src/load-balancers.ts';
const LOOKS = 'docs/reference/what-the-host-does.md#what-a-look-leaves-out';
const PROOF = 'docs/adr/0023-parts-are-gone-by-proof.md';

const reads = {
  what: 'loadBalancers.read',
  holds: ({ loadBalancers }) => loadBalancers?.read !== undefined,
} satisfies ConformanceTest['declares'];

export const loadBalancerCrashTests: readonly ConformanceTest[] = [
  promise(
    'a process that dies between two requests leaves nothing that the next one does not finish',
    TYPES,
    async (user, rig) => {
      const whole = await undisturbed(user, rig);
      for (let count = 0; count <= whole.creating; count++) {
        const desired = await whole.another(`crash-${count}`);
        rig.faults.crashAfter(count);
        await user.bringUntilCrash(desired);
        await nextProcess(user, rig, desired);
        const { parts } = await user.bring(desired);
        assert.equal(shapeOf(parts), whole.shape, `it died after ${count} of ${whole.creating} requests`);
        await user.remove(desired);
        await assertGone(user, desired);
      }
      await whole.assertNothingLeft();
    },
  ),

  promise('what is half made can be taken away', TYPES, async (user, rig) => {
    const whole = await undisturbed(user, rig);
    for (let count = 0; count <= whole.creating; count++) {
      const desired = await whole.another(`half-${count}`);
      rig.faults.crashAfter(count);
      await user.bringUntilCrash(desired);
      await nextProcess(user, rig, desired);
      await user.remove(desired);
      await assertGone(user, desired);
    }
    await whole.assertNothingLeft();
  }),

  promise('a deletion that dies between two requests is finished by the next process', TYPES, async (user, rig) => {
    const whole = await undisturbed(user, rig);
    for (let count = 0; count <= whole.deleting; count++) {
      const desired = await whole.another(`going-${count}`);
      await user.bring(desired);
      rig.faults.crashAfter(count);
      await user.bringUntilCrash({ ...desired, wanted: false, backEnds: [] });
      await nextProcess(user, rig, desired);
      await user.remove(desired);
      await assertGone(user, desired);
    }
    await whole.assertNothingLeft();
  }),

  promise('an answer that is lost after its request was carried out makes nothing twice', TYPES, async (user, rig) => {
    const whole = await undisturbed(user, rig);
    for (let nth = 1; nth <= whole.creating; nth++) {
      const desired = await whole.another(`lost-${nth}`);
      rig.faults.set((sent) => (sent.member === 'apply' && sent.nth === nth ? { kind: 'lose' } : undefined));
      const { parts } = await user.bring(desired);
      assert.equal(shapeOf(parts), whole.shape, `the answer to request ${nth} of ${whole.creating} was lost`);
      await user.remove(desired);
      await assertGone(user, desired);
    }
    await whole.assertNothingLeft();
  }),

  promise(
    'answers that the cloud loses make nothing twice',
    TYPES,
    async (user, rig) => {
      const whole = await undisturbed(user, rig);
      const desired = await whole.another('lossy');
      for (let round = 0; round < whole.creating; round++) {
        const planned = user.plan(desired, await user.look(desired.service));
        assert.ok(planned.kind === 'plan');
        const [action] = planned.plan.actions;
        if (!action) break;
        await rig.fail({ kind: 'lost' });
        const result = await user.apply(action, planned.desired);
        await rig.fail(undefined);
        if (result.kind === 'failed') assert.ok(isCloudError(result.error), String(result.error));
        await user.doubt(desired);
      }
      const { parts } = await user.bring(desired);
      assert.equal(shapeOf(parts), whole.shape);
      await user.remove(desired);
      await assertGone(user, desired);
      await whole.assertNothingLeft();
    },
    { hooks: ['fail'] },
  ),

  promise(
    'a request that says it is idempotent may be sent twice',
    'packages/cloud-provider/src/call-context.ts CloudOperation.idempotent',
    async (user, rig) => {
      const whole = await undisturbed(user, rig);
      const patient = new LoadBalancerUser(await rig.beside({ budget: { maxAttempts: 3 } }));
      const { faults } = patient.rig;
      for (let nth = 1; nth <= whole.creating; nth++) {
        const desired = patient.desired(patient.service(`twice-${nth}`), whole.backEnds);
        let isLost = false;
        faults.set((sent) => {
          if (isLost || sent.member !== 'apply' || sent.nth !== nth || !sent.operation.idempotent) return undefined;
          isLost = true;
          return { kind: 'lose' };
        });
        const { parts } = await patient.bring(desired);
        faults.set();
        assert.equal(shapeOf(parts), whole.shape, `request ${nth} was sent twice`);
        await patient.remove(desired);
        await assertGone(patient, desired);
      }
    },
  ),

  promise(
    'a look that fails is no look: it shows nothing, and not that nothing is there',
    `${TYPES} LoadBalancers.observe`,
    async (user, rig) => {
      const desired = user.desired(user.service('unwell'), [await rig.createBackEnd('a')]);
      const { parts } = await user.bring(desired);
      rig.faults.set();
      await user.look(desired.service);
      const requests = rig.faults.count('observe');
      for (const code of FAILURES) {
        for (let nth = 1; nth <= requests; nth++) {
          rig.faults.set((sent) => (sent.nth === nth ? { kind: 'fail', code } : undefined));
          const seen = await user.look(desired.service).then(({ parts: shown }) => shown, noError);
          rig.faults.set();
          const isWhole = seen === undefined || shapeOf(ownOf(seen, desired)) === shapeOf(parts);
          assert.ok(
            isWhole,
            `request ${nth} of ${requests} ended as ${code}, and the look shows ${seen && shapeOf(seen)}`,
          );
        }
      }
    },
  ),

  promise('listOwned shows all, or throws', `${TYPES} LoadBalancers.listOwned`, async (user, rig) => {
    const desired = user.desired(user.service('listed'), [await rig.createBackEnd('a')]);
    const { parts } = await user.bring(desired);
    rig.faults.set();
    assert.equal(shapeOf(ownOf(await user.listOwned(), desired)), shapeOf(parts), 'listOwned shows what a look shows');
    const requests = rig.faults.count('listOwned');
    assert.ok(requests > 0, 'listOwned asks the cloud');
    for (let nth = 1; nth <= requests; nth++) {
      rig.faults.set((sent) => (sent.nth === nth ? { kind: 'fail', code: 'unavailable' } : undefined));
      await assert.rejects(
        user.listOwned(),
        (error) => isCloudError(error),
        `request ${nth} of ${requests} failed, and the list was given all the same`,
      );
    }
    rig.faults.set();
  }),

  promise(
    'read says there of what is there, and absent with a proof of what is gone',
    PROOF,
    async (user, rig) => {
      const desired = user.desired(user.service('read'), [await rig.createBackEnd('a')]);
      const { parts } = await user.bring(desired);
      const { owner } = desired;
      const names = user.balancers.namedByOwner ?? [];
      for (const { id, kind } of parts) {
        const [answer] = await user.ask({ kind, id, owner });
        assert.equal(answer?.kind, 'there', `${kind} ${id} is there`);
      }
      for (const kind of new Set(parts.map((part) => part.kind).filter((one) => names.includes(one)))) {
        const [answer] = await user.ask({ kind, owner });
        assert.equal(answer?.kind, 'there', `${kind}, by the name that is made from its owner`);
      }
      const [first] = parts;
      assert.ok(first);
      const [other] = await user.ask({ kind: first.kind, id: first.id, owner: { ...owner, uid: randomUUID() } });
      assert.equal(other?.kind, 'absent', "another Service's part is absent for this one");
      await user.remove(desired);
      for (const { id, kind } of parts) {
        const [answer] = await user.ask({ kind, id, owner });
        assert.ok(answer?.kind === 'absent' && answer.proof !== '', `${kind} ${id} is gone: ${answer?.kind}`);
      }
    },
    { declares: reads },
  ),

  promise(
    'no failure makes a part absent',
    PROOF,
    async (user, rig) => {
      const desired = user.desired(user.service('doubt'), [await rig.createBackEnd('a')]);
      const { parts } = await user.bring(desired);
      const questions = questionsOf(user, desired, parts);
      for (const code of FAILURES) {
        rig.faults.set(() => ({ kind: 'fail', code }));
        const kinds = await user.ask(...questions).then((answers) => answers.map(({ kind }) => kind), failed);
        rig.faults.set();
        assert.ok(!kinds.includes('absent'), `while requests end as ${code}: ${kinds.join(', ')}`);
      }
      await rig.recovers('each part is there', async () =>
        (await user.ask(...questions)).every(({ kind }) => kind === 'there'),
      );
    },
    { declares: reads },
  ),

  promise(
    'no status of the cloud makes a part absent, nor a list empty',
    PROOF,
    async (user, rig) => {
      const desired = user.desired(user.service('status'), [await rig.createBackEnd('a')]);
      const { parts } = await user.bring(desired);
      const questions = questionsOf(user, desired, parts);
      const pause = rig.fixture.clock ? 60_000 : 0;
      for (const status of STATUSES) {
        await rig.fail({ kind: 'status', status });
        const seen = await user.look(desired.service).then((look) => shapeOf(ownOf(look.parts, desired)), noError);
        await rig.wait(pause);
        const kinds = user.balancers.read
          ? await user.ask(...questions).then((answers) => answers.map(({ kind }) => kind), failed)
          : [];
        await rig.fail(undefined);
        await rig.wait(pause);
        assert.equal(seen, undefined, `after ${status}, a look shows ${seen}`);
        assert.ok(!kinds.includes('absent'), `after ${status}: ${kinds.join(', ')}`);
      }
    },
    { hooks: ['fail'] },
  ),

  promise(
    'lists that lag hide nothing for good: nothing is made twice, nothing is left',
    LOOKS,
    async (user, rig) => {
      const backEnds = [await rig.createBackEnd('a')];
      const whole = await user.bring(user.desired(user.service('prompt'), backEnds));
      const before = await rig.fixture.listParts?.();
      const lagMs = 20_000;
      await rig.fixture.lag?.(lagMs);
      const desired = user.desired(user.service('late'), backEnds);
      const { parts } = await user.bring(desired);
      assert.equal(shapeOf(parts), shapeOf(whole.parts));
      if (user.balancers.read) {
        await rig.wait(lagMs);
        assert.ok((await user.ask(...questionsOf(user, desired, parts))).every(({ kind }) => kind === 'there'));
      }
      await user.remove(desired);
      await rig.wait(lagMs);
      await rig.fixture.lag?.(0);
      await assertGone(user, desired);
      assert.deepEqual((await rig.fixture.listParts?.())?.toSorted(), before?.toSorted(), 'what is left in the cloud');
    },
    { hooks: ['lag', 'listParts'] },
  ),
];

interface Undisturbed {
  /** Requests of `apply`. */
  readonly creating: number;
  readonly deleting: number;
  readonly shape: string;
  readonly backEnds: DesiredLoadBalancer['backEnds'];
  another(name: string): Promise<DesiredLoadBalancer>;
  assertNothingLeft(): Promise<void>;
}

/** What one costs, and consists of, when nothing goes wrong. */
async function undisturbed(user: LoadBalancerUser, rig: ProviderRig): Promise<Undisturbed> {
  const backEnds = [await rig.createBackEnd('a')];
  const before = await rig.fixture.listParts?.();
  const desired = user.desired(user.service('whole'), backEnds);
  rig.faults.set();
  const { parts } = await user.bring(desired);
  const creating = rig.faults.count('apply');
  assert.ok(creating > 0, 'apply asks the cloud, by call.call');
  rig.faults.set();
  await user.remove(desired);
  return {
    creating,
    deleting: rig.faults.count('apply'),
    shape: shapeOf(parts),
    backEnds,
    another: async (name) => user.desired(user.service(name), backEnds),
    assertNothingLeft: async () => {
      if (before)
        assert.deepEqual((await rig.fixture.listParts?.())?.toSorted(), before.toSorted(), 'what is left in the cloud');
    },
  };
}

/** Nothing is known but what the cloud has, which may still be at work on the last request. */
async function nextProcess(user: LoadBalancerUser, rig: ProviderRig, desired: DesiredLoadBalancer): Promise<void> {
  await rig.restart();
  await user.doubt(desired);
}

function questionsOf(
  { balancers }: LoadBalancerUser,
  { owner }: DesiredLoadBalancer,
  parts: readonly LoadBalancerPart[],
): readonly { readonly kind: string; readonly id?: string; readonly owner: DesiredLoadBalancer['owner'] }[] {
  const kinds = new Set(parts.map(({ kind }) => kind).filter((kind) => balancers.namedByOwner?.includes(kind)));
  return [...parts.map(({ id, kind }) => ({ kind, id, owner })), ...[...kinds].map((kind) => ({ kind, owner }))];
}

function ownOf(parts: readonly LoadBalancerPart[], { owner }: DesiredLoadBalancer): readonly LoadBalancerPart[] {
  return parts.filter((part) => part.owner?.uid === owner.uid && part.owner.clusterId === owner.clusterId);
}

function failed(error: unknown): readonly string[] {
  noError(error);
  return ['failed'];
}

function noError(error: unknown): undefined {
  assert.ok(isCloudError(error), `not a CloudError: ${String(error)}`);
  return undefined;
}
