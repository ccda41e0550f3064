import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudError, effectOf, isCloudError, type CallContext, type CloudErrorEffect } from '@outrigger/cloud-provider';
import { FakeClock } from '@outrigger/testing';
import { GroupCommit, type Change } from './group-commit.ts';
import { BAD, hostWith, set, SharedObject, type Fault, type Settings } from './shared-object.suite.ts';

interface Rig {
  readonly clock: FakeClock;
  readonly object: SharedObject;
  readonly change: (change: Change<Settings>, call?: Partial<CallContext>) => Promise<Settings>;
}

function rig(faults: readonly Fault[] = [], maxChanges?: number): Rig {
  const clock = new FakeClock();
  const host = hostWith(clock);
  const object = new SharedObject(clock, faults);
  const commits = new GroupCommit({ host, objects: object, ...(maxChanges !== undefined && { maxChanges }) });
  return { clock, object, change: (change, call) => commits.change('lb', change, { ...host.callContext(), ...call }) };
}

/** What came of it: `done`, or code and effect. */
async function outcome(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return 'done';
  } catch (error) {
    assert.ok(isCloudError(error), String(error));
    return `${error.code} ${effectOf(error) satisfies CloudErrorEffect}`;
  }
}

test('changes that come while a write is in flight are one write; each caller gets a state that has its own', async () => {
  const { clock, object, change } = rig();
  const first = change(set('a', 1));
  await clock.settle();
  const others = ['b', 'c', 'd'].map((name) => change(set(name, 1)));
  await clock.advance(1_000);
  assert.equal((await first)['a'], 1);
  for (const state of await Promise.all(others)) assert.deepEqual(state, { a: 1, b: 1, c: 1, d: 1 });
  assert.equal(object.writes, 2);
  assert.equal(object.reads, 1, 'the answer of a write is what the next one begins with');
});

/** Writes, and milliseconds until all are done, of 500 Services of which so many are worked on at once; each request takes 100 ms. */
async function cost(workers: number): Promise<readonly [writes: number, ms: number]> {
  const { clock, object, change } = rig();
  const services = Array.from({ length: 500 }, (_, i) => `service-${i}`).values();
  let ended = 0;
  const all = Promise.all(
    Array.from({ length: workers }, async () => {
      for (const name of services) await change(set(name, 1));
      ended = clock.monotonic();
    }),
  );
  await clock.advance(500 * 200);
  await all;
  assert.equal(Object.keys(object.settings).length, 500);
  return [object.writes, ended];
}

test('500 Services that share one object: under a lock 500 writes and 100 s, gathered a hundredth of both', async () => {
  const { clock, object } = rig();
  const call = hostWith(clock).callContext();
  const locked = (async () => {
    for (let i = 0; i < 500; i++) {
      const { state, version } = await object.read('lb', call);
      await object.write('lb', set(`service-${i}`, 1)(state), version, call);
    }
    return clock.monotonic();
  })();
  await clock.advance(500 * 200);
  assert.deepEqual([object.writes, await locked], [500, 100_000]);

  assert.deepEqual(await cost(1), [500, 50_100]);
  assert.deepEqual(await cost(10), [50, 5_100]);
  assert.deepEqual(await cost(100), [5, 600]);
  // At most a hundred go together.
  assert.deepEqual(await cost(500), [5, 600]);
});

test('an object that nobody wrote for a while is read again, and is not kept in memory', async () => {
  const { clock, object, change } = rig();
  for (const [i, reads] of [1, 1, 2].entries()) {
    const done = change(set('a', i));
    await clock.advance(1_000);
    await done;
    assert.equal(object.reads, reads);
    await clock.advance(i === 1 ? 5_000 : 0);
  }
});

test('what is there already is not written, and that is concluded from a read of its own', async () => {
  const { clock, object, change } = rig();
  const before = change(set('a', 1));
  await clock.settle();
  const after = change(set('a', 1));
  await clock.advance(1_000);
  await Promise.all([before, after]);
  assert.deepEqual([object.writes, object.reads], [1, 2]);
});

test('a change that is refused does not fail the others, whether its own code refuses it or the cloud does', async () => {
  const { clock, object, change } = rig();
  const taken = (): never => {
    throw new CloudError('conflict', 'port 443 is taken');
  };
  const all = [
    ...Array.from({ length: 8 }, (_, i) => change(i === 5 ? set('bad', BAD) : set(`s${i}`, 1))),
    change(taken),
  ].map(outcome);
  await clock.advance(10_000);
  assert.deepEqual(await Promise.all(all), [
    ...Array.from({ length: 5 }, () => 'done'),
    'invalid none',
    'done',
    'done',
    'conflict none',
  ]);
  // Of eight: four are written, of the others two, of these one. Three refusals beside three and the other two.
  assert.equal(object.writes, 7);
  assert.equal(object.settings['bad'], undefined);
});

test('what refuses every write alike is not tried by halves, and each caller has an error of its own', async () => {
  const { clock, object, change } = rig(['throttled']);
  const errors = [change(set('a', 1)), change(set('b', 1))].map((one) => one.catch((error: unknown) => error));
  await clock.advance(1_000);
  const [a, b] = await Promise.all(errors);
  assert.notEqual(a, b);
  for (const error of [a, b]) {
    assert.ok(isCloudError(error, 'throttled') && effectOf(error) === 'none' && error.retryAfterMs === 1_000);
  }
  assert.equal(object.writes, 1);
});

test('an object that somebody else wrote in between is read and planned for again', async () => {
  const { clock, object, change } = rig(['foreign', 'foreign']);
  const done = change(set('a', 1));
  await clock.advance(2_000);
  await done;
  assert.deepEqual(object.settings, { a: 1, foreign: 2 });

  const never = rig(Array.from({ length: 20 }, () => 'foreign'));
  const refused = outcome(never.change(set('a', 1)));
  await never.clock.advance(60_000);
  assert.equal(await refused, 'conflict none');
});

test('an answer that was lost after the effect is found by a read; one that may still come is of unknown effect', async () => {
  const after = rig(['after']);
  const done = outcome(after.change(set('a', 1)));
  await after.clock.advance(1_000);
  assert.equal(await done, 'done');
  assert.equal(after.object.writes, 1);
  for (const fault of ['before', 'late'] as const) {
    const { clock, change } = rig([fault]);
    const failed = outcome(change(set('a', 1)));
    await clock.advance(1_000);
    assert.equal(await failed, `${fault === 'late' ? 'timeout' : 'unavailable'} unknown`);
  }
  const unread = rig(['after', 'unread']);
  const blind = outcome(unread.change(set('a', 1)));
  await unread.clock.advance(1_000);
  assert.equal(await blind, 'unavailable unknown');
});

test('who gives up before the write has changed nothing; in the write, it may have; the others’ write goes on', async () => {
  const { clock, object, change } = rig();
  const [early, late] = [new AbortController(), new AbortController()];
  const timeout = new DOMException('60 s are over', 'TimeoutError');
  const first = outcome(change(set('a', 1), { signal: late.signal }));
  const beside = outcome(change(set('b', 1)));
  await clock.advance(120);
  assert.equal(object.writes, 1, 'the write is in flight');
  const gathered = outcome(change(set('c', 1), { signal: early.signal }));
  early.abort(timeout);
  late.abort();
  await clock.advance(1_000);
  assert.deepEqual(await Promise.all([first, gathered, beside]), ['unavailable unknown', 'timeout none', 'done']);
  assert.deepEqual(object.settings, { a: 1, b: 1 });
  assert.equal(await outcome(change(set('d', 1), { signal: early.signal })), 'timeout none');
});

test('a write that nobody waits for any more is cut off, and what comes then is written', async () => {
  const { clock, object, change } = rig();
  const aborts = [new AbortController(), new AbortController()];
  const all = aborts.map(({ signal }, i) => outcome(change(set(`s${i}`, 1), { signal })));
  await clock.advance(110);
  for (const abort of aborts) abort.abort();
  const next = outcome(change(set('c', 1)));
  await clock.advance(1_000);
  assert.deepEqual(await Promise.all([...all, next]), ['unavailable unknown', 'unavailable unknown', 'done']);
  assert.deepEqual(object.settings, { c: 1 });
});

test('a write is asked for with the highest priority among those whose changes it carries', async () => {
  const clock = new FakeClock();
  const host = hostWith(clock);
  const seen: string[] = [];
  const object = new SharedObject(clock);
  const commits = new GroupCommit({
    host,
    objects: {
      read: (id, call) => object.read(id, call),
      write: (id, next, version, call) => {
        seen.push(call.priority);
        return object.write(id, next, version, call);
      },
    },
  });
  const both = (['background', 'critical'] as const).map((priority, i) =>
    commits.change('lb', set(`s${i}`, 1), host.callContext({ priority })),
  );
  await clock.advance(1_000);
  const last = commits.change('lb', set('x', 1), host.callContext());
  await clock.advance(1_000);
  await Promise.all([...both, last]);
  assert.deepEqual(seen, ['critical', 'background']);
});

test('a change that writes into the state is a mistake that is told, and is not taken for done', async () => {
  const { clock, object, change } = rig();
  const beside = outcome(change(set('a', 1)));
  await clock.advance(1_000);
  const careless = outcome(change((state) => Object.assign(state, { b: 1 })));
  await clock.advance(1_000);
  assert.deepEqual([await beside, await careless], ['done', 'unavailable none']);
  assert.deepEqual(object.settings, { a: 1 });
});

test('a host that is closed fails who waits, and no more', async () => {
  const clock = new FakeClock();
  const commits = new GroupCommit({
    host: {
      clock,
      callContext: () => {
        throw new CloudError('unavailable', 'the provider is closed');
      },
    },
    objects: new SharedObject(clock),
  });
  const failed = outcome(commits.change('lb', set('a', 1), hostWith(clock).callContext()));
  await clock.settle();
  assert.equal(await failed, 'unavailable none');
});
