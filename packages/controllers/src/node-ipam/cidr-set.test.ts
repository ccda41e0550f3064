import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { overlaps, parseCidr, type Cidr } from '@outrigger/cloud-provider';
import { CidrSet } from './cidr-set.ts';
import { readIpamRanges, type IpamRangeFlags } from './ipam-ranges.ts';
import { NodeRanges } from './node-ranges.ts';

function cidr(text: string): Cidr {
  const parsed = parseCidr(text);
  assert.ok(parsed, text);
  return parsed;
}

const noFlags: IpamRangeFlags = {
  clusterCidr: '10.0.0.0/16',
  nodeCidrMaskSize: 0,
  nodeCidrMaskSizeIpv4: 0,
  nodeCidrMaskSizeIpv6: 0,
  serviceClusterIpRange: '',
};
const sizes = (flags: Partial<IpamRangeFlags>): readonly string[] =>
  readIpamRanges({ ...noFlags, ...flags }).sets.map(({ bits, cluster, size }) => `${cluster.text} /${bits} ${size}`);

test('ranges are given in order, each once, and given back ones as late as can be', () => {
  const set = new CidrSet(cidr('10.0.0.0/22'), 24);
  assert.deepEqual([set.allocate()?.text, set.allocate()?.text], ['10.0.0.0/24', '10.0.1.0/24']);
  set.release(cidr('10.0.0.0/24'));
  assert.deepEqual(
    [set.allocate()?.text, set.allocate()?.text, set.allocate()?.text, set.allocate()],
    ['10.0.2.0/24', '10.0.3.0/24', '10.0.0.0/24', undefined],
  );
  const six = new CidrSet(cidr('fd00::/47'), 64);
  assert.deepEqual([six.size, six.allocate()?.text, six.allocate()?.text], [2 ** 17, 'fd00::/64', 'fd00:0:0:1::/64']);
});

test('a range that is larger, smaller or partly outside takes all that it touches', () => {
  const set = new CidrSet(cidr('10.0.0.0/22'), 24);
  assert.equal(set.occupy(cidr('10.0.1.128/25')), false);
  assert.equal(set.occupy(cidr('10.0.0.0/23')), true);
  assert.deepEqual([set.used, set.allocate()?.text], [2, '10.0.2.0/24']);
  assert.equal(set.occupy(cidr('10.0.0.0/8')), true);
  assert.equal(set.allocate(), undefined);
  assert.equal(set.occupy(cidr('192.168.0.0/16')), false);
  assert.equal(set.occupy(cidr('fd00::/8')), false);
  set.release(cidr('10.0.0.0/8'));
  assert.equal(set.used, 3);
});

test('what one node may have is bounded: half of a small set, 16 ranges, a sixteenth of a large one', () => {
  const widest = (cluster: string, bits: number): number => {
    const set = new CidrSet(cidr(cluster), bits);
    const address = cluster.replace(/\/.*/, '');
    let width = bits;
    while (width > 0 && !set.isTooWide(cidr(`${address}/${width - 1}`))) width -= 1;
    return width;
  };
  assert.deepEqual(
    ['10.0.0.0/24', '10.0.0.0/23', '10.0.0.0/22', '10.0.0.0/19', '10.0.0.0/16', '10.0.0.0/12'].map((cluster) =>
      widest(cluster, 24),
    ),
    [24, 24, 23, 20, 20, 16],
  );
  assert.equal(widest('fd00::/48', 64), 52);
  assert.equal(new CidrSet(cidr('10.0.0.0/16'), 24).isTooWide(cidr('192.0.0.0/8')), false);
});

test('2^20 ranges are given, each once, from less than 10 MB', () => {
  const before = process.memoryUsage().arrayBuffers;
  const set = new CidrSet(cidr('10.0.0.0/8'), 28);
  for (let i = 0; i < 2 ** 20; i++) assert.ok(set.allocate());
  assert.deepEqual([set.used, set.allocate()], [2 ** 20, undefined]);
  // Its one buffer; what the heap has not collected yet says nothing.
  assert.ok(process.memoryUsage().arrayBuffers - before < 10_000_000);
});

test('sizes that do not fit are refused', () => {
  assert.throws(() => new CidrSet(cidr('10.0.0.0/16'), 15), /must be from 16 to 32/);
  assert.throws(() => new CidrSet(cidr('10.0.0.0/16'), 33), /must be from 16 to 32/);
  assert.throws(
    () => new CidrSet(cidr('fd00::/32'), 64),
    /more than 2\^20 ranges of \/64: .* node mask size of at most 52/,
  );
});

test('mask sizes are those of kube-controller-manager', () => {
  assert.deepEqual(sizes({}), ['10.0.0.0/16 /24 256']);
  assert.deepEqual(sizes({ nodeCidrMaskSize: 26 }), ['10.0.0.0/16 /26 1024']);
  assert.deepEqual(sizes({ nodeCidrMaskSizeIpv4: 20 }), ['10.0.0.0/16 /20 16']);
  assert.deepEqual(sizes({ clusterCidr: 'fd00::/48' }), ['fd00::/48 /64 65536']);
  assert.deepEqual(sizes({ clusterCidr: 'fd00::/48', nodeCidrMaskSize: 56 }), ['fd00::/48 /56 256']);
  assert.deepEqual(
    sizes({ clusterCidr: 'fd00::/48,10.0.0.0/16', nodeCidrMaskSizeIpv4: 25, nodeCidrMaskSizeIpv6: 60 }),
    ['fd00::/48 /60 4096', '10.0.0.0/16 /25 512'],
  );
  for (const [flags, message] of [
    [{ clusterCidr: '' }, /--cluster-cidr is not set/],
    [{ clusterCidr: 'x' }, /^RangeError: --cluster-cidr: "x" is not a CIDR range/],
    [{ serviceClusterIpRange: 'x' }, /^RangeError: --service-cluster-ip-range: "x"/],
    [{ clusterCidr: '10.0.0.0/16,fd00::/48', nodeCidrMaskSize: 24 }, /two families have two sizes/],
    [{ nodeCidrMaskSize: 24, nodeCidrMaskSizeIpv4: 24 }, /cannot be set together/],
    [{ nodeCidrMaskSizeIpv6: 64 }, /--node-cidr-mask-size-ipv6: --cluster-cidr has no IPv6 range/],
    [{ nodeCidrMaskSize: 8 }, /^RangeError: --node-cidr-mask-size: the node mask size 8 does not fit 10\.0\.0\.0\/16/],
  ] as const) {
    assert.throws(() => readIpamRanges({ ...noFlags, ...flags }), message);
  }
});

test('no node gets what is in the Service range', () => {
  const { sets, reserved } = readIpamRanges({
    ...noFlags,
    clusterCidr: '10.0.0.0/22',
    serviceClusterIpRange: '10.0.1.0/25,fd00::/112',
  });
  const ranges = new NodeRanges(sets, reserved);
  const given = ['a', 'b', 'c', 'd'].map((uid) => ranges.allocate(uid, uid));
  assert.deepEqual(
    given.map((one) => (one.kind === 'allocated' ? one.cidrs[0] : one.cluster)),
    ['10.0.0.0/24', '10.0.2.0/24', '10.0.3.0/24', '10.0.0.0/22'],
  );
});

test('a node gets a range of each family or none', () => {
  const { sets } = readIpamRanges({ ...noFlags, clusterCidr: '10.0.0.0/22,fd00::/63' });
  const ranges = new NodeRanges(sets);
  const clusters = ['10.0.0.0/22', 'fd00::/63'];
  assert.deepEqual(ranges.allocate('a', 'a'), { kind: 'allocated', cidrs: ['10.0.0.0/24', 'fd00::/64'], clusters });
  assert.equal(ranges.allocate('b', 'b').kind, 'allocated');
  assert.deepEqual(ranges.allocate('c', 'c'), { kind: 'exhausted', cluster: 'fd00::/63' });
  assert.equal(sets[0]?.used, 2);
  ranges.release('a');
  assert.deepEqual(ranges.allocate('c', 'c'), { kind: 'allocated', cidrs: ['10.0.3.0/24', 'fd00::/64'], clusters });
});

test('a range that two nodes hold is free when both are gone', () => {
  const { sets } = readIpamRanges({ ...noFlags, clusterCidr: '10.0.0.0/24' });
  const ranges = new NodeRanges(sets);
  assert.deepEqual(ranges.hold('a', 'a', ['10.0.0.0/24']), []);
  assert.deepEqual(ranges.hold('b', 'b', ['10.0.0.0/24']), ['10.0.0.0/24']);
  ranges.release('a');
  assert.equal(ranges.allocate('c', 'c').kind, 'exhausted');
  ranges.release('b');
  assert.equal(ranges.allocate('c', 'c').kind, 'allocated');
});

const command = fc.oneof(
  fc.record({ do: fc.constantFrom('allocate' as const, 'release' as const), uid: fc.nat({ max: 11 }) }),
  fc.record({
    do: fc.constant('hold' as const),
    uid: fc.nat({ max: 11 }),
    at: fc.nat({ max: 31 }),
    bits: fc.integer({ min: 26, max: 31 }),
  }),
);

test('property: what is given away overlaps nothing that is held, and what is given back can be given again', () => {
  fc.assert(
    fc.property(fc.array(command, { maxLength: 60 }), (commands) => {
      const set = new CidrSet(cidr('10.0.0.0/25'), 28);
      const ranges = new NodeRanges([set]);
      const model = new Map<string, Cidr>();
      for (const one of commands) {
        const uid = `uid-${one.uid}`;
        if (one.do === 'release') {
          assert.equal(ranges.release(uid), model.delete(uid));
        } else if (one.do === 'hold') {
          const held = cidr(`10.0.0.${one.at * 8}/${one.bits}`);
          ranges.hold('n', uid, [held.text]);
          model.set(uid, held);
        } else if (!model.has(uid)) {
          const outcome = ranges.allocate('n', uid);
          if (outcome.kind === 'exhausted') continue;
          const given = cidr(outcome.cidrs[0] ?? '');
          for (const held of model.values()) assert.ok(!overlaps(held, given), `${given.text} and ${held.text}`);
          model.set(uid, given);
        }
        const free = Array.from({ length: 8 }, (_, i) => cidr(`10.0.0.${i * 16}/28`)).filter((range) =>
          [...model.values()].every((held) => !overlaps(held, range)),
        );
        assert.equal(set.size - set.used, free.length);
        assert.deepEqual(
          [...model].map(([uid, { text }]) => [uid, text]),
          [...model.keys()].map((uid) => [uid, ranges.heldBy(uid)?.[0]]),
        );
      }
    }),
    { numRuns: 500 },
  );
});
