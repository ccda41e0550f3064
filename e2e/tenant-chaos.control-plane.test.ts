import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { controlPlaneOrSkip } from '@outrigger/testing';
import { runTenantRound, TENANT_FLAGS, tenantLine } from './tenant-chaos.ts';

/** Five minutes of it beside 200 Services and 500 nodes, whose times are compared: `make chaos PART=tenant`. */
const DURATION_MS = 8_000;

test('honest nodes and Services stay as they are beside a hostile tenant and hostile kubelets, and nothing is leaked', async (t) => {
  const controlPlane = await controlPlaneOrSkip(t, { flags: TENANT_FLAGS });
  if (!controlPlane) return;
  const directory = await mkdtemp(join(tmpdir(), 'outrigger-chaos-'));
  const size = { services: 30, nodes: 60, durationMs: DURATION_MS, compares: false };
  const report = await runTenantRound({ controlPlane, seed: 1, ...size, directory });
  t.diagnostic(tenantLine(report));
  assert.deepEqual(report.problems, [], `${tenantLine(report)}; logs: ${directory}`);
  await rm(directory, { recursive: true });
});
