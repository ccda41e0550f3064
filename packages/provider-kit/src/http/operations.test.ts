import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudError, isCloudError } from '@outrigger/cloud-provider';
import { FakeClock } from '@outrigger/testing';
import { hostWith } from '../group-commit/shared-object.suite.ts';
import { Operations, pollUntil } from './operations.ts';

const call = hostWith(new FakeClock()).callContext();

test('what was begun is pending until the cloud says that it has ended; a failure is told once, to whom it was begun for', async () => {
  const states = new Map<string, 'running' | 'done' | Error>();
  const operations = new Operations(async (handle) => {
    const state = states.get(handle) ?? new CloudError('not-found', 'no such operation');
    if (typeof state !== 'string') throw state;
    return state;
  });
  const made = { kind: 'load-balancer', id: 'lb-1' };
  assert.deepEqual(operations.begin('a', { handle: 'op-1', made, pollAfterMs: 2_000 }), {
    kind: 'pending',
    handle: 'op-1',
    pollAfterMs: 2_000,
    made,
  });
  assert.deepEqual(operations.begin('b', { handle: 'op-2' }), { kind: 'pending', handle: 'op-2', pollAfterMs: 1_000 });
  states.set('op-1', 'running').set('op-2', 'done');
  assert.deepEqual([await operations.settle('a', call), await operations.settle('b', call)], [true, false]);

  states.set('op-1', new CloudError('unavailable', 'the question failed'));
  await assert.rejects(operations.settle('a', call), (error) => isCloudError(error, 'unavailable'));
  states.set('op-1', new CloudError('quota', 'no more addresses'));
  await assert.rejects(operations.settle('a', call), (error) => isCloudError(error, 'quota'));
  assert.equal(await operations.settle('a', call), false);

  operations.begin('a', { handle: 'forgotten by the cloud' });
  assert.equal(await operations.settle('a', call), false);
});

test('what has to be waited for is asked about until it is there', async () => {
  const clock = new FakeClock();
  let looks = 0;
  const found = pollUntil(async () => (++looks === 3 ? 'there' : undefined), { clock, call, everyMs: 500 });
  await clock.advance(1_000);
  assert.equal(await found, 'there');
});
