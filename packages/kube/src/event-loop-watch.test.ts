import { FakeClock } from '@outrigger/testing';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Clock } from './clock.ts';
import { systemClock } from './clock.ts';
import { heldAs, watchEventLoop } from './event-loop-watch.ts';
import { followAwaits, runHeld } from './internal/loop-holders.ts';
import { recordMetrics } from './internal/recorded-metrics.ts';
import { silentLogger, type LogFields, type Logger } from './logger.ts';
import { ObjectStore } from './object-store.ts';

test('a hold that nobody answers for is logged and counted; a process that does not run is another matter', async () => {
  const fake = new FakeClock();
  let [late, computed] = [0, 0];
  // The next beat comes so much too late.
  const clock: Clock = {
    now: () => fake.now(),
    monotonic: () => fake.monotonic() + late,
    setTimer: (delayMs, fire) => fake.setTimer(delayMs, fire),
    sleep: (delayMs, signal) => fake.sleep(delayMs, signal),
  };
  const lines: string[] = [];
  const logger: Logger = { ...silentLogger, warn: (message) => void lines.push(message) };
  const metrics = recordMetrics();
  const stop = new AbortController();
  const run = watchEventLoop({ clock, logger, metrics, signal: stop.signal, processorTime: () => computed });
  const held = (): number => metrics.value('outrigger_event_loop_held_total', { controller: '' });
  await fake.advance(1_000);
  assert.equal(held(), 0);
  late += 3_000;
  await fake.advance(500);
  assert.deepEqual([held(), lines.length], [0, 1]);
  assert.match(lines[0] ?? '', /was not run/);
  [late, computed] = [late + 3_000, computed + 3_000];
  await fake.advance(500);
  assert.deepEqual([held(), lines.length], [1, 2]);
  // What a reconcile holds is laid to it, and not counted again.
  const onHeld: number[] = [];
  runHeld(
    () => ([late, computed] = [late + 2_000, computed + 2_000]),
    (ms) => void onHeld.push(ms),
    { clock, processor: () => computed },
  );
  await fake.advance(500);
  assert.deepEqual([held(), onHeld], [1, [2_000]]);
  await fake.advance(700_000);
  stop.abort();
  await run;
});

test('while awaits are followed, what is done behind one is laid to whoever awaited', async () => {
  let late = 0;
  const clock = { monotonic: () => late };
  const held: string[] = [];
  const work = (name: string, ms: number): Promise<void> =>
    runHeld(
      async () => {
        await systemClock.sleep(1);
        late += ms;
        await systemClock.sleep(1);
      },
      (heldMs) => void held.push(`${name} ${heldMs}`),
      { clock, processor: () => 0 },
    );
  const stop = followAwaits(clock, () => late);
  try {
    await Promise.all([work('a', 10), work('b', 1_500), work('c', 0)]);
  } finally {
    stop();
  }
  assert.deepEqual(held, ['b 1500']);
});

test('while awaits are followed, a process that does not run in the midst of one is laid to nobody', async () => {
  let late = 0;
  const clock = { monotonic: () => late };
  const held: string[] = [];
  const stop = followAwaits(clock, () => 0);
  try {
    await runHeld(
      async () => {
        await systemClock.sleep(1);
        late += 60_000;
        await systemClock.sleep(1);
      },
      (heldMs) => void held.push(`stopped ${heldMs}`),
      { clock, processor: () => 0 },
    );
  } finally {
    stop();
  }
  assert.deepEqual(held, []);
});

/** A controller that runs with a clock which `burn` moves on, and what has been laid to whom. */
function holding(): {
  readonly burn: (ms: number) => void;
  readonly timing: { readonly clock: Clock; readonly processorTime: () => number };
  readonly runAs: (name: string, run: () => Promise<void>) => Promise<void>;
  readonly held: (controller: string) => number;
  /** The fields of each line of the log. */
  readonly lines: readonly LogFields[];
} {
  let late = 0;
  const processorTime = (): number => late;
  const clock: Clock = { ...systemClock, monotonic: () => late };
  const metrics = recordMetrics();
  const lines: LogFields[] = [];
  const logger: Logger = { ...silentLogger, error: (_, fields = {}) => void lines.push(fields) };
  return {
    burn: (ms) => void (late += ms),
    timing: { clock, processorTime },
    runAs: (name, run) => heldAs(name, { clock, logger, metrics, processorTime }, run),
    held: (controller) => metrics.value('outrigger_event_loop_held_total', { controller }),
    lines,
  };
}

test('what a controller does when a store tells it of a change is laid to it, and to no other that is told', async () => {
  const { burn, held, lines, runAs, timing } = holding();
  const store = new ObjectStore({
    clock: timing.clock,
    resource: 'nodes',
    onHandlerError: (error) => assert.fail(String(error)),
  });
  await Promise.all(
    Object.entries({ slow: 1_500, quick: 10 }).map(([name, ms]) =>
      runAs(name, async () => {
        await systemClock.sleep(1);
        store.subscribe(() => burn(ms));
      }),
    ),
  );
  for (const name of ['n1', 'n2']) await store.take({ type: 'apply', object: { metadata: { name, uid: name } } });
  assert.deepEqual([held('slow'), held('quick')], [2, 0]);
  assert.deepEqual(lines, [
    { resource: 'nodes', key: 'n1', controller: 'slow', held: '1500ms' },
    { resource: 'nodes', key: 'n2', controller: 'slow', held: '1500ms' },
  ]);
});

test('of many changes at a time the log names the one that has held the event loop, and the others are handed over', async () => {
  const { burn, lines, runAs, timing } = holding();
  const store = new ObjectStore({ clock: timing.clock, onHandlerError: (error) => assert.fail(String(error)) });
  const told: string[] = [];
  await runAs('routes', async () => {
    store.subscribe(({ key }) => {
      told.push(key);
      burn(key === 'n3' ? 2_000 : 1);
    });
  });
  await store.take({ type: 'init' });
  for (const name of ['n1', 'n2', 'n3', 'n4', 'n5']) {
    await store.take({ type: 'init-apply', object: { metadata: { name, uid: name } } });
  }
  await store.take({ type: 'init-done' });
  assert.deepEqual(told, ['n1', 'n2', 'n3', 'n4', 'n5']);
  assert.deepEqual(
    lines.map(({ key }) => key),
    ['n3'],
  );
});

test('while awaits are followed, what a controller does outside of reconciles is laid to it, and what a reconcile does is not', async () => {
  const { burn, held, runAs, timing } = holding();
  const keys: number[] = [];
  const stop = followAwaits(timing.clock, timing.processorTime);
  try {
    await runAs('routes', async () => {
      await systemClock.sleep(1);
      burn(1_500);
      await systemClock.sleep(1);
      runHeld(
        () => burn(2_000),
        (ms) => void keys.push(ms),
        { clock: timing.clock, processor: timing.processorTime },
      );
    });
  } finally {
    stop();
  }
  assert.deepEqual([held('routes'), keys], [1, [2_000]]);
});
