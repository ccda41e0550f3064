import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '@outrigger/testing';
import * as fc from 'fast-check';
import { DeletionBreaker } from './deletion-breaker.ts';

function setUp(
  counts: Readonly<Record<string, number>>,
  maxFraction = 0.3,
): { clock: FakeClock; breaker: DeletionBreaker } {
  const clock = new FakeClock();
  const breaker = new DeletionBreaker({ clock, maxFraction, windowMs: 600_000 });
  for (const [zone, count] of Object.entries(counts)) {
    for (let i = 0; i < count; i++)
      breaker.see(`${zone}${i}`, { zone: zone === '-' ? undefined : zone, exempt: false, ready: false });
  }
  return { clock, breaker };
}

test('all that are gone count together: at the fraction all go at the normal pace, above it none', () => {
  const { breaker } = setUp({ a: 10, b: 10, c: 10, d: 10 });
  for (let i = 0; i < 3; i++) breaker.markGone(`a${i}`, true);
  assert.ok(!breaker.isLargeShare('a0'));
  assert.ok(breaker.isLargeShare('a3'), 'one more would be too many');
  breaker.markGone('a3', true);
  assert.deepEqual(
    ['a0', 'a1', 'a2', 'a3'].map((uid) => !breaker.isLargeShare(uid)),
    [false, false, false, false],
  );
  assert.ok(!breaker.isLargeShare('b0'));
  breaker.markGone('a3', false);
  assert.ok(!breaker.isLargeShare('a0'));
});

test('nodes without a zone are held by the limit of the cluster alone; a node that nobody knows is not allowed', () => {
  const { breaker } = setUp({ '-': 9, a: 1 });
  for (let i = 0; i < 3; i++) breaker.markGone(`-${i}`, true);
  assert.ok(!breaker.isLargeShare('-0'));
  assert.ok(breaker.isLargeShare('a0'));
  assert.ok(breaker.isLargeShare('nobody'));
});

test('fractions are exact, and a fraction of 0 leaves one', () => {
  const { breaker } = setUp({ a: 100 }, 0.29);
  for (let i = 0; i < 29; i++) breaker.markGone(`a${i}`, true);
  assert.ok(!breaker.isLargeShare('a0'));
  const none = setUp({ a: 100 }, 0).breaker;
  none.markGone('a0', true);
  assert.ok(!none.isLargeShare('a0'));
  none.markGone('a1', true);
  assert.ok(none.isLargeShare('a0'));
});

test('a node that moves to another zone, or is marked, counts where it is', () => {
  const { breaker } = setUp({ a: 4, b: 40 });
  for (let i = 0; i < 2; i++) breaker.markGone(`a${i}`, true);
  assert.ok(breaker.isLargeShare('a0'));
  breaker.see('a1', { zone: 'b', exempt: false, ready: false });
  assert.ok(!breaker.isLargeShare('a0'));
  breaker.see('a1', { zone: 'a', exempt: true, ready: false });
  assert.ok(!breaker.isLargeShare('a0') && !breaker.isLargeShare('a1'));
});

/** Counts anew each time, as slowly as it likes. */
class Model {
  readonly nodes = new Map<string, { zone: string; exempt: boolean; ready: boolean; gone: boolean }>();
  readonly deleted = new Map<string, { zone: string; at: number }>();
  readonly joined = new Map<string, number>();

  isLargeShare(uid: string, now: number): boolean {
    const node = this.nodes.get(uid);
    if (!node) return true;
    if (node.exempt) return false;
    for (const [other, { at }] of this.deleted) if (now - at >= 600_000) this.deleted.delete(other);
    return [undefined, node.zone].some((zone) => {
      const uids = new Set([...this.nodes.keys(), ...this.deleted.keys()]);
      let all = 0;
      let gone = node.gone || this.deleted.has(uid) ? 0 : 1;
      let removed = 0;
      let added = 0;
      for (const other of uids) {
        const deleted = this.deleted.get(other);
        const known = this.nodes.get(other);
        if (zone !== undefined && (deleted?.zone ?? known?.zone) !== zone) continue;
        all += 1;
        if (deleted) removed += 1;
        else if (known?.gone && !known.exempt) gone += 1;
        const joinedAt = this.joined.get(other);
        if (!deleted && known?.ready && !known.gone && joinedAt !== undefined && now - joinedAt < 600_000) added += 1;
      }
      return gone + Math.max(0, removed - added) > Math.max(1, Math.round(0.3 * all));
    });
  }
}

test('whatever happens in whatever order, it counts as one who counts anew each time', async () => {
  const uid = fc.integer({ min: 0, max: 9 }).map((n) => `u${n}`);
  const step = fc.oneof(
    fc.record({
      kind: fc.constant('see'),
      uid,
      zone: fc.constantFrom('a', 'b'),
      exempt: fc.constantFrom(false, false, true),
      ready: fc.boolean(),
    }),
    fc.record({ kind: fc.constant('gone'), uid, gone: fc.boolean() }),
    fc.record({ kind: fc.constantFrom('forget', 'begin', 'withdraw'), uid }),
    fc.record({ kind: fc.constant('advance'), ms: fc.constantFrom(1_000, 300_000, 600_000) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const { clock, breaker } = setUp({});
      breaker.started();
      const model = new Model();
      for (const action of steps) {
        if ('ms' in action) await clock.advance(action.ms);
        else if ('zone' in action) {
          const { zone, exempt, ready } = action;
          breaker.see(action.uid, { zone, exempt, ready });
          const known = model.nodes.get(action.uid);
          if (!known) model.joined.set(action.uid, clock.monotonic());
          model.nodes.set(action.uid, { zone, exempt, ready, gone: known?.gone ?? false });
        } else if ('gone' in action) {
          breaker.markGone(action.uid, action.gone);
          const node = model.nodes.get(action.uid);
          if (node) node.gone = action.gone;
        } else if (action.kind === 'forget') {
          breaker.forget(action.uid);
          model.nodes.delete(action.uid);
        } else if (action.kind === 'withdraw') {
          breaker.withdraw(action.uid);
          model.deleted.delete(action.uid);
        } else if (!breaker.isLargeShare(action.uid)) {
          const node = model.nodes.get(action.uid);
          breaker.begin(action.uid);
          if (node && !node.exempt && !model.deleted.has(action.uid)) {
            model.deleted.set(action.uid, { zone: node.zone, at: clock.monotonic() });
          }
        }
        for (const key of model.nodes.keys()) {
          assert.equal(breaker.isLargeShare(key), model.isLargeShare(key, clock.monotonic()), key);
        }
        assert.equal(
          breaker.anyReady,
          [...model.nodes.values()].some(({ ready }) => ready),
        );
      }
    }),
    { numRuns: 500 },
  );
});
