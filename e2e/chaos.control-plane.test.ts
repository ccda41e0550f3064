import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { controlPlaneOrSkip } from '@outrigger/testing';
import { chaosLine, REPLICA_USERS, runChaosRound } from './chaos-round.ts';

/** Others: `make chaos`. */
const SEED = 1;

test('500 nodes come up whole while leaders are killed and frozen, the API server restarts and watches are cut', async (t) => {
  const controlPlane = await controlPlaneOrSkip(t, { tokenUsers: REPLICA_USERS });
  if (!controlPlane) return;
  const directory = await mkdtemp(join(tmpdir(), 'outrigger-chaos-'));
  const report = await runChaosRound({ controlPlane, seed: SEED, nodes: 500, directory });
  t.diagnostic(chaosLine(report));
  assert.deepEqual(report.problems, [], `${chaosLine(report)}; logs: ${directory}`);
  // The same seed each time: what was to happen has happened.
  for (const strike of ['kill', 'freeze', 'restart API server', 'cut watches', 'answer lost', '409', '429'])
    assert.ok((report.strikes[strike] ?? 0) > 0, `${strike} never happened; ${chaosLine(report)}`);
  assert.equal(report.strikes['kill'], 2);
  assert.ok(report.leadership.terms > 1, chaosLine(report));
  assert.ok(report.leadership.succeeded <= 2.1 * report.nodes, chaosLine(report));
  await rm(directory, { recursive: true });
});
