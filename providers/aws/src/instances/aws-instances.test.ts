import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isCloudError, type CloudErrorCode, type NodeRef } from '@outrigger/cloud-provider';
import { AwsSite } from './aws-site.suite.ts';

const withoutID = { providerID: undefined };

test('by provider ID: all metadata of one request', async () => {
  using site = new AwsSite({ nodes: 2, hasPublicNodes: true });
  const [answer] = await site.instances.lookUp([site.node(0)], 'metadata', site.call);
  const { privateDnsName, publicDnsName } = site.cluster.instances[0] ?? assert.fail();
  assert.deepEqual(answer?.result, {
    kind: 'found',
    instance: {
      providerID: site.node(0).providerID,
      state: 'running',
      name: privateDnsName,
      type: 'm5.large',
      zone: 'eu-central-1a',
      region: 'eu-central-1',
      addresses: [
        { type: 'InternalIP', address: '10.0.0.4' },
        { type: 'ExternalIP', address: site.aws.account.interfaces.all()[0]?.publicIp },
        { type: 'InternalDNS', address: privateDnsName },
        { type: 'Hostname', address: privateDnsName },
        { type: 'ExternalDNS', address: publicDnsName },
      ],
      podCidrs: [],
      labels: { 'topology.k8s.aws/zone-id': 'euc1-az1' },
    },
  });
  assert.equal(answer?.place, '123456789012/eu-central-1');
  assert.deepEqual(site.calls(), { 'sts:GetCallerIdentity': 1, 'ec2:DescribeInstances': 1 });
});

test('a node keeps the ID that it has, whatever its form', async () => {
  using site = new AwsSite();
  const { id } = site.cluster.instances[0] ?? assert.fail();
  for (const providerID of [`aws:///eu-central-1a/${id}`, `aws:////${id}`, `aws:///other/${id}`, id]) {
    assert.deepEqual(await site.lookUp([site.node(0, { providerID })]), [`running ${providerID}`]);
    assert.equal(site.instances.machineOf?.(providerID), id);
  }
  const fargate = ['fargate-10.0.1.2', 'fargate-ip-10-0-1-2.eu-central-1.compute.internal'];
  for (const name of fargate) assert.equal(site.instances.machineOf?.(`aws:///eu-central-1a/${name}`), '10.0.1.2');
  for (const other of ['gce://p/z/i-1', 'aws:///a/b', '']) assert.equal(site.instances.machineOf?.(other), undefined);
});

test("another's IDs are left alone, and what is no ID is said", async () => {
  using site = new AwsSite();
  const nodes = ['eks-hybrid:///eu-central-1/c/mi-1', 'gce://p/z/i-1', 'aws:///eu-central-1a/instance'].map(
    (providerID) => site.node(0, { providerID, name: 'n' }),
  );
  const [hybrid, other, wrong] = await site.lookUp(nodes);
  assert.deepEqual([hybrid, other], ['missing', 'missing']);
  assert.match(wrong ?? '', /^failed: the provider ID .* of node n names no instance: .* aws:\/\/\/<zone>\/i-…$/u);
  assert.equal(await site.read(nodes[0] ?? assert.fail()), 'missing');
  assert.deepEqual(site.calls()['ec2:DescribeInstances'], undefined);
});

test('what has not the form of an instance ID is none, costs no request and fails nobody else', async () => {
  using site = new AwsSite({ nodes: 500, zones: 1 });
  const { id } = site.cluster.instances[0] ?? assert.fail();
  const broken = ['i-1', 'i-0123456', 'i-012345678', `${id}0`, `i-${'a'.repeat(900)}`, id.toUpperCase(), `${id} `];
  const forged = broken.map((last) => site.node(0, { providerID: `aws:///eu-central-1a/${last}`, name: 'n' }));
  const good = site.cluster.instances.map((_, n) => site.node(n));
  const answers = await site.lookUp([...forged, ...good]);
  for (const one of answers.slice(0, broken.length))
    assert.match(one, /^failed: the provider ID .* names no instance/u);
  assert.equal(answers.filter((one) => one.startsWith('running ')).length, 500);
  assert.equal(site.calls()['ec2:DescribeInstances'], 1);
  site.aws.calls.clear();
  for (const node of forged) {
    const { result } = await site.instances.read(node, 'state', site.call);
    assert.ok(result.kind === 'failed' && isCloudError(result.error, 'invalid'));
    assert.equal(site.instances.machineOf?.(node.providerID ?? ''), undefined);
  }
  assert.equal(site.calls()['ec2:DescribeInstances'], undefined);
});

test('an ID of eight digits, as old instances have, is one', async () => {
  using site = new AwsSite({ nodes: 1 });
  const old = site.node(0, { providerID: 'aws:///eu-central-1a/i-0a1b2c3d' });
  assert.deepEqual(await site.lookUp([old, site.node(0)]), ['missing', `running ${site.node(0).providerID}`]);
});

test('IDs of nobody, however many of 500, take nothing from the others', async () => {
  using site = new AwsSite({ nodes: 490, zones: 1 });
  const nobody = Array.from({ length: 10 }, (_, n) =>
    site.node(0, { providerID: `aws:///eu-central-1a/i-0123456789abcde0${n}`, name: `n${n}` }),
  );
  Object.assign(site.aws.knobs, { mostUnknownNamed: 1 });
  const answers = await site.lookUp([...nobody, ...site.cluster.instances.map((_, n) => site.node(n))]);
  assert.deepEqual(new Set(answers.slice(0, 10)), new Set(['missing']));
  assert.equal(answers.filter((one) => one.startsWith('running ')).length, 490);
});

/** A node of its own name, and an instance that is no node. */
function withOther(
  tags: Readonly<Record<string, string>>,
  where?: string,
): AwsSite & { readonly id: string; readonly dnsName: string } {
  const site = new AwsSite({ nodes: 2 });
  const subnetId = where ?? site.cluster.privateSubnets[0] ?? '';
  const { id, privateDnsName } = site.aws.addInstance({ subnetId, groupIds: [], tags });
  return Object.assign(site, { id, dnsName: privateDnsName });
}

async function both(site: AwsSite, node: NodeRef, code: CloudErrorCode = 'invalid'): Promise<string> {
  const [looked] = await site.lookUp([node, site.node(1)]);
  const { result } = await site.instances.read(node, 'state', site.call);
  assert.ok(result.kind !== 'failed' || isCloudError(result.error, code));
  assert.equal(await site.read(node), looked);
  return looked ?? '';
}

test('an instance that a kubelet names and that may be no node of the cluster is a conflict, in any form of its ID', async () => {
  using site = withOther({ Name: 'database' });
  for (const providerID of [`aws:///eu-central-1a/${site.id}`, `aws:////${site.id}`, site.id]) {
    assert.match(
      await both(site, site.node(0, { providerID }), 'conflict'),
      /^failed: .* has no tag kubernetes\.io\/cluster\/kubernetes, and is not called as the node is.*: tag it/u,
    );
  }
  site.aws.changeInstance(site.id, { tags: { 'kubernetes.io/cluster/kubernetes': 'shared' } });
  assert.match(await both(site, site.node(0, { providerID: `aws:////${site.id}` })), /^running /u);
  site.aws.changeInstance(site.id, { tags: { KubernetesCluster: 'kubernetes' } });
  assert.match(await both(site, site.node(0, { providerID: `aws:////${site.id}` })), /^running /u);
});

test('an instance without any tag of a cluster is the node that is called as it is', async () => {
  using site = withOther({ Name: 'worker' });
  const address = /^ip-[\d-]+/u.exec(site.dnsName)?.[0];
  const resourceName = `${site.id}.eu-central-1.compute.internal`;
  for (const name of [site.dnsName, `${address}.example.com`, resourceName, 'worker']) {
    assert.match(await both(site, site.node(0, { name, providerID: `aws:////${site.id}` })), /^running /u, name);
  }
});

test("an instance of another cluster, and one in another VPC, is none, whatever the node's name", async () => {
  for (const key of ['kubernetes.io/cluster/blue', 'KubernetesCluster']) {
    using site = withOther({ [key]: 'blue' });
    const node = site.node(0, { name: site.dnsName, providerID: `aws:////${site.id}` });
    assert.match(
      await both(site, node),
      new RegExp(`^failed: .* has the tag ${key}.* not kubernetes\\.io/cluster/kub`),
    );
  }
  using site = new AwsSite({ nodes: 2 });
  const far = site.aws.seedCluster({ nodes: 1 }).instances[0] ?? assert.fail();
  const node = site.node(0, { name: far.privateDnsName, providerID: `aws:////${far.id}` });
  assert.match(await both(site, node), /^failed: .* is in the VPC vpc-\w+, and the cluster in vpc-\w+: .*\bVPC\b/u);
});

test('another cluster has nothing to say of whether this is the place, and its terminated instances are gone', async () => {
  using site = withOther({ 'kubernetes.io/cluster/blue': 'owned' });
  const node = site.node(0, { providerID: `aws:////${site.id}` });
  const nobody = site.node(0, { providerID: 'aws:////i-0123456789abcdef0' });
  await assert.rejects(site.instances.read(nobody, 'state', site.call), { code: 'configuration' });
  assert.match(await site.read(node), /^failed: /u);
  await assert.rejects(site.instances.read(nobody, 'state', site.call), { code: 'configuration' });
  site.aws.changeInstance(site.id, { state: 'terminated' });
  assert.match(await site.read(node), /^absent: /u);
});

test('where it is not known which cluster this is, only the VPC of the config is held against an instance', async () => {
  using site = withOther({ Name: 'database' });
  site.config = { ...site.config, clusterId: undefined };
  const node = site.node(0, { providerID: `aws:////${site.id}` });
  assert.match(await both(site, node), /^running /u);
  site.config = { ...site.config, vpcId: 'vpc-0123456789abcdef0' };
  assert.match(await both(site, node), /^failed: .* is in the VPC /u);
});

test('500 IDs a request; unknown ones are dropped and the rest is asked for once more', async () => {
  using site = new AwsSite({ nodes: 620, zones: 1 });
  const nodes = site.cluster.instances.map((_, n) => site.node(n));
  for (const at of [3, 77, 600]) site.aws.forgetInstance(site.cluster.instances[at]?.id ?? '');
  const answers = await site.lookUp(nodes);
  const missing = answers.flatMap((one, at) => (one === 'missing' ? [at] : []));
  assert.deepEqual(missing, [3, 77, 600]);
  assert.equal(answers.filter((one) => one.startsWith('running ')).length, 617);
  assert.equal(site.calls()['ec2:DescribeInstances'], 4);
});

test('an error that names one unknown ID of many costs few requests more, and what it does not name is missing', async () => {
  using site = new AwsSite({ nodes: 500, zones: 1 });
  const nodes = site.cluster.instances.map((_, n) => site.node(n));
  for (const { id } of site.cluster.instances.slice(0, 100)) site.aws.forgetInstance(id);
  for (const [named, calls] of [
    [100, 2],
    [60, 3],
    // Three by IDs, and 497 by the filter.
    [1, 6],
  ] as const) {
    Object.assign(site.aws.knobs, { mostUnknownNamed: named });
    site.aws.calls.clear();
    const answers = await site.lookUp(nodes);
    assert.deepEqual(new Set(answers.slice(0, 100)), new Set(['missing']));
    assert.equal(answers.slice(100).filter((one) => one.startsWith('running ')).length, 400);
    assert.equal(site.calls()['ec2:DescribeInstances'], calls, `${named} named`);
  }
  site.aws.faults.set({ operation: 'DescribeInstances', status: 500, nth: 4 });
  await assert.rejects(site.lookUp(nodes), { code: 'unavailable' }, 'what could not be asked is not missing');
});

test('a request that fails is told of its nodes alone; where all fail, it is thrown', async () => {
  using site = new AwsSite({ nodes: 501, zones: 1 });
  const nodes = site.cluster.instances.map((_, n) => site.node(n));
  site.aws.faults.set({ operation: 'DescribeInstances', status: 500, times: 1 });
  const answers = await site.lookUp(nodes);
  assert.equal(new Set(answers.map((one) => one.startsWith('running'))).size, 2);
  site.aws.faults.set({ operation: 'DescribeInstances', status: 500 });
  await assert.rejects(site.lookUp([site.node(0), site.node(1)]), { code: 'unavailable' });
});

test('stopped is shut down, and nothing else is', async () => {
  using site = new AwsSite({ nodes: 1 });
  const id = site.cluster.instances[0]?.id ?? '';
  const kinds: string[] = [];
  for (const state of ['pending', 'running', 'stopping', 'stopped', 'shutting-down', 'terminated'] as const) {
    site.aws.changeInstance(id, { state });
    kinds.push((await site.lookUp([site.node(0)])).join().split(' ')[0] ?? '');
  }
  assert.deepEqual(kinds, ['running', 'running', 'running', 'shutdown', 'running', 'absent:']);
});

test('without a provider ID: by private DNS name, resource name, address and tag', async () => {
  using site = new AwsSite({ nodes: 4 });
  const [first, second, third, fourth] = site.cluster.instances;
  const nodes = [
    site.node(0, withoutID),
    site.node(1, { ...withoutID, name: `${second?.id}.eu-central-1.compute.internal` }),
    site.node(2, { ...withoutID, name: `${third?.privateDnsName.split('.')[0]}.example.com` }),
    site.node(3, { ...withoutID, name: 'kubernetes-node-3' }),
    site.node(0, { ...withoutID, name: 'nobody' }),
  ];
  assert.deepEqual(await site.lookUp(nodes, 'metadata'), [
    `running aws:///eu-central-1a/${first?.id}`,
    `running aws:///eu-central-1b/${second?.id}`,
    `running aws:///eu-central-1a/${third?.id}`,
    `running aws:///eu-central-1b/${fourth?.id}`,
    'missing',
  ]);
  assert.equal(site.calls()['ec2:DescribeInstances'], 4);
});

test("by name no other cluster's instance is taken, no terminated one, none of another VPC, and none of two", async () => {
  using site = new AwsSite({ nodes: 3 });
  const [first, second, third] = site.cluster.instances;
  site.aws.changeInstance(first?.id ?? '', { tags: { 'kubernetes.io/cluster/other': 'owned' } });
  site.aws.changeInstance(second?.id ?? '', { state: 'terminated' });
  const twice = { ...third?.tags, Name: 'twice' };
  site.aws.changeInstance(third?.id ?? '', { tags: twice });
  site.aws.addInstance({ subnetId: third?.subnetId ?? '', groupIds: [], tags: twice });
  const other = site.aws.seedCluster({ nodes: 1 });
  site.aws.changeInstance(other.instances[0]?.id ?? '', { tags: { ...third?.tags, Name: 'far' } });
  const named = (name: string): ReturnType<typeof site.node> => site.node(0, { ...withoutID, name });
  const answers = await site.lookUp([site.node(0, withoutID), site.node(1, withoutID), named('twice'), named('far')]);
  assert.deepEqual([answers[0], answers[1], answers[3]], ['missing', 'missing', 'missing']);
  assert.match(
    answers[2] ?? '',
    /^failed: 2 instances of the cluster have the tag Name of node twice: i-\w+, i-\w+; .*--provider-id/u,
  );
});

for (const known of [true, false]) {
  test(`1,000 nodes ${known ? 'with' : 'without'} provider IDs are initialised with at most 5 calls`, async () => {
    using site = new AwsSite({ nodes: 1_000 });
    const nodes = site.cluster.instances.map((_, n) => site.node(n, known ? {} : withoutID));
    const answers = await site.lookUp(nodes, 'metadata');
    assert.equal(answers.filter((one) => one.startsWith('running ')).length, 1_000);
    const calls = Object.values(site.calls()).reduce((sum, count) => sum + count, 0);
    assert.ok(calls <= 5, JSON.stringify(site.calls()));
  });
}

test('families in the order of the config; ranges of pods by the prefixes of network interfaces', async () => {
  using site = new AwsSite({ nodes: 0, hasIpv6: true });
  const subnetId = site.cluster.privateSubnets[0] ?? '';
  const interfaces = [{ ipv6Prefixes: ['2001:db8:0:8:1::/80'], ipv4Prefixes: ['10.0.130.0/28'] }, {}];
  const tags = { 'kubernetes.io/cluster/kubernetes': 'owned' };
  const { id } = site.aws.addInstance({ subnetId, groupIds: [], interfaces, tags });
  site.config = { ...site.config, nodeIpFamilies: ['ipv6', 'ipv4'] };
  const node = { name: 'n', uid: 'u', providerID: `aws:///eu-central-1a/${id}`, labels: {}, annotations: {} };
  const [answer] = await site.instances.lookUp([node], 'metadata', site.call);
  assert.ok(answer?.result.kind === 'found');
  const { addresses = [], podCidrs } = answer.result.instance;
  assert.deepEqual(
    addresses.map(({ type }) => type),
    ['InternalIP', 'InternalIP', 'InternalIP', 'InternalIP', 'InternalDNS', 'Hostname'],
  );
  assert.deepEqual(
    addresses.map(({ address }) => address.includes(':')),
    [true, true, false, false, false, false],
  );
  assert.deepEqual(podCidrs, ['10.0.130.0/28', '2001:db8:0:8:1::/80']);
});

test('a node of Fargate: its network interface, without a type, never shut down', async () => {
  using site = new AwsSite({ nodes: 1 });
  const pod = site.aws.addFargatePod({ subnetId: site.cluster.privateSubnets[0] ?? '' });
  const address = pod.privateIps[0] ?? '';
  const forms = [`fargate-${address}`, `fargate-ip-${address.replaceAll('.', '-')}.eu-central-1.compute.internal`];
  const nodes = forms.map((form) => site.node(0, { name: form, providerID: `aws:///eu-central-1a/${form}` }));
  for (const [at, answer] of (await site.instances.lookUp(nodes, 'metadata', site.call)).entries()) {
    assert.ok(answer.result.kind === 'found');
    const { addresses, labels, providerID, state, type, zone } = answer.result.instance;
    assert.deepEqual([providerID, state, type, zone], [nodes[at]?.providerID, 'running', undefined, 'eu-central-1a']);
    assert.deepEqual(addresses?.[0], { type: 'InternalIP', address });
    assert.deepEqual(labels, {});
  }
  assert.equal(site.calls()['ec2:DescribeNetworkInterfaces'], 1);
  const gone = site.node(0, { providerID: 'aws:///eu-central-1a/fargate-10.0.99.99' });
  assert.deepEqual([await site.lookUp([gone]), await site.read(gone)], [['missing'], 'missing']);
});

test('an ID of Fargate is no way to the address of another machine: the node is called by it, and no instance has it', async () => {
  using site = new AwsSite({ nodes: 1 });
  const address = site.aws.addFargatePod({ subnetId: site.cluster.privateSubnets[0] ?? '' }).privateIps[0] ?? '';
  const [instance] = site.aws.account.interfaces
    .all()
    .flatMap(({ attachment, privateIps }) => (attachment?.instanceId ? privateIps : []));
  const hostile = [
    site.node(0, { providerID: `aws:///eu-central-1a/fargate-${address}` }),
    site.node(0, { name: 'fargate-10.0.99.99', providerID: `aws:///eu-central-1a/fargate-${address}` }),
    site.node(0, { name: `fargate-${instance}`, providerID: `aws:///eu-central-1a/fargate-${instance}` }),
  ];
  const found = await site.lookUp(hostile, 'metadata');
  for (const [at, node] of hostile.entries()) {
    const refused = new RegExp(`^failed: node ${node.name}: the provider ID .* correct spec.providerID$`, 'u');
    for (const said of [found[at] ?? '', await site.read(node)]) assert.match(said, refused);
  }
});
