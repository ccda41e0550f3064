import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudError } from '@outrigger/cloud-provider';
import { retryAfterMsOf } from './retry-after.ts';

test('when an error says to ask again is cut to five minutes, and left out where it is no time', () => {
  for (const [said, is] of [
    [undefined, undefined],
    [0, 0],
    [7_000, 7_000],
    [86_400_000, 300_000],
    [Infinity, undefined],
    [Number.NaN, undefined],
    [-1, undefined],
    ['60', undefined],
  ] as const) {
    const error = new CloudError('throttled', 'x', { retryAfterMs: said as number | undefined });
    assert.equal(retryAfterMsOf(error), is, String(said));
  }
  assert.equal(
    retryAfterMsOf(Object.assign(new Error('x'), { retryAfterMs: 7_000 })),
    undefined,
    'not of the contract',
  );
});
