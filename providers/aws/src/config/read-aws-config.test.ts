import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AwsConfig } from './aws-config.ts';
import { readAwsConfig } from './read-aws-config.ts';

function read(text: string): { readonly config: AwsConfig; readonly warnings: readonly string[] } {
  const warnings: string[] = [];
  const config = readAwsConfig({ text, fileName: 'aws.conf' }, (warning) => void warnings.push(warning));
  return { config, warnings };
}

const refused = (text: string, message: RegExp): void =>
  assert.throws(() => read(text), { code: 'configuration', message });

test('without a file, and with an empty one, all is by default', () => {
  const config = readAwsConfig(undefined, assert.fail);
  assert.deepEqual(read('[Global]\n').config, config);
  const { clusterHealthProbe, clusterId, nodeIpFamilies, region, serviceOverrides, usesLegacyTags } = config;
  assert.deepEqual(clusterHealthProbe, { mode: 'ServiceNodePort', port: 10_256, path: '/healthz' });
  assert.deepEqual([clusterId, region, usesLegacyTags], [undefined, undefined, false]);
  assert.deepEqual(nodeIpFamilies, ['ipv4']);
  assert.deepEqual(serviceOverrides, []);
});

test('all keys of cloud-provider-aws', () => {
  const { config, warnings } = read(`[Global]
Zone = us-west-2a
Region = ignored
VPC = vpc-1
SubnetID = subnet-1
RouteTableID = rtb-1
RoleARN = arn:aws:iam::123456789012:role/ccm
SourceARN = arn:aws:eks:us-west-2:123456789012:cluster/c
KubernetesClusterTag = c
KubernetesClusterID = c
DisableSecurityGroupIngress = true
ElbSecurityGroup = sg-1
NodeIPFamilies = ipv6
NodeIPFamilies = ipv4
ClusterServiceLoadBalancerHealthProbeMode = Shared
ClusterServiceSharedLoadBalancerHealthProbePort = 8080
ClusterServiceSharedLoadBalancerHealthProbePath = live
SupportedTopologyInstanceTypePattern = ^p5
NLBSecurityGroupMode = Managed
`);
  assert.deepEqual(warnings, ['aws.conf: without effect here: global.subnetId']);
  assert.deepEqual(config, {
    region: 'us-west-2',
    vpcId: 'vpc-1',
    routeTableId: 'rtb-1',
    roleArn: 'arn:aws:iam::123456789012:role/ccm',
    sourceArn: 'arn:aws:eks:us-west-2:123456789012:cluster/c',
    clusterId: 'c',
    usesLegacyTags: true,
    disableSecurityGroupIngress: true,
    elbSecurityGroup: 'sg-1',
    nlbSecurityGroupMode: 'Managed',
    nodeSecurityGroups: [],
    nodeTags: {},
    nodeIpFamilies: ['ipv6', 'ipv4'],
    clusterHealthProbe: { mode: 'Shared', port: 8080, path: '/live' },
    topologyTypes: /^p5/u,
    serviceOverrides: [],
  });
});

test('the key of ours', () => {
  assert.deepEqual(read('[Global]\nNodeSecurityGroups = sg-9, sg-8\n').config.nodeSecurityGroups, ['sg-9', 'sg-8']);
});

test('tags of instances: repeated, or with commas', () => {
  const text = '[Global]\nNodeTags = team=infra, empty=\nNodeTags = "a b=c = d"\nNodeTags = team=other\n';
  assert.deepEqual(read(text).config.nodeTags, { team: 'other', empty: '', 'a b': 'c = d' });
  const long = (length: number): string => 'x'.repeat(length);
  for (const tag of [
    'team',
    '=infra',
    'aws:team=infra',
    'kubernetes.io/cluster/other=owned',
    'KubernetesCluster=other',
    'outrigger.dev/cluster=uid',
    `${long(129)}=`,
    `a=${long(257)}`,
  ])
    refused(`[Global]\nNodeTags = ${tag}\n`, /aws\.conf:2: .*nodeTags/iu);
});

test('an unknown key is named, with the one that it may mean; the program starts', () => {
  const { warnings } = read('[Global]\nKubernetesClusterIDs = c\n');
  assert.match(warnings.join(), /aws\.conf:2: .*KubernetesClusterIDs.*there is no such key.*it is ignored/iu);
});

test('what a person has to correct', () => {
  refused(
    '[Global]\nKubernetesClusterTag = a\nKubernetesClusterID = b\n',
    /KubernetesClusterID is b and KubernetesClusterTag is a/u,
  );
  refused('[Global]\nZone = nowhere\n', /Zone is nowhere/u);
  refused('[Global]\nNodeIPFamilies = ipv5\n', /aws\.conf:2: .*ipv4 or ipv6/u);
  refused('[Global]\nSupportedTopologyInstanceTypePattern = (\n', /regular expression/u);
  refused('[Global]\nNLBSecurityGroupMode = Mine\n', /one of Managed/u);
  refused('Global\n', /aws\.conf:1/u);
});

test('the region of a zone, of local zones too', () => {
  assert.equal(read('[Global]\nZone = us-west-2-lax-1a\n').config.region, 'us-west-2');
  assert.equal(read('[Global]\nZone = us-gov-west-1b\n').config.region, 'us-gov-west-1');
});

const override = (name: string, service: string): string =>
  `[ServiceOverride "${name}"]\nService = ${service}\nRegion = eu-central-1\nURL = https://vpce.example/\nSigningRegion = eu-central-1\n`;

test('service overrides by the names of both SDKs', () => {
  const services = (text: string): readonly string[] =>
    read(text).config.serviceOverrides.map(({ service }) => service);
  assert.deepEqual(services(override('1', 'EC2')), ['ec2']);
  assert.deepEqual(services(override('1', 'ec2')), ['ec2']);
  assert.deepEqual(services(override('1', 'elasticloadbalancing')), ['elb', 'elbv2']);
  assert.deepEqual(services(override('1', 'Elastic Load Balancing')), ['elb']);
  assert.deepEqual(services(override('1', '"Elastic Load Balancing v2"')), ['elbv2']);
  assert.deepEqual(services(override('1', 'KMS')), []);
  assert.deepEqual(services(override('1', 'ec2imds') + override('2', 'sts')), ['imds', 'sts']);
  const { config, warnings } = read(`${override('1', 'ec2')}SigningName = ec2\nSigningMethod = v4\n`);
  assert.deepEqual(config.serviceOverrides, [
    {
      service: 'ec2',
      region: 'eu-central-1',
      url: 'https://vpce.example',
      signingRegion: 'eu-central-1',
      signingName: 'ec2',
    },
  ]);
  assert.match(warnings.join(), /without effect here: serviceOverride\.1\.signingMethod/u);
});

test('service overrides that lack something, or are there twice', () => {
  for (const key of ['Service', 'Region', 'URL', 'SigningRegion'])
    refused(
      override('1', 'ec2').replace(new RegExp(`^${key} = .*\n`, 'mu'), ''),
      new RegExp(`"1"\\] needs ${key}`, 'u'),
    );
  refused(
    override('1', 'ec2') + override('2', 'EC2'),
    /"2"\]: there is another override for the same service in eu-central-1/u,
  );
  refused(override('1', 's3'), /one of EC2/u);
});
