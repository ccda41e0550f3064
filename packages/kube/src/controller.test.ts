// Over 400 lines: one rig, and one test for each promise of a reconcile loop.
import { FakeClock } from '@outrigger/testing';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Clock } from './clock.ts';
import { runController, type ControllerOptions, type ReconcileContext, type ReconcileResult } from './controller.ts';
import { recordMetrics } from './internal/recorded-metrics.ts';
import { silentLogger, type Logger } from './logger.ts';
import { exponentialBackoff } from './rate-limiter.ts';
import { TerminalError } from './terminal-error.ts';
import { createWorkQueue } from './workqueue.ts';

interface Line {
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

function setUp(
  reconcile: (key: string, context: ReconcileContext) => Promise<ReconcileResult | void>,
  options: Partial<ControllerOptions<string>> = {},
) {
  const fake = new FakeClock();
  const clock = options.clock ?? fake;
  const metrics = recordMetrics();
  const errors: Line[] = [];
  const warnings: Line[] = [];
  const logger: Logger = {
    ...silentLogger,
    error: (message, fields = {}) => void errors.push({ message, fields }),
    warn: (message, fields = {}) => void warnings.push({ message, fields }),
    with: () => logger,
  };
  const queue = createWorkQueue<string>({
    name: 'test',
    clock,
    metrics,
    rateLimiter: exponentialBackoff({ baseMs: 1_000, maxMs: 8_000 }),
  });
  const stop = new AbortController();
  let stopped = false;
  const run = runController({
    name: 'test',
    queue,
    reconciler: { reconcile },
    workers: 2,
    clock,
    logger,
    metrics,
    signal: stop.signal,
    ...options,
  }).finally(() => (stopped = true));
  return { clock: fake, queue, metrics, errors, warnings, stop, run, stopped: () => stopped };
}

/** A reconcile that ends when it is told to. */
function gate(): { wait: Promise<void>; open: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { wait: promise, open: resolve };
}

test('at most as many reconciles run as there are workers, and never two of one key', async () => {
  let running = 0;
  let most = 0;
  const keys = new Set<string>();
  const t = setUp(
    async (key) => {
      assert.ok(!keys.has(key));
      keys.add(key);
      most = Math.max(most, ++running);
      await t.clock.sleep(10);
      running--;
      keys.delete(key);
    },
    { workers: 3 },
  );
  for (let i = 0; i < 10; i++) t.queue.add(`n${i}`);
  await t.clock.advance(5);
  for (let i = 0; i < 10; i++) t.queue.add(`n${i}`);
  await t.clock.advance(1_000);
  assert.equal(most, 3);
  assert.equal(t.metrics.value('controller_runtime_reconcile_total', { controller: 'test', result: 'success' }), 13);
  t.stop.abort();
  await t.run;
});

test('whatever is thrown, the key backs off and the others go on', async () => {
  const seen: [string, number, number][] = [];
  const t = setUp(async (key, { attempt }) => {
    seen.push([key, t.clock.monotonic(), attempt]);
    if (key === 'error') throw new Error('no');
    // oxlint-disable-next-line typescript/only-throw-error -- the point of the test
    if (key === 'string') throw 'no';
  });
  for (const key of ['error', 'string', 'good']) t.queue.add(key);
  await t.clock.advance(3_000);
  assert.deepEqual(
    seen.filter(([key]) => key === 'error'),
    [
      ['error', 0, 0],
      ['error', 1_000, 1],
      ['error', 3_000, 2],
    ],
  );
  assert.equal(seen.filter(([key]) => key === 'string').length, 3);
  assert.equal(seen.filter(([key]) => key === 'good').length, 1);
  assert.match(
    String(t.errors.find(({ fields }) => /not an Error/.test(String(fields['error'])))?.fields['error']),
    /no$/,
  );
  t.stop.abort();
  await t.run;
});

test('a reconciler that throws before its first await is contained too', async () => {
  let calls = 0;
  const t = setUp(() => {
    calls++;
    throw new TypeError('at once');
  });
  t.queue.add('a');
  await t.clock.advance(1_000);
  assert.equal(calls, 2);
  t.stop.abort();
  await t.run;
});

test('a terminal error is not tried again, and a later add starts without back-off', async () => {
  const attempts: number[] = [];
  const t = setUp(async (_key, { attempt }) => {
    attempts.push(attempt);
    throw attempts.length === 1 ? new Error('first') : new TerminalError('never');
  });
  t.queue.add('a');
  await t.clock.advance(100_000);
  assert.deepEqual(attempts, [0, 1]);
  t.queue.add('a');
  await t.clock.advance(100_000);
  assert.deepEqual(attempts, [0, 1, 0]);
  assert.equal(t.metrics.value('controller_runtime_terminal_reconcile_errors_total', { controller: 'test' }), 2);
  assert.equal(t.metrics.value('controller_runtime_reconcile_errors_total', { controller: 'test' }), 3);
  t.stop.abort();
  await t.run;
});

test('requeueAfterMs looks again then, forgets the back-off, and must make sense', async () => {
  const times: number[] = [];
  const results: (ReconcileResult | Error)[] = [
    new Error('first'),
    { requeueAfterMs: 500 },
    { requeueAfterMs: 0 },
    { requeueAfterMs: Number.NaN },
    {},
  ];
  const t = setUp(async () => {
    times.push(t.clock.monotonic());
    const result = results.shift();
    if (result instanceof Error) throw result;
    return result;
  });
  t.queue.add('a');
  await t.clock.advance(60_000);
  assert.deepEqual(times, [0, 1_000, 1_500, 1_500, 2_500]);
  assert.match(String(t.errors.at(-1)?.fields['error']), /requeueAfterMs NaN/);
  assert.equal(t.queue.requeues('a'), 0);
  t.stop.abort();
  await t.run;
});

test('one slow key holds up one worker, not the others', async () => {
  const slow = gate();
  const done: string[] = [];
  const t = setUp(async (key) => {
    if (key === 'slow') await slow.wait;
    done.push(key);
  });
  t.queue.add('slow');
  for (let i = 0; i < 5; i++) t.queue.add(`n${i}`);
  await t.clock.settle();
  assert.equal(done.length, 5);
  slow.open();
  t.stop.abort();
  await t.run;
  assert.equal(done.at(-1), 'slow');
});

test('a stop starts nothing new, tells those that run, and waits for them', async () => {
  const slow = gate();
  const started: string[] = [];
  let told = false;
  const t = setUp(
    async (key, { signal }) => {
      started.push(key);
      signal.addEventListener('abort', () => (told = true));
      await slow.wait;
      throw signal.reason as Error;
    },
    { workers: 1 },
  );
  t.queue.add('a');
  t.queue.add('b');
  await t.clock.settle();
  t.stop.abort(new Error('stop'));
  await t.clock.advance(1_000);
  assert.equal(told, true);
  assert.equal(t.stopped(), false);
  slow.open();
  await t.run;
  assert.deepEqual(started, ['a']);
  assert.equal(t.queue.requeues('a'), 0, 'the stop is not a failure of the key');
  assert.deepEqual(t.errors, []);
  assert.equal(t.clock.pendingTimers, 0);
});

test('a key that is handed over while the signal aborts is not reconciled', async () => {
  let calls = 0;
  const t = setUp(async () => void calls++);
  await t.clock.settle();
  t.queue.add('a');
  t.stop.abort();
  await t.run;
  assert.equal(calls, 0);
});

test('a reconcile that does not stop is waited for only so long, and named', async () => {
  const t = setUp(() => new Promise(() => {}), { stopTimeoutMs: 5_000 });
  t.queue.add('stuck');
  await t.clock.settle();
  t.stop.abort();
  await t.clock.advance(4_999);
  assert.equal(t.stopped(), false);
  await t.clock.advance(1);
  await t.run;
  assert.deepEqual(t.errors[0]?.fields['keys'], ['stuck']);
});

test('a reconcile that hangs is told after a while, in the log and by a metric; the other workers go on', async () => {
  const stuck = gate();
  const done: string[] = [];
  const t = setUp((key) => (key === 'stuck' ? stuck.wait : Promise.resolve(void done.push(key))));
  const hanging = (): number => t.metrics.value('outrigger_reconciles_hanging', { controller: 'test' });
  t.queue.add('stuck');
  await t.clock.advance(299_999);
  assert.deepEqual([t.warnings.length, hanging()], [0, 0]);
  await t.clock.advance(1);
  assert.deepEqual([t.warnings.length, hanging()], [1, 1]);
  assert.match(t.warnings[0]?.message ?? '', /hangs/u);
  for (const key of ['a', 'b', 'c']) t.queue.add(key);
  await t.clock.advance(3_600_000);
  assert.deepEqual(done, ['a', 'b', 'c']);
  assert.deepEqual([t.warnings.length, hanging()], [1, 1]);
  stuck.open();
  await t.clock.settle();
  assert.equal(hanging(), 0);
  t.stop.abort();
  await t.run;
  assert.equal(t.clock.pendingTimers, 0);
});

test('the controller ends when its queue is shut down and empty', async () => {
  const done: string[] = [];
  const t = setUp(async (key) => void done.push(key));
  t.queue.add('a');
  t.queue.shutDown();
  await t.run;
  assert.deepEqual(done, ['a']);
});

test('a look-up gives its worker back, and its answer brings the key back', async () => {
  const snapshot = new Map<string, string>();
  const applied: string[] = [];
  let holding = 0;
  const t = setUp(
    async (key) => {
      holding++;
      const answer = snapshot.get(key);
      if (answer) applied.push(`${key}=${answer}`);
      else {
        void t.clock.sleep(5_000).then(() => {
          snapshot.set(key, 'found');
          t.queue.add(key);
        });
      }
      holding--;
    },
    { workers: 1 },
  );
  for (let i = 0; i < 4; i++) t.queue.add(`n${i}`);
  await t.clock.advance(4_000);
  assert.equal(holding, 0);
  await t.clock.advance(1_000);
  assert.equal(applied.length, 4, 'four look-ups of 5 s took 5 s with one worker');
  t.stop.abort();
  await t.run;
});

test('a number of workers that makes no sense is refused', async () => {
  const t = setUp(async () => {}, { workers: 0 });
  await assert.rejects(t.run, /workers must be a whole number of at least 1, got 0/);
});

/** A clock and a processor that a reconcile takes the time of. */
function hog(clock: FakeClock): {
  readonly clock: Clock;
  readonly processorTime: () => number;
  take(ms: number): void;
} {
  let taken = 0;
  return {
    clock: {
      now: () => clock.now() + taken,
      monotonic: () => clock.monotonic() + taken,
      setTimer: (delayMs, fire) => clock.setTimer(delayMs, fire),
      sleep: (delayMs, signal) => clock.sleep(delayMs, signal),
    },
    processorTime: () => taken,
    take: (ms) => void (taken += ms),
  };
}

test('a reconcile that holds the event loop is named; a key that does so twice is set aside, and the others go on', async () => {
  const fake = new FakeClock();
  const machine = hog(fake);
  const runs: string[] = [];
  const told: string[] = [];
  let hostileMs = 1_500;
  const t = setUp(
    async (key) => {
      runs.push(key);
      if (key === 'hostile') machine.take(hostileMs);
    },
    { ...machine, onSetAside: (key, message) => void told.push(`${key}: ${message}`) },
  );
  const bring = async (...keys: string[]): Promise<string> => {
    for (const key of keys) t.queue.add(key);
    await fake.advance(10);
    return runs.splice(0).join();
  };
  assert.equal(await bring('hostile', 'honest'), 'hostile,honest');
  assert.deepEqual(told, []);
  assert.equal(await bring('hostile'), 'hostile');
  assert.match(told.join(), /^hostile: .*again in 1 min/);
  assert.equal(await bring('hostile', 'honest'), 'honest', 'set aside, whatever changes');
  await fake.advance(60_000);
  assert.equal(runs.splice(0).join(), 'hostile');
  assert.match(told.join(), /again in 2 min/);
  hostileMs = 0;
  await fake.advance(120_000);
  assert.equal(runs.splice(0).join(), 'hostile');
  assert.equal(await bring('hostile'), 'hostile');
  assert.equal(t.metrics.value('outrigger_event_loop_held_total', { controller: 'test' }), 3);
  assert.deepEqual(
    t.errors.map(({ fields }) => [fields['key'], fields['held'], fields['setAside']]),
    [
      ['hostile', '1500ms', '0ms'],
      ['hostile', '1500ms', '60000ms'],
      ['hostile', '1500ms', '120000ms'],
    ],
  );
  t.stop.abort();
  await t.run;
});

test('a reconcile during which the process did not run has held nothing', async () => {
  const fake = new FakeClock();
  const machine = hog(fake);
  const t = setUp(async () => machine.take(5_000), { ...machine, processorTime: () => 0 });
  t.queue.add('a');
  await fake.advance(10);
  assert.equal(t.metrics.value('outrigger_event_loop_held_total', { controller: 'test' }), 0);
  t.stop.abort();
  await t.run;
});

/** Reconciles of one worker that wait for a slow cloud without it; `begun` and `ended`: keys, in order. */
function setUpParking(places = 8) {
  const gates = new Map<string, ReturnType<typeof gate>>();
  const begun: string[] = [];
  const ended: string[] = [];
  const t = setUp(
    async (key, { park, signal }) => {
      begun.push(key);
      const slow = gate();
      if (key.startsWith('slow')) {
        gates.set(key, slow);
        const parked = park(() => slow.wait);
        await parked;
        signal.throwIfAborted();
        ended.push(parked ? key : `${key} left`);
        return;
      }
      ended.push(key);
    },
    { workers: 1, parking: { places, groupOf: (key) => key.split('/')[1] ?? '' } },
  );
  const open = async (key: string): Promise<void> => {
    gates.get(key)?.open();
    await t.clock.settle();
  };
  return { ...t, begun, ended, open };
}

test('a reconcile that is parked has no worker, and goes on with one; its key is worked on by nobody else', async () => {
  const t = setUpParking();
  for (const key of ['slow', 'a', 'slow', 'b']) t.queue.add(key);
  await t.clock.settle();
  assert.deepEqual(
    [t.begun, t.ended],
    [
      ['slow', 'a', 'b'],
      ['a', 'b'],
    ],
  );
  assert.equal(t.metrics.value('controller_runtime_active_workers', { controller: 'test' }), 0);
  // What is added meanwhile comes after it.
  t.queue.add('slow');
  await t.clock.settle();
  assert.deepEqual(t.begun, ['slow', 'a', 'b']);
  await t.open('slow');
  assert.deepEqual(
    [t.begun, t.ended],
    [
      ['slow', 'a', 'b', 'slow'],
      ['a', 'b', 'slow'],
    ],
  );
  await t.open('slow');
  t.stop.abort();
  await t.run;
});

test('who comes back from being parked waits for a worker as the others do', async () => {
  let running = 0;
  const t = setUp(
    async (key, { park }) => {
      const work = async (): Promise<void> => {
        assert.equal(++running, 1, key);
        await t.clock.sleep(10);
        running--;
      };
      await work();
      for (let i = 0; i < 3; i++) {
        await park(() => t.clock.sleep(1));
        await work();
      }
    },
    { workers: 1, parking: { places: 100, groupOf: (key) => key } },
  );
  for (let i = 0; i < 20; i++) t.queue.add(`n${i}`);
  await t.clock.advance(1_000);
  assert.equal(t.metrics.value('controller_runtime_reconcile_total', { controller: 'test', result: 'success' }), 20);
  t.stop.abort();
  await t.run;
});

test('as many are parked as there are places, and a group has fewer than it leaves free', async () => {
  const t = setUpParking(8);
  for (let i = 0; i < 10; i++) t.queue.add(`slow${i}/hostile`);
  t.queue.add('slow/honest');
  await t.clock.settle();
  assert.equal(t.ended.filter((one) => one.endsWith('hostile left')).length, 6);
  assert.ok(!t.ended.includes('slow/honest left'));
  await t.open('slow0/hostile');
  t.queue.add('slow11/hostile');
  await t.clock.settle();
  assert.equal(t.ended.at(-1), 'slow0/hostile');
  t.stop.abort();
  for (const key of t.begun) await t.open(key);
  await t.run;
});

test('a stop waits for those that are parked, which go on at once and find it', async () => {
  const stuck = gate();
  const seen: boolean[] = [];
  const parking = { places: 8, groupOf: () => '' };
  const t = setUp(
    async (_key, { park, signal }) => {
      await park(() => stuck.wait);
      seen.push(signal.aborted);
    },
    { workers: 1, parking, stopTimeoutMs: 5_000 },
  );
  t.queue.add('a');
  t.queue.add('b');
  await t.clock.settle();
  t.stop.abort();
  await t.clock.advance(4_999);
  assert.equal(t.stopped(), false);
  stuck.open();
  await t.run;
  assert.deepEqual(seen, [true, true]);
  assert.deepEqual(t.errors, []);
});

test('one that is parked and never comes back is named by the stop, and told as one that hangs', async () => {
  const parking = { places: 8, groupOf: () => '' };
  const t = setUp(async (_key, { park }) => park(() => new Promise<void>(() => {})), {
    workers: 1,
    parking,
    stopTimeoutMs: 5_000,
  });
  t.queue.add('a');
  await t.clock.advance(300_000);
  assert.match(t.warnings[0]?.message ?? '', /hangs/u);
  assert.equal(t.warnings[0]?.fields['parked'], true);
  t.stop.abort();
  await t.clock.advance(5_000);
  await t.run;
  assert.deepEqual(t.errors[0]?.fields['keys'], ['a']);
});

test('one that is not parked any more and waits for a worker does not hang: who has the worker does', async () => {
  const { wait, open } = gate();
  const parking = { places: 8, groupOf: () => '' };
  const t = setUp(
    async (key, { park }) => {
      if (key === 'parked') await park(() => wait);
      else await new Promise<void>(() => {});
    },
    { workers: 1, parking, stopTimeoutMs: 5_000 },
  );
  t.queue.add('parked');
  t.queue.add('hangs');
  await t.clock.settle();
  open();
  await t.clock.advance(900_000);
  assert.deepEqual(
    t.warnings.map(({ fields }) => [fields['key'], fields['parked']]),
    [['hangs', false]],
  );
  assert.equal(t.metrics.value('outrigger_reconciles_hanging', { controller: 'test' }), 1);
  t.stop.abort();
  await t.clock.advance(5_000);
  await t.run;
});

test('what a parked reconcile throws backs off as any other; a queue that is shut down lets those that are parked end', async () => {
  const ended: number[] = [];
  const t = setUp(
    async (_key, { attempt, park }) => {
      await park(() => t.clock.sleep(100));
      ended.push(t.clock.monotonic());
      if (attempt === 0) throw new Error('no');
    },
    { parking: { places: 8, groupOf: () => '' } },
  );
  t.queue.add('a');
  await t.clock.advance(1_150);
  assert.deepEqual(ended, [100]);
  t.queue.shutDown();
  await t.clock.advance(100);
  await t.run;
  assert.deepEqual(ended, [100, 1_200]);
});

test('without places nobody is parked', async () => {
  const t = setUp((_key, { park }) =>
    Promise.resolve(
      assert.equal(
        park(() => Promise.resolve()),
        undefined,
      ),
    ),
  );
  t.queue.add('a');
  await t.clock.settle();
  assert.deepEqual(t.errors, []);
  t.stop.abort();
  await t.run;
});
