import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import * as fc from 'fast-check';
import {
  CloudError,
  isCloudError,
  type Capabilities,
  type CloudProvider,
  type InstanceAnswer,
  type NodeRef,
  type ProviderHost,
} from '@outrigger/cloud-provider';
import { silentLogger } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { joinProviders } from './join-providers.ts';
import { openProviderLate, type LateProvider } from './late-provider.ts';
import type { OpenedProvider } from './open-provider.ts';

const signal = new AbortController().signal;
const node: NodeRef = { name: 'n1', uid: 'u1', labels: {}, annotations: {} };

/** What a cloud does when it is asked about a machine by name. */
type Mood = 'has' | 'has-not' | 'proves-not' | 'fails' | 'hangs';

class Cloud implements CloudProvider {
  readonly name: string;
  mood: Mood = 'has-not';
  asked = 0;
  changed: (capabilities: Capabilities) => void = () => {};
  readonly #clock: FakeClock;
  #hanging: (() => void)[] = [];

  constructor(name: string, clock: FakeClock) {
    this.name = name;
    this.#clock = clock;
  }

  open(host: ProviderHost): ReturnType<CloudProvider['open']> {
    this.changed = (capabilities) => host.capabilitiesChanged(capabilities);
    const answer = async ({ name, providerID }: NodeRef): Promise<InstanceAnswer> => {
      this.asked += 1;
      const asOf = this.#clock.monotonic();
      while (this.mood === 'hangs') await new Promise<void>((resolve) => this.#hanging.push(resolve));
      if (this.mood === 'fails') throw new CloudError('unavailable', 'down');
      if (this.mood === 'has') {
        const instance = { providerID: providerID ?? `${this.name}://${name}`, state: 'running' } as const;
        return { asOf, result: { kind: 'found', instance } };
      }
      return { asOf, result: this.mood === 'has-not' ? { kind: 'missing' } : { kind: 'absent', proof: 'GET: 404' } };
    };
    const lookUp = (nodes: readonly NodeRef[]): Promise<readonly InstanceAnswer[]> => Promise.all(nodes.map(answer));
    return Promise.resolve({ instances: { batchSize: 10, lookUp, read: answer } });
  }

  become(mood: Mood): void {
    this.mood = mood;
    for (const resume of this.#hanging.splice(0)) resume();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

interface Rig {
  readonly clock: FakeClock;
  readonly clouds: readonly Cloud[];
  readonly late: readonly LateProvider[];
  readonly joined: readonly OpenedProvider[];
  /** What the controllers of this cloud are told. */
  readonly ask: (i: number, way?: 'lookUp' | 'read') => Promise<InstanceAnswer>;
}

async function setUp(...names: string[]): Promise<Rig> {
  const clock = new FakeClock();
  const clouds = names.map((name) => new Cloud(name, clock));
  const late = clouds.map((cloud) =>
    openProviderLate({
      name: cloud.name,
      make: () => Promise.resolve(cloud),
      cluster: { id: 'c', name: 'c' },
      clock,
      logger: silentLogger,
      random: () => 0,
    }),
  );
  await clock.settle();
  const joined = joinProviders(late, { clock });
  const ask: Rig['ask'] = (i, way = 'lookUp') => {
    const lookups = joined[i]?.lookups;
    assert.ok(lookups);
    return lookups[way](node, { need: 'state', signal });
  };
  return { clock, clouds, late, joined, ask };
}

function wordOf({ result }: InstanceAnswer): string {
  return result.kind === 'failed' ? (isCloudError(result.error) ? result.error.code : 'error') : result.kind;
}

/** `undefined`: no answer yet. */
async function said(rig: Rig, afterMs = 0, way?: 'lookUp' | 'read'): Promise<readonly (string | undefined)[]> {
  const words: (string | undefined)[] = rig.clouds.map(() => undefined);
  for (const i of rig.clouds.keys()) void rig.ask(i, way).then((answer) => (words[i] = wordOf(answer)));
  await rig.clock.settle();
  if (afterMs > 0) await rig.clock.advance(afterMs);
  return words;
}

test('a node without a provider ID is found for the one whose cloud has it; the others are silent about it', async () => {
  for (const [moods, words] of [
    [
      ['has', 'has-not'],
      ['found', 'implemented-elsewhere'],
    ],
    [
      ['has-not', 'has'],
      ['implemented-elsewhere', 'found'],
    ],
    [
      ['has', 'proves-not'],
      ['found', 'implemented-elsewhere'],
    ],
    [
      ['has', 'has'],
      ['conflict', 'implemented-elsewhere'],
    ],
    [
      ['has-not', 'has-not'],
      ['missing', 'implemented-elsewhere'],
    ],
    [
      ['proves-not', 'has-not'],
      ['missing', 'implemented-elsewhere'],
    ],
    [
      ['proves-not', 'proves-not'],
      ['absent', 'implemented-elsewhere'],
    ],
    [
      ['has-not', 'fails'],
      ['unavailable', 'implemented-elsewhere'],
    ],
    [
      ['fails', 'fails'],
      ['unavailable', 'implemented-elsewhere'],
    ],
  ] as const) {
    for (const way of ['lookUp', 'read'] as const) {
      const rig = await setUp('a', 'b');
      for (const [i, mood] of moods.entries()) rig.clouds[i]?.become(mood);
      assert.deepEqual(await said(rig, 0, way), words, `${way} ${moods.join()}`);
    }
  }
});

test('all controllers together ask each cloud once', async () => {
  const rig = await setUp('a', 'b', 'c');
  await said(rig);
  assert.deepEqual(
    rig.clouds.map(({ asked }) => asked),
    [1, 1, 1],
  );
});

test('a node with a provider ID is asked about at its own provider alone', async () => {
  const rig = await setUp('a', 'b');
  rig.clouds[0]?.become('has');
  const answer = await rig.joined[0]?.lookups?.lookUp({ ...node, providerID: 'a://n1' }, { need: 'state', signal });
  assert.equal(answer && wordOf(answer), 'found');
  assert.equal(rig.clouds[1]?.asked, 0);
});

test('a cloud that is silent is waited for once, for 5 s; after that the others have their usual time', async () => {
  const rig = await setUp('a', 'b');
  rig.clouds[0]?.become('has');
  rig.clouds[1]?.become('hangs');
  const first = await said(rig);
  assert.deepEqual(first, [undefined, undefined]);
  await rig.clock.advance(4_900);
  assert.deepEqual(first, [undefined, undefined]);
  await rig.clock.advance(200);
  assert.equal(first[0], 'found');
  assert.equal((await said(rig))[0], 'found', 'at once');
});

test('a cloud that fails is waited for as long; its late claim changes nothing', async () => {
  const rig = await setUp('a', 'b');
  rig.clouds[0]?.become('has');
  rig.clouds[1]?.become('fails');
  assert.deepEqual(await said(rig), ['retry-after', 'implemented-elsewhere']);
  await rig.clock.advance(5_000);
  assert.deepEqual(await said(rig), ['found', 'implemented-elsewhere']);
  rig.clouds[0]?.become('fails');
  rig.clouds[1]?.become('has');
  assert.deepEqual(
    await said(rig, 6_000),
    ['implemented-elsewhere', 'implemented-elsewhere'],
    'a has been told to act',
  );
  rig.clouds[0]?.become('has-not');
  assert.deepEqual(await said(rig), ['implemented-elsewhere', 'found'], 'a has no such machine');
});

test('a provider that cannot be opened is tried again, and its cloud counts as one that does not answer', async () => {
  const clock = new FakeClock();
  const well = new Cloud('a', clock);
  well.become('has');
  let attempts = 0;
  const options = { cluster: { id: 'c', name: 'c' }, clock, logger: silentLogger, random: () => 0 };
  const late = [
    openProviderLate({ ...options, name: 'a', make: () => Promise.resolve(well) }),
    openProviderLate({
      ...options,
      name: 'b',
      make: () => {
        attempts += 1;
        return attempts < 4
          ? Promise.reject(new CloudError('configuration', 'no region'))
          : Promise.resolve(new Cloud('b', clock));
      },
    }),
  ];
  await clock.settle();
  const [a] = joinProviders(late, { clock });
  const ask = async (): Promise<string> => {
    const answer = await a?.lookups?.lookUp(node, { need: 'state', signal });
    return answer ? wordOf(answer) : '';
  };
  assert.equal(await ask(), 'retry-after');
  await clock.advance(5_000);
  assert.equal(await ask(), 'found');
  assert.equal(late[1]?.isOpen, false);
  await clock.advance(10_000);
  assert.equal(attempts, 4);
  assert.equal(late[1]?.isOpen, true);
  await Promise.all(late.map((one) => one[Symbol.asyncDispose]()));
});

test('a cloud that had machines and says nothing of them now may have them still: nothing is absent by the others alone', async () => {
  const rig = await setUp('a', 'b');
  const [a, b] = rig.clouds;
  a?.become('proves-not');
  b?.become('proves-not');
  assert.equal(wordOf(await rig.ask(0, 'read')), 'absent');
  b?.changed({});
  assert.equal(wordOf(await rig.ask(0, 'read')), 'unavailable');
});

test('an answer from before a cloud was told to act again takes nothing from it', async () => {
  const rig = await setUp('a', 'b');
  const [a, b] = rig.clouds;
  b?.become('has');
  assert.equal((await said(rig))[1], 'found');
  a?.become('hangs');
  await rig.clock.advance(3_000);
  b?.become('has-not');
  const old = rig.ask(0);
  await rig.clock.settle();
  b?.become('has');
  assert.equal((await said(rig, 5_000))[1], 'found', 'b is told once more');
  a?.become('has');
  assert.equal(wordOf(await old), 'implemented-elsewhere');
});

test('nothing is remembered of a node that goes while it is asked about', async () => {
  const rig = await setUp('a', 'b');
  const [a, b] = rig.clouds;
  a?.become('hangs');
  const asked = rig.ask(0);
  await rig.clock.settle();
  for (const { lookups } of rig.joined) lookups?.snapshot.forget(node.uid);
  a?.become('has');
  assert.equal(wordOf(await asked), 'found');
  assert.equal(rig.joined[0]?.lookups?.snapshot.get(node.uid, 'state'), undefined);
  a?.become('fails');
  b?.become('has');
  // Had a claimed it, b would be told so.
  assert.deepEqual(await said(rig), ['implemented-elsewhere', 'retry-after']);
});

test('property: whatever clouds do, a node is never found for two, and a node that one has is not waited for for ever', async () => {
  const mood = fc.constantFrom<Mood>('has', 'has-not', 'proves-not', 'fails', 'hangs');
  const step = fc.record({
    moods: fc.tuple(mood, mood),
    waitMs: fc.constantFrom(0, 500, 3_000, 8_000, 70_000),
    way: fc.constantFrom<'lookUp' | 'read'>('lookUp', 'read'),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      const rig = await setUp('a', 'b');
      /** Who was told last to act, and when. */
      let actor: { readonly i: number; readonly at: number } | undefined;
      /** By cloud: when it last was without the machine. */
      const lacked = [-Infinity, -Infinity];
      const note = (): void => {
        for (const [i, { mood }] of rig.clouds.entries()) {
          if (mood === 'has-not' || mood === 'proves-not') lacked[i] = rig.clock.monotonic();
        }
      };
      const tell = (i: number, answer: InstanceAnswer): void => {
        if (answer.result.kind !== 'found') return;
        note();
        if (actor && actor.i !== i && (lacked[actor.i] ?? 0) < actor.at) wrong.push(`told ${i} while ${actor.i} acts`);
        actor = { i, at: rig.clock.monotonic() };
      };
      const wrong: string[] = [];
      for (const { moods, waitMs, way } of steps) {
        note();
        for (const [i, one] of moods.entries()) rig.clouds[i]?.become(one);
        for (const i of rig.clouds.keys()) void rig.ask(i, way).then((answer) => tell(i, answer));
        await rig.clock.settle();
        if (waitMs > 0) await rig.clock.advance(waitMs);
      }
      assert.deepEqual(wrong, []);
      rig.clouds[0]?.become('has-not');
      rig.clouds[1]?.become('has-not');
      await rig.clock.advance(70_000);
      await said(rig, 70_000);
      assert.deepEqual(wrong, []);
      rig.clouds[0]?.become('has');
      rig.clouds[1]?.become('hangs');
      await said(rig, 5_100);
      assert.equal((await said(rig, 5_100))[0], 'found');
    }),
    { numRuns: 100 },
  );
});
