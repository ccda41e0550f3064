import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isCloudError, type PodRangeRequest, type PodRangeResult, type PodRanges } from '@outrigger/cloud-provider';
import { FakeClock } from '@outrigger/testing';
import { callContext } from '../service/memory-provider.suite.ts';
import { PodRangeBatches } from './pod-range-batches.ts';

function requestOf(name: string): PodRangeRequest {
  return { node: { name, uid: name, labels: {}, annotations: {} }, podCidrs: ['10.0.0.0/24'] };
}

/** It looks at no signal, and never answers about node `stuck`. */
const podRanges: PodRanges = {
  batchSize: 1,
  assign: (requests) =>
    requests.some(({ node }) => node.name === 'stuck')
      ? new Promise(() => {})
      : Promise.resolve(requests.map((): PodRangeResult => ({ kind: 'done' }))),
};

function setUp(): { readonly clock: FakeClock; readonly ended: AbortController; readonly batches: PodRangeBatches } {
  const clock = new FakeClock();
  const ended = new AbortController();
  const batches = new PodRangeBatches({
    podRanges,
    callContext: ({ signal, priority }) => callContext(signal, priority),
    clock,
    signal: ended.signal,
  });
  return { clock, ended, batches };
}

test('a request that hangs is given up after the time of a call, and those behind it are sent', async () => {
  const { batches, clock } = setUp();
  const results = ['stuck', 'well'].map((name) => batches.assign(requestOf(name)));
  await clock.advance(60_000);
  const [stuck, well] = await Promise.all(results);
  assert.ok(stuck?.kind === 'failed' && isCloudError(stuck.error, 'timeout'));
  assert.equal(well?.kind, 'done');
});

test('at the end nobody waits for it, and nothing more is sent', async () => {
  const { batches, ended } = setUp();
  const results = ['stuck', 'well'].map((name) => batches.assign(requestOf(name)));
  ended.abort(new Error('the end'));
  assert.deepEqual(
    (await Promise.all(results)).map(({ kind }) => kind),
    ['failed', 'failed'],
  );
});
