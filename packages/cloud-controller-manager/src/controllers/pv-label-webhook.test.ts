import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { VolumeRef, VolumeResult } from '@outrigger/cloud-provider';
import type { OpenedProvider } from '@outrigger/cloud-runtime';
import type { Webhook } from '@outrigger/controller-manager';
import { silentLogger } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { createPvLabelWebhook } from './pv-label-controller.ts';

type Asked = Parameters<OpenedProvider['callContext']>[0];

interface Rig {
  readonly calls: Asked[];
  readonly clock: FakeClock;
  readonly handles: string[];
  /** How many Warnings the log has. */
  readonly warned: () => number;
  /** What is answered to whoever creates a volume with this handle. */
  readonly create: (handle: string, inTime?: AbortSignal) => ReturnType<Webhook['answer']>;
}

function rig(isTrusted: boolean, answer: () => Promise<VolumeResult>): Rig {
  const clock = new FakeClock();
  const calls: Asked[] = [];
  const handles: string[] = [];
  let warnings = 0;
  const { signal } = new AbortController();
  const webhook = createPvLabelWebhook({
    isTrusted,
    clock,
    logger: { ...silentLogger, warn: () => void warnings++ },
    signal,
    providers: [
      {
        name: 'memory',
        capabilities: {
          volumes: {
            batchSize: 1,
            lookUp: (volumes: readonly VolumeRef[]) => {
              handles.push(...volumes.map(({ handle }) => handle));
              return Promise.all(volumes.map(answer));
            },
          },
        },
        callContext: (asked) => {
          calls.push(asked);
          return { signal: asked.signal, priority: 'normal', logger: silentLogger, call: () => assert.fail() };
        },
      },
    ],
  });
  const create = (handle: string, inTime = signal): ReturnType<Webhook['answer']> => {
    const object = {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: 'a', uid: 'uid-a' },
      spec: { cinder: { volumeID: handle } },
    };
    return webhook.answer({ uid: 'x', operation: 'CREATE', dryRun: false, object, oldObject: undefined }, inTime);
  };
  return { calls, clock, handles, create, warned: () => warnings };
}

test('a review that is over leaves nothing to be asked of a cloud that is silent', async () => {
  const { clock, create, handles } = rig(false, () => new Promise(() => {}));
  const over = new AbortController();
  const reviews = Array.from({ length: 20 }, (_, i) => create(`volume-${i}`, over.signal));
  await clock.advance(0);
  over.abort(new Error('the review took too long'));
  for (const review of await Promise.all(reviews)) assert.equal(review.warnings?.length, 1);
  await clock.advance(60_000);
  assert.deepEqual(handles, ['volume-0']);
});

test('a review of which nobody knows who sent it goes before no other call to the cloud, and is noted of no volume', async () => {
  for (const [isTrusted, priority, about] of [
    [true, 'critical', ['uid-a']],
    [false, 'normal', ['']],
  ] as const) {
    const { calls, create } = rig(isTrusted, () => Promise.resolve({ kind: 'unknown' }));
    await create('volume-1');
    assert.deepEqual([calls[0]?.priority, calls[0]?.about], [priority, about]);
  }
});

test('look-ups that fail are one line a minute in the log, however many there are', async () => {
  const { clock, create, warned } = rig(false, () => Promise.resolve({ kind: 'failed', error: new Error('down') }));
  for (let i = 0; i < 50; i++) await create(`volume-${i}`);
  assert.equal(warned(), 1);
  await clock.advance(60_000);
  await create('volume');
  assert.equal(warned(), 2);
});

test('a handle that is longer than any in a cloud is not asked about, and the answer quotes nothing of it', async () => {
  const { create, handles } = rig(false, () => Promise.resolve({ kind: 'unknown' }));
  const { operations, warnings = [] } = await create('x'.repeat(100_000));
  assert.deepEqual([operations, handles.length], [[], 0]);
  assert.match(warnings.join(), /too long/u);
  assert.ok(warnings.join().length < 1_000);
});
