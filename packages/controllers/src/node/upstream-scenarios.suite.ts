/**
 * For tests: the cases of upstream's unit tables about nodes, as data, and what is done here. From kubernetes/cloud-provider
 * v0.36.3 `controllers/node/node_controller_test.go`. Where a case is there for Instances and for InstancesV2 with one outcome,
 * it is one row: the contract has one look-up for both.
 */
import type { Instance, NodeAddress } from '@outrigger/cloud-provider';

type Labels = Readonly<Record<string, string>>;

export interface Scenario {
  /** The function, and the case in its table. */
  readonly source: string;
  readonly node: {
    /** With the taint `uninitialized`. */
    readonly tainted: boolean;
    readonly providerID?: string;
    readonly addresses?: readonly NodeAddress[];
    readonly labels?: Labels;
    /** `alpha.kubernetes.io/provided-node-ip`. */
    readonly providedIP?: string;
  };
  /** What the cloud says. `error`: it fails; `nothing`: it has no such instance. */
  readonly cloud: Partial<Instance> | 'error' | 'nothing';
  /** What becomes of the node. `as-it-was`: nothing of it changes, a taint stays. */
  readonly expected:
    | 'as-it-was'
    | { readonly providerID?: string; readonly addresses?: readonly NodeAddress[]; readonly labels?: Labels };
  /** Where upstream does something else: what, and words of the row in docs/reference/differences/nodes.md that tells why. */
  readonly differs?: { readonly upstream: string; readonly row: string };
}

const hostname: NodeAddress = { type: 'Hostname', address: 'node0.cloud.internal' };
const ips: readonly NodeAddress[] = [
  { type: 'InternalIP', address: '10.0.0.1' },
  { type: 'ExternalIP', address: '132.143.154.163' },
];
const otherIps: readonly NodeAddress[] = [
  { type: 'InternalIP', address: '10.0.0.1' },
  { type: 'ExternalIP', address: '132.143.154.164' },
];
const west = { zone: 'us-west-1a', region: 'us-west' };
const westLabels: Labels = {
  'topology.kubernetes.io/zone': 'us-west-1a',
  'failure-domain.beta.kubernetes.io/zone': 'us-west-1a',
  'topology.kubernetes.io/region': 'us-west',
  'failure-domain.beta.kubernetes.io/region': 'us-west',
};
const typeLabels: Labels = {
  'node.kubernetes.io/instance-type': 't1.micro',
  'beta.kubernetes.io/instance-type': 't1.micro',
};
const opaque = 'node0.cp.12345';

/**
 * A node that was initialised, whose addresses are looked at again. Upstream's table compares two lists, ours what becomes of
 * the node: a hostname that the cloud does not give is kept in both.
 */
function addressChange(
  name: string,
  before: readonly NodeAddress[],
  after: readonly NodeAddress[],
  expected: Scenario['expected'] = { addresses: after },
): Scenario {
  return {
    source: `TestNodeAddressesChangeDetected: ${name}`,
    node: { tainted: false, providerID: 'fake://12345', addresses: before },
    cloud: { addresses: after },
    expected,
  };
}

/** Labels on a node that was initialised. */
function labelChange(name: string, labels: Labels, expected: Scenario['expected']): Scenario {
  return {
    source: `Test_reconcileNodeLabels: ${name}`,
    node: { tainted: false, providerID: 'fake://12345', labels },
    cloud: 'nothing',
    expected,
  };
}

const stableLabels: Labels = {
  'failure-domain.beta.kubernetes.io/zone': 'foo',
  'failure-domain.beta.kubernetes.io/region': 'bar',
  'topology.kubernetes.io/zone': 'foo',
  'topology.kubernetes.io/region': 'bar',
  'beta.kubernetes.io/instance-type': 'the-best-type',
  'node.kubernetes.io/instance-type': 'the-best-type',
};

export const upstreamScenarios: readonly Scenario[] = [
  {
    source: 'Test_syncNode: node initialized with hostname',
    node: { tainted: true, addresses: [{ type: 'Hostname', address: 'nodeoverriden' }] },
    cloud: { addresses: [hostname, ...ips], type: 't1.micro' },
    expected: { providerID: 'fake://12345', addresses: [hostname, ...ips], labels: typeLabels },
  },
  {
    source: 'Test_syncNode: node initialized with hostname and cloud provider missing hostname',
    node: { tainted: true, addresses: [{ type: 'Hostname', address: 'nodeoverriden' }] },
    cloud: { addresses: ips, type: 't1.micro' },
    expected: {
      providerID: 'fake://12345',
      addresses: [...ips, { type: 'Hostname', address: 'nodeoverriden' }],
      labels: typeLabels,
    },
  },
  {
    source: 'Test_syncNode: node initialized with provider ID',
    node: { tainted: true },
    cloud: { addresses: [hostname, ...ips], type: 't1.micro' },
    expected: { providerID: 'fake://12345', addresses: [hostname, ...ips], labels: typeLabels },
  },
  {
    source: 'Test_syncNode: node ignored',
    node: { tainted: false },
    cloud: { addresses: [hostname, ...ips], type: 't1.micro' },
    expected: 'as-it-was',
  },
  {
    source: 'Test_syncNode: zone/region topology labels added',
    node: { tainted: true },
    cloud: { addresses: [hostname, ...ips], type: 't1.micro', ...west },
    expected: {
      providerID: 'fake://12345',
      addresses: [hostname, ...ips],
      labels: { ...typeLabels, ...westLabels },
    },
  },
  {
    source: 'Test_syncNode: node addresses',
    node: { tainted: true, addresses: [hostname] },
    cloud: { addresses: ips, ...west },
    expected: { providerID: 'fake://12345', addresses: [...ips, hostname], labels: westLabels },
  },
  {
    source: 'Test_syncNode: nil instanceMetadata provided by InstanceV2',
    node: { tainted: true, providerID: opaque, addresses: [hostname], providedIP: '10.0.0.1' },
    cloud: 'nothing',
    expected: 'as-it-was',
  },
  {
    source: 'Test_syncNode: provided node IP address',
    node: { tainted: true, providerID: opaque, addresses: [hostname], providedIP: '10.0.0.1' },
    cloud: { addresses: ips, type: 't1.micro', ...west },
    expected: { providerID: opaque, addresses: [...ips, hostname], labels: { ...typeLabels, ...westLabels } },
  },
  {
    source: 'Test_syncNode: provided node IP address is not valid',
    node: { tainted: true, providerID: opaque, addresses: [hostname], providedIP: 'invalid-ip' },
    cloud: { addresses: ips },
    expected: 'as-it-was',
  },
  {
    source: 'Test_syncNode: provided node IP address is not present',
    node: { tainted: true, providerID: opaque, addresses: [hostname], providedIP: '10.0.0.2' },
    cloud: { addresses: ips },
    expected: 'as-it-was',
  },
  {
    source: 'Test_syncNode: provider ID already set',
    node: { tainted: true, providerID: 'test-provider-id', addresses: [hostname] },
    cloud: { addresses: ips },
    expected: { providerID: 'test-provider-id', addresses: [...ips, hostname] },
  },
  {
    source: 'Test_syncNode: provider ID not implemented',
    node: { tainted: true },
    cloud: { addresses: ips, providerID: '' },
    expected: 'as-it-was',
    differs: {
      upstream: 'the taint goes, without a provider ID',
      row: 'with Instances that have no provider IDs the taint goes',
    },
  },
  {
    source: 'Test_syncNode: [instanceV2] provided additional labels',
    node: { tainted: true, providerID: opaque, addresses: [hostname], providedIP: '10.0.0.1' },
    cloud: { addresses: ips, ...west, labels: { 'topology.k8s.cp/zone-id': 'az1', 'my.custom.label/foo': 'bar' } },
    expected: {
      providerID: opaque,
      addresses: [...ips, hostname],
      labels: { ...westLabels, 'topology.k8s.cp/zone-id': 'az1', 'my.custom.label/foo': 'bar' },
    },
  },
  {
    source: 'Test_syncNode: [instanceV2] provided additional labels with labels to discard',
    node: {
      tainted: true,
      providerID: opaque,
      addresses: [hostname],
      labels: { 'my.custom.label/foo': 'fizz', 'my.custom.label/bar': 'foo' },
      providedIP: '10.0.0.1',
    },
    cloud: {
      addresses: ips,
      ...west,
      labels: {
        'topology.kubernetes.io/region': 'us-other-west',
        'topology.k8s.io/region': 'us-other-west',
        'kubernetes.io/region': 'us-other-west',
        'k8s.io/region': 'us-other-west',
        'my.custom.label/foo': 'bar',
        'my.custom.label/bar': 'foo',
        'app.k8snio/bar': 'foo',
        'k8snio/bar': 'foo',
      },
    },
    expected: {
      providerID: opaque,
      addresses: [...ips, hostname],
      labels: {
        ...westLabels,
        'my.custom.label/foo': 'fizz',
        'my.custom.label/bar': 'foo',
        'app.k8snio/bar': 'foo',
        'k8snio/bar': 'foo',
      },
    },
  },
  {
    source: 'Test_syncNode: [instanceV2] provider ID not implemented',
    node: { tainted: true },
    cloud: { addresses: ips, providerID: '' },
    expected: 'as-it-was',
  },
  {
    source: 'Test_syncNode: [instanceV2] error getting InstanceMetadata',
    node: { tainted: true },
    cloud: 'error',
    expected: 'as-it-was',
  },
  labelChange(
    'requires reconcile',
    {
      'failure-domain.beta.kubernetes.io/zone': 'foo',
      'failure-domain.beta.kubernetes.io/region': 'bar',
      'beta.kubernetes.io/instance-type': 'the-best-type',
    },
    { labels: stableLabels },
  ),
  labelChange("doesn't require reconcile", stableLabels, 'as-it-was'),
  labelChange(
    'require reconcile -- secondary labels are different from primary',
    {
      ...stableLabels,
      'topology.kubernetes.io/zone': 'wrongfoo',
      'topology.kubernetes.io/region': 'wrongbar',
      'node.kubernetes.io/instance-type': 'the-wrong-type',
    },
    { labels: stableLabels },
  ),
  addressChange('the same', ips, ips, 'as-it-was'),
  addressChange('another external IP', otherIps, ips),
  addressChange('a hostname that the cloud does not give', [...ips, hostname], ips, 'as-it-was'),
  addressChange('a hostname that the cloud gives', ips, [...ips, hostname]),
  addressChange(
    'the types changed places',
    [
      { type: 'ExternalIP', address: '10.0.0.1' },
      { type: 'InternalIP', address: '132.143.154.163' },
    ],
    ips,
  ),
  ...['TestNodeAddressesNotUpdate', 'TestNodeAddressesNotUpdateV2'].map((source): Scenario => ({
    source: `${source}: the instance does not exist`,
    node: { tainted: false, providerID: 'fake://12345', addresses: [hostname] },
    cloud: 'nothing',
    expected: 'as-it-was',
  })),
];
