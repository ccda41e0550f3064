import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { pvLabelWebhookManifest } from './pv-label-webhook.ts';

test('deploy/pv-label-webhook.yml is what is generated (else: node scripts/deploy-manifests.ts)', async () => {
  const text = readFileSync(new URL('../../../../deploy/pv-label-webhook.yml', import.meta.url), 'utf8');
  assert.equal(text, await pvLabelWebhookManifest());
});
