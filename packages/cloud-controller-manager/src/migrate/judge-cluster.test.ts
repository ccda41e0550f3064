import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { judgeCluster, migrationSteps } from './judge-cluster.ts';
import {
  FINALIZER,
  TARGET,
  UNSEEN,
  apiServer,
  ccm,
  cinder,
  cluster,
  driver,
  flags,
  kubelet,
  lease,
  manager,
  migrating,
  other,
  outrigger,
  pod,
  seen,
  silent,
  uninitialized,
  withKubelet,
  withNode,
  withService,
} from './observed-cluster.suite.ts';
import type { ObservedCluster } from './observed-cluster.ts';

function statesOf(observed: ObservedCluster, target = TARGET): Readonly<Record<string, string>> {
  return Object.fromEntries(judgeCluster(observed, target).map(({ state, step }) => [step, state]));
}

const READY = Object.fromEntries(migrationSteps.map(({ name }) => [name, name === 'hand-over' ? 'missing' : 'ok']));

test('a cluster that is ready lacks the hand-over alone, and nothing once that is done', () => {
  assert.deepEqual(statesOf(cluster()), READY);
  const after = cluster({
    pods: [manager, apiServer, outrigger],
    leases: [lease('cloud-controller-manager', 'cp-2_9')],
  });
  assert.deepEqual(new Set(Object.values(statesOf(after))), new Set(['ok']));
});

/** What differs from the ready cluster → what differs in the answer, and a word of it. */
const TABLE: readonly (readonly [string, ObservedCluster, Readonly<Record<string, string>>, RegExp])[] = [
  ['a node without a provider ID', withNode({ spec: {} }), { nodes: 'missing' }, /1 of 2 nodes have no provider ID/],
  [
    'a tainted node',
    withNode({ spec: { providerID: 'acme://b', taints: [uninitialized] } }),
    { nodes: 'missing' },
    /taint/,
  ],
  ['two clouds', withNode({ spec: { providerID: 'other://b' } }), { nodes: 'missing' }, /acme, other/],
  ['a node without an address', withNode({ status: {} }), { nodes: 'missing' }, /no address/],
  [
    'a stable label behind its beta one',
    withNode({ metadata: { name: 'b', labels: { 'failure-domain.beta.kubernetes.io/zone': 'a' } } }),
    { nodes: 'missing' },
    /beta label/,
  ],
  ['nodes not listed', cluster({}, { nodes: UNSEEN }), { nodes: 'unknown', kubelets: 'unknown' }, /403/],
  ['no nodes', cluster({ nodes: [] }), {}, /there are no nodes/],
  [
    'a kubelet of an in-tree cloud',
    withKubelet({ ...kubelet, flags: seen(flags({ 'cloud-provider': 'acme' })) }),
    { kubelets: 'missing' },
    /b: --cloud-provider=acme/,
  ],
  [
    'a kubelet without the flag',
    withKubelet({ ...kubelet, flags: seen(flags({})) }),
    { kubelets: 'missing' },
    /cloud-controller-manager/,
  ],
  ['a kubelet that cannot be asked', withKubelet(silent), { kubelets: 'unknown' }, /nodes\/proxy/],
  [
    'the same, which k3s has started',
    withKubelet(silent, {
      metadata: {
        name: 'b',
        annotations: { 'k3s.io/node-args': '["agent","--kubelet-arg","cloud-provider=external"]' },
      },
    }),
    {},
    /1 of 1 kubelets have/,
  ],
  [
    'the same, started otherwise',
    withKubelet(silent, {
      metadata: { name: 'b', annotations: { 'rke2.io/node-args': '["--kubelet-arg=cloud-provider=aws"]' } },
    }),
    { kubelets: 'missing' },
    /=aws/,
  ],
  [
    'the same, started with nothing of it',
    withKubelet(silent, { metadata: { name: 'b', annotations: { 'k3s.io/node-args': '["agent"]' } } }),
    { kubelets: 'unknown' },
    /nodes\/proxy/,
  ],
  [
    'the same, with a node IP',
    withKubelet(silent, {
      metadata: { name: 'b', annotations: { 'alpha.kubernetes.io/provided-node-ip': '10.0.0.1' } },
    }),
    {},
    /1 of 1 kubelets have/,
  ],
  [
    'a kubelet with another provider ID',
    withKubelet({ ...kubelet, providerID: seen('acme://c') }),
    { kubelets: 'missing' },
    /another provider ID/,
  ],
  [
    'a load balancer without finalizer',
    withService({ metadata: { namespace: 'x', name: 'y' } }),
    { services: 'missing' },
    /x\/y/,
  ],
  [
    'a Service that is going',
    withService({
      metadata: { namespace: 'x', name: 'y', finalizers: [FINALIZER], deletionTimestamp: '2026-01-01T00:00:00Z' },
    }),
    { services: 'missing' },
    /being deleted/,
  ],
  ['a Service of another type', withService({ spec: { type: 'ClusterIP' } }), { services: 'missing' }, /another type/],
  ['a Service without address', withService({ status: {} }), { services: 'missing' }, /no address yet/],
  [
    'a Service of a class',
    withService({ spec: { type: 'LoadBalancer', loadBalancerClass: 'x/y' }, metadata: {} }),
    {},
    /1 more have a class/,
  ],
  [
    'an in-tree volume and no driver',
    cluster({}, { volumes: cinder, csiNodes: seen([{ metadata: { name: 'a' }, spec: { drivers: [] } }]) }),
    { volumes: 'missing' },
    /cinder\.csi\.openstack\.org is not on 1 of 1/,
  ],
  [
    'an in-tree volume and no node with drivers',
    cluster({}, { volumes: cinder }),
    { volumes: 'missing' },
    /not on any node/,
  ],
  [
    'an in-tree volume and its driver',
    cluster({}, { volumes: cinder, csiNodes: seen([{ metadata: { name: 'a' }, spec: { drivers: [driver] } }]) }),
    {},
    /on all 1 nodes/,
  ],
  [
    'an in-tree volume, drivers unseen',
    cluster({}, { volumes: cinder, csiNodes: UNSEEN }),
    { volumes: 'unknown' },
    /CSINodes/,
  ],
  ['volumes not listed', cluster({}, { volumes: UNSEEN }), { volumes: 'unknown' }, /PersistentVolumes/],
  [
    'a cloud in the API server',
    cluster({ pods: [manager, pod('api', ['kube-apiserver', '--cloud-provider=aws']), other, outrigger] }),
    { 'kube-apiserver': 'missing' },
    /api: --cloud-provider=aws/,
  ],
  [
    'volume labels in the API server',
    cluster({
      pods: [
        manager,
        pod('api', ['kube-apiserver', '--enable-admission-plugins', 'A,PersistentVolumeLabel']),
        other,
        outrigger,
      ],
    }),
    { 'kube-apiserver': 'missing' },
    /PersistentVolumeLabel/,
  ],
  [
    'an API server in no pod says its flags',
    cluster({ pods: [manager, other, outrigger] }),
    {},
    /the one that answered/,
  ],
  [
    'an API server in no pod, which says nothing',
    cluster({ pods: [manager, other, outrigger] }, { apiServerFlags: UNSEEN }),
    { 'kube-apiserver': 'unknown' },
    /403/,
  ],
  [
    'a cloud in kube-controller-manager',
    cluster({ pods: [pod('kcm', ['kube-controller-manager', '--cloud_config=/c']), apiServer, other, outrigger] }),
    { 'kube-controller-manager': 'missing' },
    /kcm: --cloud-config=\/c/,
  ],
  [
    'kube-controller-manager in no pod',
    cluster({ pods: [apiServer, other, outrigger] }),
    { 'kube-controller-manager': 'unknown', 'node-ipam': 'unknown' },
    /no pod of kube-system runs it/,
  ],
  [
    'flags from variables',
    cluster({ pods: [pod('kcm', ['kube-controller-manager', '$(ARGS)']), apiServer, other, outrigger] }),
    { 'kube-controller-manager': 'unknown', 'node-ipam': 'unknown' },
    /variables/,
  ],
  ['nobody leads', cluster({ leases: [] }), { leader: 'missing' }, /ever led/],
  [
    'the leader is gone',
    cluster({ leases: [lease('cloud-controller-manager', 'acme-ccm_1', 600)] }),
    { leader: 'missing' },
    /nobody holds/,
  ],
  [
    'a leader on the edge',
    cluster({ leases: [lease('cloud-controller-manager', 'acme-ccm_1', 30)] }),
    { leader: 'unknown' },
    /clocks/,
  ],
  [
    'Leases not listed',
    cluster({}, { leases: UNSEEN }),
    { leader: 'unknown', 'one-first': 'unknown', 'hand-over': 'unknown' },
    /Leases/,
  ],
  ['a manager without leader election', ccm('--leader-elect=false'), { beside: 'missing' }, /--leader-elect=false/],
  [
    'a manager with another Lease',
    ccm('--leader-elect-resource-name=acme'),
    { beside: 'missing' },
    /the Lease acme, not cloud-controller-manager/,
  ],
  [
    'a manager with a Lease elsewhere',
    ccm('--leader-elect-resource-namespace=x'),
    { beside: 'missing' },
    /not in kube-system/,
  ],
  [
    'a manager with other times',
    ccm('--leader-elect-lease-duration=60s'),
    { beside: 'missing' },
    /times of leader election/,
  ],
  [
    'somebody leads who is not seen',
    cluster({ pods: [manager, apiServer, outrigger], leases: [lease('cloud-controller-manager', 'vm_1')] }),
    { beside: 'unknown', 'hand-over': 'unknown' },
    /vm_1 leads/,
  ],
  [
    'both on the node of the holder',
    cluster({
      pods: [manager, apiServer, outrigger, pod('acme-ccm', ['acme-cloud-controller-manager'], { nodeName: 'cp-2' })],
      leases: [lease('cloud-controller-manager', 'cp-2_1')],
    }),
    { 'hand-over': 'unknown' },
    /both managers run there/,
  ],
  [
    'Outrigger leads, the other waits',
    cluster({ leases: [lease('cloud-controller-manager', 'cp-2_1')] }),
    {},
    /end the other manager for good/,
  ],
  [
    'pods not listed',
    cluster({}, { programs: UNSEEN }),
    {
      'kube-controller-manager': 'unknown',
      beside: 'unknown',
      'hand-over': 'unknown',
      'one-first': 'unknown',
      'node-ipam': 'unknown',
    },
    /pods of kube-system/,
  ],
  ['migration by default', ccm('--enable-leader-migration'), { 'one-first': 'missing' }, /default configuration/],
  ['migration by a file', ccm(...migrating), {}, /acme-ccm migrate under the Lease/],
  [
    'a Lease of a migration that is over',
    cluster({
      leases: [
        lease('cloud-controller-manager', 'acme-ccm_1'),
        lease('cloud-provider-extraction-migration', 'x_1', 900),
      ],
    }),
    { 'one-first': 'missing' },
    /delete lease/,
  ],
  [
    'a Lease of a migration, held by somebody',
    cluster({
      leases: [lease('cloud-controller-manager', 'acme-ccm_1'), lease('cloud-provider-extraction-migration', 'x_1')],
    }),
    { 'one-first': 'unknown' },
    /x_1 holds it/,
  ],
  [
    'two allocators',
    ccm('--allocate-node-cidrs', '--controllers=*,nodeipam'),
    { 'node-ipam': 'missing' },
    /both give out/,
  ],
];

for (const [what, observed, differences, words] of TABLE) {
  test(`a cluster with ${what}`, () => {
    const steps = judgeCluster(observed, TARGET);
    const states = Object.fromEntries(steps.map(({ state, step }) => [step, state]));
    assert.deepEqual(states, { ...READY, ...differences }, JSON.stringify(steps, undefined, 1));
    assert.match(JSON.stringify(steps), words);
  });
}

test('provider IDs and owners of another provider than the one that is named are told', () => {
  const states = statesOf(cluster(), { ...TARGET, providerName: 'memory' });
  assert.deepEqual(states, { ...READY, nodes: 'missing' });
});

test('whatever could not be seen, no step that needs it is ok', () => {
  // By step: without any of these there is no telling. The API server has two ways to say its flags: both.
  const needs: Readonly<Record<string, readonly (readonly (keyof ObservedCluster)[])[]>> = {
    'kube-controller-manager': [['programs']],
    'kube-apiserver': [['programs', 'apiServerFlags']],
    volumes: [['volumes']],
    kubelets: [['nodes']],
    nodes: [['nodes']],
    services: [['services']],
    leader: [['leases']],
    beside: [['programs']],
    'hand-over': [['programs'], ['leases']],
    'one-first': [['programs'], ['leases']],
    'node-ipam': [['programs']],
  };
  assert.deepEqual(Object.keys(needs).toSorted(), migrationSteps.map(({ name }) => name).toSorted());
  const readings = ['nodes', 'leases', 'programs', 'apiServerFlags', 'csiNodes', 'volumes', 'services'] as const;
  const done = cluster({
    pods: [manager, apiServer, outrigger],
    leases: [lease('cloud-controller-manager', 'cp-2_9')],
  });
  fc.assert(
    fc.property(
      fc.constantFrom(done, ...TABLE.map(([, observed]) => observed)),
      fc.subarray([...readings], { minLength: 1 }),
      (observed, hidden) => {
        const states = statesOf({ ...observed, ...Object.fromEntries(hidden.map((name) => [name, UNSEEN])) });
        for (const [step, sets] of Object.entries(needs)) {
          const isBlind = sets.some((set) => set.every((name) => (hidden as readonly string[]).includes(name)));
          if (isBlind) assert.notEqual(states[step], 'ok', `${step} without ${hidden.join(', ')}`);
        }
      },
    ),
  );
});

test('each step is a heading of the guide', () => {
  const guide = readFileSync(new URL('../../../../docs/guides/migrate/README.md', import.meta.url), 'utf8');
  const headings = [...guide.matchAll(/^#+ (.+)$/gmu)].map(([, heading]) => heading);
  for (const { heading } of migrationSteps) assert.ok(headings.includes(heading), heading);
});
