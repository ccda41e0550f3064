import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CallContext, InstanceHint } from '@outrigger/cloud-provider';
import { FakeClock } from '@outrigger/testing';
import { hostWith } from '../group-commit/shared-object.suite.ts';
import { hintsOfAll, type HintSource } from './hints-of-all.ts';

function rig(): { readonly clock: FakeClock; readonly call: CallContext; readonly stop: () => void } {
  const clock = new FakeClock();
  const aborter = new AbortController();
  return {
    clock,
    call: { ...hostWith(clock).callContext(), signal: aborter.signal },
    stop: () => aborter.abort(),
  };
}

test('a source that fails is followed again, ever later until it tells something, and holds up none of the others', async () => {
  const { call, clock, stop } = rig();
  const begun: number[] = [];
  let works = false;
  const failing: HintSource = {
    name: 'b',
    async *hints() {
      begun.push(clock.monotonic() / 1_000);
      if (works) yield undefined;
      throw new Error('it is down');
    },
  };
  const told: HintSource = {
    name: 'a',
    async *hints({ signal }) {
      for (let number = 0; !signal.aborted; number++) {
        yield number % 2 === 0 ? { name: `node-${number}` } : undefined;
        await clock.sleep(10_000, signal);
      }
    },
  };
  const heard: (string | undefined)[] = [];
  const over = (async () => {
    for await (const { name } of hintsOfAll([failing, told], clock, call)) heard.push(name);
  })();
  await clock.settle();
  for (let second = 0; second < 40; second++) await clock.advance(1_000);
  assert.deepEqual(begun, [0, 5, 15, 35]);
  assert.deepEqual(heard, ['node-0', 'node-2', 'node-4']);
  works = true;
  for (let second = 0; second < 50; second++) await clock.advance(1_000);
  assert.deepEqual(begun.slice(4), [75, 80, 85, 90], 'it told something each time');
  stop();
  await over;
});

test('hints that nobody takes become one about everything', async () => {
  const { call, clock, stop } = rig();
  const told = { hints: 0 };
  const source: HintSource = {
    name: 'a',
    async *hints({ signal }) {
      while (told.hints < 15_000) yield { name: `node-${told.hints++}` };
      await clock.sleep(1_000_000, signal);
    },
  };
  const all = hintsOfAll([source], clock, call);
  const heard: InstanceHint[] = [(await all.next()).value ?? {}];
  while (told.hints < 15_000) await new Promise((resolve) => void setImmediate(resolve));
  while (heard.at(-1)?.name !== 'node-14999') heard.push((await all.next()).value ?? {});
  assert.equal(heard.filter(({ name }) => name === undefined).length, 1);
  assert.ok(heard.length < 10_000, String(heard.length));
  stop();
  await all.return();
});
