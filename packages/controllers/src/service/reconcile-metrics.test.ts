import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noMetrics, type EventNote, type Labels, type Metrics } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { countingReconciles } from './reconcile-metrics.ts';
import { beginNote, endNote, failureNote, noNodesNote } from './service-events.ts';

test('load balancers are counted under the names of a predecessor, and the Events go on', async () => {
  const clock = new FakeClock();
  const told: string[] = [];
  const note = (name: string, value: number, labels: Labels = {}): void =>
    void told.push(`${name} ${labels['operation']} ${value}`);
  const metrics: Metrics = {
    ...noMetrics,
    counter: ({ name }) => ({ inc: (labels, value = 1) => note(name, value, labels) }),
    histogram: ({ name }) => ({ observe: (value, labels) => note(name, value, labels) }),
  };
  const recorded: EventNote[] = [];
  const inner = { record: (_about: unknown, note: EventNote) => void recorded.push(note) };
  const events = countingReconciles(inner, { prefix: 'acme_reconcile', buckets: [1, 10] }, { clock, metrics });
  const about = { metadata: { uid: 'u1' } };
  const notes = [
    beginNote('ensure'),
    failureNote('ensure', new Error('x')),
    endNote('ensure'),
    endNote('update'),
    noNodesNote,
  ];
  for (const note of notes) {
    assert.ok(note);
    events.record(about, note);
    await clock.advance(4_000);
  }
  assert.deepEqual(recorded, notes);
  assert.deepEqual(told, [
    'acme_reconcile_duration_seconds loadbalancer_ensure 4',
    'acme_reconcile_total loadbalancer_ensure 1',
    'acme_reconcile_errors_total loadbalancer_ensure 1',
    'acme_reconcile_duration_seconds loadbalancer_ensure 8',
    'acme_reconcile_total loadbalancer_ensure 1',
    'acme_reconcile_total loadbalancer_update 1',
  ]);
});

test('without a predecessor nothing is counted', () => {
  const events = { record: () => {} };
  assert.equal(countingReconciles(events, undefined, { clock: new FakeClock(), metrics: noMetrics }), events);
});
