/** What holds whatever is asked and answered in which order. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
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
      tenant: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
      count: fc.integer({ min: 1, max: 15 }),
      // When its turn comes.
      isGone: fc.boolean(),
      // The next move is in the same turn of the event loop.
      isFollowed: fc.boolean(),
    }),
    fc.record({ kind: fc.constant('answer' as const), place: fc.nat(3) }),
    fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 10_000 }) }),
  ),
  { maxLength: 40 },
);

interface Question {
  readonly keys: readonly string[];
  readonly answer: () => void;
}

test('a tenant has one question in flight, there are three at most, and all that is asked is answered', async () => {
  await fc.assert(
    fc.asyncProperty(moves, fc.constantFrom(1, 4, 100), async (history, batchSize) => {
      const clock = new FakeClock();
      const inFlight = new Set<Question>();
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
                answer: (): void => {
                  inFlight.delete(question);
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
        signal: new AbortController().signal,
        serviceOf: (key) => {
          const [namespace, name] = key.split('/') as [string, string];
          if (gone.has(key)) return undefined;
          return identityOf({ metadata: { namespace, name, uid: key }, spec: { ports: [{ port: 80 }] } });
        },
        onAnswer: (key) => waiting.delete(key),
      });
      const check = (): void => {
        const tenants = [...inFlight].flatMap(({ keys }) => [...new Set(keys.map(namespaceOf))]);
        assert.equal(new Set(tenants).size, tenants.length, `two questions of one: ${tenants.join()}`);
        assert.ok(inFlight.size <= 3, `${inFlight.size} questions`);
        if (inFlight.size === 0) assert.deepEqual([...waiting], [], 'nobody waits for nothing');
      };
      let made = 0;
      for (const move of history) {
        if (move.kind === 'ask') {
          for (let i = 0; i < move.count; i++) {
            const key = `${move.tenant}/${made++}`;
            (move.isGone ? gone : waiting).add(key);
            observations.ask(key);
          }
        } else if (move.kind === 'answer') [...inFlight][move.place]?.answer();
        // Less than a question may take.
        else if (inFlight.size === 0) await clock.advance(move.ms);
        if (move.kind === 'ask' && move.isFollowed) continue;
        await clock.settle();
        check();
      }
      await clock.settle();
      check();
      while (inFlight.size > 0) {
        for (const { answer } of inFlight) answer();
        await clock.settle();
        check();
      }
      assert.deepEqual([...waiting], []);
    }),
  );
});
