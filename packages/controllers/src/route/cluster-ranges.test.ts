import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '@outrigger/kube';
import { parseClusterCidrs } from '../ip/cluster-cidrs.ts';
import { followRanges } from './cluster-ranges.ts';

const fixed = parseClusterCidrs('10.0.0.0/16');

function nodeOf(name: string, ...podCIDRs: string[]): Node {
  return { metadata: { name }, spec: { podCIDRs } };
}

test('ranges come, and go when no node has a part of them', () => {
  const [one, two] = ['10.1.0.0/16', '10.2.0.0/16\n10.1.0.0/16'];
  const first = followRanges({ fixed, current: fixed, text: two, nodes: [] });
  assert.deepEqual(
    first.map(({ text }) => text),
    ['10.0.0.0/16', '10.2.0.0/16', '10.1.0.0/16'],
  );
  const nodes = [nodeOf('a', '10.0.1.0/24'), nodeOf('b', '10.1.1.0/24'), nodeOf('c')];
  assert.deepEqual(
    followRanges({ fixed, current: first, text: one, nodes }).map(({ text }) => text),
    ['10.0.0.0/16', '10.1.0.0/16'],
  );
});

test('a range that a node has a part of is not taken away, as when the file is empty for a moment', () => {
  const current = followRanges({ fixed, current: fixed, text: '10.1.0.0/16', nodes: [] });
  const nodes = [nodeOf('a', '10.0.1.0/24'), nodeOf('b', '10.1.1.0/24')];
  assert.throws(() => followRanges({ fixed, current, text: '', nodes }), {
    name: 'RangeError',
    message: /^10\.1\.0\.0\/16 cannot be removed while a node uses a part of it: b, for example\. /u,
  });
});

test('what is no range is refused with its line', () => {
  assert.throws(() => followRanges({ fixed, current: fixed, text: '10.1.0.0/16\nten', nodes: [] }), /line 2: "ten"/u);
});
