import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '@outrigger/testing';
import type { DeleteRoute } from './planned-route.ts';
import { RemovalBreaker } from './removal-breaker.ts';

const MINUTE = 60_000;

const orphans = (count: number): readonly DeleteRoute[] =>
  Array.from({ length: count }, (_, i) => ({
    route: {
      id: `r-${i}`,
      destination: `10.0.${i}.0/24`,
      targetNodeName: `n-${i}`,
      blackhole: false,
      ownership: 'owned',
    },
    reason: 'node-gone',
  }));

test('a hold begins anew for a route that belonged to a node in between', async () => {
  const clock = new FakeClock();
  const breaker = new RemovalBreaker(clock);
  const all = { nodes: 60, owned: 100 };
  assert.equal(breaker.release(orphans(40), all).held, 40);
  await clock.advance(3 * MINUTE);
  assert.equal(breaker.release(orphans(31).slice(1), all).held, 0, 'as many as may go');
  await clock.advance(2 * MINUTE);
  const released = breaker.release(orphans(40), all);
  assert.equal(released.held, 10);
  assert.deepEqual(
    released.deletes.map(({ route }) => route.id),
    orphans(31)
      .slice(1)
      .map(({ route }) => route.id),
  );
  assert.equal(released.nextInMs, 5 * MINUTE);
  assert.equal(breaker.heldForMs(orphans(1)[0] as DeleteRoute), 5 * MINUTE);
});

test('up to ten may always go, and a blackhole counts for nothing; without any node none goes', () => {
  const breaker = new RemovalBreaker(new FakeClock());
  assert.equal(breaker.release(orphans(10), { nodes: 1, owned: 11 }).held, 0);
  assert.equal(breaker.release(orphans(11), { nodes: 1, owned: 11 }).held, 11);
  const blackholes = orphans(11).map((one) => ({ ...one, route: { ...one.route, blackhole: true } }));
  assert.equal(breaker.release(blackholes, { nodes: 1, owned: 11 }).deletes.length, 11);
  assert.equal(breaker.release(orphans(1), { nodes: 0, owned: 11 }).held, 1);
});
