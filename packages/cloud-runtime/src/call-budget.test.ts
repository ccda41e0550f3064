import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { CallPriority } from '@outrigger/cloud-provider';
import { FakeClock } from '@outrigger/testing';
import { CallBudget, type Admission } from './call-budget.ts';
import type { BucketLimits } from './rate-bucket.ts';

const always = new AbortController().signal;
const operation = { name: 'GET /things' };

test('property: never more than burst + rate × time, and never more in flight than allowed', async () => {
  const request = fc.record({
    afterMs: fc.integer({ min: 0, max: 300 }),
    takesMs: fc.integer({ min: 0, max: 500 }),
    priority: fc.constantFrom<CallPriority>('critical', 'normal', 'background'),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(request, { maxLength: 40 }),
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 6 }),
      async (requests, qps, burst, concurrency) => {
        const clock = new FakeClock();
        const budget = new CallBudget(clock, { buckets: { default: { qps, burst } }, concurrency });
        const sent: number[] = [];
        for (const { afterMs, takesMs, priority } of requests) {
          await clock.advance(afterMs);
          void budget.admit(operation, priority, always).then(async (admission) => {
            sent.push(admission.sentAt);
            assert.ok(budget.inFlight <= concurrency);
            await clock.sleep(takesMs);
            admission.release();
          });
        }
        await clock.advance(120_000);
        assert.equal(sent.length, requests.length, 'all are sent in the end');
        for (const [first, from] of sent.entries()) {
          for (const [last, to] of sent.entries()) {
            if (last >= first) assert.ok(last - first + 1 <= burst + (qps * (to - from)) / 1000 + 1e-6);
          }
        }
        assert.equal(budget.inFlight, 0);
      },
    ),
    { numRuns: 40 },
  );
});

test('limits that change hold for those who wait already', async () => {
  const clock = new FakeClock();
  let limits: BucketLimits = { qps: 0.001, burst: 1 };
  const asked = new Set<string>();
  const buckets = (name: string): BucketLimits => {
    asked.add(name);
    return limits;
  };
  const budget = new CallBudget(clock, { buckets });
  let sent = 0;
  const ask = (): void =>
    void budget.admit({ name: 'GET /things', bucket: 'things' }, 'normal', always).then(() => sent++);
  for (let i = 0; i < 4; i++) ask();
  await clock.advance(10_000);
  assert.equal(sent, 1);
  limits = { qps: 1, burst: 1 };
  await clock.advance(1_000);
  assert.equal(sent, 2, 'time that has passed under the old limit gives no more than the burst');
  limits = {};
  await clock.advance(1_000);
  assert.equal(sent, 4);
  limits = { qps: 0.001, burst: 1 };
  for (let i = 0; i < 2; i++) ask();
  await clock.advance(10_000);
  assert.equal(sent, 5);
  assert.deepEqual([...asked], ['things']);
});

test('a part of a bucket counts against the whole one too, and does not take what the other parts may have', async () => {
  const clock = new FakeClock();
  const buckets = {
    api: { qps: 2, burst: 4 },
    'api.read': { qps: 1, burst: 3 },
    'api.write': { qps: 10, burst: 10 },
    other: { qps: 1, burst: 1 },
  };
  const budget = new CallBudget(clock, { buckets });
  const sent = { 'api.read': 0, 'api.write': 0, other: 0 };
  const ask = (bucket: keyof typeof sent): void =>
    void budget.admit({ name: 'GET /things', bucket }, 'normal', always).then((admission) => {
      sent[bucket]++;
      admission.release();
    });
  for (let i = 0; i < 6; i++) ask('api.read');
  for (let i = 0; i < 6; i++) ask('api.write');
  ask('other');
  await clock.settle();
  assert.deepEqual(sent, { 'api.read': 3, 'api.write': 1, other: 1 });
  await clock.advance(1_000);
  assert.equal(sent['api.read'] + sent['api.write'], 6);
  await clock.advance(3_000);
  assert.deepEqual(sent, { 'api.read': 6, 'api.write': 6, other: 1 });
});

test('critical before normal before background, and each tenth to the class that waits', async () => {
  const clock = new FakeClock();
  const budget = new CallBudget(clock, { buckets: { default: { qps: 1, burst: 1 } } });
  (await budget.admit(operation, 'normal', always)).release();
  const order: string[] = [];
  const ask = (priority: CallPriority): void => {
    void budget.admit(operation, priority, always).then((admission) => {
      order.push(priority);
      admission.release();
    });
  };
  ask('background');
  ask('normal');
  for (let i = 0; i < 20; i++) ask('critical');
  await clock.advance(60_000);
  assert.equal(
    order.slice(0, 9).every((priority) => priority === 'critical'),
    true,
  );
  assert.deepEqual(order.slice(9, 11), ['normal', 'background']);
  assert.equal(order.length, 22);
});

test('background takes half of the places at most, and a critical request finds one', async () => {
  const budget = new CallBudget(new FakeClock(), { concurrency: 8 });
  const admitted: string[] = [];
  const ask = (priority: CallPriority): void =>
    void budget.admit(operation, priority, always).then(() => void admitted.push(priority));
  for (let i = 0; i < 10; i++) ask('background');
  for (let i = 0; i < 10; i++) ask('normal');
  ask('critical');
  await new FakeClock().settle();
  const count = (wanted: string): number => admitted.filter((priority) => priority === wanted).length;
  assert.deepEqual([count('background'), count('normal'), count('critical')], [4, 3, 1]);
});

test('calls take turns: one with a hundred requests does not hold up one with a few, nor one that comes later', async () => {
  const budget = new CallBudget(new FakeClock(), { concurrency: 1 });
  const held = await budget.admit(operation, 'normal', always);
  const sent: string[] = [];
  const ask = (name: string, requests: number): void => {
    const { signal } = new AbortController();
    for (let i = 0; i < requests; i++) {
      void budget.admit(operation, 'normal', signal).then((admission) => {
        sent.push(name);
        if (sent.length === 4) ask('late', 1);
        admission.release();
      });
    }
  };
  ask('many', 100);
  ask('few', 2);
  ask('one', 1);
  held.release();
  for (let i = 0; i < 500; i++) await Promise.resolve();
  assert.equal(sent.length, 104);
  assert.deepEqual(sent.slice(0, 8), ['many', 'few', 'one', 'many', 'few', 'many', 'late', 'many']);
});

test('a waiter leaves the line at its abort, at once', async () => {
  const clock = new FakeClock();
  const budget = new CallBudget(clock, { concurrency: 1 });
  const first: Admission = await budget.admit(operation, 'normal', always);
  const caller = new AbortController();
  const waiting = budget.admit(operation, 'normal', caller.signal);
  caller.abort(new Error('gone'));
  await assert.rejects(waiting, /gone/);
  await assert.rejects(budget.admit(operation, 'normal', caller.signal), /gone/);
  first.release();
  first.release();
  assert.equal(budget.inFlight, 0);
});

test('buckets do not hold each other up', async () => {
  const clock = new FakeClock();
  const budget = new CallBudget(clock, { buckets: { writes: { qps: 0.001, burst: 1 } } });
  await budget.admit({ name: 'POST', bucket: 'writes' }, 'normal', always);
  void budget.admit({ name: 'POST', bucket: 'writes' }, 'normal', always);
  await budget.admit(operation, 'normal', always);
});

test('limits that make no sense are refused', () => {
  assert.throws(() => new CallBudget(new FakeClock(), { concurrency: 0 }), RangeError);
});

test('a bucket that is always full does not take each place that comes free', async () => {
  const clock = new FakeClock();
  const budget = new CallBudget(clock, { concurrency: 1 });
  const order: string[] = [];
  const ask = (bucket: string, priority: CallPriority): void =>
    void budget.admit({ name: 'GET', bucket }, priority, always).then(async (admission) => {
      order.push(`${bucket} ${priority}`);
      await clock.sleep(10);
      admission.release();
    });
  for (let i = 0; i < 3; i++) ask('busy', 'normal');
  ask('other', 'normal');
  ask('other', 'critical');
  for (let i = 0; i < 3; i++) ask('busy', 'normal');
  await clock.advance(1000);
  assert.equal(order.indexOf('other critical'), 1);
  assert.equal(order.indexOf('other normal'), 4);
  assert.equal(order.length, 8);
});

test('property: a lower class goes first only after nine of higher ones, in whatever bucket they are', async () => {
  const classes: readonly CallPriority[] = ['critical', 'normal', 'background'];
  const request = fc.record({
    afterMs: fc.integer({ min: 0, max: 60 }),
    takesMs: fc.integer({ min: 1, max: 200 }),
    bucket: fc.constantFrom('a', 'b'),
    priority: fc.constantFrom(...classes),
    abortAfterMs: fc.option(fc.integer({ min: 0, max: 100 })),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(request, { maxLength: 60 }),
      fc.integer({ min: 1, max: 4 }),
      async (requests, concurrency) => {
        const clock = new FakeClock();
        const budget = new CallBudget(clock, { concurrency });
        const waiting = new Set<CallPriority[]>();
        /** Sends of higher classes since the last of this one in this bucket. */
        const passed = new Map<string, number>();
        let settled = 0;
        for (const { afterMs, takesMs, bucket, priority, abortAfterMs } of requests) {
          await clock.advance(afterMs);
          const caller = new AbortController();
          const mark = [priority];
          waiting.add(mark);
          if (abortAfterMs !== null) {
            clock.setTimer(abortAfterMs, () => {
              waiting.delete(mark);
              caller.abort(new Error('gone'));
            });
          }
          const rank = classes.indexOf(priority);
          void budget.admit({ name: 'GET', bucket }, priority, caller.signal).then(
            async (admission) => {
              waiting.delete(mark);
              const inverted = [...waiting].some(([other = 'background']) => classes.indexOf(other) < rank);
              if (inverted) assert.ok((passed.get(bucket + priority) ?? 0) >= 9, `${priority} overtook`);
              passed.set(bucket + priority, 0);
              for (const lower of classes.slice(rank + 1)) {
                for (const one of ['a', 'b']) passed.set(one + lower, (passed.get(one + lower) ?? 0) + 1);
              }
              await clock.sleep(takesMs);
              admission.release();
              settled++;
            },
            () => void settled++,
          );
          await clock.settle();
        }
        await clock.advance(60_000);
        assert.equal(settled, requests.length);
        assert.equal(budget.inFlight, 0);
      },
    ),
    { numRuns: 60 },
  );
});
