import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noMetrics, resources, silentLogger, type Clock, type EventNote, type Node } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { noJournal } from '../journal.ts';
import { FakeNodeApi } from '../node/fake-node-api.suite.ts';
import { ToldEvents } from '../told-events.ts';
import { RouteConditions } from './route-conditions.ts';

test('a node whose condition holds the event loop twice is set aside, and an Event about it says so', async () => {
  const fake = new FakeClock();
  let taken = 0;
  const clock: Clock = {
    now: () => fake.now() + taken,
    monotonic: () => fake.monotonic() + taken,
    setTimer: (delayMs, fire) => fake.setTimer(delayMs, fire),
    sleep: (delayMs, signal) => fake.sleep(delayMs, signal),
  };
  const told: string[] = [];
  const events = {
    record: ({ metadata }: { metadata?: { name?: string } }, { reason, message }: EventNote) =>
      void told.push(`${metadata?.name} ${reason}: ${message}`),
  };
  const api = new FakeNodeApi();
  const nodes = api.client.of(resources.nodes);
  // As if what another writer has put into the node took seconds to compare.
  const slow = Object.assign(Object.create(nodes) as typeof nodes, {
    patch: (...given: Parameters<typeof nodes.patch>) => {
      taken += 1_500;
      return nodes.patch(...given);
    },
  });
  const end = new AbortController();
  const conditions = new RouteConditions({
    nodes: slow,
    store: api.store,
    clock,
    logger: silentLogger,
    metrics: noMetrics,
    random: () => 0,
    signal: end.signal,
    journal: noJournal,
    told: new ToldEvents(events, clock),
    events,
    processorTime: () => taken,
  });
  const running = conditions.run(1);
  const node: Node = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'a', uid: 'uid-a' },
    status: { conditions: [] },
  };
  for (const created of [true, false]) {
    assert.deepEqual(told, []);
    api.put({ ...node });
    conditions.want(node, created);
    for (let i = 0; i < 20; i++) await fake.settle();
  }
  assert.match(told.join(), /^a SetAside: .*again in 1 min/);
  end.abort();
  await running;
});
