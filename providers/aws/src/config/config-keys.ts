/** Every key of the configuration: those of cloud-provider-aws, and one of ours. The file is read by these, and its page is made of them. */
import {
  bool,
  listOf,
  named,
  oneOf,
  optional,
  text,
  unused,
  url,
  wholeNumber,
  type ConfigKey,
  type IpFamily,
  type NamedSections,
  type ValueKind,
} from '@outrigger/provider-kit';
import type { AwsService } from './aws-config.ts';

type Optional<T> = ConfigKey<T | undefined>;

export type OverrideKeys = {
  readonly service: Optional<readonly AwsService[]>;
  readonly region: Optional<string>;
  readonly url: Optional<string>;
  readonly signingRegion: Optional<string>;
  readonly signingMethod: Optional<true>;
  readonly signingName: Optional<string>;
};

const family: ValueKind<IpFamily> = {
  name: 'ipv4 or ipv6',
  read: (value) => (['ipv4', 'ipv6'] as const).find((one) => one === value),
};

const pattern: ValueKind<RegExp> = {
  name: 'a regular expression',
  read: (value) => {
    try {
      return typeof value === 'string' && value.length <= 1_000 ? new RegExp(value, 'u') : undefined;
    } catch {
      return undefined;
    }
  },
};

/** By each name that a version of cloud-provider-aws matches: `elasticloadbalancing` was both services. Without regard to case. */
const services: Readonly<Record<string, readonly AwsService[]>> = {
  ec2: ['ec2'],
  'elastic load balancing': ['elb'],
  'elastic load balancing v2': ['elbv2'],
  elasticloadbalancing: ['elb', 'elbv2'],
  elasticloadbalancingv2: ['elbv2'],
  sts: ['sts'],
  ec2imds: ['imds'],
  kms: [],
};

const service: ValueKind<readonly AwsService[]> = {
  name: 'one of EC2, Elastic Load Balancing, Elastic Load Balancing v2, STS, ec2imds',
  read: (value) => (typeof value === 'string' ? services[value.trim().toLowerCase()] : undefined),
};

type Tag = readonly [key: string, value: string];

/** Not with the keys of AWS, nor with those by which a cluster or this program knows what is its own. */
const tag: ValueKind<Tag> = {
  name: 'key=value, with a key of your own',
  read: (value) => {
    const [, key = '', text = ''] = /^([^=]{1,128})=(.{0,256})$/u.exec(String(value)) ?? [];
    return !key || /^(?:aws:|kubernetes\.io\/cluster|KubernetesCluster$|outrigger\.dev\/)/iu.test(key)
      ? undefined
      : [key, text];
  },
};

const FROM_METADATA = "Default: what the own instance's metadata service says";

type GlobalKeys = {
  readonly zone: Optional<string>;
  readonly region: Optional<string>;
  readonly vpc: Optional<string>;
  readonly subnetId: Optional<true>;
  readonly routeTableId: Optional<string>;
  readonly roleArn: Optional<string>;
  readonly sourceArn: Optional<string>;
  readonly kubernetesClusterTag: Optional<string>;
  readonly kubernetesClusterId: Optional<string>;
  readonly disableSecurityGroupIngress: ConfigKey<boolean>;
  readonly elbSecurityGroup: Optional<string>;
  readonly nodeIpFamilies: ConfigKey<readonly IpFamily[]>;
  readonly clusterServiceLoadBalancerHealthProbeMode: ConfigKey<'ServiceNodePort' | 'Shared'>;
  readonly clusterServiceSharedLoadBalancerHealthProbePort: ConfigKey<number>;
  readonly clusterServiceSharedLoadBalancerHealthProbePath: ConfigKey<string>;
  readonly supportedTopologyInstanceTypePattern: Optional<RegExp>;
  readonly nlbSecurityGroupMode: Optional<'Managed'>;
  readonly nodeSecurityGroups: ConfigKey<readonly string[]>;
  readonly nodeTags: ConfigKey<readonly Tag[]>;
};

export const keys: {
  readonly global: GlobalKeys;
  readonly serviceOverride: NamedSections<OverrideKeys>;
} = {
  global: {
    zone: optional(text, 'An availability zone; its region is the region. Takes precedence over `region`'),
    region: optional(
      text,
      `Such as \`eu-central-1\`. Default: \`AWS_REGION\` of the environment, else the metadata service`,
    ),
    vpc: optional(
      text,
      `The VPC that the cluster is in. ${FROM_METADATA}. Needed where the program runs on no instance of the cluster`,
    ),
    subnetId: unused(
      'Subnets of load balancers are found by their tags, or by those of none, and nothing else asks for the own subnet',
    ),
    routeTableId: optional(
      text,
      'The route table for the ranges of pods. Default: the one of the VPC with the tag of the cluster',
    ),
    roleArn: optional(text, 'The IAM role that is assumed for all requests'),
    sourceArn: optional(
      text,
      'Sent while `roleArn` is assumed, as `aws:SourceArn`, and its account as `aws:SourceAccount`',
    ),
    kubernetesClusterTag: optional(
      text,
      'The name of the cluster where its resources have the legacy tag `KubernetesCluster`; that tag is set too',
    ),
    kubernetesClusterId: optional(
      text,
      'The name in the tag `kubernetes.io/cluster/<name>`. Default: by the tags of the own instance',
    ),
    disableSecurityGroupIngress: optional(
      bool,
      'Adds no rule to the security groups of nodes: yours have to let load balancers through',
      false,
    ),
    elbSecurityGroup: optional(text, 'The security group of all Classic Load Balancers, in place of one for each'),
    nodeIpFamilies: optional(
      listOf(family),
      "Families of the nodes' addresses, the preferred first; repeated, or with commas",
      ['ipv4'],
    ),
    clusterServiceLoadBalancerHealthProbeMode: optional(
      oneOf('ServiceNodePort', 'Shared'),
      "What load balancers probe for traffic policy `Cluster`: each Service's port, or kube-proxy once",
      'ServiceNodePort',
    ),
    clusterServiceSharedLoadBalancerHealthProbePort: optional(wholeNumber(1, 65_535), 'With `Shared`', 10_256),
    clusterServiceSharedLoadBalancerHealthProbePath: optional(text, 'With `Shared`', '/healthz'),
    supportedTopologyInstanceTypePattern: optional(
      pattern,
      'Instance types for which AWS is asked for the network topology again until it has it. Default: the families hpc, trn and p. No node waits for it',
    ),
    nlbSecurityGroupMode: optional(oneOf('Managed'), 'Network Load Balancers always get a security group here'),
    nodeSecurityGroups: optional(
      listOf(text),
      'Not of cloud-provider-aws: of the security groups of a node, the one that gets the rules for load balancers, where several have the tag of the cluster',
      [],
    ),
    nodeTags: optional(
      listOf(tag),
      'Not of cloud-provider-aws, which has `--tags`: tags that instances of nodes get where they have the tag of the cluster; repeated, or with commas',
      [],
    ),
  },
  serviceOverride: named(
    {
      service: optional(
        service,
        'Needed. Also by the older names `ec2` and `elasticloadbalancing`, which is both load balancing services; KMS is taken, and has no effect',
      ),
      region: optional(text, 'Needed. The override counts in this region'),
      url: optional(url, 'Needed'),
      signingRegion: optional(text, 'Needed. The region in signatures'),
      signingMethod: unused('requests are signed by version 4'),
      signingName: optional(text, "The service in signatures. Default: the service's own"),
    },
    'Another end point for one service',
  ),
};
