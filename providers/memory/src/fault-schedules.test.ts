/**
 * What is said of machines under any schedule of faults, beside what was true: nodes are deleted on it. All of the way is
 * walked: batches, budget, repeats, deadlines, the provider, the cloud's API.
 */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { NodeRef } from '@outrigger/cloud-provider';
import { openProvider, type DatedAnswer } from '@outrigger/cloud-runtime';
import { silentLogger } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { createMemoryCloud, createMemoryProvider, type FaultRule, type MemoryCloud } from './index.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e'];
const LIST_LAG_MS = 1500;

/** When each machine came and went. */
class History {
  readonly #changes = new Map<string, { readonly at: number; readonly exists: boolean }[]>();

  note(name: string, at: number, exists: boolean): void {
    const changes = this.#changes.get(name) ?? [];
    changes.push({ at, exists });
    this.#changes.set(name, changes);
  }

  /** Whether at some moment of this time, both ends included, it existed (or did not). */
  was(name: string, exists: boolean, from: number, to: number): boolean {
    let before = false;
    for (const change of this.#changes.get(name) ?? []) {
      if (change.at > to) break;
      if (change.at >= from && (before === exists || change.exists === exists)) return true;
      before = change.exists;
    }
    return before === exists;
  }
}

const name = fc.constantFrom(...NAMES);
const fault: fc.Arbitrary<FaultRule> = fc.record({
  operation: fc.constantFrom(undefined, 'GET /instances/{id}', 'POST /instances:batchGet'),
  effect: fc.constantFrom('status', 'empty', 'lost', 'hang'),
  status: fc.constantFrom(400, 401, 403, 404, 409, 410, 412, 429, 500, 501, 502, 503, 504),
  retryAfterSeconds: fc.constantFrom(undefined, 0, 1, 7, Number.NaN, -1, 1e12),
  probability: fc.constantFrom(0.3, 0.7, 1),
  times: fc.constantFrom(undefined, 1, 2, 5),
  nth: fc.constantFrom(undefined, undefined, 2),
});
const step = fc.oneof(
  fc.record({ do: fc.constantFrom('create' as const, 'delete' as const, 'forget' as const), name }),
  fc.record({
    do: fc.constantFrom('look-up', 'look-up', 'read'),
    name,
    known: fc.boolean(),
    need: fc.constantFrom('state', 'metadata'),
    priority: fc.constantFrom('critical', 'normal', 'background'),
    abortAfterMs: fc.option(fc.nat(3000), { freq: 4 }),
  }),
  fc.record({ do: fc.constant('faults'), faults: fc.array(fault, { maxLength: 3 }) }),
  fc.record({
    do: fc.constant('settings'),
    latencyMs: fc.constantFrom(0, 20, 900),
    rateLimit: fc.constantFrom(undefined, { qps: 2, burst: 2 }),
  }),
  fc.record({ do: fc.constant('pass' as const), ms: fc.oneof(fc.nat(50), fc.nat(4000), fc.constant(61_000)) }),
);

function put(cloud: MemoryCloud, history: History, at: number, which: string, exists: boolean): void {
  if (exists === (cloud.liveInstance(which) !== undefined)) return;
  if (exists) cloud.createInstance({ name: which });
  else cloud.deleteInstance(which);
  history.note(which, at, exists);
}

test('property: found, missing, absent and failed are never mixed up, and everyone gets an answer', async () => {
  const kinds = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 10, maxLength: 50, size: 'max' }),
      fc.infiniteStream(fc.double({ max: 0.99, min: 0 })),
      async (steps, chances) => {
        const clock = new FakeClock();
        const random = (): number => chances.next().value ?? 0;
        const cloud = createMemoryCloud({ clock, random, settings: { listLagMs: LIST_LAG_MS } });
        const history = new History();
        await using opened = await openProvider(createMemoryProvider({ cloud }), {
          cluster: { id: 'cluster-1', name: 'test' },
          clock,
          logger: silentLogger,
          random,
        });
        const { lookups } = opened;
        assert.ok(lookups);
        for (const which of NAMES.slice(0, 3)) put(cloud, history, clock.monotonic(), which, true);
        let emptied = false;
        let asked = 0;
        let settled = 0;
        const check = (node: NodeRef, direct: boolean, { asOf, result }: DatedAnswer): void => {
          kinds.set(result.kind, (kinds.get(result.kind) ?? 0) + 1);
          const now = clock.monotonic();
          const lag = direct ? 0 : LIST_LAG_MS;
          assert.ok(asOf <= now);
          if (result.kind === 'found') {
            assert.equal(result.instance.providerID, `memory://region-1/${node.name}`);
            assert.ok(history.was(node.name, true, asOf - lag, now), `${node.name} was found and never there`);
          } else if (result.kind === 'absent') {
            assert.ok(direct && node.providerID !== undefined, 'only a direct read by ID proves absence');
            assert.ok(history.was(node.name, false, asOf, now), `${node.name} was absent and there all the time`);
          } else if (result.kind === 'missing' && !direct && !emptied) {
            assert.ok(history.was(node.name, false, asOf - lag, now), `${node.name} was missing and there`);
          }
        };
        const ask = (one: Extract<(typeof steps)[number], { known: boolean }>): void => {
          const caller = new AbortController();
          const node: NodeRef = {
            name: one.name,
            uid: one.name,
            providerID: one.known ? `memory://region-1/${one.name}` : undefined,
            labels: {},
            annotations: {},
          };
          const options = { need: one.need, priority: one.priority, signal: caller.signal } as const;
          asked++;
          if (one.abortAfterMs !== null) clock.setTimer(one.abortAfterMs, () => caller.abort(new Error('gone')));
          const direct = one.do === 'read';
          (direct ? lookups.read(node, options) : lookups.lookUp(node, options))
            .then(
              (answer) => {
                settled++;
                // A look-up shares its answer with whoever asked about the node, with or without its ID.
                check(node, direct, answer);
              },
              () => {
                settled++;
                assert.ok(caller.signal.aborted, 'only those who gave up are turned away');
              },
            )
            .catch((error: unknown) => failures.push(error));
        };
        const failures: unknown[] = [];
        for (const one of steps) {
          if ('known' in one) ask(one);
          else if (one.do === 'create') put(cloud, history, clock.monotonic(), one.name, true);
          else if (one.do === 'delete') put(cloud, history, clock.monotonic(), one.name, false);
          else if (one.do === 'forget') lookups.snapshot.forget(one.name);
          else if ('faults' in one) {
            cloud.setFaults(one.faults);
            emptied ||= one.faults.some(({ effect }) => effect === 'empty');
          } else if ('latencyMs' in one) cloud.configure({ latencyMs: one.latencyMs, rateLimit: one.rateLimit });
          else if ('ms' in one) await clock.advance(one.ms);
        }
        await clock.advance(1_000_000);
        assert.deepEqual(failures, []);
        assert.equal(settled, asked, 'everyone gets an answer');

        cloud.setFaults([]);
        cloud.configure({ latencyMs: 0, rateLimit: undefined });
        for (const which of NAMES) {
          const node = { name: which, uid: which, labels: {}, annotations: {} };
          const answer = lookups.lookUp(node, { need: 'state', signal: new AbortController().signal });
          await clock.settle();
          const kind = cloud.liveInstance(which) ? 'found' : 'missing';
          assert.equal((await answer).result.kind, kind, 'once the faults are over, the truth is told');
        }
        for (const which of NAMES) lookups.snapshot.forget(which);
        assert.equal(lookups.snapshot.size, 0);
      },
    ),
    { numRuns: 300 },
  );
  for (const kind of ['found', 'missing', 'absent', 'failed']) {
    assert.ok((kinds.get(kind) ?? 0) > 20, `the schedules reach ${kind}: ${JSON.stringify([...kinds])}`);
  }
});
