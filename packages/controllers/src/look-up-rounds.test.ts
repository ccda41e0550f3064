import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeRef } from '@outrigger/cloud-provider';
import { silentLogger } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { LookUpRounds } from './look-up-rounds.ts';

const node: NodeRef = { name: 'a', uid: 'a', labels: {}, annotations: {} };

test('a node that is asked about early, again and again, does not wait longer afterwards for it', async () => {
  const clock = new FakeClock();
  const askedAt: number[] = [];
  const end = new AbortController();
  let unhelpful = 0;
  const rounds: LookUpRounds = new LookUpRounds({
    clock,
    logger: silentLogger,
    signal: end.signal,
    need: 'metadata',
    lookups: {
      lookUp: () => {
        askedAt.push(clock.monotonic());
        return Promise.resolve({ asOf: clock.monotonic(), result: { kind: 'missing' } });
      },
    },
    nodeOf: () => node,
    onAnswer: (key) => void (unhelpful = rounds.askLater(key, node.uid)),
  });
  rounds.ask('a', node, 'normal');
  for (let s = 0; s < 60; s += 5) {
    rounds.askNow('a', node, 'normal');
    await clock.advance(5_000);
  }
  const hinted = askedAt.length;
  assert.ok(unhelpful >= 12, 'each is counted: a person is told by their number');
  await clock.advance(20_000);
  assert.ok(askedAt.length > hinted, 'as soon as without the hints');
  await clock.advance(3_600_000);
  assert.ok(askedAt.length < hinted + 30, 'and ever more seldom again');
  end.abort();
});

test('an answer is kept for a minute from when it is first acted on, for five minutes where it never is, and to be taken for one', async () => {
  const clock = new FakeClock();
  const end = new AbortController();
  let asked = 0;
  const rounds = new LookUpRounds({
    clock,
    logger: silentLogger,
    signal: end.signal,
    need: 'metadata',
    lookups: {
      lookUp: () => {
        asked++;
        return Promise.resolve({ asOf: clock.monotonic(), result: { kind: 'missing' } });
      },
    },
    nodeOf: () => node,
    onAnswer: () => {},
  });
  const ask = async (): Promise<number> => {
    rounds.ask('a', node, 'normal');
    await clock.settle();
    return asked;
  };
  assert.equal(await ask(), 1);
  await clock.advance(240_000);
  assert.equal(await ask(), 1, 'it waits for a worker');
  assert.ok(rounds.answer('a', 'a'));
  await clock.advance(59_000);
  assert.ok(rounds.answer('a', 'a'));
  await clock.advance(2_000);
  assert.equal(rounds.answer('a', 'a'), undefined);
  assert.equal(await ask(), 2);
  await clock.advance(61_000);
  assert.equal(rounds.take('a', 'a'), undefined, 'what a deletion may rest on is no older than that');
  assert.equal(await ask(), 3);
  await clock.advance(301_000);
  assert.equal(await ask(), 4);
  assert.ok(rounds.take('a', 'a'));
  end.abort();
});
