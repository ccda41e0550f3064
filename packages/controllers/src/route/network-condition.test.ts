import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasRouteCondition, routeCondition } from './network-condition.ts';
import { conditionScenarios } from './upstream-scenarios.suite.ts';

for (const { accepted = false, before, name, routed, written: byUpstream } of conditionScenarios) {
  const written = byUpstream && !accepted;
  test(`upstream's case: ${name}: ${written ? 'written' : 'left'}${accepted ? ', unlike upstream' : ''}`, () => {
    const conditions = before ? [{ type: 'NetworkUnavailable', ...before }] : [];
    assert.equal(!hasRouteCondition({ status: { conditions } }, routed), written);
  });
}

test('what is written is as upstream writes it, and is there then', () => {
  for (const [created, status, reason, message] of [
    [true, 'False', 'RouteCreated', 'RouteController created a route'],
    [false, 'True', 'NoRouteCreated', 'RouteController failed to create a route'],
  ] as const) {
    const condition = routeCondition(created, Date.UTC(2026, 0, 1));
    assert.deepEqual([condition.status, condition.reason, condition.message], [status, reason, message]);
    assert.equal(condition.lastTransitionTime, '2026-01-01T00:00:00Z');
    assert.ok(hasRouteCondition({ status: { conditions: [condition] } }, created));
  }
});
