import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CallContext, LoadBalancerObservation, LoadBalancerPart } from '@outrigger/cloud-provider';
import { silentLogger } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { observeOnce } from './observe-once.ts';

const services = ['a', 'b'].map((name) => ({ uid: name, namespace: 'default', name })) as never;

/** What comes of a look of so many requests one after the other, each of which waits so long for the call budget, or for the cloud. */
async function lookOf(requests: number, waits: { budgetMs?: number; cloudMs?: number }): Promise<readonly unknown[]> {
  const clock = new FakeClock();
  const answered = observeOnce(services, {
    provider: {
      observe: async (asked, call) => {
        for (let i = 0; i < requests; i++) {
          await call.call({ name: 'GET' }, (signal) => clock.sleep(waits.cloudMs ?? 0, signal));
        }
        return asked.map(() => ({ kind: 'parts' as const, asOf: 0, parts: [] }));
      },
    },
    callContext: (signal): CallContext => ({
      signal,
      priority: 'normal',
      logger: silentLogger,
      call: async (_operation, send) => {
        await clock.sleep(waits.budgetMs ?? 0, signal);
        return send(signal);
      },
    }),
    clock,
    signal: new AbortController().signal,
  });
  await clock.advance(1_000_000);
  return (await answered).map((answer) => answer.kind);
}

test('a look goes on while its requests get their turn in the call budget, and ends where one does not, or the cloud does not answer', async () => {
  assert.deepEqual(await lookOf(10, { budgetMs: 20_000 }), ['parts', 'parts']);
  assert.deepEqual(await lookOf(1, { budgetMs: 31_000 }), ['failed', 'failed']);
  assert.deepEqual(await lookOf(1, { cloudMs: 31_000 }), ['failed', 'failed']);
  // It has an end for all that.
  assert.deepEqual(await lookOf(100, { budgetMs: 20_000 }), ['failed', 'failed']);
});

test('what a cloud shows of one load balancer has a bound, over which that one answer fails, and quotes nothing of it', async () => {
  const part = (id: string, kind = 'listener'): LoadBalancerPart => {
    return { kind, id, owner: undefined, state: 'ready', attributes: {} };
  };
  const many = (count: number): readonly LoadBalancerPart[] => Array.from({ length: count }, (_, i) => part(`${i}`));
  const thing = { ...part('t'), allowed: [] };
  const answersTo = (...given: readonly LoadBalancerObservation[]): Promise<readonly LoadBalancerObservation[]> =>
    observeOnce(services, {
      provider: { observe: async () => given },
      callContext: (signal): CallContext => ({
        signal,
        priority: 'normal',
        logger: silentLogger,
        call: (_, send) => send(signal),
      }),
      clock: new FakeClock(),
      signal: new AbortController().signal,
    });
  const most: LoadBalancerObservation = {
    kind: 'parts',
    parts: [...many(9_998), part('i'.repeat(1_016))],
    others: [thing],
  };
  for (const over of [
    { ...most, parts: many(10_000) },
    { ...most, parts: many(1), others: Array.from({ length: 10_000 }, () => thing) },
    { ...most, parts: [part('iii'.repeat(342))] },
    { ...most, parts: [part('i', 'iii'.repeat(342))] },
    { ...most, others: [{ ...thing, id: 'iii'.repeat(342) }] },
  ] as const) {
    const [first, second] = await answersTo(most, over);
    assert.equal(first, most);
    assert.ok(second?.kind === 'failed');
    assert.match(second.error.message, /10000 .*1024 characters/u);
    assert.doesNotMatch(second.error.message, /iii/u);
  }
});
