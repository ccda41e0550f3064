import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { chartDigest } from './chart-digest.ts';

test('the snapshots of the Helm chart are of the chart as it is (else: make chart UPDATE=1)', () => {
  const chart = join(import.meta.dirname, '../deploy/helm/outrigger-cloud-controller-manager');
  assert.equal(readFileSync(join(chart, 'snapshots/rendered-from.sha256'), 'utf8').trim(), chartDigest(chart));
});
