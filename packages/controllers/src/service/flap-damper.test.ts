import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { BackEnd } from '@outrigger/cloud-provider';
import { flappingNote, isHeld, isMembershipChange, isQuiet, noteChange, type Flapping } from './flap-damper.ts';

const MINUTE = 60_000;

test('three changes within five minutes are followed at once, the fourth and those after it are held ever longer', () => {
  let flapping: Flapping | undefined;
  const holds: number[] = [];
  let now = 0;
  for (let i = 0; i < 12; i++) {
    flapping = noteChange(flapping, now);
    holds.push(Math.max(0, flapping.heldUntil - now));
    now = Math.max(flapping.heldUntil, now) + 3_000;
  }
  const seconds = holds.map((ms) => ms / 1_000);
  assert.deepEqual(seconds, [0, 0, 0, 10, 20, 40, 80, 160, 300, 300, 300, 300]);
  assert.match(flappingNote(flapping as Flapping).message, /keep it as it is for 300 s/);
});

test('what comes together with a change is none of its own', () => {
  let flapping: Flapping | undefined;
  for (const now of [0, 500, 1_000, 2_400, 10_000, 12_000, 20_000, 21_000]) {
    flapping = noteChange(flapping, now);
    assert.equal(isHeld(flapping, now), false);
  }
  assert.equal(isHeld(noteChange(flapping, 23_000), 23_000), true);
});

test('a change during a hold does not make it longer; five minutes without one end it all', () => {
  let flapping: Flapping | undefined;
  for (const now of [0, 5_000, 10_000, 15_000, 24_000]) flapping = noteChange(flapping, now);
  assert.equal(flapping?.heldUntil, 25_000);
  assert.equal(isQuiet(flapping, 24_000 + 5 * MINUTE), false);
  const again = noteChange(flapping, 25_000 + 5 * MINUTE);
  assert.equal(isHeld(again, 25_000 + 5 * MINUTE), false);
  assert.deepEqual(again.countedAt, [25_000 + 5 * MINUTE]);
});

test('a node that changes three times in five minutes at most is never held, however long it goes on', () => {
  const gaps = fc.array(fc.integer({ min: 0, max: 10 * MINUTE }), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(gaps, (times) => {
      let now = 0;
      let flapping: Flapping | undefined;
      const changes: number[] = [];
      for (const gap of times) {
        // Any three others are more than five minutes apart from it.
        const third = changes.at(-3) ?? -Infinity;
        now = Math.max(now + gap, third + 5 * MINUTE + 1);
        changes.push(now);
        flapping = noteChange(flapping, now);
        assert.equal(isHeld(flapping, now), false);
      }
    }),
  );
});

test('whatever a node does, no hold is longer than five minutes, and it costs few updates', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 30_000 }), { minLength: 500, maxLength: 500 }), (gaps) => {
      let now = 0;
      let flapping: Flapping | undefined;
      let updates = 0;
      for (const gap of gaps) {
        now += gap;
        const before: Flapping | undefined = flapping;
        flapping = noteChange(flapping, now);
        assert.ok(flapping.heldUntil - now <= 5 * MINUTE);
        assert.ok(flapping.countedAt.length <= 3);
        if (flapping.countedAt.at(-1) !== before?.countedAt.at(-1)) updates += 1;
      }
      // The first minutes, and then one in five minutes.
      assert.ok(updates <= 8 + now / (5 * MINUTE), `${updates} in ${now} ms`);
    }),
  );
});

test('coming, going, an address, another machine or a label that goes is a change; a label that is new is none', () => {
  const backEnd = (node: Partial<BackEnd['node']> = {}, addresses = ADDRESSES): BackEnd => ({
    node: { name: 'n', uid: 'u', providerID: 'memory://n', labels: { zone: 'a' }, annotations: {}, ...node },
    addresses,
  });
  const ADDRESSES: BackEnd['addresses'] = [{ type: 'InternalIP', address: '10.0.0.1' }];
  const one = backEnd();
  for (const [other, isChange] of [
    [one, false],
    [backEnd({ annotations: { beat: '1' } }), false],
    [backEnd({ labels: { zone: 'a', gpu: 'yes' } }), false],
    [backEnd({ labels: { zone: 'b' } }), true],
    [backEnd({ labels: {} }), true],
    [backEnd({ uid: 'v' }), true],
    [backEnd({ providerID: 'memory://m' }), true],
    [backEnd({}, []), true],
    [undefined, true],
  ] as const) {
    assert.equal(isMembershipChange(one, other), isChange, JSON.stringify(other));
  }
  assert.equal(isMembershipChange(undefined, one), true);
  assert.equal(isMembershipChange(undefined, undefined), false);
});
