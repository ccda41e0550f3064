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
