import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { controlPlaneOrSkip } from '@outrigger/testing';
import { faultLine, runFaultRound } from './fault-chaos.ts';

/** Five minutes of it: `make chaos PART=faults`. */
const DURATION_MS = 60_000;

test('no node is deleted, and the cloud is hardly asked, while it answers nothing but 429, 500, empty lists and false 404s', async (t) => {
  const controlPlane = await controlPlaneOrSkip(t);
  if (!controlPlane) return;
  const directory = await mkdtemp(join(tmpdir(), 'outrigger-chaos-'));
  const report = await runFaultRound({ controlPlane, seed: 1, nodes: 100, durationMs: DURATION_MS, directory });
  t.diagnostic(faultLine(report));
  assert.deepEqual(report.problems, [], `${faultLine(report)}; logs: ${directory}`);
  assert.equal(report.deletions, 0);
  await rm(directory, { recursive: true });
});
