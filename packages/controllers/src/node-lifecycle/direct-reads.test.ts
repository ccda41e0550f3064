import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudError, type InstanceResult, type NodeRef } from '@outrigger/cloud-provider';
import { silentLogger } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { DirectReads } from './direct-reads.ts';

const READ_MS = 100;
const absent: InstanceResult = { kind: 'absent', proof: '404' };

function rigOf(): { clock: FakeClock; reads: DirectReads; sent: string[]; refused: Set<string> } {
  const clock = new FakeClock();
  const sent: string[] = [];
  const refused = new Set(['bad']);
  const { signal } = new AbortController();
  const reads = new DirectReads({
    lookups: {
      read: async ({ name }: NodeRef) => {
        sent.push(name);
        const asOf = clock.monotonic();
        await clock.sleep(READ_MS, signal);
        const failed: InstanceResult = { kind: 'failed', error: new CloudError('invalid', 'no such form') };
        return { asOf, result: refused.has(name) ? failed : absent };
      },
    },
    clock,
    logger: silentLogger,
    signal,
    requestOf: (name) => ({ node: { name, uid: name, labels: {}, annotations: {} }, notBefore: 0 }),
    isPaced: () => false,
    onAnswer: () => {},
  });
  return { clock, reads, sent, refused };
}

test('a machine that is refused slows no other down again each time that its node is Ready for a moment', async () => {
  const { clock, reads, sent } = rigOf();
  reads.ask('bad');
  // Ready before the answer: it counts all the same.
  reads.forget('bad');
  await clock.advance(READ_MS);
  for (let i = 0; i < 6; i++) {
    reads.ask('good');
    await clock.advance(READ_MS);
  }
  for (let flip = 0; flip < 5; flip++) {
    reads.ask('bad');
    await clock.advance(READ_MS);
    reads.forget('bad');
    const before = sent.length;
    for (let i = 0; i < 64; i++) reads.ask(`n${i}`);
    assert.equal(sent.length - before, 64, 'all at once');
    await clock.advance(READ_MS);
  }
});

test('however often the node of a machine that is refused is Ready for a moment, it is read at a pace', async () => {
  const { clock, reads, sent } = rigOf();
  for (let ms = 0; ms < 60_000; ms += 200) {
    reads.ask('bad');
    await clock.advance(200);
    reads.forget('bad');
  }
  assert.ok(sent.length <= 1 + 10 + 30, `${sent.length} reads`);
});

test('what was refused is as any other after a quarter of an hour, and what is proved to be gone at once', async () => {
  const { clock, reads, refused } = rigOf();
  /** Behind as many as go together. */
  const isPaced = async (key: string): Promise<boolean> => {
    for (let i = 0; i < 64; i++) reads.ask(`n${i}`);
    reads.ask(key);
    const paced = reads.isPaced(key);
    await clock.advance(60_000);
    return paced;
  };
  assert.equal(await isPaced('bad'), false);
  reads.forget('bad');
  assert.deepEqual([await isPaced('bad'), await isPaced('good')], [true, false]);
  reads.forget('bad');
  await clock.advance(900_000);
  assert.deepEqual([await isPaced('bad'), await isPaced('bad')], [false, true]);
  refused.clear();
  assert.deepEqual([await isPaced('bad'), await isPaced('bad')], [true, false]);
});
