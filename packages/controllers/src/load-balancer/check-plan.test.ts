import assert from 'node:assert/strict';
import { test } from 'node:test';
import type {
  DesiredLoadBalancer,
  JudgedThing,
  LoadBalancerAction,
  LoadBalancerPart,
  Owner,
  PartName,
} from '@outrigger/cloud-provider';
import * as fc from 'fast-check';
import { checkPlan } from './check-plan.ts';
import { identityOf } from '../service/load-balancer-service.ts';

const ME: Owner = { clusterId: 'c', uid: 'me' };
const OWNERS = [ME, { clusterId: 'c', uid: 'other' }, { clusterId: 'other', uid: 'me' }, undefined] as const;

const desired = (wanted: boolean): DesiredLoadBalancer => {
  return { service: identityOf({}), wanted, owner: ME, backEnds: [] };
};
const partOf = (kind: string, id: string, owner: Owner | undefined): LoadBalancerPart => {
  return { kind, id, owner, state: 'ready', attributes: {} };
};
const actionOn = (kind: LoadBalancerAction['kind'], part: string, id?: string): LoadBalancerAction => {
  return { kind, part, summary: '', input: {}, ...(id !== undefined && { id }) };
};
/** The code of what is wrong with the plan. */
function wrongOf(actions: readonly LoadBalancerAction[], parts: readonly LoadBalancerPart[], wanted = true): unknown {
  try {
    checkPlan({ actions, complete: false, ingress: [] }, desired(wanted), parts);
    return undefined;
  } catch (error) {
    return (error as { readonly code?: string }).code;
  }
}

test('changed and deleted is what is the Service’s own, by cluster and UID; claimed is what is nobody’s', () => {
  for (const owner of OWNERS) {
    const parts = [partOf('address', 'a', owner)];
    for (const kind of ['update', 'delete'] as const) {
      assert.equal(wrongOf([actionOn(kind, 'address', 'a')], parts), owner === ME ? undefined : 'not-owned');
    }
    assert.equal(wrongOf([actionOn('claim', 'address', 'a')], parts), owner === undefined ? undefined : 'not-owned');
  }
});

test('nothing is made for a Service that wants nothing', () => {
  assert.equal(wrongOf([actionOn('create', 'address')], []), undefined);
  assert.equal(wrongOf([actionOn('create', 'address')], [], false), 'invalid');
});

test('what was not observed, or has only the ID or the kind of what was, is not touched', () => {
  const parts = [partOf('address', 'a', ME)];
  for (const [kind, id] of [
    ['address', 'b'],
    ['dns', 'a'],
    ['address', undefined],
  ] as const) {
    assert.equal(wrongOf([actionOn('delete', kind, id)], parts), 'invalid');
  }
});

test('what an action ends beside its own part is the Service’s own, too', () => {
  const own = partOf('load-balancer', 'lb', ME);
  for (const owner of OWNERS) {
    const parts = [own, partOf('address', 'a', owner)];
    for (const kind of ['update', 'delete'] as const) {
      const action = { ...actionOn(kind, 'load-balancer', 'lb'), ends: [{ kind: 'address', id: 'a' }] };
      assert.equal(wrongOf([action], parts), owner === ME ? undefined : 'not-owned');
    }
  }
});

test('what is no part of the Service’s own is touched only where it was observed and is allowed, whatever the action is', () => {
  const parts = [partOf('load-balancer', 'lb', ME)];
  const free: JudgedThing = { kind: 'address', id: 'free', allowed: ['*'], mayUse: true };
  const victims: JudgedThing = { ...free, id: 'victims', owner: { clusterId: 'c', uid: 'victim' }, mayUse: false };
  const wrongWith = (kind: LoadBalancerAction['kind'], touches: readonly PartName[]): unknown => {
    const action = { ...actionOn(kind, 'load-balancer', kind === 'create' ? undefined : 'lb'), touches };
    try {
      const goal = { ...desired(true), others: [free, victims] };
      checkPlan({ actions: [action], complete: false, ingress: [] }, goal, parts);
      return undefined;
    } catch (error) {
      assert.doesNotMatch(String(error), /victims/, 'an Event says nothing of what is another’s');
      return (error as { readonly code?: string }).code;
    }
  };
  for (const kind of ['create', 'update', 'delete'] as const) {
    assert.equal(wrongWith(kind, [free]), undefined);
    assert.equal(wrongWith(kind, [free, victims]), 'not-owned');
    assert.equal(wrongWith(kind, [{ kind: 'address', id: 'unseen' }]), 'invalid');
    assert.equal(wrongWith(kind, [{ kind: 'port', id: 'free' }]), 'invalid');
  }
});

test('the status gets no address that the cloud does not show as this Service’s', () => {
  const wrongAt = (ip: string, parts: readonly LoadBalancerPart[]): unknown => {
    try {
      checkPlan({ actions: [], complete: true, ingress: [{ ip }] }, desired(true), parts);
      return undefined;
    } catch (error) {
      return (error as { readonly code?: string }).code;
    }
  };
  const own = partOf('address', 'a', ME);
  const others = { ...partOf('address', 'b', OWNERS[1]), addresses: ['203.0.113.9'] };
  assert.equal(wrongAt('203.0.113.9', []), 'not-owned');
  assert.equal(wrongAt('203.0.113.9', [others]), 'not-owned');
  assert.equal(wrongAt('203.0.113.9', [own, others]), 'not-owned', 'no part of its own says an address');
  assert.equal(wrongAt('203.0.113.9', [{ ...own, addresses: ['203.0.113.5'] }, others]), 'not-owned');
  assert.equal(wrongAt('2001:DB8::0:1', [own, { ...own, id: 'c', addresses: ['2001:db8::1'] }]), undefined);
});

test('property: a plan whose actions touch anything that is not allowed is refused whole, and any other is not', () => {
  const thing = fc.record({
    kind: fc.constantFrom('address', 'port', 'network', 'load-balancer'),
    id: fc.constantFrom('1', '2', '3'),
    allowed: fc.constant<readonly string[]>([]),
    mayUse: fc.boolean(),
  });
  const step = fc.record({
    kind: fc.constantFrom<LoadBalancerAction['kind']>('create', 'update', 'delete'),
    touches: fc.array(fc.nat({ max: 5 }), { maxLength: 3 }),
  });
  fc.assert(
    fc.property(fc.array(thing, { minLength: 1, maxLength: 6 }), fc.array(step, { maxLength: 5 }), (others, steps) => {
      const parts = [partOf('part', 'a', ME)];
      const touched = steps.map(({ touches }) => touches.map((i) => others[i % others.length] ?? others[0]));
      const actions = steps.map(({ kind }, i): LoadBalancerAction => {
        const names = (touched[i] ?? []).map((one) => ({ kind: one?.kind ?? '', id: one?.id ?? '' }));
        return { ...actionOn(kind, 'part', kind === 'create' ? undefined : 'a'), touches: names };
      });
      const isHarmless = touched
        .flat()
        .every((one) =>
          others.filter(({ id, kind }) => id === one?.id && kind === one.kind).every(({ mayUse }) => mayUse),
        );
      let refused = false;
      try {
        checkPlan({ actions, complete: false, ingress: [] }, { ...desired(true), others }, parts);
      } catch {
        refused = true;
      }
      assert.equal(refused, !isHarmless);
    }),
    { numRuns: 500 },
  );
});

test('property: one action that is not allowed makes the whole plan one that is not', () => {
  const kind = fc.constantFrom<LoadBalancerAction['kind']>('create', 'update', 'delete', 'claim');
  const name = fc.constantFrom('a', 'b', 'c', 'd');
  fc.assert(
    fc.property(fc.array(fc.tuple(kind, name, fc.option(name)), { maxLength: 5 }), fc.boolean(), (steps, wanted) => {
      const parts = OWNERS.slice(0, 4).map((owner, i) => partOf('part', 'abcd'.charAt(i), owner));
      const isAllowed = ([what, id, ended]: (typeof steps)[number]): boolean => {
        if (ended !== null && ended !== 'a') return false;
        if (what === 'create') return wanted;
        return what === 'claim' ? id === 'd' : id === 'a';
      };
      const wrong = wrongOf(
        steps.map(([what, id, ended]) => {
          const action = actionOn(what, 'part', what === 'create' ? undefined : id);
          return ended === null ? action : { ...action, ends: [{ kind: 'part', id: ended }] };
        }),
        parts,
        wanted,
      );
      assert.equal(wrong === undefined, steps.every(isAllowed));
    }),
    { numRuns: 500 },
  );
});
