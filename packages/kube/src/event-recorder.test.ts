// Over 400 lines: one rig, and one test for each answer of the API server to an Event.
import { FakeClock } from '@outrigger/testing';
import * as fc from 'fast-check';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from './client.ts';
import type { EventNote } from './event-note.ts';
import { createEventRecorder, type EventRecorderOptions } from './event-recorder.ts';
import { recordMetrics } from './internal/recorded-metrics.ts';
import type { KubeObject } from './kube-object.ts';
import { NotLeaderError } from './leadership.ts';
import { silentLogger, type Logger } from './logger.ts';
import { StatusError } from './status-error.ts';
import type { CoreEvent } from './types/index.ts';

const node = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, uid: `uid-${name}`, resourceVersion: '7' },
});
const warning = (message: string, reason = 'InstanceNotFound'): EventNote => ({ type: 'Warning', reason, message });
const normal = (message: string, reason = 'Synced'): EventNote => ({ type: 'Normal', reason, message });

/** A server that keeps Events, and fails as it is told to. */
function setUp(options: Partial<EventRecorderOptions> = {}) {
  const clock = new FakeClock();
  const metrics = recordMetrics();
  const stored = new Map<string, CoreEvent>();
  const calls: { readonly verb: 'create' | 'patch'; readonly at: number }[] = [];
  const errors: string[] = [];
  const faults: (Error | 'answer-lost' | undefined)[] = [];
  const broken: { by: Error | undefined } = { by: undefined };
  const fail = (): boolean => {
    const fault = faults.shift() ?? broken.by;
    if (fault instanceof Error) throw fault;
    return fault === 'answer-lost';
  };
  const events = {
    create: async (event: CoreEvent) => {
      calls.push({ verb: 'create', at: clock.monotonic() });
      const lost = fail();
      const name = `${event.metadata?.namespace}/${event.metadata?.name}`;
      if (stored.has(name)) throw new StatusError('POST events', 409, { reason: 'AlreadyExists' });
      stored.set(name, event);
      if (lost) throw new Error('connection reset');
      return event;
    },
    patch: async (ref: { name: string; namespace: string }, patch: { body: CoreEvent }) => {
      calls.push({ verb: 'patch', at: clock.monotonic() });
      fail();
      const event = stored.get(`${ref.namespace}/${ref.name}`);
      if (!event) throw new StatusError('PATCH event', 404, { reason: 'NotFound' });
      Object.assign(event, patch.body);
      return event;
    },
  };
  const logger: Logger = {
    ...silentLogger,
    error: (message) => void errors.push(message),
    warn: (message) => void errors.push(message),
    with: () => logger,
  };
  const recorder = createEventRecorder({
    client: { of: () => events } as unknown as Client,
    component: 'cloud-node-controller',
    host: 'host-1',
    clock,
    logger,
    metrics,
    random: () => 0,
    ...options,
  });
  const total = (type: string, outcome: string): number => metrics.value('outrigger_events_total', { type, outcome });
  return { clock, recorder, stored, calls, errors, faults, broken, total, all: () => [...stored.values()] };
}

test('an Event is what upstream writes; about a cluster-scoped object, it is in namespace default', async () => {
  const { clock, recorder, all } = setUp();
  recorder.record(node('a'), warning('no such instance'));
  await clock.advance(1);
  const [{ metadata, ...event } = {}] = all();
  assert.match(metadata?.name ?? '', /^a\.[0-9a-f]{16}$/);
  assert.equal(metadata?.namespace, 'default');
  assert.deepEqual(event, {
    apiVersion: 'v1',
    kind: 'Event',
    involvedObject: { apiVersion: 'v1', kind: 'Node', name: 'a', uid: 'uid-a', resourceVersion: '7' },
    type: 'Warning',
    reason: 'InstanceNotFound',
    message: 'no such instance',
    count: 1,
    firstTimestamp: '2026-01-01T00:00:00Z',
    lastTimestamp: '2026-01-01T00:00:00Z',
    source: { component: 'cloud-node-controller', host: 'host-1' },
    reportingComponent: 'cloud-node-controller',
    reportingInstance: 'host-1',
  });
});

test('about a namespaced object, it is in that namespace; a name that makes no Event name is replaced', async () => {
  const { clock, recorder, stored } = setUp();
  recorder.record({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'x', namespace: 'shop' } }, normal('ok'));
  recorder.record(node('Not_A_Subdomain'), normal('ok'));
  await clock.advance(1);
  const names = [...stored.keys()];
  assert.match(names[0] ?? '', /^shop\/x\./);
  assert.match(names[1] ?? '', /^default\/event\./);
});

test('the same again is counted up by patch; what repeats while it waits costs one write', async () => {
  const { clock, recorder, all, calls } = setUp();
  for (let i = 0; i < 5; i++) recorder.record(node('a'), warning('no'));
  await clock.advance(1);
  assert.equal(calls.length, 1);
  assert.equal(all()[0]?.count, 5);
  await clock.advance(9_000);
  recorder.record(node('a'), warning('no'));
  await clock.advance(1);
  assert.deepEqual(
    calls.map(({ verb }) => verb),
    ['create', 'patch'],
  );
  assert.equal(all()[0]?.count, 6);
  assert.equal(all()[0]?.firstTimestamp, '2026-01-01T00:00:00Z');
  assert.equal(all()[0]?.lastTimestamp, '2026-01-01T00:00:09Z');
});

test('from the tenth different message of one reason on, they are combined', async () => {
  const { clock, recorder, all } = setUp();
  for (let i = 1; i <= 14; i++) recorder.record(node('a'), warning(`try ${i}`));
  await clock.advance(1);
  assert.equal(all().length, 10);
  const combined = all().find(({ message }) => message?.startsWith('(combined from similar events): '));
  assert.equal(combined?.message, '(combined from similar events): try 14');
  assert.equal(combined.count, 5);
  await clock.advance(601_000);
  recorder.record(node('a'), warning('after a pause'));
  await clock.advance(1);
  assert.ok(all().some(({ message }) => message === 'after a pause'));
});

test('over the budget of an object Normal notes are dropped, Warnings counted and written once a minute', async () => {
  const { clock, recorder, all, calls, total } = setUp();
  for (let i = 0; i < 60; i++) {
    recorder.record(node('a'), normal('again'));
    recorder.record(node('a'), warning('again'));
    await clock.advance(1_000);
  }
  // Those that are dropped cost no write; the one that is due anyway counts them.
  assert.equal(all().find(({ type }) => type === 'Normal')?.count, 31);
  assert.equal(total('Normal', 'dropped'), 35);
  await clock.advance(60_000);
  assert.equal(all().find(({ type }) => type === 'Warning')?.count, 60);
  assert.equal(calls.length, 2 + 25 + 1);
});

test('what a Normal note repeats is written 30 s later, with all that came meanwhile; what is new, and each Warning, at once', async () => {
  const { all, calls, clock, errors, recorder, stored } = setUp();
  const nodes = Array.from({ length: 50 }, (_, i) => node(`n${i}`));
  const tell = async (note: EventNote): Promise<number> => {
    const before = calls.length;
    for (const one of nodes) recorder.record(one, note);
    await clock.advance(1_000);
    return calls.length - before;
  };
  assert.equal(await tell(normal('updated')), 50);
  assert.equal(await tell(normal('updated')), 0);
  assert.equal(await tell(normal('updated')), 0);
  assert.equal(await tell(normal('deleted')), 50);
  assert.equal(await tell(warning('failed')), 50);
  assert.equal(await tell(warning('failed')), 50);
  await clock.advance(24_000);
  const before = calls.length;
  await clock.advance(5_000);
  assert.equal(calls.length - before, 50);
  const updated = all().filter(({ message }) => message === 'updated');
  assert.deepEqual(new Set(updated.map(({ count }) => count)), new Set([3]));
  assert.deepEqual(new Set(updated.map(({ lastTimestamp }) => lastTimestamp)), new Set(['2026-01-01T00:00:02Z']));
  // One that the server has lost, and one that waits while the program stops.
  stored.clear();
  await tell(normal('updated'));
  await recorder.close();
  assert.deepEqual(new Set(all().map(({ count }) => count)), new Set([4]));
  assert.deepEqual(errors, []);
});

test('5,000 objects with one Warning are 5,000 Events, at the pace set; with one Normal reason a hundred and a fold', async () => {
  const { clock, recorder, all, calls, total } = setUp();
  for (let i = 0; i < 5_000; i++) recorder.record(node(`n${i}`), normal('initialised'));
  for (let i = 0; i < 5_000; i++) recorder.record(node(`n${i}`), warning('cloud is down'));
  await clock.advance(1);
  assert.equal(calls.length, 100, 'a burst, then 50 a second');
  assert.equal(all().filter(({ type }) => type === 'Normal').length, 4, 'Warnings go first');
  await clock.advance(110_000);
  const warnings = all().filter(({ type }) => type === 'Warning');
  assert.equal(warnings.length, 5_000);
  const notes = all().filter(({ type }) => type === 'Normal');
  assert.equal(notes.length, 101);
  const fold = notes.find(({ involvedObject }) => involvedObject?.kind === 'Namespace');
  assert.equal(fold?.count, 4_900);
  assert.equal(
    fold.message,
    '4900 more about objects of kind Node, lately n4995, n4996, n4997, n4998, n4999: initialised',
  );
  assert.equal(total('Normal', 'folded'), 4_900);
});

test('what a fold says of objects of namespaces is their number: others read it', async () => {
  const { clock, recorder, all } = setUp();
  for (let i = 0; i < 150; i++) {
    const about = { ...node(`secret-${i}`), kind: 'Service' };
    recorder.record({ ...about, metadata: { ...about.metadata, namespace: 'tenant' } }, normal('secret address'));
  }
  await clock.advance(10_000);
  const fold = all().find(({ involvedObject }) => involvedObject?.kind === 'Namespace');
  assert.equal(fold?.message, '50 more about objects of kind Service; with --v=2 the log names them');
});

test('Warnings beyond what can wait are folded, and each is counted', async () => {
  const { clock, recorder, all } = setUp({ maxPending: 10 });
  for (let i = 0; i < 50; i++) recorder.record(node(`n${i}`), warning('down'));
  await clock.advance(20_000);
  const fold = all().find(({ involvedObject }) => involvedObject?.name === 'kube-system');
  assert.equal(all().length, 11);
  assert.equal(fold?.count, 40);
  assert.equal(fold.type, 'Warning');
});

const serviceIn = (namespace: string, name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace, uid: `uid-${namespace}-${name}` },
});

test('namespaces take turns: who has thousands of Warnings waiting holds up no other, and neither does who comes late', async () => {
  const { clock, recorder, all } = setUp();
  const tell = (namespace: string, count: number, reason = 'SyncFailed'): void => {
    for (let i = 0; i < count; i++) recorder.record(serviceIn(namespace, `s${i}`), warning('down', reason));
  };
  const writtenOf = (namespace: string): number =>
    all().filter(({ metadata }) => metadata?.namespace === namespace).length;
  tell('noisy', 1_000);
  tell('shop', 1);
  await clock.advance(1);
  const place = all().findIndex(({ metadata }) => metadata?.namespace === 'shop');
  assert.ok(place >= 0 && place < 10, `written as number ${place} of ${all().length}`);
  // What it was told of before is not held against it.
  tell('shop', 100, 'Other');
  await clock.advance(5_000);
  assert.equal(writtenOf('shop'), 101);
  tell('late', 1_000);
  tell('shop', 1, 'Third');
  const before = all().length;
  await clock.advance(1_000);
  assert.equal(writtenOf('shop'), 102, `${all().length - before} others were written`);
});

test('Warnings of one namespace without an end hold back the Normal notes of no other, nor of nodes, for longer than ten seconds', async () => {
  const { clock, recorder, all } = setUp();
  for (let i = 0; i < 1_000; i++) recorder.record(serviceIn('noisy', `s${i}`), warning('down'));
  const normals = (): number => all().filter(({ type }) => type === 'Normal').length;
  for (let second = 0; second < 60; second++) {
    for (let i = 0; i < 60; i++) recorder.record(serviceIn('noisy', `s${second}-${i}`), warning('down'));
    if (second < 10) {
      recorder.record(serviceIn('shop', `s${second}`), normal('made'));
      recorder.record(node(`n${second}`), normal('initialised'));
    }
    await clock.advance(1_000);
    if (second === 5) assert.equal(normals(), 0, 'Warnings go first');
    if (second === 21) assert.equal(normals(), 20);
  }
});

test('a namespace leaves room for what waits to be written of others: theirs is not folded', async () => {
  const { clock, recorder, all, total } = setUp({ maxPending: 100 });
  for (let i = 0; i < 500; i++) recorder.record(serviceIn('noisy', `s${i}`), warning('down'));
  assert.equal(total('Warning', 'folded'), 450);
  for (const namespace of ['shop', 'bank', 'mail']) {
    for (let i = 0; i < 6; i++) recorder.record(serviceIn(namespace, `s${i}`), warning('down'));
  }
  assert.equal(total('Warning', 'folded'), 450);
  await clock.advance(60_000);
  assert.equal(all().length, 50 + 18 + 1);
  // What was written takes no room.
  for (let i = 0; i < 40; i++) recorder.record(serviceIn('noisy', `t${i}`), warning('down'));
  assert.equal(total('Warning', 'folded'), 450);
});

test('what repeats in one namespace fills more places than there are, and the few Warnings of others and of nodes have theirs', async () => {
  const { clock, recorder, total } = setUp({ maxPending: 20 });
  for (let round = 0; round < 2; round++) {
    for (let i = 0; i < 60; i++) {
      recorder.record(serviceIn('noisy', `s${i}`), warning('down'));
      if (round === 0) await clock.advance(1_000);
    }
  }
  for (let i = 0; i < 10; i++) {
    recorder.record(serviceIn('shop', `s${i}`), warning('down'));
    recorder.record(node(`n${i}`), warning('down'));
  }
  assert.equal(total('Warning', 'folded'), 0);
  recorder.record(serviceIn('noisy', 'new'), warning('down'));
  assert.equal(total('Warning', 'folded'), 1);
});

test('a flood of Normal notes in one namespace does not fold the few of another', async () => {
  const { clock, recorder, all } = setUp();
  for (let i = 0; i < 500; i++) recorder.record(serviceIn('noisy', `s${i}`), normal('made'));
  for (const name of ['a', 'b']) recorder.record(serviceIn('shop', name), normal('made'));
  await clock.advance(30_000);
  const found = all().filter(({ metadata }) => metadata?.namespace === 'shop');
  assert.deepEqual(new Set(found.map(({ involvedObject }) => involvedObject?.name)), new Set(['a', 'b']));
});

test('failures that pass are tried again, with back-off, and nothing is written twice', async () => {
  const { clock, recorder, all, calls, faults, errors } = setUp();
  faults.push(new Error('refused'), new StatusError('POST', 503, {}), 'answer-lost', new StatusError('POST', 401, {}));
  recorder.record(node('a'), warning('no'));
  await clock.advance(60_000);
  assert.equal(all().length, 1);
  assert.equal(all()[0]?.count, 1);
  assert.deepEqual(
    calls.map(({ verb, at }) => [verb, at]),
    [
      ['create', 0],
      ['create', 1_000],
      ['create', 3_000],
      ['create', 7_000],
      ['create', 15_000],
      ['patch', 15_000],
    ],
  );
  assert.deepEqual(errors, []);
});

test('a 429 holds back all writes for as long as the server asks', async () => {
  const { clock, recorder, calls, faults } = setUp();
  faults.push(new StatusError('POST', 429, {}, { retryAfterMs: 5_000 }));
  recorder.record(node('a'), warning('no'));
  await clock.advance(1);
  for (const name of ['b', 'c', 'd']) recorder.record(node(name), warning('no'));
  await clock.advance(4_900);
  assert.equal(calls.length, 1);
  await clock.advance(1_000);
  assert.equal(calls.length, 5);
});

test('a server that asks to wait for a day, or for ever, is asked again after a minute', async () => {
  for (const retryAfterMs of [86_400_000, Infinity]) {
    const { clock, recorder, all, calls, faults } = setUp();
    faults.push(new StatusError('POST', 503, {}, { retryAfterMs }));
    recorder.record(node('a'), warning('no'));
    await clock.advance(59_999);
    assert.equal(calls.length, 1);
    await clock.advance(1);
    assert.equal(all().length, 1);
  }
});

test('an Event that the server has forgotten is made anew', async () => {
  const { clock, recorder, stored, calls } = setUp();
  recorder.record(node('a'), warning('no'));
  await clock.advance(1_000);
  stored.clear();
  recorder.record(node('a'), warning('no'));
  await clock.advance(1_000);
  assert.deepEqual(
    calls.map(({ verb }) => verb),
    ['create', 'patch', 'create'],
  );
  assert.equal(stored.size, 1);
});

test('what is refused for good is not tried again, counted, and logged once', async () => {
  const terminating = { reason: 'Forbidden', details: { causes: [{ reason: 'NamespaceTerminating' }] } };
  for (const refusal of [
    new StatusError('POST', 403, { reason: 'Forbidden' }),
    new StatusError('POST', 403, terminating),
    new StatusError('POST', 422, { reason: 'Invalid' }),
    new NotLeaderError('lost'),
  ]) {
    const { clock, recorder, calls, broken, total, errors } = setUp();
    broken.by = refusal;
    for (const name of ['a', 'b', 'c']) recorder.record(node(name), warning('no'));
    await clock.advance(100_000);
    assert.equal(calls.length, 3);
    assert.equal(total('Warning', 'rejected'), 3);
    assert.equal(errors.length, 1);
  }
});

test('a server that stays down is tried for an hour, then the Warning is given up and logged', async () => {
  const { clock, recorder, broken, total, errors, calls } = setUp();
  broken.by = new Error('refused');
  recorder.record(node('a'), warning('no'));
  await clock.advance(3_500_000);
  assert.deepEqual(errors, []);
  await clock.advance(200_000);
  assert.equal(total('Warning', 'expired'), 1);
  assert.deepEqual(errors, ['Event given up']);
  assert.ok(calls.length < 80, `${calls.length} tries`);
});

test('close writes what waits, folding what is too much, and takes nothing more', async () => {
  const { clock, recorder, all, total } = setUp();
  for (let i = 0; i < 3_000; i++) recorder.record(node(`n${i}`), warning('down'));
  await clock.settle();
  const closed = recorder.close();
  await clock.advance(100);
  await closed;
  const counted = all().reduce((sum, { count }) => sum + (count ?? 0), 0);
  assert.equal(counted, 3_000);
  assert.ok(all().length <= 101 + 4, `${all().length} Events`);
  recorder.record(node('late'), warning('down'));
  assert.equal(total('Warning', 'dropped'), 1);
  assert.equal(clock.pendingTimers, 0);
  await recorder[Symbol.asyncDispose]();
});

test('close writes a Warning of each namespace, whatever waits of another one', async () => {
  for (const namespaces of [1, 150]) {
    const { clock, recorder, all } = setUp();
    const service = (namespace: string, name: string): KubeObject => {
      return { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace } };
    };
    for (let i = 0; i < 3_000; i++) recorder.record(service('noisy', `s${i}`), warning('down'));
    for (let i = 0; i < namespaces; i++) recorder.record(service(`quiet-${i}`, 'web'), warning('down'));
    const closed = recorder.close();
    await clock.advance(100);
    await closed;
    const quiet = all().filter(({ involvedObject }) => involvedObject.namespace?.startsWith('quiet-'));
    assert.deepEqual(new Set(quiet.map(({ message }) => message)), new Set(['down']));
    assert.equal(quiet.length, namespaces);
    // Those of before, its few, and the one that counts the rest.
    assert.ok(all().length <= 101 + 4 + 11 + namespaces, `${all().length} Events`);
  }
});

test('close leaves repeats that the server need not be told of, where there are many', async () => {
  const { calls, clock, errors, recorder, total } = setUp({ floodAbout: node('cluster') });
  const nodes = Array.from({ length: 1_000 }, (_, i) => node(`n${i}`));
  // One reason each: those of one are folded.
  const tell = (): void => nodes.forEach((one, i) => recorder.record(one, normal('updated', `Reason${i}`)));
  tell();
  await clock.advance(60_000);
  const before = calls.length;
  tell();
  recorder.record(node('n0'), warning('failed'));
  const closed = recorder.close();
  await clock.advance(5_000);
  await closed;
  assert.ok(calls.length - before <= 100, `${calls.length - before} writes`);
  assert.equal(total('Warning', 'written'), 1);
  assert.equal(total('Normal', 'expired'), 1_000);
  assert.deepEqual(errors, []);
});

test('close waits only so long for a server that does not answer', async () => {
  const { clock, recorder, broken, total, errors } = setUp();
  broken.by = new Error('refused');
  recorder.record(node('a'), warning('no'));
  await clock.settle();
  const closed = recorder.close({ timeoutMs: 2_000 });
  await clock.advance(2_000);
  await closed;
  assert.equal(total('Warning', 'expired'), 1);
  assert.deepEqual(errors, ['Stopped before all Events were written']);
  assert.equal(clock.pendingTimers, 0);
});

test('a secret is taken out before a message is kept, cut, logged or written', async () => {
  const { clock, recorder, all } = setUp({ redact: (message) => message.replaceAll('hunter2', '***') });
  recorder.record(node('a'), warning(`refused: ${'x'.repeat(1_008)}hunter2`));
  recorder.record(node('b'), warning('the password hunter2 is refused'));
  await clock.advance(1);
  const messages = all().map(({ message }) => message ?? '');
  assert.equal(messages.length, 2);
  for (const message of messages) assert.doesNotMatch(message, /hunt/u);
  assert.ok(messages.includes('the password *** is refused'));
});

test('a redaction that fails tells nothing', async () => {
  const { clock, recorder, all, errors } = setUp({
    redact: () => {
      throw new Error('broken');
    },
  });
  recorder.record(node('a'), warning('the password hunter2 is refused'));
  await clock.advance(1);
  assert.deepEqual(all(), []);
  assert.deepEqual(errors, ['Could not record an Event']);
});

test('record never throws', async () => {
  const { clock, recorder, errors, stored } = setUp();
  recorder.record({ metadata: { name: 'a' } }, warning('no kind'));
  recorder.record(null as never, warning('no object'));
  recorder.record(node('a'), { type: 'Warning', reason: 'X', message: undefined as never });
  await clock.advance(1);
  assert.equal(stored.size >= 1, true, 'what can be written is');
  assert.ok(errors.includes('Event about an object without kind'));
});

test('a message is cut at 1,024 bytes, and never within a character', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary', minLength: 300, maxLength: 1_200 }), async (message) => {
      const { clock, recorder, all } = setUp();
      recorder.record(node('a'), warning(message));
      await clock.advance(1);
      const kept = all()[0]?.message ?? '';
      const clean = Buffer.from(message).toString();
      assert.ok(Buffer.byteLength(kept) <= 1_024);
      assert.ok(kept === message || (kept.endsWith('...') && clean.startsWith(kept.slice(0, -3))));
    }),
    { numRuns: 50 },
  );
});

test('no Warning is ever lost: the counts on the server add up, whatever comes and whatever fails', async () => {
  const step = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({ object: fc.nat(3), message: fc.nat(15), times: fc.integer({ min: 1, max: 30 }) }),
    },
    { weight: 2, arbitrary: fc.record({ waitMs: fc.integer({ min: 1, max: 90_000 }) }) },
    { weight: 1, arbitrary: fc.record({ fault: fc.constantFrom(500, 503, 429, 401, 0) }) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const { clock, recorder, all, faults } = setUp({ maxPending: 5 });
      let recorded = 0;
      for (const one of steps) {
        if ('waitMs' in one) await clock.advance(one.waitMs);
        else if ('fault' in one) faults.push(one.fault ? new StatusError('POST', one.fault, {}) : new Error('reset'));
        else {
          for (let i = 0; i < one.times; i++) recorder.record(node(`n${one.object}`), warning(`m${one.message}`));
          recorded += one.times;
        }
      }
      await clock.advance(1_000_000);
      assert.equal(
        all().reduce((sum, { count }) => sum + (count ?? 0), 0),
        recorded,
      );
    }),
    { numRuns: 60 },
  );
});

test('of namespaces that are gone not every one is remembered', async () => {
  const { clock, recorder, broken, errors } = setUp({ maxPending: 20_000, writesPerSecond: 1_000 });
  broken.by = new StatusError('POST', 403, {
    reason: 'Forbidden',
    details: { causes: [{ reason: 'NamespaceTerminating' }] },
  });
  const record = async (namespace: string): Promise<void> => {
    const about = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'web', namespace, uid: namespace } };
    recorder.record(about, warning(`no ${errors.length}`));
    await clock.advance(10);
  };
  await record('first');
  await record('first');
  assert.equal(errors.length, 1);
  for (let n = 0; n < 1_001; n++) await record(`ns-${n}`);
  assert.equal(errors.length, 1_002);
  await record('first');
  assert.equal(errors.length, 1_003);
});

test('each component has its own queue in the metrics', async () => {
  const metrics = recordMetrics();
  const busy = setUp({ metrics, component: 'service-controller' });
  setUp({ metrics, component: 'node-controller' });
  for (let i = 0; i < 300; i++) busy.recorder.record(node(`${i}`), warning('gone'));
  metrics.collect();
  assert.ok(metrics.value('workqueue_depth', { name: 'events-service-controller' }) > 0);
  assert.equal(metrics.value('workqueue_depth', { name: 'events-node-controller' }), 0);
});
