/** What is read from a record that who may write the Service may edit. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingRecordOf, partsRecordOf } from './parts-record.ts';
import { missingSinceAnnotation, partsAnnotation } from './well-known-names.ts';

const serviceWith = (annotations: Readonly<Record<string, string>>): Parameters<typeof partsRecordOf>[0] => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', annotations },
});
const named = (count: number): string => Array.from({ length: count }, (_, i) => `address/${i}`).join(' ');

test('each part that a record names is a question to the cloud: one of thousands is none of ours, and is not read', () => {
  assert.equal(partsRecordOf(serviceWith({ [partsAnnotation]: named(100) }))?.parts.length, 100);
  assert.equal(partsRecordOf(serviceWith({ [partsAnnotation]: named(5_000) })), undefined);
  const missing = `2026-01-01T00:00:00Z ${named(5_000)}`;
  assert.equal(missingRecordOf(serviceWith({ [missingSinceAnnotation]: missing })), undefined);
});
