import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { controlPlaneOrSkip } from '@outrigger/testing';
import { runServiceRound, serviceLine } from './service-chaos.ts';

/** Others: `make chaos PART=services`. */
const SEED = 1;

test('100 services of four parts leak and lose nothing while the program is killed and the cloud loses answers', async (t) => {
  const controlPlane = await controlPlaneOrSkip(t);
  if (!controlPlane) return;
  const directory = await mkdtemp(join(tmpdir(), 'outrigger-chaos-'));
  const report = await runServiceRound({ controlPlane, seed: SEED, services: 100, kills: 4, haste: 10, directory });
  t.diagnostic(serviceLine(report));
  assert.deepEqual(report.problems, [], `${serviceLine(report)}; logs: ${directory}`);
  assert.ok(report.lostAnswers > 0, 'no answer was lost');
  assert.ok(report.killsAmidWork > 0, 'never killed amid work');
  await rm(directory, { recursive: true });
});
