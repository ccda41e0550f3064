// Over 400 lines: one rig, and one test for each way in which two nodes could get one range.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { overlaps, parseCidr } from '@outrigger/cloud-provider';
import { noMetrics, StatusError, type Metrics } from '@outrigger/kube';
import { IpamRig } from './ipam-rig.suite.ts';
import { FIELD_MANAGER } from './other-allocator.ts';

const MINUTE = 60_000;

/** The allocator has seen that it is alone. */
async function started(rig: IpamRig): Promise<void> {
  await rig.start();
  await rig.advance(11_000);
}

function writtenBy(manager: string, time: string): unknown[] {
  return [{ manager, time, operation: 'Update', fieldsV1: { 'f:spec': { 'f:podCIDR': {}, 'f:podCIDRs': {} } } }];
}

function metricsInto(values: Map<string, number>): Metrics {
  return {
    ...noMetrics,
    counter: ({ name }) => ({ inc: (_labels, by = 1) => void values.set(name, (values.get(name) ?? 0) + by) }),
  };
}

test('each node gets a range of each family, by one write', async () => {
  await using rig = new IpamRig({ clusterCidr: '10.0.0.0/21,fd00::/60' });
  rig.join('a');
  rig.join('b');
  await started(rig);
  assert.deepEqual(rig.given, { a: '10.0.0.0/24 fd00::/64', b: '10.0.1.0/24 fd00:0:0:1::/64' });
  assert.equal(rig.api.nodes.get('a')?.spec?.podCIDR, '10.0.0.0/24');
  rig.join('c');
  await rig.settle();
  assert.deepEqual([rig.cidrsOf('c')[0], rig.api.writes.length], ['10.0.2.0/24', 3]);
});

test('ranges that nodes have are kept, over a restart too', async () => {
  await using rig = new IpamRig();
  rig.join('old', ['10.0.0.0/24']);
  rig.join('odd', ['10.0.2.128/25']);
  rig.join('elsewhere', ['192.168.0.0/24']);
  rig.join('a');
  await started(rig);
  assert.deepEqual(rig.cidrsOf('a'), ['10.0.1.0/24']);
  await rig.stop();
  rig.join('b');
  await started(rig);
  assert.deepEqual(rig.cidrsOf('b'), ['10.0.3.0/24']);
});

test('when nothing is left, a person is told once; what a node gives back is given to the one that waits', async () => {
  await using rig = new IpamRig({ clusterCidr: '10.0.0.0/23', serviceClusterIpRange: '10.0.1.0/24' });
  const counted = new Map<string, number>();
  rig.metrics = metricsInto(counted);
  rig.join('a');
  rig.join('b');
  await started(rig);
  assert.deepEqual(rig.given, { a: '10.0.0.0/24', b: '' });
  for (let i = 0; i < 20; i++) rig.api.put({ ...rig.api.nodes.get('b')! });
  await rig.advance(MINUTE);
  assert.deepEqual(rig.eventsOf('b'), ['CIDRNotAvailable']);
  assert.equal(counted.get('outrigger_node_ipam_cidr_not_available_total'), 1);
  rig.api.remove('a');
  await rig.advance(1_000);
  assert.deepEqual(rig.given, { b: '10.0.0.0/24' });
});

test('a node that is being deleted gets no range', async () => {
  await using rig = new IpamRig();
  rig.join('a');
  await started(rig);
  const metadata = { name: 'b', uid: 'uid-b', deletionTimestamp: '2026-01-01T00:00:00Z' };
  rig.api.put({ apiVersion: 'v1', kind: 'Node', metadata, spec: {} });
  await rig.advance(MINUTE);
  assert.deepEqual(rig.given, { a: '10.0.0.0/24', b: '' });
});

test('a store that loses a node which is there sets no range free', async () => {
  await using rig = new IpamRig({ clusterCidr: '10.0.0.0/23' });
  rig.join('a');
  rig.join('b');
  rig.join('waits');
  await started(rig);
  rig.loseFromStore('a');
  await rig.advance(MINUTE);
  assert.deepEqual(Object.values(rig.given).toSorted(), ['', '10.0.0.0/24', '10.0.1.0/24']);
});

test('what a former leader gave is in the books, though the store has not seen it', async () => {
  await using rig = new IpamRig();
  rig.join('b');
  rig.api.holdWatch = true;
  rig.join('a', ['10.0.0.0/24']);
  await started(rig);
  assert.deepEqual(rig.cidrsOf('b'), ['10.0.1.0/24']);
});

test('an answer that is lost costs no second range, and a node that is another one by now gets its own', async () => {
  await using rig = new IpamRig();
  await rig.start();
  let lost = 0;
  rig.api.after = () => {
    if (lost++ === 0) throw new Error('the answer is lost');
  };
  rig.join('a');
  await rig.advance(MINUTE);
  assert.deepEqual(rig.cidrsOf('a'), ['10.0.0.0/24']);
  rig.api.remove('a');
  rig.join('a');
  await rig.settle();
  assert.deepEqual(rig.cidrsOf('a'), ['10.0.1.0/24']);
});

test('a server that does not answer is waited for', async () => {
  await using rig = new IpamRig();
  rig.join('a');
  rig.beforeRequest = () => {
    throw new Error('the server is down');
  };
  await started(rig);
  await rig.advance(MINUTE);
  assert.deepEqual(rig.given, { a: '' });
  rig.beforeRequest = () => {};
  await rig.advance(5 * MINUTE);
  assert.deepEqual(rig.given, { a: '10.0.0.0/24' });
});

test('another allocator that gives a node its range while this one starts is left alone, with an Event', async () => {
  await using rig = new IpamRig();
  await rig.start();
  rig.join('a');
  await rig.advance(2_000);
  rig.give('a', '10.0.5.0/24');
  rig.join('b');
  await rig.advance(5_000);
  rig.give('b', '10.0.6.0/24');
  rig.join('c');
  await rig.advance(9 * MINUTE);
  assert.deepEqual([rig.api.writes.length, rig.eventsOf('a')], [0, ['CIDRAllocatorConflict']]);
  await rig.advance(2 * MINUTE);
  assert.deepEqual(rig.given, { a: '10.0.5.0/24', b: '10.0.6.0/24', c: '10.0.0.0/24' });
});

test('one node that gives itself a range, again and again, delays no other one by more than two minutes', async () => {
  await using rig = new IpamRig();
  rig.join('a');
  await started(rig);
  for (let i = 0; i < 8; i++) {
    rig.api.holdWatch = true;
    rig.join('own');
    rig.api.holdWatch = false;
    rig.api.publish();
    rig.give('own', '10.0.7.0/24');
    if (i === 0) rig.join('b');
    await rig.settle();
    if (i === 0) await rig.advance(11_000);
    // Another allocator would have been seen meanwhile, or had its other replica take over.
    if (i === 0) assert.deepEqual([rig.cidrsOf('b'), rig.eventsOf('own')], [[], ['CIDRAllocatorConflict']]);
    await rig.advance(20_000);
    rig.api.remove('own');
  }
  assert.deepEqual(rig.given, { a: '10.0.0.0/24', b: '10.0.1.0/24' });
});

test('another allocator is found after the sign of one node too, and where another replica of it takes over for a minute', async () => {
  await using rig = new IpamRig();
  rig.join('own');
  await rig.start();
  rig.give('own', '10.0.7.0/24');
  for (const [i, afterMs] of [9_000, MINUTE, 3 * MINUTE].entries()) {
    rig.join(`n${i}`);
    await rig.advance(afterMs);
    rig.give(`n${i}`, `10.0.${i}.0/24`);
    await rig.settle();
  }
  assert.deepEqual([rig.api.writes, rig.cidrsOf('n2')], [[], ['10.0.2.0/24']]);
  await using slow = new IpamRig();
  slow.join('own');
  await slow.start();
  slow.give('own', '10.0.7.0/24');
  slow.join('n0');
  await slow.advance(100_000);
  slow.give('n0', '10.0.0.0/24');
  slow.join('n1');
  await slow.advance(9 * MINUTE);
  assert.deepEqual([slow.api.writes, slow.eventsOf('n0')], [[], ['CIDRAllocatorConflict']]);
});

test('one node that says to have its range from this program ends no observation', async () => {
  await using rig = new IpamRig();
  rig.join('a', ['10.0.0.0/24'], writtenBy('kube-controller-manager', '2025-12-31T23:58:00Z'));
  rig.join('b', ['10.0.1.0/24'], writtenBy(FIELD_MANAGER, '2025-12-31T23:59:00Z'));
  rig.join('c');
  await rig.start();
  await rig.advance(MINUTE);
  assert.deepEqual(rig.cidrsOf('c'), []);
  await rig.advance(MINUTE);
  assert.deepEqual(rig.cidrsOf('c'), ['10.0.2.0/24']);
});

test('one node that registers with the cluster CIDR is told, and takes nothing from the others', async () => {
  await using rig = new IpamRig({ clusterCidr: '10.0.0.0/22,fd00::/62', serviceClusterIpRange: '10.0.0.0/24' });
  rig.join('all', ['10.0.0.0/22', 'fd00::/62']);
  rig.join('a');
  await started(rig);
  rig.join('b');
  rig.api.remove('all');
  rig.join('c');
  rig.join('d');
  await rig.settle();
  assert.deepEqual(rig.given, {
    a: '10.0.1.0/24 fd00::/64',
    b: '10.0.2.0/24 fd00:0:0:1::/64',
    c: '10.0.3.0/24 fd00:0:0:2::/64',
    d: '',
  });
  assert.deepEqual(rig.eventsOf('all'), ['PodCIDRClash']);
  assert.match(rig.events[0]?.note.message ?? '', /10\.0\.0\.0\/22, fd00::\/62 of node all .*too wide for one node/);
});

test('ranges of an older, wider node mask stay with their nodes, through added ranges too', async () => {
  await using rig = new IpamRig({ clusterCidr: '10.0.0.0/22' });
  rig.join('old', ['10.0.0.0/23']);
  rig.join('older', ['10.1.0.0/23']);
  await started(rig);
  rig.addRanges('10.1.0.0/22');
  for (const name of ['a', 'b', 'c', 'd', 'e']) rig.join(name);
  await rig.advance(11_000);
  assert.deepEqual(['a', 'b', 'c', 'd', 'e'].flatMap((name) => rig.cidrsOf(name)).toSorted(), [
    '10.0.2.0/24',
    '10.0.3.0/24',
    '10.1.2.0/24',
    '10.1.3.0/24',
  ]);
  assert.ok(!rig.events.some(({ note }) => note.reason === 'PodCIDRClash'));
});

test('the metric says that another one allocates for as long as that counts, whether nodes come or not', async () => {
  await using rig = new IpamRig();
  const values = new Map<string, number>();
  const collectors: (() => void)[] = [];
  rig.metrics = {
    ...noMetrics,
    gauge: ({ name }) => ({ set: (value) => void values.set(name, value) }),
    onCollect: (collect) => void collectors.push(collect),
  };
  const refusing = (): number | undefined => {
    for (const collect of collectors) collect();
    return values.get('outrigger_node_ipam_refusing');
  };
  await rig.start();
  rig.join('a');
  assert.equal(refusing(), 0);
  rig.give('a', '10.0.5.0/24');
  rig.join('b');
  rig.give('b', '10.0.6.0/24');
  await rig.advance(9 * MINUTE);
  assert.equal(refusing(), 1);
  await rig.advance(2 * MINUTE);
  assert.equal(refusing(), 0);
});

test('while it is not known who gave a node its range, no other node gets one', async () => {
  await using rig = new IpamRig();
  rig.join('a');
  rig.join('b');
  await started(rig);
  assert.equal(rig.api.writes.length, 2);
  let isReadable = false;
  const { before } = rig.api;
  rig.api.before = (request) => {
    if (request.verb === 'get' && !isReadable) throw new StatusError('GET', 503, { code: 503 });
    before(request);
  };
  // Between its registration and the first write of ours.
  rig.api.holdWatch = true;
  rig.join('c');
  rig.api.holdWatch = false;
  rig.api.publish();
  rig.give('c', '10.0.7.0/24');
  rig.join('d');
  await rig.advance(5_000);
  assert.deepEqual(rig.given, { a: '10.0.0.0/24', b: '10.0.1.0/24', c: '10.0.7.0/24', d: '' });
  isReadable = true;
  await rig.advance(5_000);
  assert.deepEqual([rig.eventsOf('c'), rig.cidrsOf('d')], [['CIDRAllocatorConflict'], []]);
});

test('managed fields tell who allocates: another one’s are refused, our own need no wait', async () => {
  await using refused = new IpamRig();
  refused.join('a', ['10.0.0.0/24'], writtenBy('kube-controller-manager', '2025-12-31T23:58:00Z'));
  refused.join('also', ['10.0.1.0/24'], writtenBy('kube-controller-manager', '2025-12-31T23:57:00Z'));
  refused.join('b');
  await refused.start();
  assert.deepEqual(refused.eventsOf('a'), ['CIDRAllocatorConflict']);
  await refused.advance(7 * MINUTE);
  assert.equal(refused.api.writes.length, 0);
  await refused.advance(2 * MINUTE);
  assert.deepEqual(refused.cidrsOf('b'), ['10.0.2.0/24']);

  await using ours = new IpamRig();
  ours.join('a', ['10.0.0.0/24'], writtenBy(FIELD_MANAGER, '2025-12-31T23:58:00Z'));
  ours.join('old', ['10.0.3.0/24'], writtenBy('kube-controller-manager', '2025-11-01T00:00:00Z'));
  ours.join('b');
  await ours.start();
  assert.deepEqual([ours.cidrsOf('b'), ours.events], [['10.0.1.0/24'], []]);
});

test('under a lock that the other one seeks too, what it gave before is kept and no sign of it; what it gives now is', async () => {
  await using rig = new IpamRig();
  rig.exclusive = true;
  rig.join('a', ['10.0.0.0/24'], writtenBy('kube-controller-manager', '2025-12-31T23:59:59Z'));
  rig.join('b');
  await rig.start();
  assert.deepEqual([rig.given, rig.events], [{ a: '10.0.0.0/24', b: '10.0.1.0/24' }, []]);
  rig.join('c', ['10.0.4.0/24'], writtenBy('kube-controller-manager', '2026-01-01T00:00:00Z'));
  rig.join('d');
  await rig.settle();
  assert.equal(rig.cidrsOf('d').length, 1, 'a node may come with pod CIDRs of its own');
  rig.beforeRequest = () => {
    if (rig.cidrsOf('e').length === 0) rig.give('e', '10.0.6.0/24');
  };
  rig.join('e');
  rig.join('f');
  await rig.advance(60_000);
  assert.ok(rig.eventsOf('e').includes('CIDRAllocatorConflict'), JSON.stringify(rig.events));
});

test('a write of a former leader that arrives late is not another allocator’s', async () => {
  await using rig = new IpamRig();
  rig.join('a', [], writtenBy(FIELD_MANAGER, '2025-12-31T23:59:59Z'));
  rig.join('b');
  await rig.start();
  rig.give('a', '10.0.5.0/24');
  await rig.advance(11_000);
  assert.deepEqual([rig.given, rig.events], [{ a: '10.0.5.0/24', b: '10.0.0.0/24' }, []]);
});

test('two nodes that have one range already are told, and it is given to no third', async () => {
  await using rig = new IpamRig({ clusterCidr: '10.0.0.0/23' });
  rig.join('a', ['10.0.0.0/24']);
  rig.join('b', ['10.0.0.0/24']);
  await started(rig);
  rig.api.remove('a');
  rig.join('c');
  rig.join('d');
  await rig.advance(MINUTE);
  assert.deepEqual(rig.eventsOf('b'), ['PodCIDRClash']);
  assert.match(rig.events[0]?.note.message ?? '', /10\.0\.0\.0\/24 of node b overlaps that of node a\. Delete one/u);
  assert.deepEqual(rig.given, { b: '10.0.0.0/24', c: '10.0.1.0/24', d: '' });
});

test('a node whose pod CIDR is in the Service range is told', async () => {
  await using rig = new IpamRig({ clusterCidr: '10.0.0.0/22', serviceClusterIpRange: '10.0.0.0/24' });
  rig.join('a', ['10.0.0.0/24']);
  await started(rig);
  assert.match(
    rig.events[0]?.note.message ?? '',
    /10\.0\.0\.0\/24 of node a overlaps that of another node or the Service range\./u,
  );
});

test('upstream’s metrics are kept', async () => {
  await using rig = new IpamRig();
  const values = new Map<string, number>();
  const collectors: (() => void)[] = [];
  rig.metrics = {
    counter: ({ name }) => ({ inc: (_labels, by = 1) => void values.set(name, (values.get(name) ?? 0) + by) }),
    gauge: ({ name }) => ({ set: (value) => void values.set(name, value) }),
    histogram: () => ({ observe: () => {} }),
    onCollect: (collect) => void collectors.push(collect),
  } satisfies Metrics;
  rig.join('a');
  rig.join('b');
  await started(rig);
  rig.api.remove('a');
  await rig.settle();
  for (const collect of collectors) collect();
  assert.deepEqual(
    ['cirdset_max_cidrs', 'cidrset_usage_cidrs', 'cidrset_cidrs_allocations_total', 'cidrset_cidrs_releases_total'].map(
      (name) => values.get(`node_ipam_controller_${name}`),
    ),
    [8, 1 / 8, 2, 1],
  );
});

test('ranges are added while it runs: a node that waits gets one of them, and nodes that have some there keep them', async () => {
  await using rig = new IpamRig({ clusterCidr: '10.0.0.0/24' });
  rig.join('old', ['10.1.0.0/24']);
  rig.join('a');
  await started(rig);
  rig.join('b');
  await rig.settle();
  assert.deepEqual([rig.cidrsOf('a'), rig.cidrsOf('b')], [['10.0.0.0/24'], []]);
  rig.addRanges('# more\n10.1.0.0/23 # for b\n\n');
  await rig.settle();
  assert.deepEqual([rig.cidrsOf('b'), rig.eventsOf('b')], [['10.1.1.0/24'], ['CIDRNotAvailable']]);
});

test('of a range that is added no node gets what is a part of the Service range', async () => {
  await using rig = new IpamRig({ clusterCidr: '10.0.0.0/24', serviceClusterIpRange: '10.1.0.0/24' });
  rig.join('a');
  await started(rig);
  rig.addRanges('10.1.0.0/23');
  rig.join('b');
  rig.join('c');
  await rig.settle();
  assert.deepEqual(rig.given, { a: '10.0.0.0/24', b: '10.1.1.0/24', c: '' });
});

test('before it is known what nodes have, ranges are added and none is taken away', async () => {
  await using rig = new IpamRig({ clusterCidr: '10.0.0.0/24' });
  rig.api.holdWatch = true;
  rig.join('a', ['10.1.0.0/24']);
  rig.api.beforeList = () => {
    throw new Error('the server is down');
  };
  await rig.start();
  rig.addRanges('10.1.0.0/24');
  assert.throws(() => rig.addRanges(''), /have not been listed yet/);
  rig.api.beforeList = () => {};
  await rig.advance(MINUTE);
  rig.api.holdWatch = false;
  rig.join('b');
  rig.join('c');
  await rig.advance(11_000);
  assert.deepEqual(rig.given, { a: '10.1.0.0/24', b: '10.0.0.0/24', c: '' });
  assert.throws(() => rig.addRanges(''), /cannot be removed while/);
});

test('a range that is in use is not taken away, and what is wrong with a file is said; the old ranges stay', async () => {
  await using rig = new IpamRig({ clusterCidr: '10.0.0.0/24' });
  rig.join('a');
  await started(rig);
  rig.addRanges('10.1.0.0/24\n10.2.0.0/24\n');
  rig.join('b');
  await rig.settle();
  for (const [text, message] of [
    ['10.2.0.0/24', /^RangeError: 10\.1\.0\.0\/24 cannot be removed while a node uses a part of it: b, for example/],
    ['10.1.0.0/24\nnone', /line 2: "none" is not a CIDR range/],
    ['10.1.0.0/24\n10.0.0.0/8', /10\.0\.0\.0\/8 overlaps 10\.0\.0\.0\/24/],
    ['10.1.0.0/24\nfd00::/48', /--cluster-cidr has no IPv6 range/],
    ['10.1.0.0/24\n10.3.0.0/25', /the node mask size 24 does not fit/],
  ] as const) {
    assert.throws(() => rig.addRanges(text), message);
  }
  rig.addRanges('10.1.0.0/24');
  rig.join('c');
  await rig.settle();
  assert.deepEqual(rig.given, { a: '10.0.0.0/24', b: '10.1.0.0/24', c: '' });
  rig.api.remove('b');
  await rig.settle();
  assert.deepEqual(rig.cidrsOf('c'), ['10.1.0.0/24']);
});

const node = fc.nat({ max: 9 });
const more = fc.constantFrom('', '10.1.0.0/24', '10.1.0.0/24\n10.1.1.0/24', '10.1.1.0/24');
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('join' as const), node }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom('leave' as const, 'blink' as const, 'forget' as const), node }),
  },
  fc.record({ do: fc.constantFrom('restart' as const, 'hold' as const, 'publish' as const, 'calm' as const) }),
  fc.record({ do: fc.constantFrom('fail' as const, 'lose' as const), nth: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ do: fc.constant('add' as const), text: more }),
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(0, 200, 5_000, 700_000) }),
  },
);

test('property: through restarts, lost answers and late watches no two nodes have one range', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      await using rig = new IpamRig({ serviceClusterIpRange: '10.0.1.0/24' });
      const service = parseCidr('10.0.1.0/24')!;
      const check = (): void => {
        const seen = new Map<string, string>();
        for (const [name, text] of Object.entries(rig.given)) {
          if (text === '') continue;
          assert.ok(!seen.has(text), `${text} is of ${seen.get(text)} and ${name}`);
          seen.set(text, name);
          assert.ok(!overlaps(parseCidr(text)!, service));
        }
      };
      const faults = (nth: number, error: () => Error): (() => void) => {
        let seen = 0;
        return () => {
          if (++seen % nth === 0) throw error();
        };
      };
      const calm = (): void => {
        rig.beforeRequest = () => {};
        rig.api.after = () => {};
      };
      let added = '';
      await started(rig);
      for (const one of steps) {
        const name = `n${'node' in one ? one.node : 0}`;
        if (one.do === 'join' && !rig.api.nodes.has(name)) rig.join(name);
        else if (one.do === 'leave') rig.api.remove(name);
        else if (one.do === 'blink' && rig.api.nodes.has(name)) {
          rig.api.remove(name);
          rig.api.holdWatch = true;
          rig.join(name);
        } else if (one.do === 'forget') {
          rig.loseFromStore(name);
        } else if (one.do === 'hold' || one.do === 'publish') {
          rig.api.holdWatch = one.do === 'hold';
          rig.api.publish();
        } else if (one.do === 'restart') {
          await rig.stop();
          await rig.start();
        } else if (one.do === 'fail') {
          rig.beforeRequest = faults(one.nth, () => new StatusError('x', 503, { code: 503 }));
        } else if (one.do === 'lose') {
          rig.api.after = faults(one.nth, () => new Error('the answer is lost'));
        } else if (one.do === 'add') {
          try {
            rig.addRanges(one.text);
            added = one.text;
          } catch (error) {
            assert.match(String(error), /cannot be removed while a node|have not been listed yet/);
          }
        } else if (one.do === 'calm') {
          calm();
        } else if (one.do === 'wait') {
          await rig.advance(one.ms);
        }
        await rig.clock.settle();
        check();
      }
      calm();
      rig.api.holdWatch = false;
      rig.api.publish();
      for (let i = 0; i < 15; i++) await rig.advance(MINUTE);
      check();
      // Seven ranges are left beside the Service range.
      const given = Object.values(rig.given).filter((text) => text !== '').length;
      const ranges = 7 + added.split('\n').filter((line) => line !== '').length;
      assert.equal(given, Math.min(ranges, rig.api.nodes.size));
    }),
    { numRuns: 200 },
  );
});
