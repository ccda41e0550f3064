import assert from 'node:assert/strict';
import { test } from 'node:test';
import { backEndOf, portOf, refusalFor, treeFor } from './tree-inputs.suite.ts';

const portsOf = (count: number) => Array.from({ length: count }, (_, i) => portOf(i + 1));
const nodesOf = (count: number) =>
  Array.from({ length: count }, (_, i) => backEndOf(`node-${i}`, [`10.0.${i >> 8}.${i & 255}`]));

test('more members than a plan has time for are refused before ports and nodes are multiplied', () => {
  const most = treeFor({ ports: portsOf(100) }, { backEnds: nodesOf(1_000) });
  assert.equal(most.listeners.at(-1)?.pool.members.length, 1_000);
  assert.match(
    refusalFor({ ports: portsOf(1_000) }, { backEnds: nodesOf(1_000) }),
    /^invalid: 1000 ports on 1000 nodes are 1000000 members of pools, and 100000 are allowed at most: .*node-selector/u,
  );
  assert.match(
    refusalFor({ ports: portsOf(101) }, { backEnds: nodesOf(1_000) }),
    /^invalid: 101 ports on 1000 nodes /u,
  );
});

test('more source ranges than a list of listeners can answer are refused before ports and ranges are multiplied', () => {
  const rangesOf = (count: number) => Array.from({ length: count }, (_, i) => `10.${i >> 8}.${i & 255}.0/24`);
  const most = treeFor({ ports: portsOf(100), sourceRanges: rangesOf(1_000) });
  assert.equal(most.listeners.at(-1)?.allowedCidrs?.length, 1_000);
  assert.match(
    refusalFor({ ports: portsOf(1_000), sourceRanges: rangesOf(4_096) }),
    /^invalid: 1000 ports with 4096 source ranges are 4096000 ranges of listeners, and 100000 are allowed at most: ask for fewer/u,
  );
  assert.match(refusalFor({ ports: portsOf(101), sourceRanges: rangesOf(1_000) }), /^invalid: 101 ports with 1000 /u);
});
