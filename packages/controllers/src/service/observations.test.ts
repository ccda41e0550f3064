// Over 400 lines: one rig, and one test for each way in which an observation can be late, partial or wrong.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LoadBalancers, LoadBalancerService } from '@outrigger/cloud-provider';
import { heldAs, noMetrics, silentLogger } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { identityOf } from './load-balancer-service.ts';
import { callContext } from '../load-balancer/memory-provider.suite.ts';
import { Observations, type TimedObservation } from './observations.ts';

interface Asked {
  readonly clock: FakeClock;
  readonly observations: Observations;
  /** Names of each question. */
  readonly batches: string[][];
  readonly answered: string[];
  /** The last of each. */
  readonly answers: ReadonlyMap<string, TimedObservation>;
}

function setUp(
  observe: LoadBalancers['observe'],
  batchSize = 3,
  ports: Readonly<Record<string, number>> = {},
  groupOf?: (key: string) => string,
  tenantOf?: (key: string) => string,
  isFollower?: (key: string) => boolean,
): Asked {
  const clock = new FakeClock();
  const batches: string[][] = [];
  const answered: string[] = [];
  const answers = new Map<string, TimedObservation>();
  const { signal } = new AbortController();
  const observations = new Observations({
    provider: {
      batchSize,
      observe: (services, call) => {
        batches.push(services.map(({ name }) => name));
        return observe(services, call);
      },
    },
    callContext: (given, _about, priority) => callContext(given, priority),
    clock,
    logger: silentLogger,
    metrics: noMetrics,
    processorTime: () => clock.monotonic(),
    signal,
    ...(groupOf && { groupOf }),
    ...(tenantOf && { tenantOf }),
    ...(isFollower && { isFollower }),
    serviceOf: (name) => {
      const spec = { ports: Array.from({ length: ports[name] ?? 1 }, (_, i) => ({ port: 1 + i })) };
      return name === 'gone' ? undefined : identityOf({ metadata: { name, uid: `uid-${name}` }, spec });
    },
    onAnswer: (key, answer) => {
      answered.push(key);
      answers.set(key, answer);
    },
  });
  return { clock, observations, batches, answered, answers };
}

const nothing = (asOf: () => number) => (services: readonly LoadBalancerService[]) =>
  Promise.resolve(services.map(() => ({ kind: 'parts', asOf: asOf(), parts: [] }) as const));

test('an answer is as old as what it rests on: before the question where a provider has a cache, never after it', async () => {
  for (const [asOf, startedAt] of [
    [400, 400],
    [9_000, 1_000],
  ] as const) {
    const { answers, clock, observations } = setUp(nothing(() => asOf));
    await clock.advance(1_000 - clock.monotonic());
    observations.ask('a');
    await clock.settle();
    assert.equal(answers.get('a')?.startedAt, startedAt);
  }
});

test('what is asked in one turn goes together, as many as the provider takes; what comes meanwhile goes with the next', async () => {
  let release = (): void => {};
  const { batches, answered, clock, observations } = setUp(async (services) => {
    if (batches.length === 1) await new Promise<void>((resolve) => (release = resolve));
    return nothing(() => 0)(services);
  });
  for (const name of ['a', 'b', 'gone', 'c', 'd']) observations.ask(name);
  await clock.settle();
  for (const name of ['a', 'e']) observations.ask(name);
  await clock.settle();
  assert.deepEqual(batches, [['a', 'b', 'c']]);
  release();
  await clock.settle();
  assert.deepEqual(batches.slice(1), [['d', 'e']]);
  assert.deepEqual(answered, ['a', 'b', 'c', 'd', 'e']);
});

test('one Service on which each question hangs holds up the others for as long as it takes to find it, and then nobody', async () => {
  const { answers, batches, clock, observations } = setUp(async (services) => {
    if (services.some(({ name }) => name === 'slow')) await new Promise(() => {});
    return nothing(() => 0)(services);
  }, 8);
  const waiting = new Set(['a', 'b', 'slow', 'c', 'd', 'e', 'f']);
  const askAgain = async (): Promise<void> => {
    for (const name of waiting) observations.ask(name);
    await clock.advance(120_000);
    for (const name of waiting) if (answers.get(name)?.observation.kind === 'parts') waiting.delete(name);
  };
  await askAgain();
  assert.equal(waiting.size, 7);
  for (let i = 0; i < 3; i++) await askAgain();
  assert.deepEqual([...waiting], ['slow']);
  assert.ok(
    batches.some((names) => names.join() === 'slow'),
    'it is asked about alone',
  );
  observations.ask('slow');
  observations.ask('g');
  await clock.settle();
  assert.equal(answers.get('g')?.observation.kind, 'parts', 'the others are asked about meanwhile');
});

test('after an answer a Service goes with all others again', async () => {
  let hangs = true;
  const { batches, clock, observations } = setUp(async (services) => {
    if (hangs) await new Promise(() => {});
    return nothing(() => 0)(services);
  });
  for (const name of ['a', 'b', 'c']) observations.ask(name);
  await clock.advance(40_000);
  hangs = false;
  for (let i = 0; i < 2; i++) {
    for (const name of ['a', 'b', 'c']) observations.ask(name);
    await clock.advance(1_000);
  }
  assert.deepEqual(batches, [['a', 'b', 'c'], ['a', 'b'], ['c'], ['a', 'b', 'c']]);
});

test('namespaces take turns in a question that does not take all, however many Services one of them has', async () => {
  const { batches, clock, observations } = setUp(
    nothing(() => 0),
    4,
  );
  for (const i of Array.from({ length: 10 }, (_, index) => index)) observations.ask(`many/${i}`);
  for (const key of ['few/a', 'few/b', 'uid:left']) observations.ask(key);
  await clock.settle();
  assert.deepEqual(batches.slice(0, 2), [
    ['many/0', 'few/a', 'uid:left', 'many/1'],
    ['many/2', 'few/b', 'many/3', 'many/4'],
  ]);
});

test('namespaces take turns also where a question takes one Service, whoever has asked first', async () => {
  const many = Array.from({ length: 10 }, (_, i) => `many/${i}`);
  const ports = Object.fromEntries([...many, 'few/a', 'few/b', 'third/a'].map((key) => [key, 60]));
  const { batches, clock, observations } = setUp(
    async (services) => {
      await clock.sleep(2_000);
      return nothing(() => 0)(services);
    },
    100,
    ports,
  );
  for (const key of many) observations.ask(key);
  await clock.advance(10);
  for (const key of ['few/a', 'few/b', 'third/a']) observations.ask(key);
  await clock.advance(12_000);
  assert.deepEqual(batches.flat(), ['many/0', 'few/a', 'third/a', 'many/1', 'few/b', 'many/2', 'many/3']);
});

test('a Service that has few ports again is asked about with all others once a look at it is quick', async () => {
  const ports: Record<string, number> = { large: 60 };
  let listeners = 60;
  let isUp = true;
  const { batches, clock, observations } = setUp(
    async (services) => {
      if (services.some(({ name }) => name === 'large')) await clock.sleep(listeners * 40);
      return isUp ? nothing(() => 0)(services) : Promise.reject(new Error('down'));
    },
    3,
    ports,
  );
  const ask = async (): Promise<void> => {
    for (const key of ['large', 'a']) observations.ask(key);
    await clock.advance(10_000);
  };
  await ask();
  ports['large'] = 1;
  // What it had is still there.
  await ask();
  listeners = 1;
  isUp = false;
  await ask();
  isUp = true;
  await ask();
  const apart = [['large'], ['a']];
  assert.deepEqual(batches, [...apart, ...apart, ...apart, ...apart]);
  await ask();
  assert.deepEqual(batches.slice(8), [['large', 'a']]);
});

/** Questions that are answered when the test says so. */
function setUpHeld(batchSize = 100): Asked & {
  readonly ask: (...keys: string[]) => Promise<void>;
  /** Of questions, by their place in `batches`. */
  readonly answer: (...places: number[]) => Promise<void>;
} {
  const waiting: (() => void)[] = [];
  const asked = setUp(async (services) => {
    await new Promise<void>((resolve) => void waiting.push(resolve));
    return nothing(() => 0)(services);
  }, batchSize);
  const { clock, observations } = asked;
  return {
    ...asked,
    ask: async (...keys) => {
      for (const key of keys) observations.ask(key);
      await clock.settle();
    },
    answer: async (...places) => {
      for (const place of places) waiting[place]?.();
      await clock.settle();
    },
  };
}

const ofOne = (namespace: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, i) => `${namespace}/${i}`);

test('beside a question with ten Services of one namespace, one more at most is asked for those that have nothing in it', async () => {
  const { answer, ask, batches } = setUpHeld();
  const many = ofOne('many', 10);
  await ask(...many);
  await ask('many/b', 'few/a');
  await ask('few/b', 'third/a');
  assert.deepEqual(batches, [many, ['few/a']]);
  await answer(1);
  assert.deepEqual(batches.slice(2), [['third/a', 'few/b']]);
  await ask('fourth/a');
  await answer(2);
  assert.deepEqual(batches.slice(3), [['fourth/a']]);
  await ask('few/c');
  assert.equal(batches.length, 4, 'the one in flight has few of each namespace');
});

test('who has asked about ten Services of late is asked about apart: nobody waits for that, nor does it wait for others', async () => {
  const { answer, ask, batches, clock } = setUpHeld();
  await ask(...ofOne('much', 5));
  await answer(0);
  await ask(...ofOne('much', 6));
  await answer(1);
  await ask('much/a');
  await ask('few/a');
  await ask('few/b', 'much/b');
  assert.deepEqual(batches.slice(2), [['much/a'], ['few/a']], 'each has one question in flight');
  await answer(2);
  assert.deepEqual(batches.slice(4), [['much/b']], 'beside the one of the others');
  await answer(3, 4);
  assert.deepEqual(batches.slice(5), [['few/b']]);
  await answer(5);
  // Who has been quiet for a while is asked about with all others again.
  await clock.advance(5_000);
  await ask('much/a', 'few/a');
  assert.deepEqual(batches.slice(6), [['much/a', 'few/a']]);
});

test('two that ask on and on leave room for all the others, and a third takes turns with them', async () => {
  const { answer, ask, batches } = setUpHeld();
  for (const namespace of ['a', 'b', 'c']) {
    await ask(...ofOne(namespace, 10));
    await answer(batches.length - 1);
  }
  await ask('a/x', 'b/x', 'c/x', 'few/x', 'more/x');
  assert.deepEqual(batches.slice(3), [['few/x', 'more/x'], ['a/x'], ['b/x']]);
  await ask('a/y');
  await answer(4);
  assert.deepEqual(batches.slice(6), [['c/x']]);
  await answer(5);
  assert.deepEqual(batches.slice(7), [['a/y']]);
});

test('of whom many wait, a second question is asked beside one of few, and never beside one of many', async () => {
  const { answer, ask, batches } = setUpHeld();
  await ask(...ofOne('much', 10));
  await ask(...ofOne('other', 10));
  await answer(0, 1);
  await ask('much/a');
  await ask(...Array.from({ length: 9 }, (_, i) => `much/b${i}`));
  assert.deepEqual(batches.slice(2), [['much/a']]);
  await ask('much/c');
  assert.deepEqual(
    batches.slice(3).map(({ length }) => length),
    [10],
  );
  await ask(...ofOne('much', 20));
  assert.equal(batches.length, 4, 'no third');
  await ask('other/a');
  assert.deepEqual(batches.slice(4), [['other/a']], 'nor does it take the place of another');
  await answer(2);
  assert.equal(batches.length, 5, 'the other one is of many');
  await answer(3);
  assert.deepEqual(batches.slice(5), [ofOne('much', 20)]);
});

test('there is no third question where the second is of few because some are gone by its time', async () => {
  const { ask, answer, batches } = setUpHeld();
  const keys = (from: number, count: number): readonly string[] =>
    Array.from({ length: count }, (_, i) => `${from + i}`);
  await ask(...keys(0, 10));
  await answer(0);
  await ask('10');
  await ask('gone', ...keys(20, 9));
  assert.deepEqual(batches.slice(1), [['10'], keys(20, 9)]);
  await ask(...keys(30, 10));
  assert.equal(batches.length, 3);
});

test('who asks on and on rests as long as its last question took, a second at most, unless many of it wait', async () => {
  const { answer, ask, batches, clock } = setUpHeld();
  await ask(...ofOne('much', 20));
  await answer(0);
  await ask('much/a');
  await ask('much/b');
  await clock.advance(400);
  await answer(1);
  await ask('much/c', 'few/a');
  assert.deepEqual(batches.slice(2), [['few/a']], 'nobody else rests');
  await answer(2);
  await clock.advance(399);
  assert.equal(batches.length, 3);
  await clock.advance(1);
  assert.deepEqual(batches.slice(3), [['much/b', 'much/c']], 'those that came meanwhile go together');
  await clock.advance(5_000);
  await ask(...ofOne('much', 20));
  await answer(3);
  assert.deepEqual(batches.slice(4), [ofOne('much', 20)], 'many do not wait');
  await clock.advance(5_000);
  await answer(4);
  await ask('much/d');
  await clock.advance(999);
  assert.equal(batches.length, 5);
  await clock.advance(1);
  assert.deepEqual(batches.slice(5), [['much/d']]);
});

test('where two questions of one tenant end one after the other, it rests until both rests are over', async () => {
  const { answer, ask, batches, clock } = setUpHeld();
  await ask(...ofOne('much', 10));
  await answer(0);
  await ask('much/a');
  await ask(...ofOne('much', 10));
  assert.equal(batches.length, 3);
  await clock.advance(200);
  await answer(1);
  await clock.advance(100);
  await answer(2);
  await ask('much/b');
  await clock.advance(299);
  assert.equal(batches.length, 3);
  await clock.advance(1);
  assert.deepEqual(batches.slice(3), [['much/b']]);
});

test('who is gone by the time of a question apart keeps nobody else who asks on and on waiting', async () => {
  const { answer, ask, batches } = setUpHeld();
  await ask(...Array.from({ length: 10 }, (_, i) => `${i}`));
  await answer(0);
  await ask(...ofOne('b', 10));
  await answer(1);
  await ask('gone', 'b/x');
  assert.deepEqual(batches.slice(2), [['b/x']]);
});

test('where more wait than one question takes, as at the start, those of all namespaces go together', async () => {
  const { answer, ask, batches } = setUpHeld(30);
  const all = ['a', 'b', 'c'].flatMap((namespace) => ofOne(namespace, 30));
  await ask(...all);
  await answer(0);
  await answer(1);
  await answer(2);
  const counts = batches.map((keys) =>
    ['a', 'b', 'c'].map((name) => keys.filter((key) => key.startsWith(name)).length),
  );
  assert.deepEqual(counts.slice(0, 2), [
    [10, 10, 10],
    [10, 10, 10],
  ]);
});

test('namespaces with few Services each are asked about together, one question at a time', async () => {
  const waiting: (() => void)[] = [];
  const { batches, clock, observations } = setUp(async (services) => {
    await new Promise<void>((resolve) => void waiting.push(resolve));
    return nothing(() => 0)(services);
  }, 100);
  const keys = Array.from({ length: 20 }, (_, i) => `n${i}/a`);
  for (const key of keys) {
    observations.ask(key);
    await clock.settle();
  }
  assert.deepEqual(batches, [['n0/a']]);
  waiting[0]?.();
  await clock.settle();
  assert.deepEqual(batches.slice(1), [keys.slice(1)]);
});

test('a question that is full of one namespace is not waited for by another', async () => {
  const { batches, clock, observations } = setUp(() => new Promise(() => {}), 1);
  for (const key of ['many/a', 'many/b', 'few/a', 'third/a']) observations.ask(key);
  await clock.settle();
  assert.deepEqual(batches, [['many/a'], ['few/a']]);
});

test('whose Services are of several groups has one question in flight all the same', async () => {
  const ofKey = (key: string): string => key.split('/', 1)[0] ?? '';
  const { batches, clock, observations } = setUp(
    () => new Promise(() => {}),
    1,
    {},
    ofKey,
    (key) => ofKey(key).replace(/^nodes /u, ''),
  );
  for (const key of ['many/a', 'nodes many/b', 'few/a']) observations.ask(key);
  await clock.settle();
  assert.deepEqual(batches, [['many/a'], ['few/a']]);
});

test('those that follow a node are asked about beside those of their namespace that ask for more: neither waits for the other', async () => {
  const waiting = new Map<string, () => void>();
  const following = new Set(['a-follows', 'a-follows-too', 'b-follows']);
  const { answered, batches, clock, observations } = setUp(
    async (services) => {
      await new Promise<void>((resolve) => void waiting.set(services[0]?.name ?? '', resolve));
      return nothing(() => 0)(services);
    },
    100,
    {},
    (key) => key.slice(0, 1),
    (key) => key.slice(0, 1),
    (key) => following.has(key),
  );
  const ask = async (...keys: string[]): Promise<void> => {
    for (const key of keys) observations.ask(key);
    await clock.settle();
  };
  await ask('a-follows');
  await ask('a-new-0', 'a-follows-too', 'b-follows');
  assert.deepEqual(batches, [['a-follows'], ['a-new-0']]);
  // One that has followed a node asks for more by now: it is asked about once.
  following.delete('a-follows-too');
  await ask('a-follows-too', 'a-new-1');
  waiting.get('a-new-0')?.();
  await clock.settle();
  assert.deepEqual(batches.slice(2), [['a-follows-too', 'a-new-1']]);
  waiting.get('a-follows')?.();
  await clock.settle();
  assert.deepEqual(batches.slice(3), [['b-follows']]);
  for (const answer of waiting.values()) answer();
  await clock.settle();
  assert.deepEqual(answered.toSorted(), ['a-follows', 'a-follows-too', 'a-new-0', 'a-new-1', 'b-follows']);
});

test('those that follow a node are not left waiting for one that is gone by now', async () => {
  const tenant = (): string => 'a';
  const { batches, clock, observations } = setUp(
    nothing(() => 0),
    3,
    {},
    tenant,
    tenant,
    (key) => key !== 'gone',
  );
  for (const key of ['follows', 'gone']) observations.ask(key);
  await clock.settle();
  assert.deepEqual(batches, [['follows']]);
});

test('what deleted Services have left takes the turns of their namespaces', async () => {
  const { batches, clock, observations } = setUp(
    nothing(() => 0),
    4,
    {},
    (key) => (key.startsWith('uid:few') ? 'few' : 'many'),
  );
  for (const i of Array.from({ length: 10 }, (_, index) => index)) observations.ask(`uid:many-${i}`);
  for (const key of ['uid:few-a', 'uid:few-b']) observations.ask(key);
  await clock.settle();
  assert.deepEqual(batches[0], ['uid:many-0', 'uid:few-a', 'uid:many-1', 'uid:few-b']);
});

test('who had no answer and is gone is forgotten when many others had none', async () => {
  let hangs = true;
  const { batches, clock, observations } = setUp(async (services) => {
    if (hangs) await new Promise(() => {});
    return nothing(() => 0)(services);
  }, 1_001);
  for (let i = 0; i < 1_001; i++) observations.ask(`s${i}`);
  await clock.advance(40_000);
  hangs = false;
  for (const name of ['s0', 's1', 's1000', 'new']) observations.ask(name);
  await clock.settle();
  // The first goes with all others again; the rest are still asked about beside them.
  assert.deepEqual(batches.slice(1), [
    ['s0', 'new'],
    ['s1', 's1000'],
  ]);
});

test('a Service of many ports is asked about by itself and in the background, and the others do not wait for it', async () => {
  const priorities: string[] = [];
  const large = Promise.withResolvers<void>();
  const ports: Record<string, number> = { large: 51, larger: 1_000 };
  const { batches, answered, clock, observations } = setUp(
    async (services, call) => {
      priorities.push(call.priority);
      if (services[0]?.name === 'large') await large.promise;
      return nothing(() => 0)(services);
    },
    3,
    ports,
  );
  for (const key of ['a', 'large', 'b', 'larger', 'c']) observations.ask(key);
  await clock.settle();
  assert.deepEqual(batches, [['a', 'b', 'c'], ['large']]);
  observations.ask('a');
  await clock.settle();
  assert.deepEqual(answered, ['a', 'b', 'c', 'a']);
  large.resolve();
  await clock.settle();
  assert.deepEqual(batches.slice(2), [['a'], ['larger']]);
  // What it has in the cloud is no less for asking for less now.
  ports['large'] = 1;
  for (const key of ['a', 'large']) observations.ask(key);
  await clock.settle();
  assert.deepEqual(batches.slice(4), [['a'], ['large']]);
  assert.deepEqual(priorities, ['normal', 'background', 'normal', 'background', 'normal', 'background']);
});

test('a Service of many ports whose question had no answer in the background is asked about like the others', async () => {
  const priorities: string[] = [];
  let hangs = true;
  const { answers, clock, observations } = setUp(
    async (services, call) => {
      priorities.push(call.priority);
      if (hangs) await new Promise(() => {});
      return nothing(() => 0)(services);
    },
    3,
    { large: 51 },
  );
  observations.ask('large');
  await clock.advance(40_000);
  assert.equal(answers.get('large')?.observation.kind, 'failed');
  hangs = false;
  for (let i = 0; i < 2; i++) {
    observations.ask('large');
    await clock.settle();
  }
  assert.equal(answers.get('large')?.observation.kind, 'parts');
  assert.deepEqual(priorities, ['background', 'normal', 'background']);
});

/** A reconcile that asks, and how often it was told to hold the event loop. */
async function askAs(observations: Observations, clock: FakeClock, keys: readonly string[]): Promise<() => number> {
  let told = 0;
  const options = { clock, logger: silentLogger, metrics: noMetrics, processorTime: () => clock.monotonic() };
  await heldAs('asker', { ...options, onHeld: () => void told++ }, async () => {
    for (const key of keys) observations.ask(key);
  });
  await clock.settle();
  return () => told;
}

test('a question about several that holds the event loop is laid to none of them: it is halved, and the one that is left answers for it', async () => {
  const burn = (ms: number): void => {
    const now = clock.monotonic() + ms;
    clock.monotonic = () => now;
  };
  const { answered, batches, clock, observations } = setUp((services) => {
    if (services.some(({ name }) => name === 'heavy')) burn(1_500);
    return nothing(() => 0)(services);
  }, 4);
  const all = ['first', 'heavy', 'c', 'd'];
  const blamed: number[] = [];
  for (let round = 0; round < 5; round++) blamed.push((await askAs(observations, clock, all))());
  const halves = [['first', 'heavy'], ['c', 'd'], ['first'], ['heavy'], ['c', 'd']];
  // Whoever holds it alone is asked about alone from then on.
  assert.deepEqual(batches.slice(0, 6), [all, ...halves]);
  assert.ok(
    batches.slice(6).every((names) => !names.includes('heavy') || names.length === 1),
    JSON.stringify(batches),
  );
  assert.deepEqual(blamed, [0, 0, 1, 1, 1]);
  assert.equal(answered.length, 20);
});
