import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudError, type InstanceResult, type NodeRef } from '@outrigger/cloud-provider';
import { silentLogger } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { DirectReads } from './direct-reads.ts';

const READ_MS = 100;
const absent: InstanceResult = { kind: 'absent', proof: '404' };

function rigOf(): {
  clock: FakeClock;
  reads: DirectReads;
  sent: string[];
  refused: Set<string>;
  failing: Set<string>;
} {
  const clock = new FakeClock();
  const sent: string[] = [];
  const refused = new Set(['bad']);
  const failing = new Set<string>();
  const { signal } = new AbortController();
  const reads = new DirectReads({
    lookups: {
      read: async ({ name }: NodeRef) => {
        sent.push(name);
        const asOf = clock.monotonic();
        await clock.sleep(READ_MS, signal);
        const code = failing.has(name) ? 'unavailable' : refused.has(name) ? 'invalid' : undefined;
        return { asOf, result: code ? { kind: 'failed', error: new CloudError(code, 'no') } : absent };
      },
    },
    clock,
    logger: silentLogger,
    signal,
    requestOf: (name) => ({ node: { name, uid: name, labels: {}, annotations: {} }, notBefore: 0 }),
    isPaced: () => false,
    onAnswer: () => {},
    onLate: () => {},
  });
  return { clock, reads, sent, refused, failing };
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

for (const [what, key, apartMs] of [
  ['refused', 'bad', 2 * READ_MS],
  ['gone', 'good', 2 * READ_MS],
  ['gone, by answers that come too late', 'good', READ_MS / 2],
] as const) {
  test(`however often the node of a machine that is ${what} is Ready for a moment, it is read at a pace`, async () => {
    const { clock, reads, sent } = rigOf();
    for (let ms = 0; ms < 60_000; ms += apartMs) {
      reads.ask(key);
      await clock.advance(apartMs);
      reads.forget(key);
    }
    assert.ok(sent.length <= 1 + 10 + 30, `${sent.length} reads`);
  });
}

test('a machine that cannot be read again, while others are proved to be gone, ends no run, and first does', async () => {
  const { clock, reads, sent, failing } = rigOf();
  failing.add('bad');
  const others = async (from: number): Promise<number> => {
    const before = sent.length;
    for (let i = from; i < from + 8; i++) reads.ask(`n${i}`);
    await clock.advance(4 * READ_MS);
    return sent.length - before;
  };
  reads.ask('bad');
  await clock.advance(READ_MS);
  assert.equal(await others(0), 0);
  await clock.advance(1_000);
  reads.ask('bad');
  await clock.advance(READ_MS);
  assert.equal(await others(8), 8);
  assert.deepEqual([reads.isPaced('bad'), sent.filter((name) => name === 'bad').length], [false, 2]);
});

test('a machine that cannot be read is read again, however many others are asked about for the first time', async () => {
  const { clock, reads, sent, failing } = rigOf();
  failing.add('bad');
  reads.ask('bad');
  await clock.advance(READ_MS);
  for (let i = 0; i < 100; i++) {
    if (i === 10) reads.ask('bad');
    failing.add(`n${i}`);
    reads.ask(`n${i}`);
    await clock.advance(3_000);
  }
  const others = sent.slice(1, sent.indexOf('bad', 1));
  assert.deepEqual(
    others,
    Array.from({ length: 10 }, (_, i) => `n${i}`),
    'those that waited before it',
  );
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
