import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DesiredLoadBalancer, LoadBalancerAction, LoadBalancerPart, Owner } from '@outrigger/cloud-provider';
import * as fc from 'fast-check';
import { checkPlan } from './check-plan.ts';
import { identityOf } from './load-balancer-service.ts';

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

test('property: one action that is not allowed makes the whole plan one that is not', () => {
  const kind = fc.constantFrom<LoadBalancerAction['kind']>('create', 'update', 'delete', 'claim');
  const name = fc.constantFrom('a', 'b', 'c', 'd');
  fc.assert(
    fc.property(fc.array(fc.tuple(kind, name), { maxLength: 5 }), fc.boolean(), (steps, wanted) => {
      const parts = OWNERS.slice(0, 4).map((owner, i) => partOf('part', 'abcd'.charAt(i), owner));
      const isAllowed = ([what, id]: (typeof steps)[number]): boolean => {
        if (what === 'create') return wanted;
        return what === 'claim' ? id === 'd' : id === 'a';
      };
      const wrong = wrongOf(
        steps.map(([what, id]) => actionOn(what, 'part', what === 'create' ? undefined : id)),
        parts,
        wanted,
      );
      assert.equal(wrong === undefined, steps.every(isAllowed));
    }),
    { numRuns: 500 },
  );
});
