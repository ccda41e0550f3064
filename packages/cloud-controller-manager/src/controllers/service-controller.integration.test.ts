import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CloudProvider, InstanceAnswer, LoadBalancers } from '@outrigger/cloud-provider';
import { Bench, greenCloud, until } from '../program/program-bench.suite.ts';

/** Has a machine of each node but of `stranger`, and says who becomes a member of a load balancer. */
function cloudWithMembers(told: (members: readonly string[]) => void): CloudProvider {
  const cloud = greenCloud();
  const loadBalancers: LoadBalancers = {
    features: {
      protocols: ['TCP'],
      mixedProtocols: false,
      ipFamilies: ['IPv4'],
      dualStack: false,
      sessionAffinity: false,
      externalTrafficPolicyLocal: false,
      sourceRanges: false,
      withoutNodePorts: false,
      requestedIP: false,
    },
    classes: [],
    annotations: [],
    observe: (services) => Promise.resolve(services.map(() => ({ kind: 'parts', parts: [] }))),
    plan: ({ backEnds }) => {
      told(backEnds.flatMap(({ addresses, node }) => addresses.map(({ address }) => `${node.name} ${address}`)));
      return { actions: [], ingress: [] };
    },
    apply: () => Promise.reject(new Error('nothing is planned')),
    listOwned: () => Promise.resolve([]),
  };
  return {
    ...cloud,
    open: async (host) => {
      const { instances } = await cloud.open(host);
      assert.ok(instances);
      return {
        loadBalancers,
        instances: {
          ...instances,
          lookUp: async (nodes, need, call) => {
            const answers = await instances.lookUp(nodes, need, call);
            return answers.map((answer, at): InstanceAnswer =>
              nodes[at]?.name === 'stranger' ? { ...answer, result: { kind: 'missing' } } : answer,
            );
          },
          read: () => Promise.resolve({ result: { kind: 'absent', proof: 'GET: 404' } }),
        },
      };
    },
  };
}

/** A node as its kubelet shows it: with the address that the cloud gives for its machine, and with another one. */
function addNode(bench: Bench, name: string, claimed: string): void {
  bench.addNode(name);
  const node = bench.node(name);
  const addresses = ['10.0.0.1', claimed].map((address) => ({ type: 'InternalIP', address }));
  bench.server.store.put({
    ...node,
    metadata: { ...node.metadata, name },
    spec: { providerID: `green://${name}` },
    status: { ...node.status, addresses },
  });
}

const own = ['a 10.0.0.1', 'b 10.0.0.1'];
const claimed = ['a 10.0.0.66', 'b 10.0.0.67', 'stranger 10.0.0.1', 'stranger 10.0.0.68'];

for (const [flags, members] of [
  [[], own],
  [['--unconfirmed-node-addresses=false'], own],
  [['--unconfirmed-node-addresses'], [...own, ...claimed].toSorted()],
] as const) {
  test(`with ${flags.join('') || 'no flag'} members are ${members.join(', ')}`, async () => {
    await using bench = await Bench.start();
    for (const [at, name] of ['a', 'b', 'stranger'].entries()) addNode(bench, name, `10.0.0.${66 + at}`);
    bench.server.store.put({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web', namespace: 'default', uid: 'uid-web' },
      spec: { type: 'LoadBalancer', ports: [{ port: 80, protocol: 'TCP', nodePort: 30_080 }] },
    });
    let last: readonly string[] | undefined;
    const cloud = cloudWithMembers((all) => (last = all.toSorted()));
    // Not the controller of nodes, which takes the addresses that the cloud does not give out of a node's status.
    const program = await bench.run(cloud, '--controllers=service', ...flags);
    await until('planned', () => last !== undefined, program.log);
    assert.deepEqual(last, members);
  });
}
