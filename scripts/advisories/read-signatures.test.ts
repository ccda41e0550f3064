import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSignatures } from './read-signatures.ts';

test('what is signed wrongly, and what is not signed, is named', () => {
  const report = {
    invalid: [{ name: 'a', version: '1.0.0', code: 'EINTEGRITYSIGNATURE' }],
    missing: [{ name: '@b/c', version: '2.0.0' }],
  };
  assert.deepEqual(readSignatures(JSON.stringify(report)), {
    kind: 'known',
    invalid: ['a@1.0.0'],
    missing: ['@b/c@2.0.0'],
  });
  assert.deepEqual(readSignatures('{"invalid":[],"missing":[]}'), { kind: 'known', invalid: [], missing: [] });
});

test('whatever is no report is unknown, and says why without the name of a host', () => {
  const offline = { error: { code: 'ENOTFOUND', summary: 'request to https://keys.example/1.root.json failed\nmore' } };
  assert.deepEqual(readSignatures(JSON.stringify(offline)), { kind: 'unknown', reason: 'request to … failed' });
  for (const text of ['', 'null', '[]', '{}', '{"invalid":[]}', '{"invalid":[1],"missing":[]}']) {
    assert.equal(readSignatures(text).kind, 'unknown', text);
  }
});
