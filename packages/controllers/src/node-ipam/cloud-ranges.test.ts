// Over 400 lines: one rig, and one test for each way in which clouds, kubelets and watches can be in the way.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { overlaps, parseCidr, type Cidr } from '@outrigger/cloud-provider';
import { StatusError, type Node } from '@outrigger/kube';
import { CloudRangesRig } from './cloud-ranges-rig.suite.ts';
import { planCloudRanges } from './cloud-ranges-plan.ts';

const MINUTE = 60_000;

test('from the cloud: a node gets the ranges of its machine and its network, by one write each and one look-up for all', async () => {
  await using rig = new CloudRangesRig('from-cloud');
  rig.machines.set('a', ['10.0.0.0/24', 'fd00::/64']).set('b', ['10.0.1.0/24', '10.0.7.0/24']);
  rig.join('a');
  rig.join('b');
  await rig.start();
  assert.deepEqual([rig.cidrsOf('a'), rig.cidrsOf('b')], [['10.0.0.0/24', 'fd00::/64'], ['10.0.1.0/24']]);
  assert.deepEqual([rig.networkOf('a'), rig.networkOf('b')], ['False', 'False']);
  await rig.advance(MINUTE);
  assert.deepEqual([rig.api.writes.length, rig.lookUps, rig.events], [4, 1, []]);
});

test('where the route controller says whether there is a network, the condition is not touched', async () => {
  await using rig = new CloudRangesRig('from-cloud');
  rig.setsNetworkCondition = false;
  rig.machines.set('a', ['10.0.0.0/24']);
  rig.join('a');
  await rig.start();
  assert.deepEqual([rig.cidrsOf('a'), rig.networkOf('a')], [['10.0.0.0/24'], undefined]);
});

test('a machine without ranges is waited for; a person is told once it takes long', async () => {
  await using rig = new CloudRangesRig('from-cloud');
  rig.machines.set('a', []);
  rig.join('a');
  await rig.start();
  await rig.advance(1_500);
  assert.deepEqual(rig.events, []);
  for (let i = 0; i < 10; i++) await rig.advance(MINUTE);
  assert.deepEqual(rig.eventsOf('a'), ['CIDRNotAvailable']);
  rig.machines.set('a', ['10.0.0.0/24']);
  for (let i = 0; i < 8; i++) await rig.advance(MINUTE);
  assert.deepEqual(rig.cidrsOf('a'), ['10.0.0.0/24']);
});

test('a range that another node has is not written before that node is gone', async () => {
  await using rig = new CloudRangesRig('from-cloud');
  rig.machines.set('a', ['10.0.0.0/24']).set('b', ['10.0.0.0/25']);
  rig.join('a', ['10.0.0.0/24']);
  rig.join('b');
  await rig.start();
  for (let i = 0; i < 5; i++) await rig.advance(MINUTE);
  assert.deepEqual([rig.cidrsOf('b'), rig.eventsOf('b')], [[], ['PodCIDRClash']]);
  assert.match(rig.events[0]?.message ?? '', /10\.0\.0\.0\/25 .*overlaps the pod CIDR of node a: nothing is written/u);
  rig.api.remove('a');
  for (let i = 0; i < 6; i++) await rig.advance(MINUTE);
  assert.deepEqual(rig.cidrsOf('b'), ['10.0.0.0/25']);
});

test('one node that registers with all addresses keeps no other one from the range of its machine', async () => {
  await using rig = new CloudRangesRig('from-cloud');
  rig.machines.set('b', ['10.0.0.0/24']).set('c', ['10.1.0.0/24']).set('d', ['10.2.0.0/24']);
  rig.join('all', ['10.0.0.0/8'], 'other://all');
  rig.join('wide', ['10.1.0.0/20'], 'other://wide');
  rig.join('same', ['10.2.0.0/24'], 'other://same');
  for (const name of ['b', 'c', 'd']) rig.join(name);
  await rig.start();
  for (let i = 0; i < 5; i++) await rig.advance(MINUTE);
  assert.deepEqual([rig.cidrsOf('b'), rig.eventsOf('b')], [['10.0.0.0/24'], []]);
  assert.deepEqual([rig.cidrsOf('c'), rig.eventsOf('c')], [['10.1.0.0/24'], []]);
  assert.deepEqual([rig.cidrsOf('d'), rig.eventsOf('d')], [[], ['PodCIDRClash']]);
});

for (const [what, machine] of [
  ['has another range', ['10.9.0.0/24']],
  ['has no range', []],
  ['does not exist', undefined],
  ['cannot be looked up', 'silent'],
] as const) {
  test(`a node of ours whose machine ${what}, and that gives itself 16 ranges, keeps no node from its own`, async () => {
    await using rig = new CloudRangesRig('from-cloud');
    for (const name of ['registered', 'wide']) {
      if (machine === 'silent') rig.silent.add(name);
      else if (machine) rig.machines.set(name, machine);
    }
    rig.join('registered', ['10.2.0.0/20']);
    await rig.start();
    rig.join('wide');
    rig.claim('wide', ['10.1.0.0/20']);
    await rig.settle();
    rig.machines.set('b', ['10.1.0.0/24']).set('c', ['10.1.15.0/24']).set('d', ['10.2.1.0/24']);
    for (const name of ['b', 'c', 'd']) rig.join(name);
    for (let i = 0; i < 3; i++) await rig.advance(MINUTE);
    assert.deepEqual(
      ['b', 'c', 'd'].map((name) => rig.cidrsOf(name)),
      [['10.1.0.0/24'], ['10.1.15.0/24'], ['10.2.1.0/24']],
    );
    // A list that lacks the machine says as little as a look-up that fails.
    const told = machine === 'silent' || machine === undefined ? ['PodCIDRClash'] : [];
    assert.deepEqual(
      ['b', 'c', 'd'].map((name) => rig.eventsOf(name)),
      [told, told, told],
    );
  });
}

test('a wider range counts while the cloud says that it is its machine’s, and until the cloud has been heard', async () => {
  await using rig = new CloudRangesRig('from-cloud');
  rig.machines.set('a', ['10.0.0.0/20', '10.7.0.0/24']).set('b', ['10.0.3.0/24']);
  rig.join('a', ['10.0.0.0/20']);
  rig.silent.add('a');
  rig.join('b');
  await rig.start();
  await rig.advance(1_500);
  rig.silent.delete('a');
  for (let i = 0; i < 5; i++) await rig.advance(MINUTE);
  assert.deepEqual([rig.cidrsOf('b'), rig.eventsOf('b')], [[], ['PodCIDRClash']]);
  // What the cloud has once said stays so: the node keeps its pod CIDR.
  rig.machines.set('a', ['10.7.0.0/24']);
  rig.api.put({ ...rig.api.nodes.get('a'), status: {} });
  for (let i = 0; i < 9; i++) await rig.advance(MINUTE);
  assert.deepEqual(rig.cidrsOf('b'), []);
  rig.api.remove('a');
  for (let i = 0; i < 6; i++) await rig.advance(MINUTE);
  assert.deepEqual(rig.cidrsOf('b'), ['10.0.3.0/24']);
});

for (const [what, goes, comes] of [
  ['look-ups that fail', (rig) => rig.silent.add('a'), (rig) => rig.silent.delete('a')],
  ['lists that lack the machine', (rig) => rig.machines.delete('a'), (rig) => rig.machines.set('a', ['10.0.0.0/20'])],
] satisfies [string, (rig: CloudRangesRig) => void, (rig: CloudRangesRig) => void][]) {
  test(`${what} do not say that a wider range is not its machine’s: who waits for them is told`, async () => {
    await using rig = new CloudRangesRig('from-cloud');
    rig.machines.set('a', ['10.0.0.0/20']).set('b', ['10.0.3.0/24']);
    rig.join('a');
    await rig.start();
    assert.deepEqual(rig.cidrsOf('a'), ['10.0.0.0/20']);
    await rig.stop();
    goes(rig);
    rig.join('b');
    await rig.start();
    await rig.advance(9_000);
    assert.deepEqual([rig.cidrsOf('b'), rig.events], [[], []]);
    await rig.advance(81_000);
    assert.deepEqual([rig.cidrsOf('b'), rig.eventsOf('b')], [[], ['PodCIDRClash']]);
    assert.match(rig.events[0]?.message ?? '', /overlaps the pod CIDR of node a, and it is not known .* 2 minutes/u);
    comes(rig);
    for (let i = 0; i < 9; i++) await rig.advance(MINUTE);
    assert.deepEqual(rig.cidrsOf('b'), []);
    assert.match(rig.events.at(-1)?.message ?? '', /nothing is written until that node is deleted/u);
  });
}

test('one answer without ranges does not say that a wider range is not its machine’s', async () => {
  await using rig = new CloudRangesRig('from-cloud');
  rig.machines.set('a', ['10.0.0.0/20']).set('b', ['10.0.3.0/24']);
  rig.join('a');
  await rig.start();
  await rig.stop();
  rig.machines.set('a', []);
  rig.join('b');
  await rig.start();
  assert.deepEqual(rig.cidrsOf('b'), []);
  rig.machines.set('a', ['10.0.0.0/20']);
  for (let i = 0; i < 5; i++) await rig.advance(MINUTE);
  assert.deepEqual([rig.cidrsOf('b'), rig.eventsOf('b')], [[], ['PodCIDRClash']]);
});

test('a node that is deleted, as its machine is gone, keeps its wider range from no other one', async () => {
  await using rig = new CloudRangesRig('from-cloud');
  rig.machines.set('a', ['10.0.0.0/20']).set('b', ['10.0.3.0/24']);
  rig.join('a');
  await rig.start();
  await rig.stop();
  rig.machines.delete('a');
  rig.join('b');
  await rig.start();
  await rig.advance(5_000);
  assert.deepEqual(rig.cidrsOf('b'), []);
  rig.api.remove('a');
  await rig.advance(30_000);
  assert.deepEqual([rig.cidrsOf('b'), rig.events], [['10.0.3.0/24'], []]);
});

test('the wait for what the cloud says of a wider range begins anew after a cloud that was away', async () => {
  await using rig = new CloudRangesRig('from-cloud');
  rig.machines.set('a', ['10.0.0.0/20']).set('b', ['10.0.3.0/24']);
  rig.silent.add('a');
  rig.join('b');
  rig.join('a', ['10.0.0.0/20']);
  await rig.start();
  await rig.advance(MINUTE);
  rig.silent.add('b');
  for (let i = 0; i < 34; i++) await rig.advance(MINUTE);
  rig.silent.delete('b');
  // The next round is at 40 minutes: the one node is answered then, and the other one in the round after it.
  for (let i = 0; i < 6; i++) await rig.advance(MINUTE);
  rig.silent.delete('a');
  for (let i = 0; i < 20; i++) {
    await rig.advance(MINUTE);
    assert.deepEqual(rig.cidrsOf('b'), []);
  }
  assert.match(rig.events.at(-1)?.message ?? '', /nothing is written until that node is deleted/u);
});

test('a wider range that was written stays its node’s, whatever the cloud says of its machine by then', async () => {
  await using rig = new CloudRangesRig('from-cloud');
  rig.machines.set('a', ['10.0.0.0/20']).set('b', ['10.0.3.0/24']);
  rig.join('a');
  await rig.start();
  rig.machines.set('a', ['10.7.0.0/24']);
  await rig.lookUp('a');
  rig.join('b');
  for (let i = 0; i < 5; i++) await rig.advance(MINUTE);
  assert.deepEqual([rig.cidrsOf('a'), rig.cidrsOf('b'), rig.eventsOf('b')], [['10.0.0.0/20'], [], ['PodCIDRClash']]);
});

test('a new node has the cloud asked about a wider range at once, however rarely it was by then', async () => {
  await using rig = new CloudRangesRig('from-cloud');
  rig.machines.set('a', ['10.0.0.0/20']).set('b', ['10.0.3.0/24']);
  rig.silent.add('a');
  rig.join('a', ['10.0.0.0/20']);
  await rig.start();
  for (let i = 0; i < 36; i++) await rig.advance(MINUTE);
  rig.silent.delete('a');
  rig.join('b');
  await rig.advance(MINUTE);
  assert.match(rig.events.at(-1)?.message ?? '', /nothing is written until that node is deleted/u);
});

test('what another allocator may do and what the cloud may say is waited for at a time', async () => {
  await using rig = new CloudRangesRig('from-cloud');
  rig.silent.add('wide');
  await rig.start();
  rig.join('wide');
  rig.claim('wide', ['10.1.0.0/20']);
  rig.machines.set('b', ['10.1.0.0/24']);
  rig.join('b');
  for (let i = 0; i < 3; i++) await rig.advance(MINUTE);
  assert.deepEqual(rig.cidrsOf('b'), ['10.1.0.0/24']);
});

test('answers of a moment do not say three times that a machine has no range', async () => {
  await using rig = new CloudRangesRig('from-cloud');
  rig.silent.add('a');
  rig.join('a', ['10.0.0.0/20']);
  for (const i of [1, 2, 3, 4]) {
    rig.machines.set(`b${i}`, [`10.0.${i}.0/24`]);
    rig.join(`b${i}`);
  }
  await rig.start();
  rig.silent.clear();
  for (let i = 0; i < 6; i++) await rig.lookUp(`b${(i % 4) + 1}`);
  rig.machines.set('a', ['10.0.0.0/20']);
  for (let i = 0; i < 5; i++) await rig.advance(MINUTE);
  assert.deepEqual(
    [1, 2, 3, 4].flatMap((i) => rig.cidrsOf(`b${i}`)),
    [],
  );
});

test('a kubelet that registers its node again and again, with a machine that cannot be looked up, delays others by minutes', async () => {
  await using rig = new CloudRangesRig('from-cloud');
  rig.silent.add('wide');
  rig.machines.set('b', ['10.1.0.0/24']);
  await rig.start();
  rig.join('wide', ['10.0.0.0/8']);
  rig.join('b');
  for (let i = 0; i < 12; i++) {
    await rig.advance(30_000);
    rig.api.remove('wide');
    rig.join('wide', ['10.0.0.0/8']);
  }
  assert.deepEqual(rig.cidrsOf('b'), ['10.1.0.0/24']);
});

test('a wider range whose machine lists have lacked for minutes delays no new node, however many there are', async () => {
  await using rig = new CloudRangesRig('from-cloud');
  rig.join('wide', ['10.0.0.0/8']);
  await rig.start();
  for (let i = 0; i < 10; i++) await rig.advance(MINUTE);
  const join = (name: string, cidr: string): void => {
    rig.machines.set(name, [cidr]);
    rig.join(name);
  };
  for (let i = 0; i < 8; i++) {
    join(`one-${i}`, `10.1.${i}.0/24`);
    await rig.advance(1_000);
    assert.deepEqual(rig.cidrsOf(`one-${i}`), [`10.1.${i}.0/24`]);
  }
  for (let i = 0; i < 200; i++) join(`many-${i}`, `10.2.${i}.0/24`);
  await rig.advance(1_000);
  for (let i = 0; i < 200; i++) assert.deepEqual(rig.cidrsOf(`many-${i}`), [`10.2.${i}.0/24`]);
  assert.deepEqual(rig.events, []);
});

for (const [what, happen] of [
  [
    'one list that lacks the machine, and failures for minutes after it',
    async (rig) => {
      rig.silent.add('wide');
      for (let i = 0; i < 10; i++) await rig.advance(MINUTE);
    },
  ],
  [
    'lists that lack the machine for minutes, before it is found',
    async (rig) => {
      for (let i = 0; i < 10; i++) await rig.advance(MINUTE);
      rig.machines.set('wide', []);
      await rig.lookUp('wide');
      rig.machines.delete('wide');
      await rig.lookUp('wide');
    },
  ],
] satisfies [string, (rig: CloudRangesRig) => Promise<void>][]) {
  test(`${what}, leave a new node its wait for the cloud`, async () => {
    await using rig = new CloudRangesRig('from-cloud');
    rig.join('wide', ['10.0.0.0/20']);
    await rig.start();
    await happen(rig);
    rig.machines.set('b', ['10.0.3.0/24']);
    rig.join('b');
    await rig.advance(MINUTE);
    assert.deepEqual([rig.cidrsOf('b'), rig.eventsOf('b')], [[], ['PodCIDRClash']]);
  });
}

test('a range that a node was given before a restart is not given to another one, whatever the cloud says of the first by then', async () => {
  await using rig = new CloudRangesRig('from-cloud');
  rig.machines.set('a', ['10.0.0.0/24']);
  rig.join('a');
  await rig.start();
  await rig.stop();
  rig.machines.set('a', ['10.7.0.0/24']).set('b', ['10.0.0.0/24']);
  rig.join('b');
  await rig.start();
  for (let i = 0; i < 9; i++) await rig.advance(MINUTE);
  assert.deepEqual([rig.cidrsOf('a'), rig.cidrsOf('b')], [['10.0.0.0/24'], []]);
  assert.deepEqual([rig.eventsOf('a'), rig.eventsOf('b')], [['CloudCIDRAllocatorMismatch'], ['PodCIDRClash']]);
});

test('a range that was written is not set free by an answer to somebody else, before the watch has shown it', async () => {
  await using rig = new CloudRangesRig('from-cloud');
  rig.machines.set('n', ['10.0.1.0/24']).set('m', []);
  rig.join('n');
  rig.join('m');
  rig.api.holdWatch = true;
  await rig.start();
  rig.machines.set('n', ['10.0.2.0/24']).set('m', ['10.0.1.0/24']);
  await rig.lookUp('n');
  await rig.advance(40_000);
  assert.deepEqual([rig.cidrsOf('n'), rig.cidrsOf('m')], [['10.0.1.0/24'], []]);
  rig.api.holdWatch = false;
  rig.api.publish();
  for (let i = 0; i < 9; i++) await rig.advance(MINUTE);
  assert.deepEqual([rig.cidrsOf('n'), rig.cidrsOf('m')], [['10.0.1.0/24'], []]);
  assert.deepEqual(rig.eventsOf('m'), ['PodCIDRClash']);
});

test('a range on its way to a node is not set free by who looks at the node', async () => {
  await using rig = new CloudRangesRig('from-cloud');
  const written = Promise.withResolvers<void>();
  rig.api.writing = () => {
    rig.api.writing = () => Promise.resolve();
    return written.promise;
  };
  rig.machines.set('n', ['10.0.1.0/24']).set('m', []);
  rig.join('n');
  rig.join('m');
  await rig.start();
  rig.machines.set('n', ['10.0.2.0/24']).set('m', ['10.0.1.0/24']);
  await rig.lookUp('n');
  assert.ok(rig.explain().includes('set the pod CIDRs 10.0.2.0/24 of its machine on the node.'));
  await rig.advance(40_000);
  written.resolve();
  await rig.settle();
  for (let i = 0; i < 9; i++) await rig.advance(MINUTE);
  assert.deepEqual([rig.cidrsOf('n'), rig.cidrsOf('m')], [['10.0.1.0/24'], []]);
});

test('what another allocator gives while the server is read is not set free', async () => {
  await using rig = new CloudRangesRig('from-cloud');
  rig.machines.set('n', ['10.0.1.0/24']).set('m', []);
  rig.join('n');
  rig.join('m');
  rig.beforeRequest = ({ name, verb }) => {
    if (name !== 'n') return;
    if (verb === 'patch') throw new StatusError('x', 503, { code: 503 });
    rig.beforeRequest = () => {};
    queueMicrotask(() => rig.claim('n', ['10.0.9.0/24']));
  };
  await rig.start();
  rig.machines.set('n', ['10.0.2.0/24']);
  for (let i = 0; i < 4 && rig.cidrsOf('n').length === 0; i++) await rig.advance(30_000);
  assert.deepEqual(rig.cidrsOf('n'), ['10.0.9.0/24']);
  rig.machines.set('m', ['10.0.9.0/24']);
  for (let i = 0; i < 15; i++) await rig.advance(MINUTE);
  assert.deepEqual([rig.cidrsOf('n'), rig.cidrsOf('m')], [['10.0.9.0/24'], []]);
});

test('two machines that swap their ranges before their nodes have them: each node gets what its machine has by then', async () => {
  await using rig = new CloudRangesRig('from-cloud');
  rig.machines.set('a', ['10.0.1.0/24']).set('b', ['10.0.2.0/24']);
  rig.join('a');
  rig.join('b');
  rig.beforeRequest = ({ verb }) => {
    if (verb === 'patch') throw new StatusError('x', 503, { code: 503 });
  };
  await rig.start();
  rig.machines.set('a', ['10.0.2.0/24']).set('b', ['10.0.1.0/24']);
  for (let i = 0; i < 2; i++) await rig.advance(MINUTE);
  rig.beforeRequest = () => {};
  for (let i = 0; i < 9; i++) await rig.advance(MINUTE);
  assert.deepEqual([rig.cidrsOf('a'), rig.cidrsOf('b')], [['10.0.2.0/24'], ['10.0.1.0/24']]);
});

test('nodes of another cloud, without a provider ID or on their way out are left alone', async () => {
  await using rig = new CloudRangesRig('from-cloud');
  for (const [name, providerID] of [
    ['a', 'other://a'],
    ['b', ''],
  ] as const) {
    rig.machines.set(name, ['10.0.0.0/24']);
    rig.join(name, [], providerID);
  }
  await rig.start();
  await rig.advance(MINUTE);
  assert.deepEqual([rig.api.writes, rig.lookUps], [[], 0]);
});

test('to the cloud: machines get the ranges of their nodes, in batches, and nodes their network then', async () => {
  await using rig = new CloudRangesRig('to-cloud');
  for (const name of ['a', 'b', 'c']) rig.machines.set(name, []);
  rig.join('a', ['10.0.0.0/24']);
  rig.join('b', ['10.0.1.0/24']);
  rig.join('c');
  await rig.start();
  assert.deepEqual([...rig.machines.values()], [['10.0.0.0/24'], ['10.0.1.0/24'], []]);
  assert.deepEqual(
    ['a', 'b', 'c'].map((name) => rig.networkOf(name)),
    ['False', 'False', undefined],
  );
  assert.deepEqual([rig.batches, rig.lookUps], [[2], 1]);
});

test('what is refused, and what differs, is told; nothing is changed', async () => {
  await using rig = new CloudRangesRig('to-cloud');
  rig.machines.set('a', ['10.0.9.0/24']).set('b', []).set('stray', ['10.0.1.0/24']);
  rig.join('a', ['10.0.0.0/24']);
  rig.join('b', ['10.0.1.0/24']);
  await rig.start();
  await rig.advance(MINUTE);
  assert.deepEqual([rig.eventsOf('a'), rig.eventsOf('b')], [['CloudCIDRAllocatorMismatch'], ['FailedToAssignPodCIDR']]);
  // The provider threw no error that was written for people.
  assert.ok(rig.events.every(({ message }) => !message.includes('taken')));
  assert.deepEqual([rig.networkOf('a'), rig.networkOf('b')], [undefined, undefined]);
  rig.machines.delete('stray');
  for (let i = 0; i < 6; i++) await rig.advance(MINUTE);
  assert.deepEqual([rig.machines.get('b'), rig.networkOf('b')], [['10.0.1.0/24'], 'False']);
});

test('an assignment whose answer is lost is found to be there', async () => {
  await using rig = new CloudRangesRig('to-cloud');
  rig.machines.set('a', []);
  rig.join('a', ['10.0.0.0/24']);
  let lost = 0;
  rig.onCloud = (when) => {
    if (when === 'after' && lost++ === 0) throw new Error('the answer is lost');
  };
  await rig.start();
  await rig.advance(MINUTE);
  assert.deepEqual([rig.machines.get('a'), rig.networkOf('a'), rig.batches], [['10.0.0.0/24'], 'False', [1]]);
});

const ranges = fc.array(fc.constantFrom('10.0.0.0/24', '10.0.0.0/25', '10.0.0.128/25', '10.0.1.0/24', 'fd00::/64'), {
  maxLength: 2,
});

/** As the server keeps it: who wrote the pod CIDRs, and when. */
function givenBy(rig: CloudRangesRig, name: string, manager: string, podCIDRs: readonly string[], agoMs = 0): void {
  const node = rig.api.nodes.get(name);
  const time = new Date(rig.clock.now() - agoMs).toISOString();
  const managedFields = [{ manager, time, operation: 'Update', fieldsV1: { 'f:spec': { 'f:podCIDRs': {} } } }];
  rig.api.put({
    ...node,
    metadata: { ...node?.metadata, managedFields },
    spec: { ...node?.spec, podCIDRs: [...podCIDRs] },
  });
}

test('while another allocator has written a short while ago, nothing is written, and one Event says so', async () => {
  await using rig = new CloudRangesRig('from-cloud');
  rig.machines.set('a', ['10.0.0.0/24']).set('b', ['10.0.1.0/24']);
  rig.join('a');
  rig.join('b');
  givenBy(rig, 'a', 'kube-controller-manager', ['10.0.0.0/24'], 60_000);
  rig.join('c');
  givenBy(rig, 'c', 'kube-controller-manager', ['10.0.2.0/24'], 90_000);
  await rig.start();
  for (let i = 0; i < 8; i++) await rig.advance(MINUTE);
  assert.deepEqual([rig.cidrsOf('b'), rig.eventsOf('a')], [[], ['CIDRAllocatorConflict']]);
  for (let i = 0; i < 3; i++) await rig.advance(MINUTE);
  assert.deepEqual(rig.cidrsOf('b'), ['10.0.1.0/24'], 'ten minutes after its last sign');
});

test('what a program like this one wrote, and what was long ago, is no sign of another allocator', async () => {
  await using rig = new CloudRangesRig('from-cloud');
  rig.observeMs = 10_000;
  rig.machines.set('a', ['10.0.0.0/24']).set('b', ['10.0.1.0/24']).set('c', ['10.0.2.0/24']);
  for (const name of ['a', 'b', 'c']) rig.join(name);
  givenBy(rig, 'a', 'outrigger-node-ipam', ['10.0.0.0/24'], 60_000);
  givenBy(rig, 'b', 'kube-controller-manager', ['10.0.1.0/24'], 3_600_000);
  await rig.start();
  assert.deepEqual([rig.cidrsOf('c'), rig.eventsOf('a'), rig.eventsOf('b')], [['10.0.2.0/24'], [], []]);
});

test('the first node waits for so long as another allocator would need, and is left to it when there is one', async () => {
  await using rig = new CloudRangesRig('from-cloud');
  rig.observeMs = 10_000;
  rig.machines.set('a', ['10.0.0.0/24']).set('b', ['10.0.1.0/24']);
  rig.join('a');
  rig.join('b');
  await rig.start();
  await rig.advance(5_000);
  assert.deepEqual([rig.cidrsOf('a'), rig.cidrsOf('b')], [[], []]);
  // Another one is there after all.
  givenBy(rig, 'a', 'kube-controller-manager', ['10.244.0.0/24']);
  rig.join('c');
  await rig.settle();
  givenBy(rig, 'c', 'kube-controller-manager', ['10.244.1.0/24']);
  await rig.settle();
  for (let i = 0; i < 9; i++) await rig.advance(MINUTE);
  assert.deepEqual(rig.cidrsOf('b'), []);
  assert.ok(rig.eventsOf('a').includes('CIDRAllocatorConflict'));
});

test('under a lock that the other one seeks too, what it gave before is no sign of it; what it gives now is', async () => {
  await using rig = new CloudRangesRig('from-cloud');
  rig.observeMs = 10_000;
  rig.exclusive = true;
  rig.machines.set('a', ['10.0.0.0/24']).set('b', ['10.0.1.0/24']);
  for (const name of ['a', 'b', 'c']) rig.join(name);
  givenBy(rig, 'a', 'kube-controller-manager', ['10.0.0.0/24'], 1_000);
  await rig.start();
  assert.deepEqual([rig.cidrsOf('b'), rig.eventsOf('a')], [['10.0.1.0/24'], []]);
  givenBy(rig, 'c', 'kube-controller-manager', ['10.244.0.0/24']);
  rig.machines.set('d', ['10.0.3.0/24']);
  rig.join('d');
  await rig.advance(MINUTE);
  assert.deepEqual([rig.cidrsOf('d'), rig.eventsOf('c')], [[], ['CIDRAllocatorConflict']]);
});

test('to the cloud, the range allocator is who looks for another one', async () => {
  await using rig = new CloudRangesRig('to-cloud');
  rig.machines.set('a', []);
  rig.join('a');
  givenBy(rig, 'a', 'kube-controller-manager', ['10.0.0.0/24']);
  await rig.start();
  assert.deepEqual([rig.machines.get('a'), rig.eventsOf('a')], [['10.0.0.0/24'], []]);
});

test('property: a plan changes nothing that is set, and writes to one side what the other has', () => {
  fc.assert(
    fc.property(
      fc.record({
        direction: fc.constantFrom('from-cloud' as const, 'to-cloud' as const),
        node: ranges,
        cloud: fc.option(ranges, { nil: undefined }),
        clashes: ranges.map((cidrs) => cidrs.map((cidr) => ({ cidr, node: 'other' }))),
        unheard: ranges.map((cidrs) => cidrs.map((cidr) => ({ cidr, node: 'other' }))),
        unheardMs: fc.nat({ max: 20_000 }),
        waitsForNetwork: fc.boolean(),
      }),
      (observation) => {
        const { actions, askAgain, problem } = planCloudRanges(observation);
        const { cloud, clashes, direction, node, unheard } = observation;
        for (const action of actions) {
          if (action.kind === 'set-pod-cidrs') {
            assert.deepEqual([direction, node, clashes, unheard], ['from-cloud', [], [], []]);
            assert.deepEqual(action.podCidrs, cloud);
          } else if (action.kind === 'assign-in-cloud') {
            assert.deepEqual([direction, cloud, action.podCidrs], ['to-cloud', [], node]);
          } else {
            assert.ok(observation.waitsForNetwork && cloud !== undefined);
          }
        }
        if (problem) assert.deepEqual([actions, askAgain], [[], true]);
      },
    ),
  );
});

const node = fc.nat({ max: 2 });
/** Others are told of it, and ask. */
const hinted = fc.boolean();
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('join' as const), node }) },
  // The cloud may say anything, also that two machines have one range.
  { weight: 6, arbitrary: fc.record({ do: fc.constant('give' as const), node, hinted, range: fc.nat({ max: 3 }) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('leave' as const, 'die' as const), node }) },
  fc.record({ do: fc.constantFrom('restart' as const, 'calm' as const) }),
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('hold' as const, 'publish' as const) }) },
  // Writes are under way for as long.
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('stall' as const, 'flow' as const) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('look-up' as const, 'explain' as const), node }) },
  // The range of a machine goes to another one.
  { weight: 6, arbitrary: fc.record({ do: fc.constant('move' as const), node, hinted }) },
  fc.record({ do: fc.constantFrom('fail' as const, 'lose' as const), nth: fc.integer({ min: 1, max: 4 }) }),
  { weight: 6, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(0, 1_000, 400_000) }) },
);

test('property: whatever the cloud says, through restarts, lost answers and late watches no two nodes have one range', async () => {
  await fc.assert(
    // `isLate`: nodes wait for ranges, and the watch is behind from then on.
    fc.asyncProperty(fc.boolean(), fc.array(step, { maxLength: 40, size: 'max' }), async (isLate, steps) => {
      await using rig = new CloudRangesRig('from-cloud');
      const check = (): void => {
        const seen: Cidr[] = [];
        for (const name of rig.api.nodes.keys()) {
          for (const cidr of rig.cidrsOf(name).map((text) => parseCidr(text)!)) {
            assert.ok(!seen.some((one) => overlaps(one, cidr)), `${cidr.text} of ${name} is given twice`);
            seen.push(cidr);
          }
        }
      };
      const faults = (nth: number, error: () => Error): (() => void) => {
        let seen = 0;
        return () => {
          if (++seen % nth === 0) throw error();
        };
      };
      let flow = (): void => {};
      const stall = (): void => {
        const { promise, resolve } = Promise.withResolvers<void>();
        const before = flow;
        flow = () => (before(), resolve());
        rig.api.writing = () => promise;
      };
      const calm = (): void => {
        flow();
        rig.beforeRequest = () => {};
        rig.api.after = () => {};
      };
      await rig.start();
      if (isLate) for (const name of ['n0', 'n1', 'n2']) rig.join(name);
      rig.api.holdWatch = isLate;
      await rig.settle();
      for (const one of steps) {
        const name = `n${'node' in one ? one.node : 0}`;
        if (one.do === 'join' && !rig.api.nodes.has(name)) rig.join(name);
        else if (one.do === 'give') {
          rig.machines.set(name, [`10.0.${one.range}.0/24`]);
          if (one.hinted) await rig.lookUp(name);
        } else if (one.do === 'move') {
          const to = `n${(one.node + 1) % 3}`;
          rig.machines.set(to, rig.machines.get(name) ?? []).set(name, [`10.0.${4 + one.node}.0/24`]);
          if (one.hinted) for (const hint of [name, to]) await rig.lookUp(hint);
        } else if (one.do === 'look-up') await rig.lookUp(name);
        else if (one.do === 'explain') rig.explain();
        else if (one.do === 'leave') rig.api.remove(name);
        else if (one.do === 'die') {
          rig.machines.delete(name);
          rig.api.remove(name);
        } else if (one.do === 'stall') stall();
        else if (one.do === 'flow') flow();
        else if (one.do === 'restart') {
          flow();
          await rig.stop();
          await rig.start();
        } else if (one.do === 'hold' || one.do === 'publish') {
          rig.api.holdWatch = one.do === 'hold';
          rig.api.publish();
        } else if (one.do === 'fail')
          rig.beforeRequest = faults(one.nth, () => new StatusError('x', 503, { code: 503 }));
        else if (one.do === 'lose') rig.api.after = faults(one.nth, () => new Error('the answer is lost'));
        else if (one.do === 'calm') calm();
        else if (one.do === 'wait') await rig.advance(one.ms);
        await rig.clock.settle();
        check();
      }
      calm();
      rig.api.holdWatch = false;
      rig.api.publish();
      for (const [i, name] of [...rig.api.nodes.keys()].entries()) {
        if (rig.cidrsOf(name).length === 0) rig.machines.set(name, [`10.1.${i}.0/24`]);
      }
      for (let i = 0; i < 15; i++) await rig.advance(MINUTE);
      check();
      assert.ok([...rig.api.nodes.keys()].every((name) => rig.cidrsOf(name).length === 1));
    }),
    { numRuns: 200 },
  );
});

test('property: whatever ranges wider than their own kubelets give to their nodes, all others get those of their machines', async () => {
  const claim = fc.record({
    bits: fc.integer({ min: 8, max: 23 }),
    machine: fc.constantFrom('own' as const, 'none' as const, 'silent' as const, 'foreign' as const),
    registers: fc.boolean(),
    restart: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(claim, { minLength: 1, maxLength: 4 }), fc.nat({ max: 4 }), async (claims, early) => {
      await using rig = new CloudRangesRig('from-cloud');
      const honest = Array.from({ length: 5 }, (_, i) => `n${i}`);
      for (const [i, name] of honest.entries()) rig.machines.set(name, [`10.0.${i}.0/24`]);
      await rig.start();
      for (const name of honest.slice(0, early)) rig.join(name);
      await rig.settle();
      for (const [i, { bits, machine, registers, restart }] of claims.entries()) {
        const name = `claims-${i}`;
        if (machine === 'own') rig.machines.set(name, [`10.9.${i}.0/24`]);
        if (machine === 'silent') rig.silent.add(name);
        const cidrs = [`10.0.0.0/${bits}`];
        rig.join(name, registers ? cidrs : [], machine === 'foreign' ? `other://${name}` : `test://${name}`);
        if (!registers) rig.claim(name, cidrs);
        if (!restart) continue;
        await rig.stop();
        await rig.start();
      }
      for (const name of honest.slice(early)) rig.join(name);
      // What kubelets wrote is taken for another allocator for a while.
      for (let i = 0; i < 20; i++) await rig.advance(MINUTE);
      assert.deepEqual(
        honest.map((name) => rig.cidrsOf(name)),
        honest.map((name) => rig.machines.get(name)),
      );
    }),
    { numRuns: 100 },
  );
});

test('what another allocator gave to a second node while the first one waited is not given to the first', async () => {
  await using rig = new CloudRangesRig('from-cloud');
  rig.observeMs = 10_000;
  rig.machines.set('a', ['10.0.0.0/24']).set('b', ['10.0.1.0/24']);
  rig.join('a');
  await rig.start();
  await rig.advance(2_000);
  rig.join('b');
  await rig.advance(1_000);
  const { metadata, spec } = rig.api.nodes.get('b') ?? {};
  rig.api.put({ metadata, spec: { ...spec, podCIDRs: ['10.0.0.0/24'] } } as Node);
  await rig.settle();
  for (let i = 0; i < 14; i++) await rig.advance(60_000);
  assert.deepEqual([rig.cidrsOf('a'), rig.cidrsOf('b')], [[], ['10.0.0.0/24']]);
});
