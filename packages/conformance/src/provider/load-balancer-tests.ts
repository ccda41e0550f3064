// Over 400 lines: one test for each promise, side by side.
/** What `LoadBalancers` promises of one that comes, changes, and goes. */
import { strict as assert } from 'node:assert';
import type { BackEnd, DesiredLoadBalancer } from '@outrigger/cloud-provider';
import { checkPlan } from '@outrigger/controllers';
import type { ConformanceTest } from './conformance-test.ts';
import { promise } from './load-balancer-promise.ts';
import { shapeOf, type LoadBalancerUser } from './load-balancer-user.ts';

const TYPES = 'packages/cloud-provider/src/load-balancers.ts';
const HOST = 'docs/reference/what-the-host-does.md#load-balancers';

const planMembers = {
  what: 'loadBalancers.planMembers',
  holds: ({ loadBalancers }) => loadBalancers?.planMembers !== undefined,
} satisfies ConformanceTest['declares'];

export const loadBalancerTests: readonly ConformanceTest[] = [
  promise('one is made, gets its address last, and is complete', HOST, async (user, rig) => {
    const desired = user.desired(user.service('made'), [await rig.createBackEnd('a'), await rig.createBackEnd('b')]);
    const before = await user.own(desired);
    assert.equal(shapeOf(before), 'nothing', 'of a Service that is new, nothing is there');
    const { ingress, parts } = await user.bring(desired, {
      onPlan: ({ actions, ingress: said }) => {
        if (actions.some(({ kind }) => kind === 'create'))
          assert.deepEqual(said, [], 'an address while parts are yet to be made');
      },
    });
    assert.ok(ingress.length > 0, 'it is complete, and has no address');
    for (const { hostname, ip } of ingress) assert.ok(ip ?? hostname, 'an ingress has an ip or a hostname');
    assert.ok(parts.length > 0, 'it serves, and has no part that is proved to be its own');
  }),

  promise(
    'a second pass has nothing to do, in this process and in the next',
    `${TYPES} LoadBalancers.plan`,
    async (user, rig) => {
      const service = user.service('twice');
      const backEnds = [await rig.createBackEnd('a'), await rig.createBackEnd('b')];
      const { ingress } = await user.bring(user.desired(service, backEnds));
      const again = (others: readonly BackEnd[]): DesiredLoadBalancer => user.desired({ ...service, ingress }, others);
      for (const restarts of [false, true]) {
        if (restarts) await rig.restart();
        await assertSettled(user, again(backEnds), ingress);
      }
    },
  ),

  promise(
    'the plan is pure: the same input gives the same plan, and is not changed',
    `${TYPES} LoadBalancers.plan`,
    async (user, rig) => {
      const service = user.service('pure');
      const desired = user.desired(service, [await rig.createBackEnd('a')]);
      await user.bring(desired);
      const { parts } = await user.look(service);
      const goals = [
        desired,
        user.desired(withPort(user, service), desired.backEnds),
        { ...desired, wanted: false, backEnds: [] },
      ];
      for (const goal of goals) {
        for (const shown of [[], parts]) {
          const [first, second] = [freeze({ goal, shown }), freeze({ goal, shown })].map((input) =>
            user.balancers.plan(input.goal, input.shown),
          );
          assert.deepEqual(first, second);
          const inputs = (first?.actions ?? []).map(({ input }) => input);
          assert.deepEqual(
            JSON.parse(JSON.stringify(inputs)),
            withoutUndefined(inputs),
            'the input of an action is JSON',
          );
        }
      }
    },
  ),

  promise('a changed port is followed', HOST, async (user, rig) => {
    const service = user.service('ports');
    const backEnds = [await rig.createBackEnd('a')];
    const { ingress } = await user.bring(user.desired(service, backEnds));
    const added = withPort(user, { ...service, ingress });
    const { actions, parts } = await user.bring(user.desired(added, backEnds));
    assert.ok(actions.length > 0, 'a port more, and nothing was done');
    assert.ok(parts.length > 0);
    await assertSettled(user, user.desired(added, backEnds));
    const moved = {
      ...added,
      ports: added.ports.map((port) => ({ ...port, nodePort: (port.nodePort ?? 30_080) + 100 })),
    };
    assert.ok(
      (await user.bring(user.desired(moved, backEnds))).actions.length > 0,
      'other node ports, and nothing was done',
    );
    const { actions: back } = await user.bring(user.desired({ ...service, ingress }, backEnds));
    assert.ok(back.length > 0, 'a port less, and nothing was done');
    await assertSettled(user, user.desired({ ...service, ingress }, backEnds));
  }),

  promise('the members follow the nodes', HOST, async (user, rig) => {
    const service = user.service('nodes');
    const [a, b, c] = [await rig.createBackEnd('a'), await rig.createBackEnd('b'), await rig.createBackEnd('c')];
    const { ingress } = await user.bring(user.desired(service, [a, b]));
    const served = { ...service, ingress };
    for (const backEnds of [[a, b, c], [b, c], [a], [], [a, b]]) {
      const desired = user.desired(served, backEnds);
      const { actions, parts } = await user.bring(desired);
      assert.ok(actions.length > 0, `the nodes are ${backEnds.length} now, and nothing was done`);
      assert.ok(
        actions.every(({ kind, part }) => kind !== 'delete' || part !== 'address'),
        'an address was taken away for a change of nodes',
      );
      assert.ok(parts.length > 0);
      await assertSettled(user, desired);
    }
  }),

  promise(
    'while its wish is refused, its members follow the nodes and the rest stays',
    'docs/adr/0030-wish-and-membership.md',
    async (user, rig) => {
      const service = user.service('refused');
      const [a, b] = [await rig.createBackEnd('a'), await rig.createBackEnd('b')];
      const { ingress } = await user.bring(user.desired(service, [a]));
      const served = { ...service, ingress };
      // Of what is refused, only what names the load balancer and its node ports is read.
      const [port] = service.ports;
      const wish = {
        ...served,
        ports: port ? [port, { ...port, name: 'refused', port: 9_999, protocol: 'SCTP' as const }] : [],
        sourceRanges: ['192.0.2.0/24'],
      };
      await user.bringMembers(user.desired(served, [a]));
      rig.faults.set();
      await user.bringMembers(user.desired(served, [a]));
      assert.equal(rig.faults.count('apply'), 0, 'members that are as they should be were written');
      await user.bringMembers(user.desired(wish, [b]));
      assert.ok(rig.faults.count('apply') > 0, 'the nodes are others, and nothing was written');
      const desired = user.desired(wish, [b]);
      const { parts } = await user.look(wish);
      // The host takes an address out of the status that no own part shows any more.
      assert.doesNotThrow(() => checkPlan({ actions: [], ingress }, desired, parts), 'no part shows its address');
      await assertSettled(user, user.desired(served, [b]), ingress);
    },
    { declares: planMembers },
  ),

  promise('what is taken away is gone, and nothing is left', HOST, async (user, rig) => {
    const before = await rig.fixture.listParts?.();
    const desired = user.desired(user.service('gone'), [await rig.createBackEnd('a')]);
    const { parts } = await user.bring(desired);
    await user.remove(desired);
    await assertGone(user, desired);
    for (const { id, kind } of parts) await assertNotThere(user, desired, kind, id);
    if (before)
      assert.deepEqual((await rig.fixture.listParts?.())?.toSorted(), before.toSorted(), 'what is in the cloud');
  }),

  promise('what is gone can be taken away again', `${TYPES} LoadBalancers.apply`, async (user, rig) => {
    const desired = user.desired(user.service('again'), [await rig.createBackEnd('a')]);
    await user.bring(desired);
    const { actions } = await user.remove(desired);
    const goal = { ...desired, wanted: false, backEnds: [] };
    for (const action of actions.filter(({ kind }) => kind === 'delete')) {
      const result = await user.apply(action, goal);
      assert.ok(
        result.kind !== 'failed',
        `${action.kind} ${action.part} once more: ${String(result.kind === 'failed' && result.error)}`,
      );
    }
    assert.deepEqual((await user.remove(desired)).actions, []);
  }),

  promise('each action may be applied twice', `${TYPES} LoadBalancers.apply`, async (user, rig) => {
    const backEnds = [await rig.createBackEnd('a')];
    const once = await user.bring(user.desired(user.service('once'), backEnds));
    const service = user.service('double');
    const desired = user.desired(service, backEnds);
    for (let round = 0; round < 50; round++) {
      const planned = user.plan(desired, await user.look(service));
      assert.ok(planned.kind === 'plan');
      if (planned.complete) break;
      const [action] = planned.plan.actions;
      if (action) {
        for (const nth of ['first', 'second']) {
          const result = await user.apply(action, planned.desired);
          // What is under way, or made by now, is no failure: the host plans anew.
          const isRepeated = nth === 'second' && result.kind === 'failed';
          assert.ok(
            result.kind !== 'failed' || isRepeated,
            `${action.kind} ${action.part}: ${String(result.kind === 'failed' && result.error)}`,
          );
          if (result.kind === 'pending') await rig.wait(result.pollAfterMs);
        }
      }
      await rig.wait(action ? (user.balancers.listLagMs ?? 0) : 2_000);
    }
    const { parts } = await user.bring(desired);
    assert.equal(shapeOf(parts), shapeOf(once.parts), 'made twice');
    await user.remove(desired);
    await assertGone(user, desired);
  }),

  promise('many at the same time come and go, each with what it needs', HOST, async (user, rig) => {
    const backEnds = [await rig.createBackEnd('a')];
    const one = await user.bring(user.desired(user.service('alone'), backEnds));
    const all = Array.from({ length: 6 }, (_, i) => user.desired(user.service(`many-${i}`), backEnds));
    const brought = await inLanes(user, all, (desired) => user.bring(desired));
    assert.deepEqual(
      brought.map(({ parts }) => shapeOf(parts)),
      all.map(() => shapeOf(one.parts)),
    );
    const seen = await user.observe([...all, ...all.slice(0, 1)].map(({ service }) => service));
    assert.deepEqual(
      seen
        .map((look) =>
          look.kind === 'parts'
            ? look.parts.filter(({ owner }) => owner !== undefined).map(({ owner }) => owner?.uid)
            : [],
        )
        .map(([uid]) => uid),
      [...all, ...all.slice(0, 1)].map(({ owner }) => owner.uid),
    );
    await inLanes(user, all, (desired) => user.remove(desired));
    for (const desired of all) await assertGone(user, desired);
  }),

  promise(
    'looks answer in the order of the Services, also of those that have nothing',
    `${TYPES} LoadBalancers.observe`,
    async (user, rig) => {
      const desired = user.desired(user.service('there'), [await rig.createBackEnd('a')]);
      await user.bring(desired);
      const [none, other] = [user.service('none'), user.service('other')];
      const looks = await user.observe([none, desired.service, other]);
      assert.deepEqual(
        looks.map((look) => look.kind === 'parts' && look.parts.some(({ owner }) => owner?.uid === desired.owner.uid)),
        [false, true, false],
      );
      assert.ok(
        looks.every(
          (look) =>
            look.kind === 'parts' &&
            look.parts.every(({ owner }) => owner === undefined || owner.uid === desired.owner.uid),
        ),
      );
      assert.deepEqual(await user.observe([]), []);
    },
  ),

  promise('lockKey and selectBackEnds are pure', `${TYPES} LoadBalancers.lockKey`, async (user, rig) => {
    const service = freeze(user.service('keys'));
    const backEnds = [await rig.createBackEnd('a'), await rig.createBackEnd('b')];
    const { balancers } = user;
    const selected = user.selected(service, freeze(backEnds));
    assert.ok(
      selected.every((one) => backEnds.some(({ node }) => node.name === one.node.name)),
      'it narrows, and adds nothing',
    );
    assert.deepEqual(user.selected(service, backEnds), selected);
    assert.equal(selected.length, 2, 'machines of this cloud are back ends');
    const { parts } = await user.bring(user.desired(service, backEnds));
    for (const known of [undefined, parts]) {
      const keys = [service, service].map((one) => balancers.lockKey?.(one, known));
      assert.equal(keys[0], keys[1], 'the same Service has the same key');
    }
    const orphan = gone(user, service.uid);
    assert.ok(
      balancers.lockKey === undefined || balancers.lockKey(orphan, parts) !== '',
      'an orphan has a key, of which its parts are all that is known',
    );
  }),

  promise('an orphan goes by its UID alone', 'docs/adr/0011-orphans-by-proof.md', async (user, rig) => {
    const desired = user.desired(user.service('orphan'), [await rig.createBackEnd('a')]);
    await user.bring(desired);
    const owned = (await user.listOwned()).filter(({ owner }) => owner?.uid === desired.owner.uid);
    assert.ok(owned.length > 0, 'listOwned shows what the Service had');
    await rig.restart();
    await user.bring({ ...desired, service: gone(user, desired.owner.uid), wanted: false, backEnds: [] });
    await assertGone(user, desired);
  }),

  promise(
    'an apply that is aborted ends at once, and the next try comes to the end',
    'packages/cloud-provider/src/call-context.ts CallContext.signal',
    async (user, rig) => {
      const service = user.service('slow');
      const desired = user.desired(service, [await rig.createBackEnd('a')]);
      const planned = user.plan(desired, await user.look(service));
      assert.ok(planned.kind === 'plan');
      const [action] = planned.plan.actions;
      assert.ok(action, 'something has to be made');
      const stop = new AbortController();
      rig.faults.set(() => ({ kind: 'hang' }));
      const context = rig.faults.context(
        rig.opened.callContext({ signal: stop.signal, priority: 'normal', reads: false }),
        'apply',
      );
      const settled = user.balancers.apply(action, planned.desired, context).then(
        ({ kind }) => kind,
        () => 'failed',
      );
      await rig.until('a request is sent', () => rig.faults.hanging > 0);
      const since = rig.clock.monotonic();
      stop.abort(new DOMException('the suite gives up', 'AbortError'));
      assert.equal(await rig.drive(settled), 'failed');
      assert.ok(
        rig.clock.monotonic() - since < 2_000,
        `apply went on for ${rig.clock.monotonic() - since} ms after it was aborted`,
      );
      await rig.wait(rig.fixture.clock ? 10_000 : 0);
      await rig.restart();
      await user.bring(desired);
    },
  ),

  promise(
    'a Service that is served is not refused before it is stored',
    `${TYPES} LoadBalancers.validate`,
    async (user, rig) => {
      const service = user.service('valid');
      const ask = (): Promise<unknown> =>
        rig.call('validate', async (call) => user.balancers.validate?.(service, call), { timeoutMs: 4_500 });
      assert.equal(((await ask()) as { refused?: Error } | undefined)?.refused, undefined);
      await user.bring(user.desired(service, [await rig.createBackEnd('a')]));
      assert.equal(((await ask()) as { refused?: Error } | undefined)?.refused, undefined);
      rig.faults.set(() => ({ kind: 'fail', code: 'unavailable' }));
      const answer = await ask().then(
        (verdict) => (verdict as { refused?: Error } | undefined)?.refused,
        () => undefined,
      );
      assert.equal(answer, undefined, 'a cloud that is unwell refuses nothing');
    },
    {
      declares: { what: 'loadBalancers.validate', holds: ({ loadBalancers }) => loadBalancers?.validate !== undefined },
    },
  ),
];

/** Nothing is to be done, and it serves as before. */
async function assertSettled(user: LoadBalancerUser, desired: DesiredLoadBalancer, ingress?: unknown): Promise<void> {
  const planned = user.plan(desired, await user.look(desired.service));
  assert.ok(planned.kind === 'plan', 'what was served is refused');
  const words = planned.plan.actions.map(({ id = '', kind, part }) => `${kind} ${part} ${id}`);
  assert.deepEqual(words, [], 'all is as it should be, and there is something to do');
  assert.ok(planned.complete, 'all is as it should be, and it is not complete');
  if (ingress) assert.deepEqual(planned.plan.ingress, ingress);
}

/** By all ways of asking there are. */
export async function assertGone(user: LoadBalancerUser, desired: DesiredLoadBalancer): Promise<void> {
  assert.equal(shapeOf(await user.own(desired)), 'nothing', 'what a look shows after the deletion');
  const owned = (await user.listOwned()).filter(({ owner }) => owner?.uid === desired.owner.uid);
  assert.equal(shapeOf(owned), 'nothing', 'what listOwned shows after the deletion');
  for (const kind of user.balancers.namedByOwner ?? []) {
    const [answer] = await user.ask({ kind, owner: desired.owner });
    assert.equal(answer?.kind, 'absent', `${kind} by its name, after the deletion`);
  }
}

/** Gone, or no more its own: what is shared with others stays. */
async function assertNotThere(
  user: LoadBalancerUser,
  { owner }: DesiredLoadBalancer,
  kind: string,
  id: string,
): Promise<void> {
  if (!user.balancers.read) return;
  const [answer] = await user.ask({ kind, id, owner });
  assert.equal(answer?.kind, 'absent', `${kind} ${id}, read after the deletion`);
}

/** One after the other where they have a key in common, and at the same time else. */
function inLanes<T>(
  user: LoadBalancerUser,
  all: readonly DesiredLoadBalancer[],
  work: (desired: DesiredLoadBalancer) => Promise<T>,
): Promise<readonly T[]> {
  const lanes = new Map<string, Promise<unknown>>();
  return Promise.all(
    all.map((desired) => {
      const key = user.balancers.lockKey?.(desired.service) ?? desired.service.uid;
      const next = (lanes.get(key) ?? Promise.resolve()).then(() => work(desired));
      lanes.set(
        key,
        next.catch(() => undefined),
      );
      return next;
    }),
  );
}

/** All that is known of a Service that is gone. */
function gone(user: LoadBalancerUser, uid: string): DesiredLoadBalancer['service'] {
  const { loadBalancerClass: _, ...service } = user.service('gone', {
    uid,
    namespace: '',
    name: '',
    ports: [],
    ipFamilies: ['IPv4'],
  });
  return { ...service, name: '', namespace: '' };
}

function withPort(user: LoadBalancerUser, service: DesiredLoadBalancer['service']): DesiredLoadBalancer['service'] {
  const [protocol = 'TCP'] = user.balancers.features.protocols;
  return { ...service, ports: [...service.ports, { name: 'two', port: 443, protocol, nodePort: 30_443 }] };
}

/** As JSON has it: members that are undefined are left out. Throws for what cannot be copied. */
function withoutUndefined(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutUndefined);
  const entries = Object.entries(structuredClone(value)).filter(([, member]) => member !== undefined);
  return entries.length === 0
    ? value
    : Object.fromEntries(entries.map(([name, member]) => [name, withoutUndefined(member)]));
}

function freeze<T>(value: T): T {
  const copy = structuredClone(value);
  const visit = (one: unknown): void => {
    if (typeof one !== 'object' || one === null) return;
    Object.freeze(one);
    for (const member of Object.values(one)) visit(member);
  };
  visit(copy);
  return copy;
}
