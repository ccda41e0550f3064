/** Nodes without a machine in the cloud: known by one rule, and left alone by every controller. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudError, type Route } from '@outrigger/cloud-provider';
import type { Node } from '@outrigger/kube';
import { parseClusterCidrs } from './ip/cluster-cidrs.ts';
import { planServingRequest } from './kubelet-serving-approver/plan.ts';
import { nodeOf as servedNode, ServingRig } from './kubelet-serving-approver/serving-rig.suite.ts';
import { planNodeLifecycle } from './node-lifecycle/plan.ts';
import { CloudRangesRig } from './node-ipam/cloud-ranges-rig.suite.ts';
import { IpamRig } from './node-ipam/ipam-rig.suite.ts';
import { planNode } from './node/plan.ts';
import { planRoutes } from './route/plan.ts';
import { RouteRig } from './route/route-rig.suite.ts';
import { isBackEnd, wakesLoadBalancers } from './service/back-ends.ts';
import { isUnmanaged, ownerOfNode, parseUnmanagedRule, VIRTUAL_KUBELETS } from './unmanaged-nodes.ts';

const RULES = [...VIRTUAL_KUBELETS, 'label:edge', 'taint:cellar=yes', 'provider-id:eks-hybrid://'];
const options = { providerName: 'fake', unmanaged: RULES.map(parseUnmanagedRule) };
const UNINITIALIZED = {
  key: 'node.cloudprovider.kubernetes.io/uninitialized',
  value: 'true',
  effect: 'NoSchedule' as const,
};

interface NodeSpec {
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly { readonly key: string; readonly value?: string }[];
  readonly providerID?: string;
  readonly uninitialized?: boolean;
}

function nodeOf({ labels = {}, providerID = 'fake://n', taints = [], uninitialized = false }: NodeSpec): Node {
  return {
    metadata: { name: 'n', uid: 'uid-n', creationTimestamp: '2026-01-01T00:00:00Z', labels: { ...labels } },
    spec: {
      ...(providerID && { providerID }),
      podCIDRs: ['10.0.0.0/24'],
      taints: [
        ...taints.map((one) => ({ effect: 'NoSchedule' as const, ...one })),
        ...(uninitialized ? [UNINITIALIZED] : []),
      ],
    },
    status: {
      addresses: [{ type: 'InternalIP', address: '192.0.2.1' }],
      conditions: [{ type: 'Ready', status: 'Unknown' }],
    },
  };
}

const unmanaged: readonly (readonly [string, NodeSpec])[] = [
  ['the label of a virtual kubelet', { labels: { type: 'virtual-kubelet' } }],
  ['the taint of a virtual kubelet', { taints: [{ key: 'virtual-kubelet.io/provider', value: 'azure' }] }],
  ['its taint without a value', { taints: [{ key: 'virtual-kubelet.io/provider' }] }],
  ['a label of any value', { labels: { edge: 'on-premises' } }],
  ['a label of no value', { labels: { edge: '' } }],
  ['a taint of this value', { taints: [{ key: 'cellar', value: 'yes' }] }],
  ['another provider ID', { providerID: 'eks-hybrid:///eu/n' }],
];
const managed: readonly (readonly [string, NodeSpec])[] = [
  ['nothing of the sort', {}],
  ['the label with another value', { labels: { type: 'kubelet' } }],
  ['a label that begins alike', { labels: { 'edge-2': '' } }],
  ['the taint with another value', { taints: [{ key: 'cellar', value: 'no' }] }],
  ['the taint without the value', { taints: [{ key: 'cellar' }] }],
  ['a provider ID that has it inside', { providerID: 'fake://eks-hybrid://n' }],
];

test('nodes are known by a label, a taint, or the beginning of their provider ID', () => {
  for (const [what, spec] of unmanaged) assert.equal(isUnmanaged(nodeOf(spec), options), true, what);
  for (const [what, spec] of managed) assert.equal(isUnmanaged(nodeOf(spec), options), false, what);
  assert.equal(isUnmanaged(nodeOf({ labels: { type: 'virtual-kubelet' } }), {}), false);
  assert.equal(ownerOfNode(nodeOf({ labels: { edge: '' } }), options), 'foreign');
  assert.equal(ownerOfNode(nodeOf({}), options), 'ours');
});

test('a rule that says nothing is refused, and says what one looks like', () => {
  for (const text of [
    '',
    'edge',
    'label',
    'label:',
    'label:=x',
    'node:x',
    'provider-id:a=b',
    'label:a b',
    'taint:k=a b',
  ]) {
    assert.throws(() => parseUnmanagedRule(text), { name: 'RangeError', message: /is not label:<key>/u }, text);
  }
});

function routeTo(node: Node): Route {
  return {
    id: 'r',
    destination: '10.0.1.0/24',
    targetNodeName: node.metadata?.name ?? '',
    targetProviderID: 'fake://elsewhere',
    blackhole: false,
    ownership: 'owned',
  };
}

for (const [what, spec] of unmanaged) {
  test(`every controller leaves it alone: ${what}`, () => {
    const node = nodeOf({ ...spec, uninitialized: true });
    const gone = { asOf: 0, result: { kind: 'absent', proof: 'no such machine' } } as const;
    const nodeOptions = { ...options, runsRoutes: false, nodeSyncedEvents: false };
    for (const answer of [
      undefined,
      gone,
      { asOf: 0, result: { kind: 'failed', error: new CloudError('unavailable', 'x') } } as const,
    ]) {
      assert.deepEqual(planNode({ node, answer, now: 0, options: nodeOptions }), {
        kind: 'nothing',
        reason: 'unmanaged',
      });
    }
    const lifecycle = { ...options, deletionGraceMs: 0, unknownNodeDeletionMs: 1 };
    assert.deepEqual(planNodeLifecycle({ node, now: 1e9, wallNow: Date.UTC(2026, 5, 1), options: lifecycle }), {
      kind: 'nothing',
      reason: 'unmanaged',
    });
    for (const takesForeignNodes of [false, true]) {
      assert.equal(isBackEnd(nodeOf(spec), { ...options, isDefault: true, takesForeignNodes }), false);
    }
    // Neither is one made to it, nor is the one removed that somebody else has made for its range.
    const plan = planRoutes({
      nodes: [{ ...node, spec: { ...node.spec, podCIDRs: ['10.0.0.0/24', '10.0.1.0/24'] } }],
      routes: [routeTo(node)],
      clusterCidrs: parseClusterCidrs('10.0.0.0/16'),
      ...options,
    });
    assert.deepEqual([plan.creates, plan.deletes], [[], []]);
    const request = planServingRequest({
      csr: { spec: { request: '', signerName: '' } },
      asked: { kind: 'well-formed', nodeName: 'n', dnsNames: ['n'], ips: [] },
      node,
      answer: undefined,
      withProviderID: () => [],
      now: 0,
      options: { ...options, providerNames: ['fake'], isDefault: true },
    });
    assert.deepEqual(request, { kind: 'nothing', reason: 'unmanaged' });
  });
}

test('the same nodes without the rule are looked after', () => {
  const node = nodeOf({ labels: { edge: '' } });
  const { providerName } = options;
  assert.equal(isBackEnd(node, { providerName, isDefault: true }), true);
  const uninitialized = nodeOf({ labels: { edge: '' }, uninitialized: true });
  const nodeOptions = { providerName, runsRoutes: false, nodeSyncedEvents: false };
  assert.equal(planNode({ node: uninitialized, now: 0, options: nodeOptions }).kind, 'look-up');
  const lifecycle = { providerName, deletionGraceMs: 0, unknownNodeDeletionMs: 0 };
  assert.equal(
    planNodeLifecycle({ node, now: 1e9, wallNow: Date.UTC(2026, 5, 1), options: lifecycle }).kind,
    'look-up',
  );
});

test('a node that comes under the rule, or leaves it, wakes the load balancers', () => {
  const [before, after] = [nodeOf({}), nodeOf({ labels: { edge: '' } })];
  const provider = { ...options, isDefault: true };
  const key = 'n';
  assert.equal(wakesLoadBalancers({ type: 'update', key, object: after, previous: before }, provider), true);
  assert.equal(wakesLoadBalancers({ type: 'update', key, object: before, previous: after }, provider), true);
  assert.equal(wakesLoadBalancers({ type: 'update', key, object: after, previous: after }, provider), false);
});

test('a node under the rule gets no pod CIDR, keeps the one that it has, and gets one when it leaves the rule', async () => {
  await using rig = new IpamRig();
  rig.unmanaged = options.unmanaged;
  const join = (name: string, labels: Readonly<Record<string, string>>, podCIDRs: readonly string[] = []): void => {
    rig.join(name, podCIDRs);
    const node = rig.api.nodes.get(name);
    if (node) rig.api.put({ ...node, metadata: { ...node.metadata, labels: { ...labels } } });
  };
  join('has', { edge: '' }, ['10.0.0.0/24']);
  await rig.start();
  join('edge', { edge: '' });
  join('plain', {});
  // Until then another allocator may be at work.
  await rig.advance(60_000);
  assert.deepEqual(rig.given, { has: '10.0.0.0/24', edge: '', plain: '10.0.1.0/24' });
  const edge = rig.api.nodes.get('edge');
  if (edge) rig.api.put({ ...edge, metadata: { ...edge.metadata, labels: {} } });
  await rig.settle();
  assert.deepEqual(rig.cidrsOf('edge'), ['10.0.2.0/24']);
});

test('a node under the rule gets no pod CIDR of the cloud, and gets it when it leaves the rule', async () => {
  await using rig = new CloudRangesRig('from-cloud');
  rig.unmanaged = options.unmanaged;
  rig.machines.set('edge', ['10.0.0.0/24']);
  rig.join('edge');
  const label = (labels: Readonly<Record<string, string>>): void => {
    const node = rig.api.nodes.get('edge');
    if (node) rig.api.put({ ...node, metadata: { ...node.metadata, labels: { ...labels } } });
  };
  label({ edge: '' });
  await rig.start();
  await rig.advance(600_000);
  assert.deepEqual([rig.cidrsOf('edge'), rig.lookUps], [[], 0]);
  label({});
  await rig.advance(1_000);
  assert.deepEqual(rig.cidrsOf('edge'), ['10.0.0.0/24']);
});

test('a node that comes under the rule keeps the network condition that another writes, and gets its route when it leaves the rule', async () => {
  await using rig = new RouteRig();
  rig.join('a', '10.0.1.0/24');
  rig.join('b', '10.0.2.0/24');
  const change = (name: string, labels: Readonly<Record<string, string>>, status: 'True' | 'False'): void => {
    const node = rig.api.nodes.get(name);
    const conditions = [{ type: 'NetworkUnavailable', status, reason: 'Another' }];
    if (node) rig.api.put({ ...node, metadata: { ...node.metadata, labels: { ...labels } }, status: { conditions } });
  };
  change('b', { edge: '' }, 'True');
  await rig.start({ unmanaged: options.unmanaged });
  assert.deepEqual([rig.owned, rig.condition('a')], [['10.0.1.0/24 → a'], 'False RouteCreated']);
  change('a', { edge: '' }, 'True');
  await rig.advance(1_200_000);
  assert.deepEqual(
    [rig.owned, rig.condition('a'), rig.condition('b')],
    [['10.0.1.0/24 → a'], 'True Another', 'True Another'],
  );
  change('b', {}, 'True');
  await rig.settle();
  assert.deepEqual(rig.owned, ['10.0.1.0/24 → a', '10.0.2.0/24 → b']);
});

test("a request of a node's kubelet that was left to a person is judged when the node leaves the rule", async () => {
  await using rig = new ServingRig({ unmanaged: options.unmanaged });
  const node = servedNode('node-1');
  rig.nodes.put({ ...node, metadata: { ...node.metadata, labels: { edge: '' } } });
  await rig.start();
  await rig.ask('csr-1');
  assert.deepEqual([rig.verdict('csr-1'), rig.reads.length], ['pending', 0]);
  rig.nodes.put({ ...node, metadata: { ...node.metadata, labels: {} } });
  await rig.settle();
  assert.equal(rig.verdict('csr-1'), 'Approved');
});
