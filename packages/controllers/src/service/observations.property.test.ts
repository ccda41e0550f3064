/** What holds whatever is asked and answered in which order. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { noMetrics, silentLogger } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { callContext } from '../load-balancer/memory-provider.suite.ts';
import { identityOf } from './load-balancer-service.ts';
import { namespaceOf, Observations } from './observations.ts';

type Move =
  | {
      readonly kind: 'ask';
      readonly tenant: string;
      readonly count: number;
      readonly isGone: boolean;
      readonly isFollowed: boolean;
    }
  | { readonly kind: 'answer'; readonly place: number }
  | { readonly kind: 'wait'; readonly ms: number };

const moves: fc.Arbitrary<readonly Move[]> = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constant('ask' as const),
      // Some ask more than others.
      tenant: fc.constantFrom('a', 'a', 'a', 'a', 'b', 'b', 'c', 'd', 'e'),
      count: fc.oneof(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 15 })),
      // When its turn comes.
      isGone: fc.constantFrom(false, false, false, true),
      // The next move is in the same turn of the event loop.
      isFollowed: fc.constantFrom(false, false, false, true),
    }),
    fc.record({ kind: fc.constant('answer' as const), place: fc.nat(3) }),
    fc.record({
      kind: fc.constant('wait' as const),
      ms: fc.constantFrom(1, 20, 300, 300, 300, 1_000, 10_000),
    }),
  ),
  { minLength: 20, maxLength: 80 },
);

/** How long a question may take, and how long one rests: less than the first, more than the second. */
const LATE_MS = 25_000;
const RESTED_MS = 1_000;

interface Question {
  readonly keys: readonly string[];
  /** Monotonic. */
  readonly askedAt: number;
  readonly answer: () => void;
}

test('a tenant has one question in flight, or two where the first is of few; all that is asked is answered', async () => {
  await fc.assert(
    fc.asyncProperty(moves, fc.constantFrom(1, 4, 100, 100), async (history, batchSize) => {
      const clock = new FakeClock();
      const inFlight = new Set<Question>();
      let answeredAt = clock.monotonic();
      const waiting = new Set<string>();
      const gone = new Set<string>();
      const observations = new Observations({
        provider: {
          batchSize,
          observe: async (services) => {
            const keys = services.map(({ name, namespace }) => `${namespace}/${name}`);
            await new Promise<void>((resolve) => {
              const question = {
                keys,
                askedAt: clock.monotonic(),
                answer: (): void => {
                  inFlight.delete(question);
                  answeredAt = clock.monotonic();
                  resolve();
                },
              };
              inFlight.add(question);
            });
            return services.map(() => ({ kind: 'parts', parts: [] }) as const);
          },
        },
        callContext: (given, _about, priority) => callContext(given, priority),
        clock,
        logger: silentLogger,
        metrics: noMetrics,
        signal: new AbortController().signal,
        serviceOf: (key) => {
          const [namespace, name] = key.split('/') as [string, string];
          if (gone.has(key)) return undefined;
          return identityOf({ metadata: { namespace, name, uid: key }, spec: { ports: [{ port: 80 }] } });
        },
        onAnswer: (key) => waiting.delete(key),
      });
      const check = (): void => {
        const counts = [...inFlight].flatMap(({ keys }) => [...Map.groupBy(keys, namespaceOf)]);
        for (const [tenant, ofOne] of Map.groupBy(counts, ([tenant]) => tenant)) {
          const lengths = ofOne.map(([, { length }]) => length);
          assert.ok(
            lengths.length <= 2 && lengths.slice(0, -1).every((length) => length < 10),
            `${tenant}: ${lengths.join()}`,
          );
        }
        assert.ok(inFlight.size <= 5, `${inFlight.size} questions`);
        const isRested = inFlight.size === 0 && clock.monotonic() >= answeredAt + RESTED_MS;
        if (isRested) assert.deepEqual([...waiting], [], 'nobody waits for nothing');
      };
      let made = 0;
      for (const move of history) {
        if (move.kind === 'ask') {
          for (let i = 0; i < move.count; i++) {
            const key = `${move.tenant}/${made++}`;
            (move.isGone ? gone : waiting).add(key);
            observations.ask(key);
          }
        } else if (move.kind === 'answer') [...inFlight][move.place % inFlight.size]?.answer();
        else if ([...inFlight].every(({ askedAt }) => clock.monotonic() + move.ms - askedAt < LATE_MS))
          await clock.advance(move.ms);
        if (move.kind === 'ask' && move.isFollowed) continue;
        await clock.settle();
        check();
      }
      while (inFlight.size > 0 || waiting.size > 0) {
        for (const { answer } of inFlight) answer();
        await clock.advance(RESTED_MS);
        check();
      }
    }),
    { numRuns: 200 },
  );
});
