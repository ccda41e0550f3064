import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { controlPlaneOrSkip, downloadGoModule } from '@outrigger/testing';
import { parseAllDocuments } from 'yaml';
import { kubectl } from './granted-program.ts';

/** Whose definitions are read where they are: none of them is kept here. */
const CERT_MANAGER = { module: 'github.com/cert-manager/cert-manager', version: 'v1.19.1' };
const RENDERED = new URL(
  '../deploy/helm/outrigger-cloud-controller-manager/snapshots/webhooks-cert-manager.yaml',
  import.meta.url,
);

interface Certificate {
  readonly apiVersion: string;
  readonly spec: Readonly<Record<string, unknown>>;
}

test("an API server that has cert-manager's definitions takes the chart's Certificate as it is", async (t) => {
  let directory: string;
  try {
    ({ directory } = await downloadGoModule(CERT_MANAGER.module, CERT_MANAGER.version));
  } catch (error) {
    if (process.env['CI']) throw error;
    t.skip(`the definitions of cert-manager cannot be had: ${(error as Error).message}`);
    return;
  }
  const controlPlane = await controlPlaneOrSkip(t, { kubectl: true, auditLog: false });
  if (!controlPlane) return;
  const definition = join(directory, 'deploy/crds/cert-manager.io_certificates.yaml');
  await kubectl(controlPlane, ['apply', '--server-side', `--filename=${definition}`]);
  const name = 'crd/certificates.cert-manager.io';
  await kubectl(controlPlane, ['wait', '--for=condition=Established', '--timeout=60s', name]);
  const apply = (item: object): Promise<string> =>
    kubectl(
      controlPlane,
      ['apply', '--dry-run=server', '--warnings-as-errors', '--validate=strict', '--output=name', '--filename=-'],
      JSON.stringify(item),
    );
  const [certificate, ...others] = parseAllDocuments(readFileSync(RENDERED, 'utf8'))
    .map((document) => document.toJS() as Certificate)
    .filter(({ apiVersion }) => apiVersion.startsWith('cert-manager.io/'));
  assert.ok(certificate && others.length === 0, 'one Certificate');
  assert.match(await apply(certificate), /^certificate\.cert-manager\.io\//u);
  // What the definition does not know, it refuses.
  await assert.rejects(apply({ ...certificate, spec: { ...certificate.spec, dnsName: [] } }), /unknown field/u);
});
