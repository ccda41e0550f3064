import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { admissionPolicy, featuresPage, serviceWebhook } from './generate.ts';

const fileOf = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

test('the page, the policy and the webhook are what the providers declare (else: node scripts/load-balancer-pages.ts)', async () => {
  assert.equal(fileOf('docs/reference/load-balancer-features.md'), await featuresPage());
  assert.equal(fileOf('deploy/admission-policy.yml'), await admissionPolicy());
  assert.equal(fileOf('deploy/service-webhook.yml'), await serviceWebhook());
});
