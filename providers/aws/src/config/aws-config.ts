/** The configuration of the provider, as the rest of it reads it. */
import type { IpFamily } from '@outrigger/provider-kit';

/** What the provider calls of AWS; `imds` is the instance's metadata service. */
export type AwsService = 'ec2' | 'elb' | 'elbv2' | 'imds' | 'sts';

/** `[ServiceOverride "n"]`: where a service is asked in place of AWS' own end point. */
export interface ServiceOverride {
  readonly service: AwsService;
  /** It counts where this is the cluster's region. */
  readonly region: string;
  /** Without a slash at its end. */
  readonly url: string;
  readonly signingRegion: string;
  /** Default: the service's own, such as `elasticloadbalancing`. */
  readonly signingName: string | undefined;
}

/** How load balancers find out which nodes serve a Service whose traffic policy is `Cluster`. */
interface ClusterHealthProbe {
  /** `ServiceNodePort`: each port of each Service. `Shared`: kube-proxy's health port, once for all. */
  readonly mode: 'ServiceNodePort' | 'Shared';
  /** With `Shared`. */
  readonly port: number;
  /** With `Shared`; with its leading slash. */
  readonly path: string;
}

export interface AwsConfig {
  /** `eu-central-1`. `undefined`: the environment or the metadata service says. */
  readonly region: string | undefined;
  /** `undefined`: the VPC of the instance that the program runs on. */
  readonly vpcId: string | undefined;
  /** `undefined`: the route table with the cluster's tag. */
  readonly routeTableId: string | undefined;
  /** The role that is assumed for all requests. `undefined`: none. */
  readonly roleArn: string | undefined;
  /** Sent with `roleArn`, against the confused deputy. */
  readonly sourceArn: string | undefined;
  /** `<id>` of `kubernetes.io/cluster/<id>`. `undefined`: by the tags of the own instance. */
  readonly clusterId: string | undefined;
  /** The file names the cluster by the legacy tag `KubernetesCluster`: what is made gets that tag too. */
  readonly usesLegacyTags: boolean;
  /** No rule is added to the security groups of nodes. */
  readonly disableSecurityGroupIngress: boolean;
  /** The group that all Classic Load Balancers get in place of one of their own. */
  readonly elbSecurityGroup: string | undefined;
  /** Whether NLBs get a security group. `Managed` as upstream; `undefined`: the file does not say. */
  readonly nlbSecurityGroupMode: 'Managed' | undefined;
  /** Of a node's security groups the one that gets the rules for load balancers, where several are tagged. Empty: found by tags. */
  readonly nodeSecurityGroups: readonly string[];
  /** What instances of nodes get. Empty: nothing. */
  readonly nodeTags: Readonly<Record<string, string>>;
  /** Of the addresses of nodes, the preferred first; one at least. */
  readonly nodeIpFamilies: readonly IpFamily[];
  readonly clusterHealthProbe: ClusterHealthProbe;
  /** Instance types whose network topology is asked for again until AWS has it. */
  readonly topologyTypes: RegExp;
  /** At most one a service and region. */
  readonly serviceOverrides: readonly ServiceOverride[];
}
