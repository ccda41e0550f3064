// Over 400 lines: one table of clusters, and what each check says of them.
/** Clusters that lack something, or in which something cannot be seen, and what is to be said of them. */
import type { Lease } from '@outrigger/kube';
import {
  FINALIZER,
  UNSEEN,
  allocators,
  apiServer,
  besides,
  ccm,
  cinder,
  cluster,
  apiServerLease,
  drivers,
  flags,
  kubelet,
  lease,
  manager,
  migrating,
  mirrorOf,
  other,
  ours,
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

const MIGRATION = '--leader-elect-resource-name=cloud-provider-extraction-migration';
/** Static Pods, in the cluster of these Leases besides that of the managers of clouds. */
const withMirrors = (...leases: readonly Lease[]): ObservedCluster =>
  cluster({
    pods: [mirrorOf(manager), mirrorOf(apiServer), other, outrigger],
    leases: [lease('cloud-controller-manager', 'acme-ccm_1'), ...leases],
  });
const ALLOCATES = ['--allocate-node-cidrs', '--controllers=*,nodeipam'];

/** What differs from the ready cluster → what differs in the answer, and a word of it. */
export const TABLE: readonly (readonly [string, ObservedCluster, Readonly<Record<string, string>>, RegExp])[] = [
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
    /cinder\.csi\.openstack\.org is not on 2 of 2/,
  ],
  [
    'an in-tree volume and no node with drivers',
    cluster({}, { volumes: cinder }),
    { volumes: 'missing' },
    /is not on 2 of 2 nodes/,
  ],
  [
    'an in-tree volume and its driver',
    cluster({}, { volumes: cinder, csiNodes: drivers('a', 'b') }),
    {},
    /on all 2 nodes/,
  ],
  [
    'an in-tree volume and a node that its driver has not reached',
    cluster({}, { volumes: cinder, csiNodes: drivers('a') }),
    { volumes: 'missing' },
    /is not on 1 of 2 nodes.*"b"/,
  ],
  [
    'an in-tree volume, nodes unseen',
    cluster({}, { volumes: cinder, csiNodes: drivers('a'), nodes: UNSEEN }),
    { volumes: 'unknown', nodes: 'unknown', kubelets: 'unknown' },
    /nodes could not be listed/,
  ],
  [
    'more API servers than are seen',
    cluster({
      leases: [
        lease('cloud-controller-manager', 'acme-ccm_1'),
        apiServerLease('x'),
        apiServerLease('y'),
        apiServerLease('z', 900),
      ],
    }),
    { 'kube-apiserver': 'unknown' },
    /the flags of 1 of 2 kube-apiservers/,
  ],
  [
    'as many API servers as are seen',
    cluster({ leases: [lease('cloud-controller-manager', 'acme-ccm_1'), apiServerLease('x')] }),
    {},
    /no cloud provider flags: api/,
  ],
  [
    'a tainted node whose kubelet cannot be asked',
    withKubelet(silent, { spec: { providerID: 'acme://b', taints: [uninitialized] } }),
    { nodes: 'missing', kubelets: 'unknown' },
    /nodes\/proxy/,
  ],
  [
    'a manager that may give out pod CIDRs',
    ccm('--allocate-node-cidrs=true'),
    { 'node-ipam': 'unknown' },
    /or only make routes/,
  ],
  [
    'the same, which says that it does not',
    ccm('--allocate-node-cidrs=true', '--controllers=*,-node-ipam-controller'),
    {},
    /by kube-controller-manager alone/,
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
    'a cloud in the API server that answers, and one without in a pod',
    cluster({}, { apiServerFlags: seen(flags({ 'cloud-provider': 'aws' })) }),
    { 'kube-apiserver': 'missing' },
    /the one that answered: --cloud-provider=aws/,
  ],
  [
    'two API servers, neither in a pod',
    cluster({
      pods: [manager, other, outrigger],
      leases: [lease('cloud-controller-manager', 'acme-ccm_1'), apiServerLease('x'), apiServerLease('y')],
    }),
    { 'kube-apiserver': 'unknown' },
    /the flags of 1 of 2 kube-apiservers/,
  ],
  [
    'a control plane of static Pods',
    withMirrors(lease('kube-controller-manager', 'cp-1_1'), apiServerLease('x')),
    {},
    /no cloud provider flags: kcm/,
  ],
  ['the same without leader election', withMirrors(), {}, /no cloud provider flags: kcm/],
  [
    'the static Pods of a node, and a control plane elsewhere',
    withMirrors(lease('kube-controller-manager', 'managed-7_1')),
    { 'kube-controller-manager': 'unknown', 'node-ipam': 'unknown' },
    /managed-7_1 leads, and no static Pod .* inconclusive/,
  ],
  [
    'static Pods, Leases unseen',
    { ...withMirrors(), leases: UNSEEN },
    {
      'kube-controller-manager': 'unknown',
      'node-ipam': 'unknown',
      leader: 'unknown',
      'one-first': 'unknown',
      'hand-over': 'unknown',
    },
    /Leases/,
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
    /has no holder/,
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
    /in different namespaces/,
  ],
  [
    'a manager with other times',
    ccm('--leader-elect-lease-duration=60s'),
    { beside: 'missing' },
    /leader election timeouts .* differ/,
  ],
  [
    'Outrigger without leader election',
    besides([], '--leader-elect=false'),
    { beside: 'missing' },
    /"Outrigger has --leader-elect=false/,
  ],
  [
    'Outrigger without leader election, for which another Lease does not count',
    besides([], '--leader-elect=false', '--leader-elect-resource-name=acme'),
    { beside: 'missing' },
    /"Outrigger has --leader-elect=false[^}]*\}\]/,
  ],
  [
    'a manager with other times, before Outrigger is there',
    cluster({
      pods: [manager, apiServer, pod('ccm', ['acme-cloud-controller-manager', '--leader-elect-lease-duration=60s'])],
      leases: [lease('cloud-controller-manager', 'ccm_1')],
    }),
    { beside: 'missing' },
    /leader election timeouts .* differ/,
  ],
  [
    'Outrigger with another Lease',
    besides([], '--leader-elect-resource-name=acme'),
    { beside: 'missing' },
    /Outrigger leads by the Lease acme, not cloud-controller-manager/,
  ],
  [
    'Outrigger with a Lease of its own, without a migration file',
    besides([], '--leader-elect-resource-name=acme', '--enable-leader-migration'),
    { beside: 'missing' },
    /Outrigger leads by the Lease acme, not cloud-controller-manager/,
  ],
  [
    'Outrigger with a Lease of its own, for leader migration',
    besides([], '--leader-elect-resource-name=acme', ...migrating),
    { beside: 'unknown' },
    /each controller that it runs is in the migration files of both/,
  ],
  [
    'Outrigger with a Lease elsewhere',
    besides([], '--leader-elect-resource-namespace=x'),
    { beside: 'missing' },
    /in different namespaces/,
  ],
  [
    'Outrigger with other times',
    besides([], '--leader-elect-retry-period=5s'),
    { beside: 'missing' },
    /leader election timeouts .* differ.*"or"/,
  ],
  [
    'both with other times',
    besides(['--leader-elect-lease-duration=60s'], '--leader-elect-lease-duration=60s'),
    {},
    /can wait beside acme-ccm/,
  ],
  [
    'another manager with other times, and Outrigger with a configuration file',
    besides(['--leader-elect-lease-duration=60s'], '--config=/x'),
    { beside: 'unknown', 'node-ipam': 'unknown' },
    /--config file/,
  ],
  [
    'Outrigger with a configuration file',
    besides([], '--config=/x'),
    { beside: 'unknown', 'node-ipam': 'unknown' },
    /--config/,
  ],
  [
    'Outrigger and another Outrigger that does not wait',
    cluster({
      pods: [manager, apiServer, outrigger, ours('or', '--leader-elect=false')],
      leases: [lease('cloud-controller-manager', 'cp-2_1')],
    }),
    {},
    /"Outrigger has --leader-elect=false[^}]*"or"/,
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
    /remove the other manager/,
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
  [
    'migration by default',
    ccm('--enable-leader-migration'),
    { 'one-first': 'missing' },
    /default leader migration configuration/,
  ],
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
    /node-ipam-controllers do not use one Lease/,
  ],
  [
    'two allocators that migrate without a file',
    allocators(['--enable-leader-migration'], '--enable-leader-migration'),
    { 'node-ipam': 'missing', 'one-first': 'missing' },
    /node-ipam-controllers do not use one Lease.*one --leader-migration-config/,
  ],
  [
    'two allocators, of which one migrates by a file',
    allocators([], ...migrating),
    { 'node-ipam': 'missing' },
    /node-ipam-controllers do not use one Lease.*Outrigger does not look for another allocator/,
  ],
  [
    'two allocators, of which the other one migrates by a file',
    allocators(migrating),
    { 'node-ipam': 'missing' },
    /one --leader-migration-config with node-ipam-controller","objects"/,
  ],
  [
    'replicas of one allocator without leader election',
    cluster({
      pods: [
        ...['kcm-1', 'kcm-2'].map((name) =>
          pod(name, ['kube-controller-manager', '--allocate-node-cidrs', '--leader-elect=false']),
        ),
        apiServer,
        other,
        outrigger,
      ],
    }),
    { 'node-ipam': 'missing' },
    /node-ipam-controllers do not use one Lease/,
  ],
  [
    'a manager that may give out pod CIDRs, under the Lease of the one that does',
    cluster({
      pods: [
        pod('kcm', ['kube-controller-manager']),
        apiServer,
        pod('acme-ccm', ['acme-cloud-controller-manager', '--allocate-node-cidrs']),
        ours('or', ...ALLOCATES),
      ],
    }),
    {},
    /by a cloud-controller-manager alone/,
  ],
  [
    'two allocators, of which one has a file and no leader election',
    allocators(['--leader-elect=false', ...migrating], ...migrating),
    { 'node-ipam': 'missing' },
    /node-ipam-controllers do not use one Lease/,
  ],
  [
    'two allocators that migrate by files, in two namespaces',
    allocators(['--leader-elect-resource-namespace=x', ...migrating], ...migrating),
    { 'node-ipam': 'missing' },
    /node-ipam-controllers do not use one Lease/,
  ],
  [
    'two allocators that migrate by files',
    allocators(migrating, ...migrating),
    { 'node-ipam': 'unknown' },
    /node-ipam-controller is in the file of each.*with the same component.*Outrigger does not look for another allocator/,
  ],
  [
    'two allocators, of which one has the Lease of the migration as its own',
    allocators([MIGRATION], ...migrating),
    { 'node-ipam': 'unknown' },
    /node-ipam-controller is in the file of each/,
  ],
  [
    'two allocators that migrate by files, of which one has a configuration file, too',
    allocators(migrating, '--config=/x', '--leader-migration-config=/x'),
    { 'node-ipam': 'unknown', beside: 'unknown' },
    /node-ipam-controller is in the file of each/,
  ],
  [
    'two allocators with one Lease',
    allocators([MIGRATION], MIGRATION),
    { 'node-ipam': 'ok', beside: 'missing' },
    /one after the other, under one Lease/,
  ],
  [
    'replicas of one allocator that migrate by a file',
    cluster({
      pods: [
        ...['kcm-1', 'kcm-2'].map((name) =>
          pod(name, ['kube-controller-manager', '--allocate-node-cidrs', ...migrating]),
        ),
        apiServer,
        other,
        outrigger,
      ],
    }),
    {},
    /by kube-controller-manager alone/,
  ],
  [
    'two cloud-controller-managers that allocate, with one Lease',
    cluster({
      pods: [
        pod('kcm', ['kube-controller-manager']),
        apiServer,
        pod('acme-ccm', ['acme-cloud-controller-manager', ...ALLOCATES]),
        ours('or', ...ALLOCATES),
      ],
    }),
    {},
    /one after the other, under one Lease/,
  ],
  [
    'two cloud-controller-managers that allocate, with two Leases',
    cluster({
      pods: [
        pod('kcm', ['kube-controller-manager']),
        apiServer,
        pod('acme-ccm', ['acme-cloud-controller-manager', ...ALLOCATES]),
        ours('or', ...ALLOCATES, '--leader-elect-resource-name=acme'),
      ],
    }),
    { 'node-ipam': 'missing', beside: 'missing' },
    /node-ipam-controllers do not use one Lease/,
  ],
];
