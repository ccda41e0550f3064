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

test('a record that is longer than this program writes one is not read, nor a part with a longer name than one may have', () => {
  const read = (text: string): readonly (number | undefined)[] => [
    partsRecordOf(serviceWith({ [partsAnnotation]: text }))?.parts.length,
    missingRecordOf(serviceWith({ [missingSinceAnnotation]: `2026-01-01T00:00:00Z ${text}` }))?.parts.length,
  ];
  const ofLength = (id: number): string => `address/${'i'.repeat(id)}`;
  assert.deepEqual(read(ofLength(1_024)), [1, 1]);
  assert.deepEqual(read(ofLength(1_025)), [undefined, undefined]);
  assert.deepEqual(read(Array.from({ length: 50 }, () => ofLength(1_000)).join(' ')), [50, 50]);
  assert.deepEqual(read(Array.from({ length: 51 }, () => ofLength(1_000)).join(' ')), [undefined, undefined]);
  // Not even where it names few.
  assert.deepEqual(read(`address/a${' '.repeat(51_000)}`), [undefined, undefined]);
});
