import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { afterWrite, contestedNote, managerOf, reviewField, type FieldState } from './contested-field.ts';

test('what is as it should be is accepted, whoever wrote it; what is not is written at once', () => {
  assert.deepEqual(reviewField(undefined, { wanted: 'a', observed: 'a', now: 5 }).verdict, { kind: 'accept' });
  assert.deepEqual(reviewField(undefined, { wanted: 'a', observed: undefined, now: 5 }).verdict, { kind: 'write' });
});

/** Another writer that answers each of our writes after `answerMs`; the times of our writes. */
function war(answerMs: number, untilMs: number): { readonly writes: readonly number[]; readonly contestedAt: number } {
  let state: FieldState | undefined;
  let observed: string | undefined;
  let contestedAt = Number.POSITIVE_INFINITY;
  const writes: number[] = [];
  for (let now = 0; now < untilMs;) {
    const review = reviewField(state, { wanted: 'ours', observed, now });
    state = review.state;
    if (review.isContested) contestedAt = Math.min(contestedAt, now);
    if (review.verdict.kind === 'wait') {
      now = review.verdict.atMs;
      continue;
    }
    assert.equal(review.verdict.kind, 'write');
    writes.push(now);
    state = afterWrite(state, 'ours', now);
    now += answerMs;
    observed = 'theirs';
  }
  return { writes, contestedAt };
}

test('a writer that answers at once: 3 writes in the first half minute, then one each 5 minutes', () => {
  const { writes, contestedAt } = war(10, 3_600_000);
  assert.deepEqual(writes.slice(0, 6), [0, 1_000, 6_000, 31_000, 156_000, 456_000]);
  assert.deepEqual(writes[6], 756_000);
  assert.ok(writes.length < 20, `${writes.length} writes in an hour`);
  assert.equal(contestedAt, 1_010, 'the second time that it was undone');
});

test('a writer that comes once a minute is slowed down too', () => {
  assert.ok(war(60_000, 3_600_000).writes.length <= 16);
});

test('what stood for a second is written again at once when it is undone, and nobody is blamed for the first time', () => {
  const state = afterWrite(undefined, 'ours', 0);
  const review = reviewField(state, { wanted: 'ours', observed: undefined, now: 1_000 });
  assert.deepEqual([review.verdict, review.isContested], [{ kind: 'write' }, false]);
});

test('a quarter of an hour in peace: what was contested is forgotten', () => {
  const contested: FieldState = { written: 'ours', writtenAt: 0, undone: 9, isUndone: false };
  assert.equal(reviewField(contested, { wanted: 'ours', observed: 'ours', now: 900_000 }).state, undefined);
  const late = reviewField(contested, { wanted: 'ours', observed: 'theirs', now: 900_000 });
  assert.deepEqual([late.verdict, late.state?.undone, late.isContested], [{ kind: 'write' }, 1, false]);
});

test('a new wish is written at once, also while the old one is on the object', () => {
  const state = afterWrite(undefined, 'first', 0);
  const review = reviewField(state, { wanted: 'second', observed: 'first', now: 10 });
  assert.deepEqual([review.verdict, review.state?.undone], [{ kind: 'write' }, 0]);
  const undone: FieldState = { written: 'first', writtenAt: 0, undone: 5, isUndone: true };
  const fresh = reviewField(undone, { wanted: 'second', observed: 'theirs', now: 10 });
  assert.deepEqual([fresh.verdict, fresh.isContested], [{ kind: 'write' }, true]);
});

test('a review is repeated without harm: each write counts once as undone', () => {
  const observed = { wanted: 'ours', observed: 'theirs' };
  let { state } = reviewField(afterWrite(undefined, 'ours', 0), { ...observed, now: 1 });
  for (let now = 2; now < 900; now++) ({ state } = reviewField(state, { ...observed, now }));
  assert.equal(state?.undone, 1);
});

test('whatever others write and whenever: at most 6 writes of one wish in any 5 minutes, and it is written in the end', () => {
  const step = fc.record({
    after: fc.nat({ max: 120_000 }),
    theirs: fc.constantFrom('ours', 'theirs', 'another', undefined),
  });
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 200 }), (steps) => {
      let state: FieldState | undefined;
      let now = 0;
      const writes: number[] = [];
      let observed: string | undefined;
      const review = (): number => {
        const { state: next, verdict } = reviewField(state, { wanted: 'ours', observed, now });
        state = next;
        if (verdict.kind === 'accept') return Number.POSITIVE_INFINITY;
        if (verdict.kind === 'wait') return verdict.atMs;
        writes.push(now);
        state = afterWrite(state, 'ours', now);
        observed = 'ours';
        return Number.POSITIVE_INFINITY;
      };
      let dueAt = review();
      for (const { after, theirs } of steps) {
        const until = now + after;
        if (dueAt <= until) {
          now = dueAt;
          review();
        }
        now = until;
        observed = theirs;
        dueAt = review();
      }
      now = Math.max(now, Math.min(dueAt, now + 300_000));
      review();
      assert.equal(observed, 'ours');
      for (const [i, at] of writes.entries()) assert.ok((writes[i + 6] ?? Number.POSITIVE_INFINITY) - at >= 300_000);
    }),
  );
});

test('the manager that set a field last is named; what cannot be read names nobody', () => {
  const condition = 'k:{"type":"NetworkUnavailable"}';
  const fieldsV1 = { 'f:status': { 'f:conditions': { '.': {}, [condition]: { 'f:reason': {} } } } };
  const managedFields = [
    { manager: 'kubelet', time: '2026-01-03T00:00:00Z', fieldsV1: { 'f:status': { 'f:conditions': {} } } },
    { manager: 'cilium-operator', time: '2026-01-02T00:00:00Z', fieldsV1 },
    { manager: 'outrigger', time: '2026-01-01T00:00:00Z', fieldsV1 },
    null,
    { fieldsV1 },
    { manager: 'x', fieldsV1: 7 },
  ];
  const path = ['f:status', 'f:conditions', condition];
  assert.equal(managerOf({ metadata: { managedFields } }, path), 'cilium-operator');
  assert.equal(managerOf({ metadata: { managedFields } }, ['f:status', 'f:toString']), undefined);
  assert.equal(managerOf({}, path), undefined);
  assert.match(contestedNote('status.loadBalancer', 'cilium-operator').message, /field manager cilium-operator writes/);
  assert.match(contestedNote('status.loadBalancer', undefined).message, /^Another program/);
});
