import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '@outrigger/testing';
import { aCall, scriptedAws } from '../scripted-aws.suite.ts';
import { HeldGroups } from './held-groups.ts';

function rig() {
  const clock = new FakeClock();
  const held = new Set<string>();
  let isDown = false;
  const client = scriptedAws({
    DescribeNetworkInterfaces: ({ Filters }) => {
      if (isDown) throw new Error('down');
      const [{ Values }] = Filters as readonly [{ readonly Values: readonly string[] }];
      const found = Values.filter((id) => held.has(id));
      // Those of Network Load Balancers have the shared group too.
      return { NetworkInterfaces: found.map((GroupId) => ({ Groups: [{ GroupId }, { GroupId: 'sg-shared' }] })) };
    },
  });
  let seen = 0;
  const asked = (): readonly unknown[] => {
    const calls = client.calls.slice(seen);
    seen = client.calls.length;
    return calls.map(({ input }) => (input['Filters'] as readonly [{ Values: unknown }])[0].Values);
  };
  const down = (is: boolean): void => void (isDown = is);
  return { asked, clock, down, groups: new HeldGroups({ client, clock }), held };
}

test('groups that are waited for are asked about together, once in five seconds', async () => {
  const { asked, clock, groups, held } = rig();
  for (const id of ['sg-1', 'sg-2', 'sg-3']) held.add(id);
  for (const id of ['sg-1', 'sg-2', 'sg-3']) assert.equal(await groups.has(id, aCall), true);
  assert.deepEqual(asked(), [['sg-1'], ['sg-2', 'sg-1'], ['sg-3', 'sg-2', 'sg-1']]);
  held.delete('sg-2');
  await clock.advance(4_999);
  assert.equal(await groups.has('sg-2', aCall), true);
  assert.deepEqual(asked(), []);
  await clock.advance(1);
  const answers = await Promise.all(['sg-1', 'sg-2', 'sg-3'].map((id) => groups.has(id, aCall)));
  assert.deepEqual(answers, [true, false, true]);
  assert.deepEqual(asked(), [['sg-1', 'sg-3', 'sg-2']]);
  await clock.advance(5_000);
  assert.equal(await groups.has('sg-1', aCall), true);
  assert.deepEqual(asked(), [['sg-1', 'sg-3']], 'what is free is not asked about');
});

test('where many wait, one more counts as held until the next question', async () => {
  const { asked, clock, groups, held } = rig();
  const ids = Array.from({ length: 20 }, (_, i) => `sg-${i}`);
  for (const id of ids) held.add(id);
  for (const id of [...ids, 'sg-free']) assert.equal(await groups.has(id, aCall), true);
  assert.equal(asked().length, 5);
  await clock.advance(5_000);
  const answers = await Promise.all([...ids, 'sg-free'].map((id) => groups.has(id, aCall)));
  assert.deepEqual(answers, [...ids.map(() => true), false]);
  const [question, ...more] = asked() as readonly (readonly string[])[];
  assert.deepEqual([question?.length, more], [21, []]);
});

test('one that a question of others has found free is free when it is asked about next, and not minutes later', async () => {
  const { asked, clock, groups, held } = rig();
  const ids = Array.from({ length: 10 }, (_, i) => `sg-${i}`);
  for (const id of ids) held.add(id);
  for (const id of ids) await groups.has(id, aCall);
  held.delete('sg-9');
  held.delete('sg-8');
  for (let n = 0; n < 3; n++) {
    await clock.advance(5_000);
    await groups.has('sg-0', aCall);
  }
  asked();
  assert.equal(await groups.has('sg-9', aCall), false);
  assert.deepEqual(asked(), []);
  held.add('sg-8');
  await clock.advance(60_000);
  await groups.has('sg-0', aCall);
  assert.equal(await groups.has('sg-8', aCall), true);
});

test('of more than a question takes, each has its turn', async () => {
  const { asked, clock, groups, held } = rig();
  const ids = Array.from({ length: 450 }, (_, i) => `sg-${i}`);
  for (const id of ids) held.add(id);
  for (const id of ids) await groups.has(id, aCall);
  const seen = new Set(asked().flat());
  for (let n = 0; n < 3; n++) {
    await clock.advance(5_000);
    // The same one comes first each time.
    await groups.has('sg-0', aCall);
    const [question] = asked() as readonly [readonly string[]];
    assert.equal(question.length, 200);
    for (const id of question) seen.add(id);
  }
  assert.equal(seen.size, ids.length);
});

test('a question that failed is asked again, by whoever waits', async () => {
  const { clock, down, groups, held } = rig();
  held.add('sg-1');
  down(true);
  await assert.rejects(groups.has('sg-1', aCall), /down/);
  down(false);
  await clock.advance(5_000);
  assert.equal(await groups.has('sg-1', aCall), true);
});
