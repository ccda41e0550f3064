import assert from 'node:assert/strict';
import { test } from 'node:test';
import { warningsOf } from './warning-header.ts';

test('reads several warnings, quotes and commas within', () => {
  const header =
    '299 - "v1 Endpoints is deprecated in v1.33+; use EndpointSlice", 299 - "unknown field \\"spec.x\\", dropped"';
  assert.deepEqual(warningsOf(header), [
    'v1 Endpoints is deprecated in v1.33+; use EndpointSlice',
    'unknown field "spec.x", dropped',
  ]);
});

test('what is no warning of an API server is left out', () => {
  assert.deepEqual(warningsOf('110 anderson/1.3.37 "Response is stale"'), []);
  assert.deepEqual(warningsOf('299 - "never closed'), []);
});
