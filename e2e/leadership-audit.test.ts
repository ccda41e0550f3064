import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AuditEntry } from '@outrigger/testing';
import { auditLeadership } from './leadership-audit.ts';

let requests = 0;

/** A request that took a millisecond; `at` in milliseconds of a minute. */
function entry(user: string, verb: string, resource: 'leases' | 'nodes', at: number, code = 200): AuditEntry {
  const time = (ms: number): string => `2026-01-01T00:00:${(ms / 1_000).toFixed(6).padStart(9, '0')}Z`;
  const lease = resource === 'leases' ? { namespace: 'kube-system' } : {};
  return {
    auditID: String(requests++),
    stage: 'ResponseComplete',
    verb,
    requestURI: `/${resource}`,
    user: { username: user },
    objectRef: { resource, name: 'x', ...lease },
    responseStatus: { code },
    requestReceivedTimestamp: time(at),
    stageTimestamp: time(at + 1),
  };
}

test('a replica that writes in its own terms only is found to have done so', () => {
  const audit = auditLeadership([
    entry('a', 'create', 'leases', 0, 201),
    entry('a', 'patch', 'nodes', 10),
    entry('a', 'update', 'leases', 500),
    entry('b', 'update', 'leases', 600, 409),
    entry('a', 'patch', 'nodes', 700, 422),
    entry('b', 'update', 'leases', 4_000),
    entry('b', 'patch', 'nodes', 4_010),
    entry('a', 'update', 'leases', 9_000),
    entry('a', 'patch', 'nodes', 9_010),
  ]);
  assert.deepEqual(audit, { terms: 3, nodeWrites: 4, succeeded: 3, deletions: [], strays: [] });
});

test('a write after another took the Lease is a stray, a refused one too, and so is one by nobody', () => {
  const { strays } = auditLeadership([
    entry('b', 'patch', 'nodes', 0),
    entry('a', 'create', 'leases', 10, 201),
    entry('b', 'update', 'leases', 4_000),
    entry('a', 'patch', 'nodes', 4_000),
    entry('a', 'patch', 'nodes', 4_001.25, 409),
  ]);
  assert.deepEqual(
    strays.map(({ holder, lateMs, user }) => ({ holder, lateMs, user })),
    [
      { user: 'b', holder: 'nobody', lateMs: 0 },
      { user: 'a', holder: 'b', lateMs: 0.25 },
    ],
  );
});

test('a write that is received while the server still notes the end of taking the Lease is none', () => {
  const { strays } = auditLeadership([
    entry('a', 'create', 'leases', 10, 201),
    entry('a', 'patch', 'nodes', 10.5),
    entry('b', 'patch', 'nodes', 10.5),
  ]);
  assert.deepEqual(
    strays.map(({ holder, user }) => ({ holder, user })),
    [{ user: 'b', holder: 'nobody' }],
  );
});

test('deletions are named', () => {
  const { deletions } = auditLeadership([
    entry('a', 'create', 'leases', 0),
    entry('a', 'delete', 'nodes', 10),
    entry('a', 'deletecollection', 'nodes', 11),
  ]);
  assert.equal(deletions.length, 2);
});
