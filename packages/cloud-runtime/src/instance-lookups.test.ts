// Over 400 lines: one rig, and one test for each promise of batched look-ups.
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { CloudError, isCloudError, type InstanceAnswer, type NodeRef } from '@outrigger/cloud-provider';
import { silentLogger } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { createInstanceLookups, type InstanceLookups, type LookUpOptions } from './instance-lookups.ts';
import { foundAt, nodeRef, plainContext, RecordedInstances } from './internal/recorded-instances.ts';

const always = new AbortController().signal;
const ask = (options: Partial<LookUpOptions> = {}): LookUpOptions => ({ need: 'state', signal: always, ...options });

function setUp(batchSize?: number | null): {
  clock: FakeClock;
  instances: RecordedInstances;
  lookups: InstanceLookups;
} {
  const clock = new FakeClock();
  const instances = new RecordedInstances(batchSize);
  const lookups = createInstanceLookups({ instances, clock, logger: silentLogger, callContext: plainContext });
  return { clock, instances, lookups };
}

function codeOf({ result }: InstanceAnswer): string {
  return result.kind === 'failed' && isCloudError(result.error) ? result.error.code : result.kind;
}

test('a burst of a thousand nodes is two look-ups of 500', async () => {
  const { clock, instances, lookups } = setUp(500);
  const all = Promise.all(Array.from({ length: 1000 }, (_, i) => lookups.lookUp(nodeRef(`n${i}`), ask())));
  await clock.settle();
  assert.equal(instances.lookUps.length, 1);
  instances.lookUps[0]!.answer(instances.lookUps[0]!.nodes.map((node) => foundAt(clock, node)));
  await clock.settle();
  instances.lookUps[1]!.answer(instances.lookUps[1]!.nodes.map((node) => foundAt(clock, node)));
  assert.deepEqual(new Set((await all).map(codeOf)), new Set(['found']));
  assert.deepEqual(
    instances.lookUps.map(({ nodes }) => nodes.length),
    [500, 500],
  );
});

test('a thousand nodes that come in slices, a turn of the event loop each, are two look-ups of 500 as well', async () => {
  const { clock, instances, lookups } = setUp(500);
  const asked: Promise<InstanceAnswer>[] = [];
  for (let slice = 0; slice < 10; slice++) {
    for (let i = 0; i < 100; i++) asked.push(lookups.lookUp(nodeRef(`n${slice}-${i}`), ask()));
    await new Promise<void>((resolve) => void setImmediate(resolve));
  }
  await clock.settle();
  instances.lookUps[0]!.answer(instances.lookUps[0]!.nodes.map((node) => foundAt(clock, node)));
  await clock.settle();
  instances.lookUps[1]!.answer(instances.lookUps[1]!.nodes.map((node) => foundAt(clock, node)));
  await Promise.all(asked);
  assert.deepEqual(
    instances.lookUps.map(({ nodes }) => nodes.length),
    [500, 500],
  );
});

test('keys that never stop coming do not keep the first from being asked', async () => {
  const { clock, instances, lookups } = setUp(500);
  const asked: Promise<InstanceAnswer>[] = [];
  for (let turn = 0; instances.lookUps.length === 0; turn++) {
    assert.ok(turn < 100, 'no look-up after 100 turns');
    asked.push(lookups.lookUp(nodeRef(`n${turn}`), ask()));
    await new Promise<void>((resolve) => void setImmediate(resolve));
  }
  for (let i = 0; i < 2; i++) {
    await clock.settle();
    instances.lookUps[i]?.answer(instances.lookUps[i]!.nodes.map((node) => foundAt(clock, node)));
  }
  await Promise.all(asked);
});

test('keys gather while a look-up is in flight, and none of them joins it', async () => {
  const { clock, instances, lookups } = setUp();
  const first = lookups.lookUp(nodeRef('a'), ask());
  await clock.settle();
  const refreshed = ask({ need: 'metadata', priority: 'background' });
  const later = [lookups.lookUp(nodeRef('a'), ask()), lookups.lookUp(nodeRef('b'), refreshed)];
  await clock.settle();
  assert.equal(instances.lookUps.length, 1);
  instances.lookUps[0]!.answer([foundAt(clock, nodeRef('a'))]);
  await first;
  await clock.settle();
  assert.deepEqual(
    instances.lookUps[1]!.nodes.map(({ name }) => name),
    ['a', 'b'],
  );
  assert.equal(instances.lookUps[1]!.need, 'metadata');
  instances.lookUps[1]!.answer(instances.lookUps[1]!.nodes.map((node) => foundAt(clock, node)));
  await Promise.all(later);
});

test('a node that joins waits neither for the refresh of all nodes nor for the states of nodes that flap', async () => {
  const { clock, instances, lookups } = setUp();
  const refreshed = lookups.lookUp(nodeRef('refreshed'), ask({ need: 'metadata', priority: 'background' }));
  await clock.settle();
  const flaps = lookups.lookUp(nodeRef('flaps'), ask());
  const joins = [lookups.lookUp(nodeRef('joins'), ask({ need: 'metadata' }))];
  await clock.settle();
  const asked = (): unknown => instances.lookUps.map(({ nodes }) => nodes.map(({ name }) => name));
  assert.deepEqual(asked(), [['refreshed'], ['joins']]);
  joins.push(lookups.lookUp(nodeRef('joins-later'), ask({ need: 'metadata' })));
  await clock.settle();
  assert.equal(instances.mostInFlight, 2);
  for (const at of [1, 2, 0, 3]) {
    instances.lookUps[at]!.answer(instances.lookUps[at]!.nodes.map((node) => foundAt(clock, node)));
    await clock.settle();
  }
  assert.deepEqual(asked(), [['refreshed'], ['joins'], ['joins-later'], ['flaps']]);
  await Promise.all([refreshed, flaps, ...joins]);
});

test('of many nodes that join together all but the first few wait for one look-up, not for two', async () => {
  const { clock, instances, lookups } = setUp();
  const join = (name: string): Promise<InstanceAnswer> => lookups.lookUp(nodeRef(name), ask({ need: 'metadata' }));
  const sizes = (): readonly number[] => instances.lookUps.map(({ nodes }) => nodes.length);
  const answer = (at: number): void =>
    instances.lookUps[at]!.answer(instances.lookUps[at]!.nodes.map((node) => foundAt(clock, node)));
  const joins = [join('first')];
  await clock.settle();
  // Few wait for the next batch.
  for (let i = 0; i < 9; i++) joins.push(join(`few${i}`));
  await clock.settle();
  assert.deepEqual(sizes(), [1]);
  joins.push(join('tenth'));
  await clock.settle();
  assert.deepEqual(sizes(), [1, 10]);
  // No third one, however many come.
  for (let i = 0; i < 20; i++) joins.push(join(`more${i}`));
  await clock.settle();
  assert.deepEqual(sizes(), [1, 10]);
  // Beside one of many there is none either.
  answer(0);
  await clock.settle();
  assert.deepEqual(sizes(), [1, 10]);
  answer(1);
  await clock.settle();
  assert.deepEqual(sizes(), [1, 10, 20]);
  answer(2);
  assert.deepEqual(new Set((await Promise.all(joins)).map(codeOf)), new Set(['found']));
});

test('a node that joins is asked about as a critical call, which has places that writes of load balancers cannot take', async () => {
  const { clock, instances, lookups } = setUp();
  const joins = lookups.lookUp(nodeRef('joins'), ask({ need: 'metadata' }));
  const stays = lookups.lookUp(nodeRef('stays'), ask({ need: 'state' }));
  await clock.settle();
  assert.deepEqual(
    instances.lookUps.map(({ nodes, call }) => [nodes.map(({ name }) => name), call.priority]),
    [
      [['joins'], 'critical'],
      [['stays'], 'normal'],
    ],
  );
  for (const lookUp of instances.lookUps) lookUp.answer(lookUp.nodes.map((node) => foundAt(clock, node)));
  await Promise.all([joins, stays]);
});

test('equal questions share an answer, and a critical one does not wait behind the others', async () => {
  const { clock, instances, lookups } = setUp();
  const both = [lookups.lookUp(nodeRef('a'), ask()), lookups.lookUp(nodeRef('a'), ask())];
  await clock.settle();
  const urgent = lookups.lookUp(nodeRef('b'), ask({ priority: 'critical' }));
  await clock.settle();
  assert.deepEqual(
    instances.lookUps.map(({ nodes, call }) => [nodes.map(({ name }) => name), call.priority]),
    [
      [['a'], 'normal'],
      [['b'], 'critical'],
    ],
  );
  for (const lookUp of instances.lookUps) lookUp.answer(lookUp.nodes.map((node) => foundAt(clock, node)));
  const [one, two] = await Promise.all(both);
  assert.equal(one, two);
  assert.equal(codeOf(await urgent), 'found');
});

test('the abort of one caller leaves the others their answer; the abort of all ends the call', async () => {
  const { clock, instances, lookups } = setUp();
  const [one, two] = [new AbortController(), new AbortController()];
  const first = lookups.lookUp(nodeRef('a'), ask({ signal: one.signal }));
  const second = lookups.lookUp(nodeRef('a'), ask({ signal: two.signal }));
  await clock.settle();
  one.abort(new Error('gone'));
  await assert.rejects(first, /gone/);
  assert.equal(instances.lookUps[0]!.call.signal.aborted, false);
  two.abort(new Error('gone too'));
  await assert.rejects(second, /gone too/);
  assert.equal(instances.lookUps[0]!.call.signal.aborted, true);
  await clock.settle();
  assert.equal(lookups.snapshot.size, 0);
});

test('too few, too many, wrong or future answers conclude nothing', async () => {
  const { clock, instances, lookups } = setUp();
  const absent: InstanceAnswer = { asOf: 0, result: { kind: 'absent', proof: 'GET: 404' } };
  const found = (metadata: object): unknown => ({
    asOf: 0,
    result: { kind: 'found', instance: { providerID: 'x://1', state: 'running', ...metadata } },
  });
  const bad: readonly (readonly unknown[])[] = [
    [absent],
    [absent, absent, absent],
    [
      { asOf: 1e9, result: absent.result },
      { asOf: 0, result: { kind: 'absent', proof: '' } },
    ],
    [
      { asOf: 'now', result: absent.result },
      { asOf: 0, result: { kind: 'gone' } },
    ],
    [null, { asOf: 0, result: { kind: 'found', instance: { providerID: 'x', state: 'running' } } }],
    [{ asOf: 0 }, { asOf: 0, result: { kind: 'failed', error: 'text' } }],
    [found({ type: null }), found({ addresses: [{ type: 'InternalIP', address: null }] })],
    [found({ addresses: {} }), found({ labels: { a: 1 } })],
    [found({ addresses: [null] }), found({ labels: ['a'] })],
    [found({ addresses: [{ type: 'IP', address: '10.0.0.1' }] }), found({ zone: 7 })],
    [found({ annotations: ['a'] }), found({ annotations: { a: null } })],
    [
      { asOf: 0, result: absent.result, notes: 'one' },
      { asOf: 0, result: absent.result, notes: [1] },
    ],
  ];
  for (const answers of bad) {
    const asked = [lookups.lookUp(nodeRef('a'), ask()), lookups.lookUp(nodeRef('b'), ask())];
    await clock.settle();
    instances.lookUps.at(-1)!.answer(answers as readonly InstanceAnswer[]);
    assert.deepEqual((await Promise.all(asked)).map(codeOf), ['invalid', 'invalid'], JSON.stringify(answers));
  }
});

test('notes are kept with the answer, bounded', async () => {
  const { clock, instances, lookups } = setUp();
  const asked = lookups.lookUp(nodeRef('a'), ask());
  await clock.settle();
  const notes = Array.from({ length: 40 }, () => 'x'.repeat(400));
  instances.lookUps.at(-1)!.answer([{ asOf: 0, result: { kind: 'missing' }, notes }]);
  const { notes: kept } = await asked;
  assert.deepEqual([kept?.length, kept?.[0]], [32, `${'x'.repeat(300)}…`]);
});

test('a call that fails fails for its batch alone', async () => {
  const { clock, instances, lookups } = setUp(1);
  const [first, second] = [lookups.lookUp(nodeRef('a'), ask()), lookups.lookUp(nodeRef('b'), ask())];
  await clock.settle();
  instances.lookUps[0]!.fail(new CloudError('forbidden', 'no'));
  assert.equal(codeOf(await first), 'forbidden');
  await clock.settle();
  instances.lookUps[1]!.answer([foundAt(clock, nodeRef('b'))]);
  assert.equal(codeOf(await second), 'found');
});

test('a provider that never answers is cut by the deadline, and the next batch goes on', async () => {
  const { clock, instances, lookups } = setUp();
  const stuck = lookups.lookUp(nodeRef('a'), ask());
  await clock.advance(59_999);
  const next = lookups.lookUp(nodeRef('b'), ask());
  await clock.advance(2);
  assert.equal(codeOf(await stuck), 'timeout');
  await clock.settle();
  instances.lookUps[1]!.answer([foundAt(clock, nodeRef('b'))]);
  assert.equal(codeOf(await next), 'found');
  assert.equal(clock.pendingTimers, 0);
});

test('an old node and its successor of the same name never share a batch', async () => {
  const { clock, instances, lookups } = setUp();
  void lookups.lookUp(nodeRef('a', 'old'), ask());
  void lookups.lookUp(nodeRef('a', 'new'), ask());
  await clock.settle();
  assert.deepEqual(
    instances.lookUps[0]!.nodes.map(({ uid }) => uid),
    ['old'],
  );
  instances.lookUps[0]!.answer([foundAt(clock, nodeRef('a'))]);
  await clock.settle();
  assert.deepEqual(
    instances.lookUps[1]!.nodes.map(({ uid }) => uid),
    ['new'],
  );
  instances.lookUps[1]!.answer([foundAt(clock, nodeRef('a'))]);
});

test('an answer from a cache that is older than asked for does not do', async () => {
  const { clock, instances, lookups } = setUp();
  await clock.advance(100);
  const asked = lookups.lookUp(nodeRef('a'), ask({ notBefore: 50 }));
  await clock.settle();
  instances.lookUps[0]!.answer([{ asOf: 49, result: { kind: 'absent', proof: 'cache' } }]);
  assert.equal(codeOf(await asked), 'unavailable');
});

test('the snapshot keeps the latest answer, wakes listeners, and forgets', async () => {
  const { clock, instances, lookups } = setUp();
  const heard: string[] = [];
  const stop = lookups.snapshot.subscribe(({ name }, need) => void heard.push(`${name} ${need}`));
  lookups.snapshot.subscribe(() => {
    throw new Error('a listener that fails');
  });
  const asked = lookups.lookUp(nodeRef('a'), ask({ need: 'metadata' }));
  await clock.settle();
  instances.lookUps[0]!.answer([foundAt(clock, nodeRef('a'))]);
  const answer = await asked;
  assert.equal(lookups.snapshot.get('uid-a', 'state'), answer);
  assert.equal(lookups.snapshot.get('uid-a', 'metadata'), answer);
  await clock.advance(10);
  const read = lookups.read(nodeRef('a'), ask());
  instances.reads[0]!.answer([{ asOf: 10, result: { kind: 'absent', proof: 'GET: 404' } }]);
  assert.equal(codeOf(await read), 'absent');
  assert.equal(codeOf(lookups.snapshot.get('uid-a', 'state')!), 'absent');
  assert.equal(codeOf(lookups.snapshot.get('uid-a', 'metadata')!), 'found');
  stop();
  const late = lookups.lookUp(nodeRef('a'), ask());
  await clock.settle();
  lookups.snapshot.forget('uid-a');
  instances.lookUps[1]!.answer([foundAt(clock, nodeRef('a'))]);
  assert.equal(codeOf(await late), 'found');
  assert.equal(lookups.snapshot.size, 0);
  assert.deepEqual(heard, ['a metadata', 'a state']);
});

test('a read that fails is an answer; one whose caller is gone rejects', async () => {
  const { clock, instances, lookups } = setUp();
  const failing = lookups.read(nodeRef('a'), ask());
  instances.reads[0]!.fail(new CloudError('unavailable', 'down'));
  assert.equal(codeOf(await failing), 'unavailable');
  const caller = new AbortController();
  const left = lookups.read(nodeRef('a'), ask({ signal: caller.signal }));
  caller.abort(new Error('enough'));
  await assert.rejects(left, /enough/);
  await assert.rejects(lookups.read(nodeRef('a'), ask({ signal: caller.signal })), /enough/);
  assert.equal(clock.pendingTimers, 0);
});

test('a read that ends after the node was forgotten answers, and leaves nothing behind', async () => {
  const { clock, instances, lookups } = setUp();
  const before = lookups.read(nodeRef('a'), ask());
  lookups.snapshot.forget('uid-a');
  const after = lookups.read(nodeRef('a'), ask());
  instances.reads[0]?.answer([foundAt(clock, nodeRef('a'))]);
  assert.equal(codeOf(await before), 'found');
  assert.equal(lookups.snapshot.size, 0);
  instances.reads[1]?.answer([foundAt(clock, nodeRef('a'))]);
  assert.equal(codeOf(await after), 'found');
  assert.equal(lookups.snapshot.size, 1);
});

test('a direct read proves absence by what was asked after it began, never by a cache', async () => {
  const { clock, instances, lookups } = setUp();
  await clock.advance(10);
  const read = lookups.read(nodeRef('a'), ask());
  instances.reads[0]?.answer([{ asOf: 9, result: { kind: 'absent', proof: 'GET: 404' } }]);
  assert.equal(codeOf(await read), 'invalid');
});

test('a provider that forgets async is understood', async () => {
  const { clock, instances, lookups } = setUp();
  Object.assign(instances, { read: (node: NodeRef) => foundAt(clock, node) });
  assert.equal(codeOf(await lookups.read(nodeRef('a'), ask())), 'found');
});

test('closing tells all who wait, and later callers', async () => {
  const { clock, lookups } = setUp();
  const inFlight = lookups.lookUp(nodeRef('a'), ask());
  await clock.settle();
  const queued = lookups.lookUp(nodeRef('b'), ask());
  const told = Promise.allSettled([inFlight, queued]);
  await lookups[Symbol.asyncDispose]();
  for (const outcome of await told) assert.equal(outcome.status, 'rejected');
  await assert.rejects(lookups.lookUp(nodeRef('c'), ask()), (error) => isCloudError(error, 'unavailable'));
  await assert.rejects(lookups.read(nodeRef('c'), ask()), (error) => isCloudError(error, 'unavailable'));
  assert.equal(clock.pendingTimers, 0);
});

test('property: under any schedule each caller gets its own node, batches fit, and four calls at most are in flight', async () => {
  const step = fc.oneof(
    fc.record({
      kind: fc.constant('ask' as const),
      node: fc.integer({ min: 0, max: 9 }),
      priority: fc.constantFrom('critical' as const, 'normal' as const, 'background' as const),
      need: fc.constantFrom('state' as const, 'metadata' as const),
    }),
    fc.record({ kind: fc.constant('abort' as const), which: fc.nat(40) }),
    fc.record({
      kind: fc.constant('answer' as const),
      how: fc.constantFrom('found', 'missing', 'absent', 'short', 'throw'),
    }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), fc.integer({ min: 1, max: 4 }), async (steps, batchSize) => {
      const { clock, instances, lookups } = setUp(batchSize);
      const callers: { name: string; caller: AbortController; outcome: Promise<string> }[] = [];
      let answered = 0;
      const truth = new Map<string, Set<string>>();
      const answerNext = (how: string): void => {
        const lookUp = instances.lookUps[answered];
        if (!lookUp) return;
        answered++;
        for (const { name } of lookUp.nodes) truth.set(name, (truth.get(name) ?? new Set()).add(how));
        if (how === 'throw') lookUp.fail(new CloudError('unavailable', 'down'));
        else if (how === 'short') lookUp.answer([]);
        else
          lookUp.answer(
            lookUp.nodes.map((node) => {
              if (how === 'found') return foundAt(clock, node);
              const asOf = clock.monotonic();
              return { asOf, result: how === 'absent' ? { kind: 'absent', proof: node.name } : { kind: 'missing' } };
            }),
          );
      };
      for (const one of steps) {
        if (one.kind === 'ask') {
          const caller = new AbortController();
          const name = `n${one.node}`;
          const outcome = lookups.lookUp(nodeRef(name), ask({ ...one, signal: caller.signal })).then(
            ({ result }) => {
              if (result.kind === 'found') assert.equal(result.instance.providerID, `test://${name}`);
              if (result.kind === 'absent') assert.equal(result.proof, name);
              return result.kind;
            },
            () => 'aborted',
          );
          callers.push({ name, caller, outcome });
        } else if (one.kind === 'abort') callers[one.which]?.caller.abort(new Error('gone'));
        else answerNext(one.how);
        await clock.settle();
      }
      for (let i = 0; i < 60; i++) {
        answerNext('found');
        await clock.settle();
      }
      for (const { name, caller, outcome } of callers) {
        const kind = await outcome;
        if (kind === 'aborted') assert.ok(caller.signal.aborted);
        else if (kind !== 'failed') assert.ok(truth.get(name)?.has(kind), `${name}: ${kind} was never said`);
      }
      assert.ok(instances.mostInFlight <= 4);
      for (const { nodes } of instances.lookUps) {
        assert.ok(nodes.length <= batchSize);
        assert.equal(new Set(nodes.map(({ name }) => name)).size, nodes.length);
      }
    }),
    { numRuns: 60 },
  );
});

test('an answer without a time is as old as the call, so that it is never taken for newer than it is', async () => {
  const { clock, instances, lookups } = setUp();
  await clock.advance(50);
  const asked = lookups.lookUp(nodeRef('a'), ask({ notBefore: 50 }));
  const read = lookups.read(nodeRef('b'), ask({ notBefore: 50 }));
  await clock.settle();
  await clock.advance(30);
  instances.lookUps[0]!.answer([{ result: { kind: 'missing' } }]);
  instances.reads[0]!.answer([{ place: 'here', result: { kind: 'absent', proof: 'GET: 404' } }]);
  assert.deepEqual(await asked, { asOf: 50, result: { kind: 'missing' } });
  assert.deepEqual(await read, { asOf: 50, place: 'here', result: { kind: 'absent', proof: 'GET: 404' } });
  const wrong = lookups.read(nodeRef('b'), ask());
  instances.reads[1]!.answer([{ asOf: null as unknown as number, result: { kind: 'absent', proof: 'GET: 404' } }]);
  assert.equal(codeOf(await wrong), 'invalid');
});

test('a provider that says no batch size is asked about a hundred at once', async () => {
  const { clock, instances, lookups } = setUp(null);
  const all = Array.from({ length: 150 }, (_, i) => lookups.lookUp(nodeRef(`n${i}`), ask()));
  for (const size of [100, 50]) {
    await clock.settle();
    const last = instances.lookUps.at(-1)!;
    assert.equal(last.nodes.length, size);
    last.answer(last.nodes.map((node) => foundAt(clock, node)));
  }
  await Promise.all(all);
});

test('an answer whose members are those of its class is taken as one of plain members', async () => {
  class Absent implements InstanceAnswer {
    get place(): string {
      return 'here';
    }
    get result(): InstanceAnswer['result'] {
      return { kind: 'absent', proof: 'GET: 404' };
    }
  }
  const { clock, instances, lookups } = setUp();
  await clock.advance(50);
  const asked = lookups.lookUp(nodeRef('a'), ask());
  await clock.settle();
  instances.lookUps[0]!.answer([new Absent()]);
  assert.deepEqual(await asked, { asOf: 50, place: 'here', result: { kind: 'absent', proof: 'GET: 404' } });
});

test('a provider ID stands for the machine that the provider says; for itself where that says nothing, fails, or it is too long', () => {
  const { instances, lookups } = setUp(500);
  assert.equal(lookups.machineOf('fake://zone/1'), 'fake://zone/1');
  instances.machineOf = (providerID) => {
    if (providerID === 'fake://') throw new Error('no ID');
    return providerID.startsWith('fake://') ? providerID.split('/').at(-1) : undefined;
  };
  assert.deepEqual(
    ['fake://zone/1', 'aws:///1', 'fake://'].map((id) => lookups.machineOf(id)),
    ['1', 'aws:///1', 'fake://'],
  );
  const long = `fake://${'a/'.repeat(600)}`;
  assert.equal(lookups.machineOf(long), long);
});
