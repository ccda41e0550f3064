import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Capabilities } from '@outrigger/cloud-provider';
import { silentLogger } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { runWhileCapable, type WhileCapableOptions } from './while-capable.ts';

interface Thing {
  readonly name: string;
}

interface Bench {
  readonly story: string[];
  readonly listeners: Set<(capabilities: Capabilities) => void>;
  readonly change: (thing: Thing | undefined) => Promise<void>;
  readonly options: WhileCapableOptions<Thing>;
}

function bench(first: Thing | undefined): Bench {
  let thing = first;
  const story: string[] = [];
  const listeners = new Set<(capabilities: Capabilities) => void>();
  return {
    story,
    listeners,
    change: async (next) => {
      thing = next;
      for (const listener of listeners) listener({});
      await new FakeClock().settle();
    },
    options: {
      provider: {
        onCapabilitiesChanged: (listener) => {
          listeners.add(listener);
          return () => void listeners.delete(listener);
        },
      },
      capability: () => thing,
      what: 'things',
      logger: silentLogger,
      build: ({ name }) => ({
        run: async (signal) => {
          story.push(`${name} runs`);
          await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
          story.push(`${name} ended`);
        },
      }),
    },
  };
}

test('waits for the capability, runs with it, and starts anew with another one', async () => {
  const { change, listeners, options, story } = bench(undefined);
  const stop = new AbortController();
  const end = runWhileCapable(options, stop.signal);
  await change(undefined);
  assert.deepEqual(story, []);
  const a = { name: 'a' };
  await change(a);
  await change(a);
  assert.deepEqual(story, ['a runs']);
  await change({ name: 'b' });
  await change(undefined);
  assert.deepEqual(story, ['a runs', 'a ended', 'b runs', 'b ended']);
  await change({ name: 'c' });
  stop.abort();
  await end;
  assert.deepEqual(story.slice(4), ['c runs', 'c ended']);
  assert.equal(listeners.size, 0);
});

test('stops while it waits', async () => {
  const { options } = bench(undefined);
  const stop = new AbortController();
  const end = runWhileCapable(options, stop.signal);
  stop.abort();
  await end;
});

test('a controller that just ends, or fails, is not started again', async () => {
  const { options } = bench({ name: 'a' });
  const signal = new AbortController().signal;
  const quits = { ...options, build: () => ({ run: () => Promise.resolve() }) };
  await assert.rejects(runWhileCapable(quits, signal), /ended unexpectedly/u);
  const fails = { ...options, build: () => ({ run: () => Promise.reject(new Error('boom')) }) };
  await assert.rejects(runWhileCapable(fails, signal), /boom/u);
});
