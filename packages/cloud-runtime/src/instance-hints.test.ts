import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { CallContext, InstanceHint, Instances } from '@outrigger/cloud-provider';
import { silentLogger, type Logger } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { createInstanceHints, type HintedMachines, type InstanceHints } from './instance-hints.ts';
import { plainContext } from './internal/recorded-instances.ts';

type Changes = (call: CallContext) => AsyncIterable<InstanceHint>;

interface Rig {
  readonly clock: FakeClock;
  readonly hints: InstanceHints;
  readonly told: { readonly at: number; readonly hinted: HintedMachines }[];
  readonly warnings: string[];
  readonly stop: () => void;
  readonly end: AbortController;
}

function listenTo(changes: Changes, batchSize = 100): Rig {
  const clock = new FakeClock();
  const end = new AbortController();
  const warnings: string[] = [];
  const logger: Logger = { ...silentLogger, warn: (message) => void warnings.push(message) };
  const instances = { batchSize, changes } as unknown as Instances;
  const hints = createInstanceHints({ instances, callContext: plainContext, clock, logger, signal: end.signal });
  assert.ok(hints);
  const told: Rig['told'] = [];
  const stop = hints.subscribe((hinted) => void told.push({ at: clock.monotonic(), hinted }));
  return { clock, hints, told, warnings, stop, end };
}

/** Gives what is pushed. */
class Stream {
  readonly #given: InstanceHint[] = [];
  #wake = (): void => {};
  returned = 0;

  push(...hints: readonly InstanceHint[]): void {
    this.#given.push(...hints);
    this.#wake();
  }

  async *changes(): AsyncGenerator<InstanceHint> {
    try {
      for (;;) {
        const hint = this.#given.shift();
        if (hint) yield hint;
        else await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    } finally {
      this.returned++;
    }
  }
}

const namesIn = (told: Rig['told']): readonly (readonly string[])[] => told.map(({ hinted }) => [...hinted.names]);
const settle = async ({ clock }: Rig): Promise<void> => {
  for (let i = 0; i < 5; i++) await clock.settle();
};
const pass = async (rig: Rig, ms: number): Promise<void> => {
  for (let left = ms; left > 0; left -= 1_000) {
    await rig.clock.advance(Math.min(left, 1_000));
    await settle(rig);
  }
};

test('a hint is told at once; those that come soon after it are told together, each machine once', async () => {
  const stream = new Stream();
  const rig = listenTo(() => stream.changes());
  await settle(rig);
  stream.push({ name: 'a' });
  await settle(rig);
  assert.deepEqual(namesIn(rig.told), [['a']]);
  for (let i = 0; i < 20; i++) stream.push({ name: 'b' }, { providerID: 'x://c' });
  await pass(rig, 4_000);
  assert.equal(rig.told.length, 1);
  await pass(rig, 60_000);
  assert.deepEqual(
    rig.told.map(({ at, hinted }) => [at, [...hinted.names], [...hinted.providerIDs]]),
    [
      [0, ['a'], []],
      [5_000, ['b'], ['x://c']],
    ],
  );
  rig.end.abort();
});

test('a hint of both is told as both, and counts as one machine: a node has no provider ID before it is initialised', async () => {
  const stream = new Stream();
  const rig = listenTo(() => stream.changes(), 2);
  await settle(rig);
  stream.push({ name: 'a', providerID: 'x://a' });
  await settle(rig);
  stream.push({ name: 'b', providerID: 'x://b' }, { name: 'c', providerID: 'x://c' });
  stream.push({ name: 'd', providerID: 7 as unknown as string }, { name: 'b', providerID: 'x://b' });
  await pass(rig, 10_000);
  assert.deepEqual(
    rig.told.map(({ hinted }) => [[...hinted.names], [...hinted.providerIDs]]),
    [
      [['a'], ['x://a']],
      [
        ['b', 'c'],
        ['x://b', 'x://c'],
      ],
      [['d'], []],
    ],
  );
  rig.end.abort();
});

test('more than a batch is told a batch at a time; what is hinted of no machine in particular is all, once a minute', async () => {
  const stream = new Stream();
  const rig = listenTo(() => stream.changes(), 2);
  await settle(rig);
  stream.push(...['a', 'b', 'c', 'd', 'e'].map((name) => ({ name })));
  await pass(rig, 15_000);
  assert.deepEqual(namesIn(rig.told), [['a'], ['b', 'c'], ['d', 'e']]);
  rig.told.length = 0;
  for (let i = 0; i < 150; i++) {
    stream.push({});
    await pass(rig, 1_000);
  }
  assert.deepEqual(
    rig.told.map(({ hinted }) => hinted.all),
    [true, true, true],
  );
  rig.end.abort();
});

test('a machine that is hinted of by itself does not wait for the next pass over all', async () => {
  const stream = new Stream();
  const rig = listenTo(() => stream.changes());
  await settle(rig);
  stream.push({});
  await settle(rig);
  stream.push({}, { name: 'a' });
  await pass(rig, 70_000);
  assert.deepEqual(
    rig.told.map(({ at, hinted }) => [at, hinted.all, [...hinted.names]]),
    [
      [0, true, []],
      [5_000, false, ['a']],
      [60_000, true, []],
    ],
  );
  rig.end.abort();
});

test('one that ends or throws is begun anew, ever more seldom, and one that goes on failing is told', async () => {
  let begun = 0;
  const rig = listenTo(async function* changes() {
    begun++;
    yield { name: `n${begun}` };
    if (begun % 2 === 0) throw new Error('gone');
  });
  await pass(rig, 8_000);
  assert.equal(begun, 4, 'at 0, 1, 3 and 7 s');
  assert.deepEqual(rig.warnings, []);
  await pass(rig, 1_200_000);
  assert.ok(begun <= 14, String(begun));
  assert.ok(rig.warnings.length > 0 && rig.warnings.length <= 4);
  rig.end.abort();
});

test('one that went on for a minute has not failed: what ends it is not counted with what was before', async () => {
  const begunAt: number[] = [];
  const rig = listenTo(async function* changes() {
    // The first is begun before there is a rig.
    await Promise.resolve();
    begunAt.push(rig.clock.monotonic());
    if (begunAt.length === 4) await rig.clock.sleep(60_000);
    yield {};
  });
  await pass(rig, 70_000);
  assert.deepEqual(begunAt, [0, 1_000, 3_000, 7_000, 68_000, 70_000]);
  rig.end.abort();
});

test('an iterator that always has a hint gives way to others, and is left alone after a thousand for as long as a batch takes', async () => {
  let given = 0;
  const rig = listenTo(async function* changes() {
    for (;;) yield { name: `n${given++}` };
  }, 1);
  await new Promise<void>((resolve) => void setImmediate(resolve));
  assert.ok(given <= 101, `${given} before anybody else's turn`);
  for (let turn = 0; turn < 100; turn++) await new Promise<void>((resolve) => void setImmediate(resolve));
  assert.equal(given, 1_000);
  // More than 10,000 that wait are told as all.
  for (let batch = 0; batch < 12; batch++) {
    await rig.clock.advance(5_000);
    for (let turn = 0; turn < 100; turn++) await new Promise<void>((resolve) => void setImmediate(resolve));
  }
  assert.equal(given, 13_000);
  assert.equal(rig.told.filter(({ hinted }) => hinted.all).length, 1);
  rig.end.abort();
});

test('nothing is asked for while nobody listens, and whoever stops listening ends it', async () => {
  const streams: Stream[] = [];
  const signals: AbortSignal[] = [];
  const rig = listenTo(({ signal }) => {
    signals.push(signal);
    streams.push(new Stream());
    return streams.at(-1)!.changes();
  });
  await settle(rig);
  rig.stop();
  streams[0]?.push({ name: 'nobody hears' });
  await settle(rig);
  assert.deepEqual([streams.length, signals[0]?.aborted, streams[0]?.returned], [1, true, 1]);
  const stop = rig.hints.subscribe(() => {
    throw new Error('a listener that fails');
  });
  const heard: HintedMachines[] = [];
  rig.hints.subscribe((hinted) => void heard.push(hinted));
  await settle(rig);
  streams[1]?.push({ name: 'a' });
  await settle(rig);
  assert.deepEqual([streams.length, heard.length], [2, 1]);
  stop();
  rig.end.abort();
  await settle(rig);
  assert.ok(signals[1]?.aborted);
});

/** What a provider may do to its host, wittingly or not. */
const steps = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('name' as const), which: fc.nat(300) }),
    fc.record({ kind: fc.constant('id' as const), which: fc.nat(300) }),
    fc.constantFrom(
      ...(['any', 'nothing', 'number', 'long', 'throw', 'end', 'hang', 'flood'] as const).map((kind) => ({
        kind,
        which: 0,
      })),
    ),
  ),
  { maxLength: 40 },
);

function valueOf(kind: string, which: number): unknown {
  switch (kind) {
    case 'name':
      return { name: `n${which}` };
    case 'id':
      return { providerID: `x://n${which}` };
    case 'any':
      return {};
    case 'number':
      return { name: which };
    case 'long':
      return { name: 'x'.repeat(240_000) };
    default:
      return undefined;
  }
}

test('property: whatever a provider hints, and however fast, costs a bounded number of look-ups and no turn of the event loop', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (script) => {
      const rig = listenTo(async function* changes() {
        for (const { kind, which } of script) {
          if (kind === 'throw') throw new Error('thrown');
          if (kind === 'end') return;
          if (kind === 'hang') await new Promise(() => {});
          if (kind === 'flood') for (let i = 0; ; i++) yield { name: `flood${i}` };
          yield valueOf(kind, which) as InstanceHint;
        }
      }, 10);
      const minutes = 3;
      // Were a turn never to end, this would not either.
      await pass(rig, minutes * 60_000);
      const named = rig.told.filter(({ hinted }) => !hinted.all);
      assert.ok(rig.told.length - named.length <= minutes + 1, 'all, once a minute');
      assert.ok(rig.told.length <= minutes * 12 + 1, 'a batch every 5 s');
      for (const { hinted } of named) {
        const size = hinted.names.size + hinted.providerIDs.size;
        assert.ok(size > 0 && size <= 10, `${size} machines at once`);
        for (const one of [...hinted.names, ...hinted.providerIDs]) assert.ok(one.length <= 1_024);
      }
      rig.end.abort();
      await settle(rig);
      const after = rig.told.length;
      await pass(rig, 10_000);
      assert.equal(rig.told.length, after);
    }),
    { numRuns: 25 },
  );
});
