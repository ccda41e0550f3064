import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { errorCodeOfStatus, formatProviderID, isCloudError, parseProviderID } from './index.ts';

test('a provider ID goes there and back, and nobody else’s is taken for ours', () => {
  for (const rest of ['i-1', '/eu-1a/i-1', 'region/uuid', 'a://b']) {
    assert.equal(parseProviderID(formatProviderID('acme', rest), 'acme'), rest);
  }
  for (const other of [undefined, '', 'acme', 'acme:/i-1', 'acme://', 'acmes://i-1', 'other://acme://i-1']) {
    assert.equal(parseProviderID(other, 'acme'), undefined, other);
  }
});

test('a machine without an ID gets no provider ID', () => {
  for (const rest of ['', undefined as unknown as string, 7 as unknown as string]) {
    assert.throws(
      () => formatProviderID('acme', rest),
      (error) => isCloudError(error, 'invalid'),
    );
  }
});

test('a status says which code it is', () => {
  const codes = [400, 401, 403, 404, 408, 409, 410, 412, 418, 422, 429, 500, 501, 502, 503, 504].map(errorCodeOfStatus);
  assert.deepEqual(codes, [
    'invalid',
    'unauthenticated',
    'forbidden',
    'not-found',
    'timeout',
    'conflict',
    'not-found',
    'conflict',
    'invalid',
    'invalid',
    'throttled',
    'unavailable',
    'unsupported',
    'unavailable',
    'unavailable',
    'unavailable',
  ]);
});
