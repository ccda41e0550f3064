// Over 400 lines: one rig, and one test for each promise of a queue.
import { FakeClock } from '@outrigger/testing';
import * as fc from 'fast-check';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordMetrics } from './internal/recorded-metrics.ts';
import { noMetrics } from './metrics.ts';
import { FairTurns } from './internal/fair-turns.ts';
import { exponentialBackoff } from './rate-limiter.ts';
import { createWorkQueue, type WorkQueue } from './workqueue.ts';

function setUp(): { clock: FakeClock; queue: WorkQueue<string>; metrics: ReturnType<typeof recordMetrics> } {
  const clock = new FakeClock();
  const metrics = recordMetrics();
  return { clock, metrics, queue: createWorkQueue<string>({ name: 'node', clock, metrics }) };
}

test('a key is in the queue once, and comes out in the order of the first add', async () => {
  const { queue } = setUp();
  for (const key of ['a', 'b', 'a', 'c', 'b']) queue.add(key);
  assert.equal(queue.length, 3);
  assert.deepEqual([await queue.get(), await queue.get(), await queue.get()], ['a', 'b', 'c']);
  assert.equal(queue.length, 0);
});

test('a key added while it is worked on is handed out again afterwards, not before', async () => {
  const { queue, clock } = setUp();
  queue.add('a');
  assert.equal(await queue.get(), 'a');
  queue.add('a');
  queue.add('a');
  assert.equal(queue.length, 0);
  let second: string | undefined;
  void queue.get().then((key) => (second = key));
  await clock.settle();
  assert.equal(second, undefined);
  queue.done('a');
  await clock.settle();
  assert.equal(second, 'a');
  queue.done('a');
  assert.equal(queue.length, 0);
});

test('a delay that ends while the key is worked on waits for the worker', async () => {
  const { queue, clock } = setUp();
  queue.add('a');
  await queue.get();
  queue.add('a', { delayMs: 10 });
  await clock.advance(20);
  assert.equal(queue.length, 0);
  queue.done('a');
  assert.equal(queue.length, 1);
});

test('of several delays the earliest wins, and an add without one wins over all', async () => {
  const { queue, clock } = setUp();
  queue.add('a', { delayMs: 100 });
  queue.add('a', { delayMs: 50 });
  queue.add('a', { delayMs: 200 });
  queue.add('b', { delayMs: 100 });
  queue.add('b');
  assert.equal(queue.length, 1);
  await clock.advance(49);
  assert.equal(queue.length, 1);
  await clock.advance(1);
  assert.equal(queue.length, 2);
  await queue.get();
  await queue.get();
  await clock.advance(1_000);
  assert.equal(queue.length, 0, 'the later delays left nothing behind');
  assert.equal(clock.pendingTimers, 0);
});

test('a higher priority goes first, also when it is given to a key that is queued already', async () => {
  const { queue } = setUp();
  queue.add('low', { priority: -1 });
  queue.add('first');
  queue.add('second');
  queue.add('second', { priority: -5 });
  queue.add('low', { priority: 7 });
  assert.deepEqual([await queue.get(), await queue.get(), await queue.get()], ['low', 'first', 'second']);
});

test('a worker whose signal aborts gets nothing, and takes nothing from the others', async () => {
  const { queue, clock } = setUp();
  const controller = new AbortController();
  const left = queue.get(controller.signal);
  const stays = queue.get();
  controller.abort();
  assert.equal(await left, undefined);
  queue.add('a');
  assert.equal(await stays, 'a');
  queue.add('b');
  assert.equal(await queue.get(controller.signal), undefined);
  await clock.settle();
  assert.equal(queue.length, 1);
});

test('after shutDown what is ready is still handed out, what is delayed is not, and workers are let go', async () => {
  const { queue, clock } = setUp();
  queue.add('working');
  await queue.get();
  queue.add('ready');
  queue.add('working');
  queue.add('delayed', { delayMs: 10 });
  queue.shutDown();
  queue.add('late');
  assert.equal(clock.pendingTimers, 0);
  assert.equal(await queue.get(), 'ready');
  assert.equal(await queue.get(), undefined);
  queue.done('working');
  assert.equal(await queue.get(), 'working');
  const empty = setUp().queue;
  const waiting = empty.get();
  empty.shutDown();
  assert.equal(await waiting, undefined);
});

test('back-off grows with each failure and is forgotten on request', async () => {
  const clock = new FakeClock();
  const queue = createWorkQueue<string>({
    name: 'x',
    clock,
    metrics: noMetrics,
    rateLimiter: exponentialBackoff({ baseMs: 5_000, maxMs: 300_000 }),
  });
  const waits: number[] = [];
  for (let i = 0; i < 8; i++) {
    queue.addRateLimited('a');
    waits.push(clock.nextTimerIn ?? -1);
    await clock.advance(300_000);
    await queue.get();
    queue.done('a');
  }
  assert.deepEqual(waits, [5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]);
  assert.equal(queue.requeues('a'), 8);
  queue.forget('a');
  assert.equal(queue.requeues('a'), 0);
});

test('done for a key that nobody has, and a second done, change nothing', async () => {
  const { queue } = setUp();
  queue.done('ghost');
  queue.add('a');
  await queue.get();
  queue.done('a');
  queue.done('a');
  assert.equal(queue.length, 0);
  assert.throws(() => queue.add('a', { delayMs: Number.NaN }), /delayMs is not a number/);
});

test('the metrics are those of upstream', async () => {
  const { queue, clock, metrics } = setUp();
  const labels = { name: 'node' };
  queue.add('a');
  queue.add('a');
  queue.add('b');
  await clock.advance(250);
  await queue.get();
  await clock.advance(1_000);
  metrics.collect();
  assert.equal(metrics.value('workqueue_adds_total', labels), 2);
  assert.equal(metrics.value('workqueue_depth', labels), 1);
  assert.equal(metrics.value('workqueue_unfinished_work_seconds', labels), 1);
  assert.equal(metrics.value('workqueue_longest_running_processor_seconds', labels), 1);
  queue.addRateLimited('a');
  queue.done('a');
  metrics.collect();
  assert.equal(metrics.value('workqueue_retries_total', labels), 1);
  assert.equal(metrics.value('workqueue_unfinished_work_seconds', labels), 0);
  assert.deepEqual(metrics.observations('workqueue_queue_duration_seconds'), [0.25]);
  assert.deepEqual(metrics.observations('workqueue_work_duration_seconds'), [1]);
});

/** The queue as one would write it without a thought for speed. */
class NaiveQueue {
  time = 0;
  #order = 0;
  readonly queued = new Map<string, { priority: number; readyAt: number; order: number | undefined }>();
  readonly processing = new Set<string>();

  /** Without a priority: that of what is queued already, or 0. */
  add(key: string, delayMs: number, priority?: number): void {
    const entry = this.queued.get(key);
    const readyAt = this.time + delayMs;
    if (!entry) this.queued.set(key, { priority: priority ?? 0, readyAt, order: undefined });
    else {
      const higher = Math.max(entry.priority, priority ?? entry.priority);
      // It comes to the higher one now.
      if (higher > entry.priority && entry.order !== undefined) entry.order = this.#order++;
      entry.priority = higher;
      entry.readyAt = Math.min(entry.readyAt, readyAt);
    }
    this.#ripen();
  }

  advance(ms: number): void {
    for (let step = 0; step < ms; step++) {
      this.time++;
      this.#ripen();
    }
  }

  ready(): string[] {
    return [...this.queued]
      .filter(([key, entry]) => entry.order !== undefined && !this.processing.has(key))
      .sort(([, a], [, b]) => b.priority - a.priority || (a.order ?? 0) - (b.order ?? 0))
      .map(([key]) => key);
  }

  take(): string | undefined {
    const [key] = this.ready();
    if (key === undefined) return undefined;
    this.queued.delete(key);
    this.processing.add(key);
    return key;
  }

  #ripen(): void {
    for (const entry of this.queued.values()) {
      if (entry.order === undefined && entry.readyAt <= this.time) entry.order = this.#order++;
    }
  }
}

test('the queue does what a naive model does, whatever happens to it', async () => {
  const key = fc.constantFrom('a', 'b', 'c', 'd', 'e');
  const step = fc.oneof(
    fc.record({ do: fc.constant('add' as const), key, priority: fc.integer({ min: -1, max: 2 }) }),
    // Delays that are all different: which of two keys that ripen at one instant goes first is nobody's business.
    fc.record({ do: fc.constant('delay' as const), key, ms: fc.integer({ min: 1, max: 9 }) }),
    fc.record({ do: fc.constant('advance' as const), ms: fc.integer({ min: 1, max: 6 }) }),
    fc.record({ do: fc.constant('get' as const) }),
    fc.record({ do: fc.constant('done' as const), key }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const clock = new FakeClock();
      const queue = createWorkQueue<string>({ name: 'model', clock, metrics: noMetrics });
      const model = new NaiveQueue();
      let unique = 0;
      for (const one of steps) {
        if (one.do === 'add') {
          queue.add(one.key, { priority: one.priority });
          model.add(one.key, 0, one.priority);
        } else if (one.do === 'delay') {
          const ms = one.ms + ++unique / 1_000;
          queue.add(one.key, { delayMs: ms });
          model.add(one.key, ms);
        } else if (one.do === 'advance') {
          await clock.advance(one.ms);
          model.advance(one.ms);
        } else if (one.do === 'done') {
          queue.done(one.key);
          model.processing.delete(one.key);
        } else if (queue.length > 0) {
          assert.equal(await queue.get(), model.take());
        }
        assert.equal(queue.length, model.ready().length);
      }
      assert.equal(clock.pendingTimers <= 1, true, 'one timer, however many keys wait');
    }),
    { numRuns: 200 },
  );
});

test('100,000 keys go through in seconds at most', async () => {
  const queue = createWorkQueue<string>({ name: 'many', clock: new FakeClock(), metrics: noMetrics });
  const before = process.cpuUsage();
  for (let i = 0; i < 100_000; i++) queue.add(`n${i}`, { priority: i % 7 });
  for (let i = 0; i < 100_000; i++) queue.done((await queue.get()) ?? '');
  // Processor time: the clock says how busy the machine is.
  const tookMs = process.cpuUsage(before).user / 1_000;
  assert.equal(queue.length, 0);
  // Far above what it takes: only a queue that is not O(log n) takes longer.
  assert.ok(tookMs < 10_000, `took ${tookMs} ms`);
});

test('a queue that is shut down is read by no scrape any more, and leaves its gauges at 0', async () => {
  const clock = new FakeClock();
  const metrics = recordMetrics();
  const queue = createWorkQueue<string>({ name: 'service', clock, metrics });
  queue.add('a');
  queue.add('b');
  await queue.get();
  await clock.advance(2_000);
  metrics.collect();
  assert.equal(metrics.value('workqueue_depth', { name: 'service' }), 1);
  assert.equal(metrics.value('workqueue_longest_running_processor_seconds', { name: 'service' }), 2);
  queue.shutDown();
  assert.equal(metrics.collectors, 0);
  for (const gauge of ['depth', 'unfinished_work_seconds', 'longest_running_processor_seconds']) {
    assert.equal(metrics.value(`workqueue_${gauge}`, { name: 'service' }), 0, gauge);
  }
});

test('groups that have keys ready take turns, however many keys one of them has', async () => {
  const clock = new FakeClock();
  const groupOf = (key: string): string => key.split('/', 1)[0] ?? '';
  const queue = createWorkQueue<string>({ name: 'service', clock, metrics: noMetrics, groupOf });
  const take = async (count: number): Promise<readonly (string | undefined)[]> => {
    const taken: (string | undefined)[] = [];
    for (let i = 0; i < count; i++) taken.push(await queue.get());
    return taken;
  };
  for (let i = 0; i < 1_000; i++) queue.add(`many/${i}`);
  for (const key of ['few/a', 'few/b', 'other/a']) queue.add(key);
  assert.deepEqual(await take(6), ['many/0', 'few/a', 'other/a', 'many/1', 'few/b', 'many/2']);
  // Who comes late, or comes back, has nothing to make up for, and nothing saved up.
  queue.add('late/a');
  queue.done('few/a');
  queue.add('few/a');
  queue.add('few/c');
  assert.deepEqual(await take(5), ['late/a', 'few/a', 'many/3', 'few/c', 'many/4']);
  // A higher priority goes before all turns, and moves none of them on.
  queue.add('many/urgent', { priority: 1 });
  queue.add('many/999', { priority: 1 });
  assert.deepEqual(await take(2), ['many/urgent', 'many/999']);
  for (const key of ['few/d', 'new/a']) queue.add(key);
  assert.deepEqual(await take(4), ['few/d', 'new/a', 'many/5', 'many/6']);
});

for (const worked of [0, 500]) {
  test(`groups take turns in each priority apart: with 1,000 keys at a lower one, ${worked} of them worked on, a group has its turn at a higher one`, async () => {
    const groupOf = (key: string): string => key.split('/', 1)[0] ?? '';
    const queue = createWorkQueue<string>({ name: 'service', clock: new FakeClock(), metrics: noMetrics, groupOf });
    for (let i = 0; i < 1_000; i++) queue.add(`old/${i}`, { priority: -1 });
    for (let i = 0; i < worked; i++) queue.done((await queue.get()) ?? '');
    for (let i = 0; i < 800; i++) queue.add(`new/${i}`);
    queue.add('old/note');
    queue.add('old/999', { priority: 0 });
    const taken: (string | undefined)[] = [];
    for (let i = 0; i < 4; i++) taken.push(await queue.get());
    assert.deepEqual(taken, ['new/0', 'old/note', 'old/999', 'new/1']);
    for (let i = 0; i < 798; i++) await queue.get();
    // What was raised has left no turn behind.
    queue.add('late/a', { priority: -1 });
    const low = [await queue.get(), await queue.get()];
    assert.deepEqual(low, worked === 0 ? ['old/0', 'late/a'] : ['late/a', 'old/500']);
  });
}

test('a key that is of another group when it is added again goes with that one, if its turn is earlier', async () => {
  const clock = new FakeClock();
  const moved = new Set<string>();
  const groupOf = (key: string): string => (moved.has(key) ? 'few' : 'many');
  const queue = createWorkQueue<string>({ name: 'service', clock, metrics: noMetrics, groupOf });
  for (let i = 0; i < 100; i++) queue.add(`${i}`);
  // Added again, it neither loses its turn, nor costs one.
  for (let i = 0; i < 100; i++) queue.add(`${i}`);
  moved.add('98').add('99');
  for (const key of ['99', '98']) queue.add(key);
  const taken: (string | undefined)[] = [];
  for (let i = 0; i < 100; i++) taken.push(await queue.get());
  assert.deepEqual(taken.slice(0, 5), ['0', '99', '1', '98', '2']);
  assert.deepEqual(
    taken.slice(5),
    Array.from({ length: 95 }, (_, i) => `${i + 3}`),
  );
  assert.equal(queue.length, 0);
});

test('a key that a worker has, and that is added again as one of another group, goes with that one', async () => {
  const clock = new FakeClock();
  const moved = new Set<string>();
  const groupOf = (key: string): string => (moved.has(key) ? 'few' : 'many');
  const queue = createWorkQueue<string>({ name: 'service', clock, metrics: noMetrics, groupOf });
  for (let i = 0; i < 100; i++) queue.add(`${i}`);
  const worked = await queue.get();
  assert.equal(worked, '0');
  queue.add(worked);
  moved.add(worked);
  queue.add(worked);
  queue.done(worked);
  const taken = [await queue.get(), await queue.get()];
  assert.ok(taken.includes('0'), `${taken.join(', ')} come before it, and 97 others`);
});

test('groups that are gone leave nothing behind, while another always has a key ready too', () => {
  const turns = new FairTurns();
  let ready = turns.next('busy');
  for (let i = 0; i < 100_000; i++) {
    turns.taken(turns.next(`group-${i}`));
    const next = turns.next('busy');
    turns.taken(ready);
    ready = next;
  }
  assert.ok(turns.groups < 3_000, `${turns.groups}`);
  turns.taken(ready);
  assert.equal(turns.groups, 0);
});

test('a key that rejoins while it is worked on is handed out once more, in turn with the groups, and its adds wait for done', async () => {
  const groupOf = (key: string): string => key.split('/', 1)[0] ?? '';
  const queue = createWorkQueue<string>({ name: 'service', clock: new FakeClock(), metrics: noMetrics, groupOf });
  queue.rejoin('few/nobody');
  assert.equal(queue.length, 0, 'nobody works on it');
  queue.add('few/a');
  queue.add('few/b');
  assert.deepEqual([await queue.get(), await queue.get()], ['few/a', 'few/b']);
  for (let i = 0; i < 100; i++) queue.add(`many/${i}`);
  queue.rejoin('few/b');
  queue.rejoin('few/a');
  queue.add('few/a');
  const first = [await queue.get(), await queue.get(), await queue.get(), await queue.get()];
  assert.deepEqual(first, ['many/0', 'few/b', 'many/1', 'few/a']);
  queue.done('few/b');
  assert.equal(queue.length, 98);
  queue.done('few/a');
  assert.equal(queue.length, 99, 'what was added meanwhile');
  queue.shutDown();
  queue.rejoin('many/0');
  assert.equal(queue.length, 100, 'what is worked on may end');
});

test('a key that is queued says when it is handed out, and one that is not says nothing', async () => {
  const clock = new FakeClock();
  const queue = createWorkQueue<string>({ name: 'a', clock, metrics: noMetrics });
  assert.equal(queue.dueInMs('a'), undefined);
  queue.add('a', { delayMs: 5_000 });
  await clock.advance(2_000);
  assert.equal(queue.dueInMs('a'), 3_000);
  await clock.advance(4_000);
  assert.equal(queue.dueInMs('a'), 0);
  assert.equal(await queue.get(), 'a');
  assert.equal(queue.dueInMs('a'), undefined, 'it is worked on');
  queue.add('a', { delayMs: 1_000 });
  assert.equal(queue.dueInMs('a'), 1_000);
  queue.shutDown();
});

test('keys that rejoin take turns with what is new in their group, and other groups have theirs as before', async () => {
  const groupOf = (key: string): string => key.split('/', 1)[0] ?? '';
  const queue = createWorkQueue<string>({ name: 'service', clock: new FakeClock(), metrics: noMetrics, groupOf });
  const take = async (count: number): Promise<readonly string[]> => {
    const taken: string[] = [];
    while (taken.length < count) taken.push((await queue.get()) ?? '');
    return taken.toSorted();
  };
  const begun = Array.from({ length: 50 }, (_, i) => `many/begun-${i}`);
  for (const key of begun) queue.add(key);
  await take(50);
  for (let i = 0; i < 1_000; i++) queue.add(`many/new-${i}`);
  for (let i = 0; i < 50; i++) queue.add(`few/${i}`);
  for (const key of begun) queue.rejoin(key);
  for (let i = 0; i < 50; i++) assert.deepEqual(await take(3), [`few/${i}`, `many/begun-${i}`, `many/new-${i}`]);
});
