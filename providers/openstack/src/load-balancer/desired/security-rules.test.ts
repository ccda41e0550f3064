import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configOf, portOf, refusalFor, treeFor } from './tree-inputs.suite.ts';

const guarded = { config: configOf({ lbProvider: 'ovn', lbMethod: 'SOURCE_IP_PORT', manageSecurityGroups: true }) };
const portsOf = (count: number) => Array.from({ length: count }, (_, i) => portOf(i + 1));
const rangesOf = (count: number) => Array.from({ length: count }, (_, i) => `10.${i >> 8}.${i & 255}.0/24`);

test('more rules than a group may have are refused before ports and ranges are multiplied', () => {
  const most = treeFor({ ports: portsOf(10), sourceRanges: rangesOf(100) }, guarded);
  assert.equal(most.securityGroup?.rules.length, 1_000);
  assert.match(
    refusalFor({ ports: portsOf(1_000), sourceRanges: rangesOf(4_096) }, guarded),
    /^invalid: 1000 ports and 4096 source ranges need 4096000 rules of a security group, and 1000 are allowed at most: .*fewer/u,
  );
  assert.match(refusalFor({ ports: portsOf(11), sourceRanges: rangesOf(91) }, guarded), /^invalid: 11 ports and 91 /u);
});

test('what opens one node port counts once, and what opens none does not count', () => {
  const ports = [portOf(80), portOf(81, 'TCP', 30_080), portOf(80, 'UDP'), portOf(82, 'TCP', 0)];
  const rules = treeFor({ ports, sourceRanges: rangesOf(500) }, guarded).securityGroup?.rules;
  assert.equal(rules?.length, 1_000);
});

test('where the load balancer alone reaches the members, ranges make no rules', () => {
  const { config } = { config: configOf({ manageSecurityGroups: true }) };
  const tree = treeFor({ ports: portsOf(20), sourceRanges: rangesOf(200) }, { config });
  assert.equal(tree.securityGroup?.rules.length, 20);
});
