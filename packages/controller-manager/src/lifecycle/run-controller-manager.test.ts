import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { PrometheusMetrics } from '../metrics/prometheus-metrics.ts';
import { HealthChecks } from '../serving/health-checks.ts';
import {
  exitCodeOf,
  runControllerManager,
  type ControllerManagerOptions,
  type LeaderWork,
  type LockedWork,
  type ManagerEnd,
  type RunningController,
} from './run-controller-manager.ts';

interface Bench {
  readonly clock: FakeClock;
  readonly metrics: PrometheusMetrics;
  readonly stop: AbortController;
  readonly lost: AbortController;
  /** What happened, in order. */
  readonly story: string[];
  readonly run: (options?: Partial<ControllerManagerOptions>) => Promise<ManagerEnd>;
}

/** Runs until told to stop, and takes a turn to end. */
function patient(story: string[], name = 'node'): RunningController {
  return {
    name,
    run: async (signal) => {
      story.push(`${name} runs`);
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      await new Promise<void>((resolve) => void setImmediate(resolve));
      story.push(`${name} ended`);
    },
  };
}

function bench(...controllers: RunningController[]): Bench {
  const story: string[] = [];
  const [clock, metrics] = [new FakeClock(), new PrometheusMetrics()];
  const [stop, lost] = [new AbortController(), new AbortController()];
  return {
    clock,
    metrics,
    stop,
    lost,
    story,
    run: (options) =>
      runControllerManager({
        name: 'ccm',
        clock,
        metrics,
        logger: silentLogger,
        stop: stop.signal,
        acquire: () => {
          story.push('leads');
          return Promise.resolve({
            signal: lost.signal,
            release: () => {
              story.push('released');
              return Promise.resolve();
            },
          });
        },
        lead: () =>
          Promise.resolve({
            controllers: controllers.length > 0 ? controllers : [patient(story)],
            [Symbol.asyncDispose]: () => {
              story.push('closed');
              return Promise.resolve();
            },
          }),
        ...options,
      }),
  };
}

test('a clean stop: controllers end, what they used closes, the lease is given back last', async () => {
  const { clock, metrics, run, stop, story } = bench();
  const end = run();
  await clock.settle();
  assert.match(await metrics.render(), /running_managed_controllers\{name="node",manager="ccm"\} 1/u);
  stop.abort();
  assert.deepEqual(await end, { kind: 'stopped' });
  assert.equal(exitCodeOf(await end), 0);
  assert.deepEqual(story, ['leads', 'node runs', 'node ended', 'closed', 'released']);
  assert.match(await metrics.render(), /running_managed_controllers\{name="node",manager="ccm"\} 0/u);
  assert.equal(clock.pendingTimers, 0);
});

test('leadership lost: it ends with 1, closes what it has, and gives nothing back', async () => {
  const { clock, lost, run, story } = bench();
  const end = run();
  await clock.settle();
  lost.abort();
  assert.deepEqual(await end, { kind: 'leadership-lost' });
  assert.equal(exitCodeOf(await end), 1);
  assert.deepEqual(story, ['leads', 'node runs', 'closed']);
});

test('leadership lost while stopping: still lost', async () => {
  const { clock, lost, run, stop, story } = bench({ name: 'stuck', run: () => new Promise(() => {}) });
  const end = run({ stopTimeoutMs: 1_000 });
  await clock.settle();
  stop.abort();
  await clock.settle();
  lost.abort();
  await clock.advance(1_000);
  assert.deepEqual(await end, { kind: 'leadership-lost' });
  assert.ok(!story.includes('released'));
});

test('a controller that fails stops the others, gives the lease back and ends with 1', async () => {
  const story: string[] = [];
  const broken: RunningController = { name: 'route', run: () => Promise.reject(new Error('boom')) };
  const { run, story: managers } = bench(patient(story), broken);
  const end = await run();
  assert.equal(end.kind, 'failed');
  assert.match(String(end.kind === 'failed' && end.error), /boom/u);
  assert.deepEqual(story, ['node runs', 'node ended']);
  assert.deepEqual(managers, ['leads', 'closed', 'released']);
});

test('a start that does not look at its signal holds up neither a stop nor the end after a loss; what it builds late is closed', async () => {
  for (const how of ['stop', 'lost'] as const) {
    const built = Promise.withResolvers<LeaderWork>();
    const given = bench();
    const { clock, run, story } = given;
    const end = run({ stopTimeoutMs: 5_000, lead: () => built.promise });
    await clock.settle();
    given[how].abort(new Error(how));
    await clock.advance(how === 'stop' ? 5_000 : 1_000);
    assert.equal((await end).kind, how === 'stop' ? 'stopped' : 'leadership-lost');
    assert.deepEqual(story, how === 'stop' ? ['leads', 'released'] : ['leads']);
    built.resolve({
      controllers: [patient(story)],
      [Symbol.asyncDispose]: () => Promise.resolve(void story.push('closed late')),
    });
    await clock.settle();
    assert.equal(story.at(-1), 'closed late');
    assert.equal(clock.pendingTimers, 0);
  }
});

test('a controller that just ends has failed', async () => {
  const end = await bench({ name: 'quitter', run: () => Promise.resolve() }).run();
  assert.match(String(end.kind === 'failed' && end.error), /controller quitter ended unexpectedly/u);
});

test('each controller has a health check of its name while it runs, which says when it has failed', async () => {
  const broken = Promise.withResolvers<void>();
  const ending = Promise.withResolvers<void>();
  const slow: RunningController = { name: 'node', run: () => ending.promise };
  const { clock, run } = bench(slow, { name: 'route', run: () => broken.promise });
  const health = new HealthChecks();
  const named = async (name: string): Promise<boolean | undefined> => (await health.runOne('livez', name))?.healthy;
  assert.equal(await named('route'), undefined);
  const end = run({ health });
  await clock.settle();
  assert.match((await health.run('readyz', { verbose: true })).text, /^\[\+\]node ok\n\[\+\]route ok$/mu);
  broken.reject(new Error('boom'));
  await clock.settle();
  assert.deepEqual([await named('node'), await named('route')], [true, false]);
  ending.resolve();
  assert.equal((await end).kind, 'failed');
  assert.deepEqual([await named('node'), await named('route')], [undefined, false]);
});

test('a controller that does not end is left after the time-out', async () => {
  const { clock, run, stop, story } = bench({ name: 'stuck', run: () => new Promise(() => {}) });
  const end = run({ stopTimeoutMs: 5_000 });
  await clock.settle();
  stop.abort();
  await clock.advance(4_999);
  assert.ok(!story.includes('closed'));
  await clock.advance(1);
  assert.deepEqual(await end, { kind: 'stopped' });
  assert.deepEqual(story, ['leads', 'closed', 'released']);
});

test('stopped while waiting for leadership: a clean end', async () => {
  const { run, stop, story } = bench();
  const end = run({
    acquire: (signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stop')))),
  });
  stop.abort();
  assert.deepEqual(await end, { kind: 'stopped' });
  assert.deepEqual(story, []);
});

test('an election that fails, and a start that fails, end with 1; the lease is given back', async () => {
  const failed = await bench().run({ acquire: () => Promise.reject(new Error('forbidden')) });
  assert.equal(failed.kind, 'failed');
  const { run, story } = bench();
  const end = await run({ lead: () => Promise.reject(new Error('no cloud')) });
  assert.equal(end.kind, 'failed');
  assert.deepEqual(story, ['leads', 'released']);
});

test('stopped or lost while starting is not a failure of the start', async () => {
  for (const [which, kind] of [
    ['stop', 'stopped'],
    ['lost', 'leadership-lost'],
  ] as const) {
    const setup = bench();
    const end = setup.run({
      lead: (signal) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted')))),
    });
    await setup.clock.settle();
    setup[which].abort();
    assert.equal((await end).kind, kind);
  }
});

test('without leader election, work starts at once; trouble while closing is not hidden and not fatal', async () => {
  const { clock, stop, story } = bench();
  const end = runControllerManager({
    name: 'ccm',
    clock,
    metrics: new PrometheusMetrics(),
    logger: silentLogger,
    stop: stop.signal,
    lead: () =>
      Promise.resolve({
        controllers: [patient(story)],
        [Symbol.asyncDispose]: () => Promise.reject(new Error('close')),
      }),
  });
  await clock.settle();
  stop.abort();
  assert.deepEqual(await end, { kind: 'stopped' });
  assert.deepEqual(story, ['node runs', 'node ended']);
});

/** A second lock, which is free once `grant` is called. */
function secondLock(story: string[]): {
  readonly grant: () => void;
  readonly lost: AbortController;
  readonly work: LockedWork;
} {
  const lost = new AbortController();
  const free = new AbortController();
  const term = {
    signal: lost.signal,
    release: () => {
      story.push('second released');
      return Promise.resolve();
    },
  };
  return {
    grant: () => free.abort(),
    lost,
    work: {
      acquire: (signal) => {
        story.push('second sought');
        return new Promise((resolve, reject) => {
          if (free.signal.aborted) resolve(term);
          free.signal.addEventListener('abort', () => resolve(term));
          signal.addEventListener('abort', () => reject(signal.reason as Error));
        });
      },
      lead: () =>
        Promise.resolve({
          controllers: [patient(story, 'moved')],
          [Symbol.asyncDispose]: () => {
            story.push('second closed');
            return Promise.resolve();
          },
        }),
    },
  };
}

test('the second lock is sought once the first work runs, and is given back first', async () => {
  const { clock, metrics, run, stop, story } = bench();
  const { grant, work } = secondLock(story);
  const end = run({ migrated: work });
  await clock.settle();
  assert.deepEqual(story, ['leads', 'node runs', 'second sought']);
  grant();
  await clock.settle();
  assert.match(await metrics.render(), /running_managed_controllers\{name="moved",manager="ccm"\} 1/u);
  stop.abort();
  assert.deepEqual(await end, { kind: 'stopped' });
  assert.deepEqual(story.slice(3), [
    'moved runs',
    'node ended',
    'moved ended',
    'second closed',
    'closed',
    'second released',
    'released',
  ]);
  assert.equal(clock.pendingTimers, 0);
});

test('losing either lock ends all, and nothing is given back', async () => {
  for (const which of ['first', 'second'] as const) {
    const setup = bench();
    const { grant, lost, work } = secondLock(setup.story);
    const end = setup.run({ migrated: work });
    grant();
    await setup.clock.settle();
    assert.ok(setup.story.includes('moved runs'));
    (which === 'first' ? setup.lost : lost).abort();
    assert.deepEqual(await end, { kind: 'leadership-lost' });
    assert.equal(exitCodeOf(await end), 1);
    assert.ok(!setup.story.some((line) => line.endsWith('released')));
  }
});

test("stopped while the second lock is another one's: a clean end", async () => {
  const { clock, run, stop, story } = bench();
  const end = run({ migrated: secondLock(story).work });
  await clock.settle();
  stop.abort();
  assert.deepEqual(await end, { kind: 'stopped' });
  assert.deepEqual(story.slice(3), ['node ended', 'closed', 'released']);
});

test('a second lock that comes just as the stop does is given back too', async () => {
  const { clock, run, stop, story } = bench();
  const { grant, work } = secondLock(story);
  const end = run({ migrated: work });
  await clock.settle();
  grant();
  stop.abort();
  assert.deepEqual(await end, { kind: 'stopped' });
  assert.deepEqual(story.slice(-2), ['second released', 'released']);
});

test('a second election, or start, that fails ends the manager with 1', async () => {
  for (const broken of [
    { acquire: () => Promise.reject(new Error('forbidden')) },
    { lead: () => Promise.reject(new Error('forbidden')) },
  ]) {
    const { run, story } = bench();
    const { grant, work } = secondLock(story);
    const end = run({ migrated: { ...work, ...broken } });
    grant();
    const { kind } = await end;
    assert.equal(kind, 'failed');
    assert.equal(story.at(-1), 'released');
  }
});
