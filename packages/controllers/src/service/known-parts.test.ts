/** When nothing is believed to be nothing: at once where all that was there has an end that is known, after 90 s where it has not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  CloudError,
  type LoadBalancerAction,
  type LoadBalancerActionResult,
  type LoadBalancerPart,
} from '@outrigger/cloud-provider';
import * as fc from 'fast-check';
import { KnownParts } from '../load-balancer/known-parts.ts';
import { webSpec } from './rig.suite.ts';
import {
  actionOn,
  createTold,
  goesWithin,
  IDLE,
  lookAgain,
  makeLoadBalancer,
  ME,
  mine,
  OTHER,
  partOf,
  READY,
  served,
  SOON_MS,
  waits,
  withoutRecord,
} from './told-cloud.suite.ts';

const isAny = (known: KnownParts): boolean => known.missingIn([], 'there').length > 0;

test('what another one takes away is expected no more once it is seen going', async () => {
  const told = await served('load-balancer a', 'address b');
  told.parts = told.parts.map((part) => ({ ...part, state: 'deleting' }));
  told.rig.clock.setTimer(SOON_MS / 2, () => void (told.parts = []));
  await goesWithin(told, SOON_MS);
  assert.deepEqual(told.rig.provider.applied, []);
});

test('a new process that sees only parts that are going does not know that they are all: it waits once they have gone', async () => {
  const told = await served('load-balancer a');
  const { rig } = told;
  told.apply = () => {
    told.parts = [partOf('load-balancer a', { state: 'deleting' })];
    return { kind: 'pending', handle: 'a', pollAfterMs: 1_000 };
  };
  rig.api.delete('web');
  await rig.clock.advance(2_000);
  await rig.stop();
  withoutRecord(told);
  await rig.start();
  await rig.clock.advance(2_000);
  told.parts = [];
  await waits(told);
});

test('what was deleted while the Service was served is not waited for when it goes', async () => {
  const told = await served('load-balancer a', 'address b');
  told.serve = (parts) =>
    parts.length > 1 ? { ...READY, complete: false, actions: [actionOn('delete', 'address b')] } : READY;
  await lookAgain(told);
  assert.deepEqual(told.rig.provider.applied, ['delete address b']);
  await goesWithin(told, SOON_MS);
});

test('a load balancer that failed is made again as soon as it is deleted', async () => {
  const told = await served('load-balancer a');
  const { provider } = told.rig;
  told.parts = [partOf('load-balancer a', { state: 'failed' })];
  told.serve = ([part]) => {
    if (!part) return { ...IDLE, actions: [actionOn('create', 'load-balancer')] };
    return part.state === 'failed' ? { ...IDLE, actions: [actionOn('delete', 'load-balancer a')] } : READY;
  };
  await lookAgain(told);
  assert.deepEqual(provider.applied.slice(0, 2), ['delete load-balancer a', 'create load-balancer undefined']);
  await told.rig.stop();
});

test('a shared load balancer that has become its own is one part, not two', async () => {
  const told = await served('shared-load-balancer x');
  told.parts = [partOf('load-balancer x'), partOf('address b')];
  await goesWithin(told, SOON_MS);
});

test('what belongs to another is none of its parts, when it has gone too', async () => {
  const told = await createTold();
  told.parts = [partOf('dns web', { owner: OTHER })];
  told.serve = () => ({ ...IDLE, refused: new CloudError('conflict', 'taken') });
  told.rig.api.apply('web', webSpec);
  await told.rig.start();
  await told.rig.clock.advance(1_000);
  told.parts = [];
  await goesWithin(told, SOON_MS);
});

test('what an action ends besides is expected no more: left to others, or gone with what was deleted', async () => {
  const told = await served('load-balancer a', 'address b', 'firewall c');
  const address = { kind: 'address', id: 'b' };
  const firewall = { kind: 'firewall', id: 'c' };
  told.remove = (parts) => {
    if (mine(parts).length === 0) return { ...IDLE, complete: true };
    const actions = [actionOn('update', 'address b', [address]), actionOn('delete', 'load-balancer a', [firewall])];
    return { ...IDLE, actions };
  };
  told.apply = ({ part }) => {
    told.parts = part === 'address' ? told.parts.filter(({ kind }) => kind !== 'address') : [];
    return { kind: 'done' };
  };
  await goesWithin(told, SOON_MS);
  assert.deepEqual(told.rig.provider.applied, ['update address b', 'delete load-balancer a']);
});

test('a plan that ends what was not observed is not carried out', async () => {
  const told = await served('load-balancer a');
  told.remove = () => ({ ...IDLE, actions: [actionOn('delete', 'load-balancer a', [{ kind: 'address', id: 'b' }])] });
  told.rig.api.delete('web');
  await told.rig.clock.advance(1_000);
  assert.match(
    told.rig.events.at(-1)?.message ?? '',
    /the provider planned a change of address b, which it had not reported as existing/u,
  );
  assert.deepEqual(told.rig.provider.applied, []);
  await told.rig.stop();
});

test('what was gone for so long that it is believed is waited for once', async () => {
  const told = await served('load-balancer a');
  told.parts = [];
  told.serve = makeLoadBalancer;
  told.apply = ({ kind }) => {
    told.parts = kind === 'create' ? [partOf('load-balancer b')] : [];
    return { kind: 'done' };
  };
  await lookAgain(told);
  assert.deepEqual(told.rig.provider.applied, []);
  await told.rig.clock.advance(120_000);
  assert.deepEqual(told.rig.provider.applied, ['create load-balancer undefined']);
  await goesWithin(told, SOON_MS);
});

test('a part that no action named, and that is not seen any more, is waited for', async () => {
  const told = await served('load-balancer a', 'address b');
  told.apply = () => {
    told.parts = [];
    return { kind: 'done' };
  };
  await waits(told);
});

test('nothing is not believed of a part that was updated, claimed or made just before', async () => {
  const cases: readonly (readonly [LoadBalancerAction, readonly LoadBalancerPart[]])[] = [
    [actionOn('update', 'load-balancer a'), [partOf('load-balancer a')]],
    [actionOn('claim', 'load-balancer a'), [partOf('load-balancer a', { owner: undefined })]],
    [actionOn('create', 'load-balancer'), []],
  ];
  for (const [action, parts] of cases) {
    const told = await createTold();
    told.parts = parts;
    told.serve = () => ({ ...IDLE, actions: [action] });
    told.apply = () => {
      told.parts = [];
      return { kind: 'done' };
    };
    told.rig.api.apply('web', webSpec);
    await told.rig.start();
    await told.rig.clock.advance(1_000);
    await waits(told);
  }
});

test('a process that has seen nothing of a recorded Service waits: the one before it may have begun', async () => {
  const told = await createTold();
  told.parts = [partOf('load-balancer a', { state: 'pending' })];
  told.serve = () => IDLE;
  told.rig.api.apply('web', webSpec);
  await told.rig.start();
  await told.rig.clock.advance(1_000);
  assert.equal(told.rig.api.get('web')?.status?.loadBalancer, undefined, 'no address tells of it yet');
  await told.rig.stop();
  told.parts = [];
  await told.rig.start();
  await waits(told);
});

test('of a Service that has an address, a predecessor has made something: nothing is made beside it while nothing is seen', async () => {
  const told = await createTold();
  const { api, clock, provider } = told.rig;
  told.serve = makeLoadBalancer;
  const service = api.apply('web', webSpec);
  api.services.put({ ...service, status: { loadBalancer: { ingress: [{ hostname: 'lb.test' }] } } });
  await told.rig.start();
  await clock.advance(80_000);
  told.parts = [partOf('load-balancer a')];
  await clock.advance(80_000);
  assert.deepEqual(provider.applied, []);
  await told.rig.stop();
});

test('who asks why a deletion waits is told what is expected, and until when', async () => {
  const told = await served('load-balancer a', 'address b');
  const { api, clock } = told.rig;
  told.parts = [];
  api.delete('web');
  await clock.advance(10_000);
  const text =
    'Look again: the cloud does not list all expected parts (inconclusive). Missing: load-balancer a, address b.';
  assert.deepEqual(told.rig.planned('web'), [{ text, inMs: 80_000 }]);
  await told.rig.stop();
  await told.rig.start();
  await clock.advance(1);
  const [after] = told.rig.planned('web');
  assert.match(after?.text ?? '', /Missing: address b, load-balancer a\./u);
  assert.ok((after?.inMs ?? 90_000) < 50_000, 'the wait does not begin anew');
  await told.rig.stop();
});

test('what another has by now is expected no more; what is only asked for is not expected before it is claimed', () => {
  const expected = new KnownParts(false);
  expected.see([partOf('address a')], ME, {});
  expected.see([partOf('address a', { owner: OTHER })], ME, {});
  assert.equal(isAny(expected), false);
  const asked = { adopt: [{ kind: 'address', id: 'b' }] };
  expected.see([partOf('address b', { owner: undefined })], ME, asked);
  assert.equal(isAny(expected), false);
  expected.noteApplied(actionOn('claim', 'address b'), { kind: 'done' });
  assert.deepEqual([isAny(expected), expected.words], [true, ['address b']]);
});

test('two parts that have one ID in a cloud that counts by kind are two: one that is hidden is expected', () => {
  const expected = new KnownParts(false);
  expected.see([partOf('address 5'), partOf('load-balancer 5')], ME, {});
  assert.deepEqual(
    expected.missingIn([partOf('load-balancer 5')], 'there').map(({ kind }) => kind),
    ['address'],
  );
  expected.see([partOf('load-balancer 5')], ME, {});
  expected.noteApplied(actionOn('delete', 'load-balancer 5'), { kind: 'done' });
  assert.deepEqual(expected.words, ['address 5']);
});

/** Parts with one owner and state each, and what is done about them, beside a model that keeps all that may be there. */
test('property: a part that was seen is expected until it was ended, seen going, or seen to be another’s or of another kind', () => {
  const name = fc.constantFrom('lb 1', 'lb 2', 'share 1', 'address 3');
  const look = fc.record({
    what: fc.constant('look' as const),
    parts: fc.uniqueArray(
      fc.record({
        name,
        owner: fc.constantFrom(ME, ME, OTHER, undefined),
        state: fc.constantFrom<LoadBalancerPart['state']>('ready', 'ready', 'pending', 'failed', 'deleting'),
      }),
      { selector: (part) => part.name, minLength: 1 },
    ),
  });
  const results: readonly LoadBalancerActionResult[] = [
    { kind: 'done' },
    { kind: 'pending', handle: 'h', pollAfterMs: 1 },
    { kind: 'failed', error: new CloudError('timeout', 't') },
    { kind: 'failed', error: new CloudError('conflict', 'c') },
  ];
  const action = fc.record({
    what: fc.constant('action' as const),
    kind: fc.constantFrom<LoadBalancerAction['kind']>('update', 'delete', 'claim'),
    name,
    ends: fc.array(name, { maxLength: 2 }),
    result: fc.constantFrom(...results),
  });
  let kept = 0;
  let ended = 0;
  fc.assert(
    fc.property(fc.array(fc.oneof(look, action), { minLength: 1, maxLength: 12 }), (steps) => {
      const expected = new KnownParts(false);
      const may = new Set<string>();
      for (const step of steps) {
        if (step.what === 'look') {
          expected.see(
            step.parts.map(({ name: one, owner, state }) => partOf(one, { owner, state })),
            ME,
            {},
          );
          for (const { name: one, owner, state } of step.parts) {
            if (owner === OTHER || state === 'deleting') may.delete(one);
            else may.add(one);
          }
          // The same thing: one of the two names is not seen any more, and the other is seen.
          const own = step.parts.filter(({ owner }) => owner === ME).map((part) => part.name);
          const seen = step.parts.map((part) => part.name);
          for (const [one, other] of [
            ['lb 1', 'share 1'],
            ['share 1', 'lb 1'],
          ] as const) {
            if (!seen.includes(one) && own.includes(other)) may.delete(one);
          }
        } else {
          const names = step.ends.map((one) => partOf(one));
          expected.noteApplied(actionOn(step.kind, step.name, names), step.result);
          const refused = step.result.kind === 'failed' && step.result.error.message === 'c';
          if (refused) continue;
          if (step.kind === 'claim') may.add(step.name);
          for (const one of step.kind === 'delete' ? [step.name, ...step.ends] : step.ends) may.delete(one);
        }
        // What may be there by the model is never forgotten; what is expected besides is only waited for.
        if (may.size > 0) assert.ok(isAny(expected), [...may].join());
        if (may.size > 0) kept += 1;
        else if (!isAny(expected)) ended += 1;
      }
    }),
    { numRuns: 2_000 },
  );
  assert.ok(kept > 500 && ended > 500);
});

test('what is made after nothing was believed is made once, also where it is not shown at once', async () => {
  const told = await served('load-balancer a');
  told.parts = [];
  told.serve = makeLoadBalancer;
  told.apply = () => ({ kind: 'done' });
  await lookAgain(told);
  await told.rig.clock.advance(150_000);
  assert.deepEqual(told.rig.provider.applied, ['create load-balancer undefined']);
  await told.rig.stop();
});

for (const kind of ['delete', 'update'] as const) {
  test(`a ${kind} without an answer may not have taken effect: what it ends is expected as before`, async () => {
    const told = await served('load-balancer a');
    const truth = told.parts;
    const action =
      kind === 'delete'
        ? actionOn(kind, 'load-balancer a')
        : actionOn(kind, 'load-balancer a', [{ kind: 'load-balancer', id: 'a' }]);
    told.remove = (parts) => (mine(parts).length === 0 ? { ...IDLE, complete: true } : { ...IDLE, actions: [action] });
    told.apply = () => {
      told.parts = [];
      told.rig.clock.setTimer(30_000, () => void (told.parts = truth));
      return { kind: 'failed', error: new CloudError('timeout', 'no answer') };
    };
    told.rig.api.delete('web');
    await told.rig.clock.advance(29_000);
    assert.ok(told.rig.api.get('web'), 'the finalizer stays while the load balancer may be there');
    await told.rig.stop();
  });
}

test('a look that leaves out one part is not believed either: nothing is made beside it', async () => {
  const told = await served('load-balancer a', 'address b');
  const truth = told.parts;
  told.serve = makeLoadBalancer;
  told.parts = truth.filter(({ kind }) => kind === 'address');
  told.rig.clock.setTimer(15_000, () => void (told.parts = truth));
  await lookAgain(told);
  await told.rig.clock.advance(60_000);
  assert.deepEqual(told.rig.provider.applied, []);
  await told.rig.stop();
});

test('a part that stays away while others are shown is made again after 90 s', async () => {
  const told = await served('load-balancer a', 'address b');
  const truth = told.parts;
  told.serve = makeLoadBalancer;
  told.apply = () => {
    told.parts = truth;
    return { kind: 'done' };
  };
  told.parts = truth.filter(({ kind }) => kind === 'address');
  await lookAgain(told);
  await told.rig.clock.advance(60_000);
  assert.deepEqual(told.rig.provider.applied, []);
  await told.rig.clock.advance(60_000);
  assert.deepEqual(told.rig.provider.applied, ['create load-balancer undefined']);
  await told.rig.stop();
});

test('one that is seen going is not the one that was made a moment ago', () => {
  const expected = new KnownParts(false);
  const going = partOf('load-balancer a', { state: 'deleting' });
  expected.see([going], ME, {});
  expected.noteApplied(actionOn('create', 'load-balancer'), { kind: 'done' });
  expected.see([going], ME, {});
  assert.deepEqual([isAny(expected), expected.unseen], [false, ['load-balancer (just made)']]);
  expected.see([going, partOf('load-balancer b')], ME, {});
  assert.deepEqual(
    [expected.missingIn([], 'there'), expected.unseen],
    [[{ kind: 'load-balancer', id: 'b', state: 'there' }], []],
  );
});

test('that the members of a refused Service are as they should be does not say that nothing else was made', async () => {
  const told = await served('load-balancer a');
  const { rig } = told;
  await rig.stop();
  withoutRecord(told);
  told.serve = () => ({ ...IDLE, refused: new CloudError('conflict', 'the port is taken') });
  rig.provider.planMembers = () => ({ ...IDLE, complete: true });
  await rig.start();
  await rig.clock.advance(2_000);
  assert.match(JSON.stringify(rig.events), /the port is taken/);
  await waits(told);
});
