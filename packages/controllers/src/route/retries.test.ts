import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudError } from '@outrigger/cloud-provider';
import { FakeClock } from '@outrigger/testing';
import { Retries } from './retries.ts';

test('what has failed is tried again when the cloud says, in five minutes at the latest', () => {
  const waitMs = (retryAfterMs?: number): number => {
    const retries = new Retries(new FakeClock(), () => 0);
    const { delayMs } = retries.failed('a', new CloudError('throttled', 'slow down', { retryAfterMs }));
    assert.equal(retries.waitMs('a'), delayMs);
    return delayMs;
  };
  assert.deepEqual([waitMs(), waitMs(9_000), waitMs(172_800_000), waitMs(Number.NaN)], [1_000, 9_000, 300_000, 1_000]);
});
