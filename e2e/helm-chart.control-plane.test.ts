import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { controlPlaneOrSkip } from '@outrigger/testing';
import { parseAllDocuments } from 'yaml';
import { kubectl } from './granted-program.ts';

const SNAPSHOTS = fileURLToPath(
  new URL('../deploy/helm/outrigger-cloud-controller-manager/snapshots/', import.meta.url),
);

test('the API server takes every rendering of the chart as it is', async (t) => {
  const controlPlane = await controlPlaneOrSkip(t, { kubectl: true, auditLog: false });
  if (!controlPlane) return;
  const files = globSync('*.yaml', { cwd: SNAPSHOTS });
  assert.ok(files.length >= 5, String(files));
  for (const file of files) {
    const objects = parseAllDocuments(readFileSync(`${SNAPSHOTS}${file}`, 'utf8')).map(
      (document) => document.toJS() as { readonly apiVersion: string },
    );
    // What prometheus-operator and cert-manager bring is known to their own APIs only.
    const items = objects.filter(
      ({ apiVersion }) => !/^(monitoring\.coreos\.com|cert-manager\.io)\//u.test(apiVersion),
    );
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
    // Warnings are errors: a field that is unknown, or deprecated.
    const args = ['apply', '--dry-run=server', '--warnings-as-errors', '--validate=strict', '-o', 'name', '-f', '-'];
    const names: readonly string[] = (await kubectl(controlPlane, args, list)).trim().split('\n');
    assert.equal(names.length, items.length, file);
  }
});
