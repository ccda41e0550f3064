import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PreviewedService } from '@outrigger/controllers';
import { judgePlans } from './judge-plans.ts';

const claim = { kind: 'claim', part: 'address', id: 'a-1', summary: 'take over the address' } as const;
const update = { kind: 'update', part: 'address', id: 'a-1', summary: 'send it to 3 nodes' } as const;
const creation = { kind: 'create', part: 'address', summary: 'make an address' } as const;
const base: PreviewedService = {
  name: 'default/web',
  outcome: 'unchanged',
  actions: [],
  warnings: [],
  isServed: true,
};
const judged = (...plans: readonly PreviewedService[]) => judgePlans({ now: 0, plans: { known: true, value: plans } });

test('Services that keep what they have are one line', () => {
  assert.deepEqual(judged(base, { ...base, actions: [claim] }), [
    { state: 'ok', text: '2 of 2 Services keep what they have, 1 of them are taken over' },
  ]);
});

for (const [what, plan, state, words] of [
  ['changed', { outcome: 'changes', actions: [claim, update] }, 'ok', /would be changed/],
  ['made for the first time', { outcome: 'changes', actions: [creation], isServed: false }, 'ok', /would be changed/],
  [
    'served, and made anew',
    { outcome: 'changes', actions: [creation] },
    'missing',
    /parts of it would be made or deleted/,
  ],
  [
    'served, and lose a member',
    { outcome: 'changes', actions: [claim, { ...update, mayCutTraffic: true }] },
    'missing',
    /is served, and a listener, a rule or a member of it would be removed/,
  ],
  [
    'without traffic, and lose a member',
    { outcome: 'changes', actions: [{ ...update, mayCutTraffic: true }], isServed: false },
    'ok',
    /would be changed/,
  ],
  ['refused', { outcome: 'refused', why: 'no SCTP', actions: [update] }, 'missing', /would be refused: no SCTP/],
  [
    'not to be found out',
    { outcome: 'unknown', why: 'quota' },
    'unknown',
    /the plan for default\/web could not be determined: quota/,
  ],
  ['warned of', { warnings: ['x is ignored'] }, 'ok', /keeps what it has/],
] as const) {
  test(`a Service that would be ${what} has a line of its own, with each action and warning`, () => {
    const [, check, more] = judged({ ...base, ...plan });
    assert.equal(check?.state, state);
    assert.match(check?.text ?? '', words);
    const actions = 'actions' in plan ? plan.actions : [];
    assert.equal(check?.count ?? 0, actions.length + ('warnings' in plan ? plan.warnings.length : 0));
    for (const action of actions) {
      const end = 'mayCutTraffic' in action ? ' (may cut traffic)' : '';
      assert.ok(check?.objects?.some((line) => line.endsWith(`: ${action.summary}${end}`)));
    }
    assert.equal(more, undefined);
  });
}

test('without a cloud to ask nothing is said of them', () => {
  const [check] = judgePlans({ now: 0, plans: { known: false, why: 'no cloud config is given' } });
  assert.equal(check?.state, 'unknown');
});

test('thousands of Services of one namespace, and texts without end, leave the lines of the others, and the exit code', () => {
  const why = 'x'.repeat(100_000);
  const many = (namespace: string, count: number, more: Partial<PreviewedService>): readonly PreviewedService[] =>
    Array.from({ length: count }, (_, i) => ({ ...base, name: `${namespace}/s${i}`, ...more }));
  const checks = judged(
    ...many('noisy', 3_000, { outcome: 'refused', why }),
    ...many('noisy', 3_000, { outcome: 'unknown', why }),
    ...many('noisy', 3_000, { outcome: 'changes', warnings: [why] }),
    ...many('shop', 2, { outcome: 'refused', why: 'no SCTP' }),
  );
  assert.ok(JSON.stringify(checks).length < 100_000, `${JSON.stringify(checks).length} characters`);
  const rest = checks.filter(({ text }) => text.includes('more Services of namespace noisy'));
  assert.deepEqual(
    rest.map(({ count, state }) => [state, count]),
    [
      ['missing', 2_980],
      ['unknown', 2_980],
      ['ok', 2_980],
    ],
  );
  assert.equal(checks.filter(({ text }) => text.startsWith('shop/')).length, 2);
  assert.equal(checks.length, 1 + 3 * 21 + 2);
});
