import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '@outrigger/kube';
import { isSameReadiness, readinessOf } from './readiness.ts';

const nodeWith = (times: Readonly<Record<string, string | null>>): Node => ({
  status: { conditions: [{ type: 'Ready', status: 'False', ...(times as Record<string, string>) }] },
});

test('a time that was never set is null in JSON and missing in protobuf: the condition is the same', () => {
  const inJson = readinessOf(nodeWith({ lastHeartbeatTime: null, lastTransitionTime: null }));
  const inProtobuf = readinessOf(nodeWith({}));
  assert.ok(isSameReadiness(inJson, inProtobuf));
  const set = readinessOf(nodeWith({ lastHeartbeatTime: '2026-01-01T00:00:00Z' }));
  assert.ok(!isSameReadiness(inJson, set));
});
