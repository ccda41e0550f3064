import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isCloudError, type PodRangeRequest, type PodRangeResult, type PodRanges } from '@outrigger/cloud-provider';
import { FakeClock } from '@outrigger/testing';
import { callContext } from './load-balancer/memory-provider.suite.ts';
import { RequestBatches } from './request-batches.ts';

function requestOf(name: string): PodRangeRequest {
  return { node: { name, uid: name, labels: {}, annotations: {} }, podCidrs: ['10.0.0.0/24'] };
}

interface Rig {
  readonly clock: FakeClock;
  readonly ended: AbortController;
  readonly batches: RequestBatches<PodRangeRequest, PodRangeResult>;
  /** Nodes for which the cloud was asked. */
  readonly asked: readonly string[];
}

/** The cloud looks at no signal, and never answers about node `stuck`. */
function setUp(): Rig {
  const clock = new FakeClock();
  const ended = new AbortController();
  const asked: string[] = [];
  const podRanges: PodRanges = {
    batchSize: 1,
    assign: (requests) => {
      asked.push(...requests.map(({ node }) => node.name));
      if (requests.some(({ node }) => node.name === 'stuck')) return new Promise(() => {});
      return Promise.resolve(requests.map((): PodRangeResult => ({ kind: 'done' })));
    },
  };
  const batches = new RequestBatches<PodRangeRequest, PodRangeResult>({
    what: 'assigning pod CIDRs to',
    batchSize: podRanges.batchSize,
    send: (requests, call) => podRanges.assign(requests, call),
    callContext: ({ signal, priority }) => callContext(signal, priority),
    clock,
    signal: ended.signal,
  });
  return { clock, ended, batches, asked };
}

test('a request that hangs is given up after the time of a call, and those behind it are sent', async () => {
  const { batches, clock } = setUp();
  const results = ['stuck', 'well'].map((name) => batches.add(requestOf(name)));
  await clock.advance(60_000);
  const [stuck, well] = await Promise.all(results);
  assert.ok(stuck?.kind === 'failed' && isCloudError(stuck.error, 'timeout'));
  assert.equal(well?.kind, 'done');
});

test('at the end nobody waits for it, and nothing more is sent', async () => {
  const { asked, batches, clock, ended } = setUp();
  const results = ['stuck', 'well'].map((name) => batches.add(requestOf(name)));
  await clock.settle();
  ended.abort(new Error('the end'));
  assert.deepEqual(
    (await Promise.all(results)).map(({ kind }) => kind),
    ['failed', 'failed'],
  );
  assert.deepEqual(asked, ['stuck']);
});
