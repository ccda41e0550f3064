import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { CloudProvider, InstanceAnswer } from '@outrigger/cloud-provider';
import { systemClock, type Node } from '@outrigger/kube';
import { hollowNode } from '@outrigger/testing';
import { Bench, greenCloud, until } from '../program/program-bench.suite.ts';

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

/** A cloud whose machines have ranges for pods, by name. */
function rangedCloud(machines: Map<string, readonly string[]>): CloudProvider {
  const cloud = greenCloud();
  return {
    ...cloud,
    open: async (host) => {
      const { instances } = await cloud.open(host);
      assert.ok(instances);
      return {
        instances: {
          ...instances,
          lookUp: async (nodes, need, call) => {
            const answers = await instances.lookUp(nodes, need, call);
            return answers.map(({ asOf, result }, i): InstanceAnswer => {
              assert.ok(result.kind === 'found');
              const podCidrs = machines.get(nodes[i]?.name ?? '') ?? [];
              return { asOf, result: { kind: 'found', instance: { ...result.instance, podCidrs } } };
            });
          },
        },
        podRanges: {
          batchSize: 10,
          assign: async (requests) => {
            for (const { node, podCidrs } of requests) machines.set(node.name, podCidrs);
            return requests.map(() => ({ kind: 'done' }));
          },
        },
      };
    },
  };
}

const withoutRoutes = [
  '--controllers=*,node-ipam-controller',
  '--allocate-node-cidrs',
  '--configure-cloud-routes=false',
];

function networkOf({ status }: Node): string | undefined {
  return status?.conditions?.find(({ type }) => type === 'NetworkUnavailable')?.status;
}

test('CloudAllocator: a node gets the range that its machine has in the cloud, and its network', async () => {
  await using bench = await Bench.start();
  bench.addNode('a');
  const machines = new Map([['a', ['10.9.0.0/24', 'fd09::/64']]]);
  const cloud = rangedCloud(machines);
  const program = await bench.run(cloud, '--cidr-allocator-type=CloudAllocator', ...withoutRoutes);
  await until('has its network', () => networkOf(bench.node('a')) === 'False', program.log);
  assert.deepEqual(bench.node('a').spec?.podCIDRs, ['10.9.0.0/24', 'fd09::/64']);
});

test('IPAMFromCluster: a node gets a range of the cluster, and its machine the same', async () => {
  await using bench = await Bench.start();
  bench.addNode('a');
  addServed(bench);
  const machines = new Map<string, readonly string[]>();
  const flags = ['--cidr-allocator-type=IPAMFromCluster', '--cluster-cidr=10.0.0.0/16', ...withoutRoutes];
  const program = await bench.run(rangedCloud(machines), ...flags);
  await until('has its network', () => networkOf(bench.node('a')) === 'False', program.log);
  assert.deepEqual([bench.node('a').spec?.podCIDRs, machines.get('a')], [['10.0.0.0/24'], ['10.0.0.0/24']]);
});

test('--additional-cluster-cidrs-file: nodes get ranges from it as well', async () => {
  await using bench = await Bench.start();
  bench.addNode('a');
  addServed(bench);
  await writeFile(join(bench.directory, 'ranges'), '# more\n10.8.0.0/16\n');
  const program = await bench.run(
    greenCloud(),
    '--controllers=*,nodeipam',
    '--allocate-node-cidrs',
    '--cluster-cidr=10.0.1.0/24',
    '--additional-cluster-cidrs-file=ranges',
  );
  await until('has pod CIDRs', () => (bench.node('a').spec?.podCIDRs?.length ?? 0) > 0, program.log);
  assert.deepEqual(bench.node('a').spec?.podCIDRs, ['10.8.0.0/24']);
});
