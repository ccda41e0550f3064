/** All that there is of load balancers, security groups and routes in an account, read by the official SDK, so that two accounts can be compared. */
import {
  DescribeRouteTablesCommand,
  DescribeSecurityGroupRulesCommand,
  DescribeSecurityGroupsCommand,
  EC2Client,
} from '@aws-sdk/client-ec2';
import {
  DescribeLoadBalancersCommand as DescribeClassicCommand,
  DescribeLoadBalancerAttributesCommand as DescribeClassicAttributesCommand,
  DescribeTagsCommand as DescribeClassicTagsCommand,
  ElasticLoadBalancingClient,
} from '@aws-sdk/client-elastic-load-balancing';
import {
  DescribeListenersCommand,
  DescribeLoadBalancerAttributesCommand,
  DescribeLoadBalancersCommand,
  DescribeTagsCommand,
  DescribeTargetGroupAttributesCommand,
  DescribeTargetGroupsCommand,
  DescribeTargetHealthCommand,
  ElasticLoadBalancingV2Client,
} from '@aws-sdk/client-elastic-load-balancing-v2';
import type { AccountState } from './account-state.ts';
import { LAB_KEYS, LAB_REGION } from './seed-account.ts';

export interface AwsReaders {
  readonly ec2: EC2Client;
  readonly elb: ElasticLoadBalancingClient;
  readonly elbv2: ElasticLoadBalancingV2Client;
}

/** Of moto, or of whatever else listens there. They ask again where the server has just closed a connection that nothing came by. */
export function labReaders(url: string): AwsReaders {
  const options = { endpoint: url, region: LAB_REGION, credentials: LAB_KEYS };
  return {
    ec2: new EC2Client(options),
    elb: new ElasticLoadBalancingClient(options),
    elbv2: new ElasticLoadBalancingV2Client(options),
  };
}

/** ARNs of load balancers, target groups and listeners, sorted: where they are the same, nothing was made anew under the name that it had. */
export async function identitiesOf({ elbv2 }: AwsReaders): Promise<readonly string[]> {
  const { LoadBalancers: balancers = [] } = await elbv2.send(new DescribeLoadBalancersCommand({}));
  const { TargetGroups: targetGroups = [] } = await elbv2.send(new DescribeTargetGroupsCommand({}));
  const listeners = await Promise.all(
    balancers.map(({ LoadBalancerArn }) => elbv2.send(new DescribeListenersCommand({ LoadBalancerArn }))),
  );
  const arns = [
    ...balancers.map(({ LoadBalancerArn }) => LoadBalancerArn),
    ...targetGroups.map(({ TargetGroupArn }) => TargetGroupArn),
    ...listeners.flatMap(({ Listeners: all = [] }) => all.map(({ ListenerArn }) => ListenerArn)),
  ];
  return arns.map((arn = '') => arn).toSorted();
}

/** IDs are replaced by `<vpc-1>`, and the names of load balancers, which are UIDs, by `<load-balancer-1>`: two accounts that are alike give the same. */
export async function endStateOf(readers: AwsReaders, vpcId: string): Promise<AccountState> {
  const state = {
    networkLoadBalancers: await networkLoadBalancersOf(readers.elbv2),
    targetGroups: await targetGroupsOf(readers.elbv2),
    classicLoadBalancers: await classicLoadBalancersOf(readers.elb),
    securityGroups: await securityGroupsOf(readers.ec2, vpcId),
    routes: await routesOf(readers.ec2, vpcId),
  };
  return JSON.parse(withoutChance(JSON.stringify(state))) as AccountState;
}

const byJson = (a: object, b: object): number => JSON.stringify(a).localeCompare(JSON.stringify(b));

function tagsOf(tags: readonly { Key?: string | undefined; Value?: string | undefined }[] | undefined): object {
  const pairs = (tags ?? []).map(({ Key = '', Value = '' }) => [Key, Value] as const);
  return Object.fromEntries(pairs.toSorted(([a], [b]) => a.localeCompare(b)));
}

async function networkLoadBalancersOf(elbv2: ElasticLoadBalancingV2Client): Promise<readonly object[]> {
  const { LoadBalancers: all = [] } = await elbv2.send(new DescribeLoadBalancersCommand({}));
  const found = all.map(async ({ LoadBalancerArn: arn, ...one }) => {
    const { Listeners: listeners = [] } = await elbv2.send(new DescribeListenersCommand({ LoadBalancerArn: arn }));
    const { Attributes: attributes } = await elbv2.send(
      new DescribeLoadBalancerAttributesCommand({ LoadBalancerArn: arn }),
    );
    return {
      name: one.LoadBalancerName,
      scheme: one.Scheme,
      type: one.Type,
      addresses: one.IpAddressType,
      zones: one.AvailabilityZones?.map(({ SubnetId, ZoneName }) => ({ zone: ZoneName, subnet: SubnetId })).toSorted(
        byJson,
      ),
      securityGroups: one.SecurityGroups?.toSorted(),
      attributes: tagsOf(attributes),
      tags: await tagsByArn(elbv2, arn),
      listeners: await Promise.all(
        listeners.map(async ({ Certificates, DefaultActions, ListenerArn, Port, Protocol, SslPolicy }) => ({
          port: Port,
          protocol: Protocol,
          targetGroup: nameOf(DefaultActions?.[0]?.TargetGroupArn),
          certificate: Certificates?.[0]?.CertificateArn,
          tlsPolicy: SslPolicy,
          tags: await tagsByArn(elbv2, ListenerArn),
        })),
      ),
    };
  });
  return (await Promise.all(found)).toSorted(byJson);
}

async function targetGroupsOf(elbv2: ElasticLoadBalancingV2Client): Promise<readonly object[]> {
  const { TargetGroups: all = [] } = await elbv2.send(new DescribeTargetGroupsCommand({}));
  const found = all.map(async ({ TargetGroupArn: arn, ...one }) => {
    const { TargetHealthDescriptions: targets = [] } = await elbv2.send(
      new DescribeTargetHealthCommand({ TargetGroupArn: arn }),
    );
    const { Attributes: attributes } = await elbv2.send(
      new DescribeTargetGroupAttributesCommand({ TargetGroupArn: arn }),
    );
    return {
      name: one.TargetGroupName,
      protocol: one.Protocol,
      port: one.Port,
      targetType: one.TargetType,
      healthCheck: {
        protocol: one.HealthCheckProtocol,
        port: one.HealthCheckPort,
        path: one.HealthCheckPath,
        intervalSeconds: one.HealthCheckIntervalSeconds,
        healthy: one.HealthyThresholdCount,
        unhealthy: one.UnhealthyThresholdCount,
      },
      attributes: tagsOf(attributes),
      tags: await tagsByArn(elbv2, arn),
      targets: targets.map(({ Target }) => ({ id: Target?.Id, port: Target?.Port })).toSorted(byJson),
    };
  });
  return (await Promise.all(found)).toSorted(byJson);
}

async function tagsByArn(elbv2: ElasticLoadBalancingV2Client, arn: string | undefined): Promise<object> {
  const { TagDescriptions } = await elbv2.send(new DescribeTagsCommand({ ResourceArns: [arn ?? ''] }));
  return tagsOf(TagDescriptions?.[0]?.Tags);
}

async function classicLoadBalancersOf(elb: ElasticLoadBalancingClient): Promise<readonly object[]> {
  const { LoadBalancerDescriptions: all = [] } = await elb.send(new DescribeClassicCommand({}));
  const found = all.map(async (one) => {
    const LoadBalancerName = one.LoadBalancerName ?? '';
    const attributes = await elb.send(new DescribeClassicAttributesCommand({ LoadBalancerName }));
    const tags = await elb.send(new DescribeClassicTagsCommand({ LoadBalancerNames: [LoadBalancerName] }));
    return {
      name: LoadBalancerName,
      scheme: one.Scheme,
      subnets: one.Subnets?.toSorted(),
      securityGroups: one.SecurityGroups?.toSorted(),
      listeners: one.ListenerDescriptions?.map(({ Listener, PolicyNames }) => ({ ...Listener, policies: PolicyNames })),
      backEnds: one.BackendServerDescriptions?.toSorted(byJson),
      healthCheck: one.HealthCheck,
      instances: one.Instances?.map(({ InstanceId }) => InstanceId ?? '').toSorted(),
      attributes: attributes.LoadBalancerAttributes,
      tags: tagsOf(tags.TagDescriptions?.[0]?.Tags),
    };
  });
  return (await Promise.all(found)).toSorted(byJson);
}

async function securityGroupsOf(ec2: EC2Client, vpcId: string): Promise<readonly object[]> {
  const inVpc = { Filters: [{ Name: 'vpc-id', Values: [vpcId] }] };
  const { SecurityGroups: all = [] } = await ec2.send(new DescribeSecurityGroupsCommand(inVpc));
  const found = all.map(async ({ Description, GroupId = '', GroupName, Tags }) => {
    const ofGroup = { Filters: [{ Name: 'group-id', Values: [GroupId] }] };
    const { SecurityGroupRules: rules = [] } = await ec2.send(new DescribeSecurityGroupRulesCommand(ofGroup));
    const ingress = rules.flatMap((rule) => {
      if (rule.IsEgress) return [];
      const { CidrIpv4, CidrIpv6, FromPort, IpProtocol, ReferencedGroupInfo, ToPort } = rule;
      const source = CidrIpv4 ?? CidrIpv6 ?? ReferencedGroupInfo?.GroupId;
      const ports = FromPort === undefined ? 'all' : `${FromPort}-${ToPort}`;
      return [{ protocol: IpProtocol, ports, source, description: rule.Description }];
    });
    return {
      name: GroupName,
      description: Description,
      id: GroupId,
      tags: tagsOf(Tags),
      ingress: ingress.toSorted(byJson),
    };
  });
  return (await Promise.all(found)).toSorted(byJson);
}

async function routesOf(ec2: EC2Client, vpcId: string): Promise<readonly object[]> {
  const { RouteTables: tables = [] } = await ec2.send(
    new DescribeRouteTablesCommand({ Filters: [{ Name: 'vpc-id', Values: [vpcId] }] }),
  );
  const all = tables.flatMap(({ RouteTableId, Routes = [] }) =>
    Routes.filter(({ GatewayId }) => GatewayId !== 'local').map((route) => ({
      destination: route.DestinationCidrBlock ?? route.DestinationIpv6CidrBlock,
      table: RouteTableId,
      instance: route.InstanceId,
      networkInterface: route.NetworkInterfaceId,
      gateway: route.GatewayId,
      state: route.State,
    })),
  );
  return all.toSorted(byJson);
}

/** `…:targetgroup/<name>/<random>`. */
function nameOf(arn: string | undefined): string | undefined {
  return arn?.split('/').at(-2);
}

function withoutChance(json: string): string {
  const seen = new Map<string, string>();
  const counts = new Map<string, number>();
  const place = (id: string, kind: string): string => {
    const known = seen.get(id);
    if (known !== undefined) return known;
    const n = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, n);
    seen.set(id, `<${kind}-${n}>`);
    return `<${kind}-${n}>`;
  };
  return json
    .replaceAll(/\b(?<kind>vpc|subnet|sg|i|eni|rtb|igw)-[0-9a-f]{8,17}\b/gu, (id, kind: string) => place(id, kind))
    .replaceAll(/\ba[0-9a-f]{31}\b/gu, (name) => place(name, 'load-balancer'));
}
