import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createWorkQueue, heldAs, noMetrics, runController, watchEventLoop, type Clock } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { createLogging } from '../packages/controller-manager/src/logs/logging.ts';
import { holdsIn } from './held-loop.ts';

test('every hold that the program tells is found, and of those that are laid to nobody what no machine does', async () => {
  const fake = new FakeClock();
  let [taken, computed] = [0, 0];
  const compute = (ms: number): void => void ([taken, computed] = [taken + ms, computed + ms]);
  const clock: Clock = {
    now: () => fake.now(),
    monotonic: () => fake.monotonic() + taken,
    setTimer: (delayMs, fire) => fake.setTimer(delayMs, fire),
    sleep: (delayMs, signal) => fake.sleep(delayMs, signal),
  };
  let log = '';
  const destination = { write: (line: string) => void (log += line) };
  const { logger } = createLogging({ clock, component: 'test', destination, format: 'text' });
  const stop = new AbortController();
  const watch = { clock, logger, metrics: noMetrics, processorTime: () => computed, signal: stop.signal };
  const watching = watchEventLoop(watch);
  const queue = createWorkQueue<string>({ clock, metrics: noMetrics, name: 'test', random: () => 0 });
  const controller = runController({
    ...watch,
    name: 'test',
    queue,
    reconciler: { reconcile: async () => compute(1_500) },
    workers: 1,
  });

  /** What is found anew. */
  const holds = async (act: () => unknown): Promise<number> => {
    log = '';
    await act();
    await fake.advance(500);
    assert.notEqual(log, '');
    return holdsIn(log).length;
  };
  assert.equal(await holds(() => queue.add('a')), 1, log);
  assert.equal(await holds(() => heldAs('test', watch, async () => compute(1_500))), 1, log);
  assert.equal(await holds(() => compute(60_000)), 1, log);
  // The machine has stopped it, while it computed or not.
  assert.equal(await holds(() => [compute(900), (taken += 60_000)]), 0, log);
  assert.equal(await holds(() => (taken += 60_000)), 0, log);
  stop.abort();
  await Promise.all([watching, controller]);
});
