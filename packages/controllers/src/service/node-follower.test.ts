/** What of a node that changes over and over reaches the load balancers, and when. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { EventNote, Node } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { BackEndSet } from './back-end-set.ts';
import { ConfirmedNodes } from './confirmed-nodes.ts';
import { FakeApi } from './fake-api.suite.ts';
import { NodeFollower } from './node-follower.ts';
import { createRig, nodeOf, webSpec } from './rig.suite.ts';
import { TurnBudget } from './turn-budget.ts';
import { excludeLabel, toBeDeletedTaintKey } from './well-known-names.ts';

const provider = { providerName: 'memory', isDefault: true };
const excluded = nodeOf('n1', { metadata: { labels: { [excludeLabel]: 'true' } } });

interface Followed {
  readonly clock: FakeClock;
  readonly nodes: FakeApi['nodes'];
  readonly follower: NodeFollower;
  /** Reasons of Events. */
  readonly told: EventNote[];
  readonly names: () => readonly string[];
  readonly generation: () => number;
  stop(): void;
}

async function followed(first: readonly Node[]): Promise<Followed> {
  const clock = new FakeClock();
  const { nodes } = new FakeApi();
  for (const node of first) nodes.put(node);
  await nodes.store.whenSynced();
  const backEnds = new BackEndSet(provider, {});
  const told: EventNote[] = [];
  const follower = new NodeFollower({
    nodes: nodes.store,
    backEnds,
    confirmed: new ConfirmedNodes({ nodes: nodes.store } as never, provider, new AbortController().signal, () => {}),
    provider,
    turns: new TurnBudget(1_000),
    clock,
    signal: new AbortController().signal,
    keys: () => [],
    follow: () => {},
    tell: (_node, note) => void told.push(note),
  });
  const stop = follower.start();
  await clock.settle();
  return {
    clock,
    nodes,
    follower,
    told,
    names: () => backEnds.all.map(({ node }) => node.name),
    generation: () => backEnds.generation,
    stop,
  };
}

/** Twice out and in, 4 s between: the last of it is held. */
async function flap({ clock, nodes }: Followed): Promise<void> {
  for (const node of [excluded, nodeOf('n1'), excluded, nodeOf('n1')]) {
    nodes.put(node);
    await clock.advance(4_000);
  }
}

test('a node that flaps is followed three times and then held, with one Event a hold; another is followed at once meanwhile', async () => {
  const rig = await followed([nodeOf('n1'), nodeOf('n2')]);
  await flap(rig);
  assert.deepEqual(rig.names(), ['n2'], 'what it was when the hold began');
  assert.equal(rig.generation(), 3);
  assert.deepEqual(
    rig.told.map(({ reason }) => reason),
    ['BackEndFlapping'],
  );
  assert.match(rig.follower.facts()[0]?.text ?? '', /^The node n1 has changed too often/);
  rig.nodes.put(nodeOf('n3'));
  assert.deepEqual(rig.names(), ['n2', 'n3']);
  await rig.clock.advance(6_500);
  assert.deepEqual(rig.names(), ['n1', 'n2', 'n3'], 'what it is when the hold is over');
  assert.equal(rig.follower.facts().length, 0);
  // The next is held at once, for twice as long.
  rig.nodes.put(excluded);
  await rig.clock.advance(19_000);
  assert.deepEqual(rig.names(), ['n1', 'n2', 'n3']);
  await rig.clock.advance(1_500);
  assert.deepEqual(rig.names(), ['n2', 'n3']);
  assert.equal(rig.told.length, 2);
  rig.stop();
});

test('a flapping node that is deleted, about to be, or another machine by now leaves at once, and comes again when the hold is over', async () => {
  const taints = [{ key: toBeDeletedTaintKey, effect: 'NoSchedule' as const }];
  const leaving: readonly ((rig: Followed) => void)[] = [
    ({ nodes }) => nodes.remove('n1'),
    ({ nodes }) => nodes.put(nodeOf('n1', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } })),
    ({ nodes }) => nodes.put(nodeOf('n1', { spec: { providerID: 'memory://r/n1', taints } })),
    ({ nodes }) => nodes.put(nodeOf('n1', { metadata: { uid: 'another' } })),
  ];
  for (const leave of leaving) {
    const rig = await followed([excluded, nodeOf('n2')]);
    for (const node of [nodeOf('n1'), excluded, nodeOf('n1'), excluded]) {
      rig.nodes.put(node);
      await rig.clock.advance(3_000);
    }
    assert.deepEqual(rig.names(), ['n1', 'n2']);
    const before = rig.generation();
    leave(rig);
    assert.deepEqual(rig.names(), ['n2']);
    rig.nodes.put(nodeOf('n1', { metadata: { uid: 'new' } }));
    await rig.clock.advance(3_000);
    assert.equal(rig.generation(), before + 1);
    assert.deepEqual(rig.names(), ['n2']);
    await rig.clock.advance(10_000);
    assert.deepEqual(rig.names(), ['n1', 'n2']);
    rig.stop();
  }
});

test('a node that is gone when its hold is over leaves nothing behind, and one that was silently left is followed', async () => {
  const rig = await followed([nodeOf('n1')]);
  await flap(rig);
  const before = rig.generation();
  rig.nodes.remove('n1');
  await rig.clock.advance(60_000);
  assert.deepEqual(rig.names(), []);
  assert.equal(rig.generation(), before + 1, 'its load balancers are looked at once more');
  rig.stop();
});

test('a node that drains as a hold begins, and is excluded in it, leaves its load balancers when the hold is over', async () => {
  const rig = await createRig();
  rig.api.nodes.put(nodeOf('n1'));
  rig.api.nodes.put(nodeOf('n2'));
  const { metadata: { uid = '' } = {} } = rig.api.apply('web', webSpec);
  await rig.start();
  await rig.clock.advance(2_000);
  const members = (): unknown => rig.partsOf(uid).find(({ kind }) => kind === 'load-balancer')?.attributes['backEnds'];
  const taints = [{ key: toBeDeletedTaintKey, effect: 'NoSchedule' as const }];
  const draining = nodeOf('n1', { spec: { providerID: 'memory://r/n1', taints } });
  // The taint alone is no reason to look: what runs through the node drains. The removal is called off, which is held.
  for (const node of [excluded, nodeOf('n1'), draining, nodeOf('n1')]) {
    rig.api.nodes.put(node);
    await rig.clock.advance(3_000);
  }
  assert.deepEqual(members(), ['memory://r/n1', 'memory://r/n2']);
  rig.api.nodes.put(excluded);
  await rig.clock.advance(12_000);
  assert.deepEqual(members(), ['memory://r/n2']);
  await rig.stop();
});

test('whatever nodes do, load balancers have the last of it when the longest hold is over, and what changes seldom is there at once', async () => {
  const states = [nodeOf, () => excluded, () => undefined] as const;
  const step = fc.record({
    node: fc.constantFrom('n1', 'n2'),
    state: fc.nat(2),
    waitMs: fc.integer({ min: 0, max: 60_000 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30 }), async (steps) => {
      const rig = await followed([nodeOf('n1'), nodeOf('n2'), nodeOf('quiet')]);
      for (const [i, { node: name, state, waitMs }] of steps.entries()) {
        const of = (one: string): Node | undefined => {
          const node = states[state]?.(one);
          return node && { ...node, metadata: { ...node.metadata, name: one, uid: `uid-${one}` } };
        };
        const put = (one: string): void => {
          const node = of(one);
          if (node) rig.nodes.put(node);
          else if (rig.nodes.store.get(one)) rig.nodes.remove(one);
        };
        put(name);
        // One of ten minutes is seldom.
        if (i % 10 === 9) {
          put('quiet');
          assert.equal(rig.names().includes('quiet'), state === 0);
        }
        await rig.clock.advance(waitMs + (i % 10 === 9 ? 600_000 : 0));
      }
      await rig.clock.advance(303_000);
      const expected = new BackEndSet(provider, {});
      for (const object of rig.nodes.store.values())
        expected.note({ type: 'add', key: object.metadata?.name ?? '', object });
      assert.deepEqual(
        rig.names(),
        expected.all.map(({ node }) => node.name),
      );
      rig.stop();
    }),
    { numRuns: 60 },
  );
});

test('what is held is told to who asks about a Service', async () => {
  const rig = await createRig();
  rig.api.nodes.put(nodeOf('n1'));
  rig.api.nodes.put(nodeOf('n2'));
  rig.api.apply('web', webSpec);
  await rig.start();
  await rig.clock.advance(2_000);
  const { applied } = rig.provider;
  const before = applied.length;
  for (let i = 0; i < 100; i++) {
    rig.api.nodes.put(i % 2 === 0 ? excluded : nodeOf('n1'));
    await rig.clock.advance(3_000);
  }
  // Five minutes: three that are followed, and holds of 10, 20, 40, 80 and 160 s.
  assert.ok(applied.length - before <= 9, `${applied.length - before} updates`);
  assert.ok(rig.observed('web').some(({ text }) => text.startsWith('The node n1 has changed too often')));
  assert.ok(rig.reasons('n1').length <= 6);
  await rig.stop();
});
