import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '@outrigger/testing';
import * as fc from 'fast-check';
import { createClient } from './create-client.ts';
import { silentLogger } from './logger.ts';
import { noMetrics } from './metrics.ts';
import { EXPIRED, ModelApiServer, status, TOO_LARGE, type Fault, type ModelObject } from './model-api-server.ts';
import { openStore } from './open-store.ts';
import type { Resource } from './resource.ts';
import type { ResourceEvent } from './store.ts';

const nodes: Resource<ModelObject> = { group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false };
const name = fc.constantFrom('a', 'b', 'c', 'd', 'e');

const fault: fc.Arbitrary<Fault> = fc.oneof(
  fc.constant<Fault>({ kind: 'reset' }),
  fc.constantFrom<Fault>(
    { kind: 'answer', status: 429, body: status(429, 'TooManyRequests', 'slow down'), headers: { 'retry-after': '2' } },
    { kind: 'answer', status: 401, body: status(401, 'Unauthorized', 'Unauthorized') },
    { kind: 'answer', status: 410, body: EXPIRED },
    { kind: 'answer', status: 500, body: status(500, 'InternalError', 'boom') },
    { kind: 'answer', status: 504, body: TOO_LARGE },
    { kind: 'answer', status: 502, body: '<html>Bad Gateway</html>' },
    { kind: 'error-event', status: EXPIRED },
    { kind: 'error-event', status: TOO_LARGE },
    { kind: 'error-event', status: status(500, 'InternalError', 'boom') },
  ),
  fc.record({
    kind: fc.constant('cut' as const),
    bytes: fc.integer({ min: 100, max: 1200 }),
    how: fc.constantFrom('end', 'reset', 'half'),
  }),
);

type Step = (server: ModelApiServer, clock: FakeClock) => Promise<void> | void;
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(name, fc.nat()).map(
      ([n, value]): Step =>
        (server) =>
          server.put(n, value),
    ),
  },
  {
    weight: 4,
    arbitrary: name.map(
      (n): Step =>
        (server) =>
          server.remove(n),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom('end', 'reset', 'half').map(
      (how): Step =>
        (server) =>
          server.cut(how),
    ),
  },
  {
    weight: 2,
    arbitrary: fault.map(
      (f): Step =>
        (server) =>
          void server.faults.push(f),
    ),
  },
  { weight: 1, arbitrary: fc.constant<Step>((server) => server.compact()) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('', undefined).map(
      (rv): Step =>
        (server) =>
          server.bookmark(rv),
    ),
  },
  { weight: 1, arbitrary: fc.constant<Step>((server) => server.say({ type: 'ERROR', object: EXPIRED })) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<ModelApiServer['initialStreams'][]>('has', 'refuses', 'ignores').map(
      (mode): Step =>
        (server) =>
          void (server.initialStreams = mode),
    ),
  },
  {
    weight: 4,
    arbitrary: fc.nat({ max: 40_000 }).map(
      (ms): Step =>
        (_, clock) =>
          clock.advance(ms),
    ),
  },
);

/** Follows the changes as a subscriber does, and refuses what must never be said. */
class Follower {
  readonly seen = new Map<string, ModelObject>();
  readonly #gone = new Set<string>();

  readonly listener = (change: ResourceEvent<ModelObject>): void => {
    const known = this.seen.get(change.key);
    if (change.type === 'delete') {
      assert.ok(known, `${change.key} is deleted, but was not there`);
      this.#gone.add(known.metadata.uid);
      this.seen.delete(change.key);
      return;
    }
    assert.ok(!this.#gone.has(change.object.metadata.uid), `${change.key} was deleted and came back`);
    if (change.type === 'add') assert.equal(known, undefined, `${change.key} is added twice`);
    else {
      assert.equal(known, change.previous, `${change.key} is updated from another object than was there`);
      assert.equal(change.object.metadata.uid, change.previous.metadata.uid, 'another object is no update');
      assert.notEqual(change.object.metadata.resourceVersion, change.previous.metadata.resourceVersion);
    }
    this.seen.set(change.key, change.object);
  };
}

test('whatever the server and the network do, the store ends as the server is, and its changes tell the same story', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 40, size: 'max' }),
      fc.integer({ min: 1, max: 3 }),
      async (steps, pageSize) => {
        const server = new ModelApiServer();
        for (const n of ['a', 'b', 'c', 'd', 'e']) server.put(n, 0);
        const clock = new FakeClock();
        const problems: unknown[] = [];
        const logger = { ...silentLogger, error: (_: string, fields?: object) => void problems.push(fields) };
        await using store = openStore({
          client: createClient(server),
          resource: nodes,
          clock,
          logger: { ...logger, with: () => logger },
          metrics: noMetrics,
          random: () => 0.5,
          pageSize,
          indexers: { parity: (object) => [String(object.value % 2)] },
        });
        const early = new Follower();
        store.subscribe(early.listener);
        let late: Follower | undefined;
        for (const [index, run] of steps.entries()) {
          await run(server, clock);
          if (index % 3 === 0) await clock.settle();
          if (index === Math.floor(steps.length / 2)) store.subscribe((late = new Follower()).listener);
          // Never a partial list: what is read is either nothing yet or a state that was.
          if (!store.synced) assert.equal(store.size, 0);
        }
        server.faults.length = 0;
        server.initialStreams = 'has';
        await clock.advance(120_000);
        assert.ok(store.synced);
        assert.deepEqual(new Map([...store.values()].map((o) => [o.metadata.name, o])), server.objects);
        for (const follower of [early, late]) if (follower) assert.deepEqual(follower.seen, server.objects);
        for (const parity of ['0', '1']) {
          const expected = [...server.objects.values()].filter((o) => String(o.value % 2) === parity);
          assert.deepEqual(new Set(store.byIndex('parity', parity)), new Set(expected));
        }
        // The assertions of the followers are thrown within listeners, and end up here.
        assert.deepEqual(problems, []);
        server.put('last', 1);
        await clock.advance(60_000);
        assert.ok(store.get('last'), 'the watch is alive after all of it');
        assert.equal(server.watches, 1);
      },
    ),
    { numRuns: Number(process.env['FC_RUNS'] ?? 300) },
  );
});
