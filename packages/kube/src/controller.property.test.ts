/** Reconciles that wait without a worker, in every order in which waits end, keys come, and the controller stops or its queue shuts down. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '@outrigger/testing';
import * as fc from 'fast-check';
import { runController } from './controller.ts';
import { recordMetrics } from './internal/recorded-metrics.ts';
import { silentLogger } from './logger.ts';
import { createWorkQueue } from './workqueue.ts';

/** What one reconcile does: `work` keeps its worker until told to go on, `park` does not; `park-fails` and `fail` end it. */
type Stage = 'work' | 'park' | 'park-fails' | 'fail';
type Op =
  | { readonly do: 'add'; readonly key: string; readonly stages: readonly Stage[] }
  | { readonly do: 'go-on'; readonly which: number }
  | { readonly do: 'later' }
  | { readonly do: 'shut-down' }
  | { readonly do: 'stop' };

/** The last of a name is its group. */
const key = fc.constantFrom('aX', 'bX', 'cX', 'dX', 'aY', 'bY');
const stage = fc.constantFrom<Stage>('work', 'park', 'park', 'park', 'park-fails', 'fail');
const op: fc.Arbitrary<Op> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constant('add' as const), key, stages: fc.array(stage, { maxLength: 4 }) }),
  },
  { weight: 12, arbitrary: fc.record({ do: fc.constant('go-on' as const), which: fc.nat({ max: 9 }) }) },
  { weight: 2, arbitrary: fc.constant<Op>({ do: 'later' }) },
);
const last = fc.constantFrom<Op | undefined>({ do: 'stop' }, { do: 'shut-down' }, undefined);
const history = fc.record({
  workers: fc.integer({ min: 1, max: 3 }),
  places: fc.integer({ min: 0, max: 5 }),
  // So many microtasks pass after each: what ends at once may meet in any order.
  ops: fc.array(fc.tuple(op, fc.nat({ max: 7 })), { maxLength: 40 }),
  last,
  after: fc.array(fc.tuple(op, fc.nat({ max: 7 })), { maxLength: 8 }),
});

class Model {
  readonly clock = new FakeClock();
  readonly metrics = recordMetrics();
  readonly queue = createWorkQueue<string>({ name: 'model', clock: this.clock, metrics: this.metrics });
  readonly problems: string[] = [];
  readonly #stages = new Map<string, readonly Stage[]>();
  readonly #waits: (() => void)[] = [];
  /** Added, and not begun since. */
  readonly #due = new Set<string>();
  readonly #under = new Set<string>();
  /** Those that wait without a worker, and those and who has not gone on since. */
  readonly #waiting: string[] = [];
  readonly #parked: string[] = [];
  readonly #stop = new AbortController();
  readonly #workers: number;
  readonly #places: number;
  readonly run: Promise<void>;
  #isShutDown = false;

  constructor({ workers, places }: { readonly workers: number; readonly places: number }) {
    this.#workers = workers;
    this.#places = places;
    this.run = runController<string>({
      name: 'model',
      queue: this.queue,
      workers,
      parking: { places, groupOf: (one) => one.slice(-1) },
      clock: this.clock,
      logger: silentLogger,
      metrics: this.metrics,
      signal: this.#stop.signal,
      reconciler: {
        reconcile: async (one, { park }) => {
          this.#check(!this.#under.has(one), `${one} is worked on twice at once`);
          this.#check(!this.#stop.signal.aborted, `${one} begins after the stop`);
          this.#under.add(one);
          this.#due.delete(one);
          this.#checkWorkers();
          try {
            await this.#work(one, this.#stages.get(one) ?? [], park);
          } finally {
            this.#under.delete(one);
          }
        },
      },
    });
  }

  carryOut(next: Op): Promise<void> | void {
    switch (next.do) {
      case 'add':
        this.#stages.set(next.key, next.stages);
        if (!this.#isShutDown) this.#due.add(next.key);
        return this.queue.add(next.key);
      case 'go-on':
        return this.#waits.splice(next.which % (this.#waits.length || 1), 1)[0]?.();
      case 'later':
        return this.clock.advance(1_000);
      case 'stop':
        return this.#stop.abort();
      case 'shut-down':
        this.#isShutDown = true;
        return this.queue.shutDown();
    }
  }

  /** All waits end, and no reconcile fails any more. */
  async end(): Promise<void> {
    this.#stages.clear();
    for (let i = 0; i < 100; i++) {
      for (const goOn of this.#waits.splice(0)) goOn();
      await this.clock.advance(1_000);
    }
    this.#check(this.#under.size === 0, `never ends: ${[...this.#under].join()}`);
    if (!this.#stop.signal.aborted && !this.#isShutDown)
      this.#check(this.#due.size === 0, `never begun: ${[...this.#due].join()}`);
    this.#check(
      this.metrics.value('controller_runtime_active_workers', { controller: 'model' }) === 0,
      'one is active',
    );
    this.#stop.abort();
    let isOver = false;
    void this.run.then(() => (isOver = true));
    await this.clock.settle();
    this.#check(isOver, 'the stop waits for nothing');
    this.queue.shutDown();
    this.#check(this.clock.pendingTimers === 0, 'timers are left');
  }

  async #work(one: string, stages: readonly Stage[], park: <T>(wait: () => Promise<T>) => Promise<T> | undefined) {
    for (const each of stages) {
      if (each === 'fail') throw new Error('as asked');
      if (each === 'work') await this.#wait();
      else await this.#park(one, each, park);
      this.#checkWorkers();
    }
  }

  async #park(one: string, how: Stage, park: <T>(wait: () => Promise<T>) => Promise<T> | undefined): Promise<void> {
    const isFree = (taken: readonly string[]): boolean =>
      taken.filter((other) => other.endsWith(one.slice(-1))).length < this.#places - taken.length;
    // Between the end of a wait and what the reconcile does next its place is given back.
    const [mayPark, mustPark] = [isFree(this.#waiting), isFree(this.#parked)];
    const parking = park(async () => {
      this.#parked.push(one);
      this.#waiting.push(one);
      await this.#wait();
      this.#waiting.splice(this.#waiting.indexOf(one), 1);
      if (how === 'park-fails') throw new Error('as asked');
    });
    this.#check(parking ? mayPark : !mustPark, `${one}: ${parking ? 'there was no place' : 'a place is lost'}`);
    try {
      await parking;
    } finally {
      if (parking) this.#parked.splice(this.#parked.indexOf(one), 1);
    }
  }

  #wait(): Promise<void> {
    return new Promise((resolve) => void this.#waits.push(resolve));
  }

  #checkWorkers(): void {
    const working = this.#under.size - this.#parked.length;
    if (this.#stop.signal.aborted || this.#isShutDown) return;
    this.#check(working <= this.#workers, `${working} work with ${this.#workers} workers`);
  }

  #check(holds: boolean, problem: string): void {
    if (!holds) this.problems.push(problem);
  }
}

test('a key is worked on by one at a time, workers and places are kept to, nothing is left out, lost or waited for without an end', async () => {
  await fc.assert(
    fc.asyncProperty(history, async ({ after, last: end, ops, ...size }) => {
      const model = new Model(size);
      for (const [next, microtasks] of [...ops, ...(end ? [[end, 0] as const] : []), ...after]) {
        await model.carryOut(next);
        for (let i = 0; i < microtasks; i++) await Promise.resolve();
      }
      await model.end();
      assert.deepEqual(model.problems, []);
    }),
    { numRuns: 300 },
  );
});
