import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { controlPlaneOrSkip } from '@outrigger/testing';
import { parseAllDocuments } from 'yaml';
import { define, downloadDefinitions, type Definitions } from './custom-definitions.ts';
import { kubectl } from './granted-program.ts';

/** Whose definitions are read where they are: none of them is kept here. */
const OPERATOR: Definitions = {
  module: 'github.com/prometheus-operator/prometheus-operator',
  version: 'v0.85.0',
  files: {
    'servicemonitors.monitoring.coreos.com':
      'example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml',
    'prometheusrules.monitoring.coreos.com':
      'example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml',
  },
};

const DEPLOY = fileURLToPath(new URL('../deploy/', import.meta.url));
const FILES = ['monitoring/*.yml', 'helm/*/snapshots/*.yaml'];

interface Monitoring {
  readonly apiVersion: string;
  readonly kind: string;
  readonly spec: Readonly<Record<string, unknown>>;
}

/** What prometheus-operator is to read, of one file. */
function monitoringObjects(file: string): readonly Monitoring[] {
  return parseAllDocuments(readFileSync(join(DEPLOY, file), 'utf8'))
    .map((document) => document.toJS() as Monitoring)
    .filter(({ apiVersion }) => apiVersion.startsWith('monitoring.coreos.com/'));
}

test("an API server that has prometheus-operator's definitions takes the ServiceMonitors and PrometheusRules as they are", async (t) => {
  try {
    await downloadDefinitions(OPERATOR);
  } catch (error) {
    if (process.env['CI']) throw error;
    t.skip(`the definitions of prometheus-operator cannot be had: ${(error as Error).message}`);
    return;
  }
  const controlPlane = await controlPlaneOrSkip(t, { kubectl: true, auditLog: false });
  if (!controlPlane) return;
  await define(controlPlane, OPERATOR);
  const apply = (items: readonly object[]): Promise<string> =>
    kubectl(
      controlPlane,
      ['apply', '--dry-run=server', '--warnings-as-errors', '--validate=strict', '--output=name', '--filename=-'],
      JSON.stringify({ apiVersion: 'v1', kind: 'List', items }),
    );

  const files = FILES.flatMap((pattern) => globSync(pattern, { cwd: DEPLOY }));
  const found = files.map((file) => [file, monitoringObjects(file)] as const).filter(([, items]) => items.length > 0);
  assert.deepEqual([...new Set(found.flatMap(([, items]) => items.map(({ kind }) => kind)))].toSorted(), [
    'PrometheusRule',
    'ServiceMonitor',
  ]);
  assert.ok(found.some(([file]) => file.startsWith('helm/')) && found.some(([file]) => file.startsWith('monitoring/')));
  for (const [file, items] of found) {
    assert.equal((await apply(items)).trim().split('\n').length, items.length, file);
  }
  // What the definitions do not know, they refuse: a field of the same objects, misspelled.
  for (const object of new Set(found.flatMap(([, items]) => items))) {
    const wrong = { ...object, spec: { ...object.spec, endpoint: [] } };
    await assert.rejects(apply([wrong]), /unknown field "(?:spec\.)?endpoint"/u, object.kind);
  }
});
