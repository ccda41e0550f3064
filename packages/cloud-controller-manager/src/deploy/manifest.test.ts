import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { deployManifest } from './manifest.ts';

for (const [kind, file] of [
  ['DaemonSet', 'cloud-controller-manager.yml'],
  ['Deployment', 'cloud-controller-manager-deployment.yml'],
] as const) {
  test(`deploy/${file} is what is generated (else: node scripts/deploy-manifests.ts)`, async () => {
    const text = readFileSync(new URL(`../../../../deploy/${file}`, import.meta.url), 'utf8');
    assert.equal(text, await deployManifest(kind));
  });
}
