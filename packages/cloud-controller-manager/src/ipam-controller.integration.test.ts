import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '@outrigger/kube';
import { hollowNode } from '@outrigger/testing';
import { Bench, greenCloud, until } from './program-bench.suite.ts';

const ranges = [
  '--cluster-cidr=10.0.0.0/16,fd00::/48',
  '--service-cluster-ip-range=10.0.0.0/24',
  '--allocate-node-cidrs',
];

/** A node that has its range from this program: the next ones need not wait to see whether there is another allocator. */
function addServed(bench: Bench): void {
  const time = new Date(systemClock.now()).toISOString();
  const node = hollowNode({ name: 'served', ip: '10.0.0.2' });
  const managedFields = [{ manager: 'outrigger-node-ipam', time, fieldsV1: { 'f:spec': { 'f:podCIDRs': {} } } }];
  bench.server.store.put({
    ...node,
    metadata: { ...node.metadata, name: 'served', uid: 'uid-served', managedFields },
    spec: { ...node.spec, podCIDRs: ['10.0.1.0/24'] },
  });
}

test('a node gets its pod CIDRs when the controller and --allocate-node-cidrs are on', async () => {
  await using bench = await Bench.start();
  bench.addNode('a');
  addServed(bench);
  const program = await bench.run(greenCloud(), '--controllers=*,nodeipam', ...ranges);
  await until('has pod CIDRs', () => (bench.node('a').spec?.podCIDRs?.length ?? 0) > 0, program.log);
  assert.deepEqual(bench.node('a').spec?.podCIDRs, ['10.0.2.0/24', 'fd00::/64']);
});

test('it is off by default, and without --allocate-node-cidrs the log says why', async () => {
  await using bench = await Bench.start();
  bench.addNode('a');
  addServed(bench);
  const off = await bench.run(greenCloud(), ...ranges);
  await until('initialised', () => bench.isInitialised('a'), off.log);
  off.signal('SIGTERM');
  await off.ended;
  const idle = await bench.run(greenCloud(), '--controllers=*,node-ipam-controller', ...ranges.slice(0, 2));
  await until('says why', () => idle.log().includes('--allocate-node-cidrs is not set'), idle.log);
  assert.equal(bench.node('a').spec?.podCIDRs, undefined);
});
