/** A Network Load Balancer as cloud-provider-aws makes it by default, on the fake AWS: without a security group, and with rules in the group of the nodes. */
import type { LoadBalancerService } from '@outrigger/cloud-provider';
import { FakeRig } from './fake-rig.suite.ts';
import { loadBalancerName } from './names.ts';
import { describedRulesIn } from './security-groups/rules.ts';

const PREFIX = 'kubernetes.io/rule/nlb/';

/** Rules of cloud-provider-aws in the group of nodes, without the beginning of their descriptions. */
export async function rulesIn(rig: FakeRig, group: string): Promise<readonly string[]> {
  const { SecurityGroups = [] } = await rig.client.ec2(rig.call, 'DescribeSecurityGroups', { GroupIds: [group] });
  return describedRulesIn(SecurityGroups[0]?.IpPermissions)
    .filter(({ description }) => description.startsWith(PREFIX))
    .map(({ description, rule }) => `${rule} ${description.slice(PREFIX.length)}`)
    .toSorted();
}

export async function groupOf(rig: FakeRig, instance: string): Promise<string> {
  const { Reservations = [] } = await rig.client.ec2(rig.call, 'DescribeInstances', { InstanceIds: [instance] });
  return Reservations[0]?.Instances?.[0]?.SecurityGroups?.[0]?.GroupId ?? '';
}

async function predecessor(
  rig: FakeRig,
  { name, namespace, ports }: LoadBalancerService,
  balancerName: string,
): Promise<string> {
  const { call, client, instances, vpcId } = rig;
  const Tags = [
    { Key: 'kubernetes.io/cluster/kubernetes', Value: 'owned' },
    { Key: 'kubernetes.io/service-name', Value: `${namespace}/${name}` },
  ];
  const subnets = await client.ec2(call, 'DescribeSubnets', { Filters: [{ Name: 'vpc-id', Values: [vpcId] }] });
  const [subnet] = subnets.Subnets ?? [];
  const balancer = await client.elbv2(call, 'CreateLoadBalancer', {
    Name: balancerName,
    Type: 'network',
    SubnetMappings: [{ SubnetId: subnet?.SubnetId ?? '' }],
    Tags,
  });
  const LoadBalancerArn = balancer.LoadBalancers?.[0]?.LoadBalancerArn ?? '';
  for (const { nodePort = 0, port } of ports) {
    const group = await client.elbv2(call, 'CreateTargetGroup', {
      Name: `k8s-${namespace}-${name}-${`${nodePort}`.padStart(10, '0')}`,
      Protocol: 'TCP',
      Port: nodePort,
      VpcId: vpcId,
      TargetType: 'instance',
      HealthCheckIntervalSeconds: 10,
      Tags,
    });
    const TargetGroupArn = group.TargetGroups?.[0]?.TargetGroupArn ?? '';
    await client.elbv2(call, 'RegisterTargets', { TargetGroupArn, Targets: instances.map((Id) => ({ Id })) });
    await client.elbv2(call, 'CreateListener', {
      LoadBalancerArn,
      Port: port,
      Protocol: 'TCP',
      DefaultActions: [{ Type: 'forward', TargetGroupArn }],
      Tags,
    });
    await allow(rig, `tcp ${nodePort}`, '0.0.0.0/0', `client=${balancerName}`);
  }
  return LoadBalancerArn;
}

async function allow(rig: FakeRig, ports: string, range: string, description: string): Promise<void> {
  const [IpProtocol = '', port] = ports.split(' ');
  const GroupId = await groupOf(rig, rig.instances[0] ?? '');
  const IpRanges = [{ CidrIp: range, Description: PREFIX + description }];
  const IpPermissions = [{ IpProtocol, FromPort: Number(port), ToPort: Number(port), IpRanges }];
  await rig.client.ec2(rig.call, 'AuthorizeSecurityGroupIngress', { GroupId, IpPermissions });
}

/** `name`: of the load balancer. Default: the Service's. */
export async function rigOf(service: LoadBalancerService, name?: string): Promise<FakeRig & { readonly arn: string }> {
  const rig = new FakeRig({});
  const arn = await predecessor(rig, service, name ?? loadBalancerName(service.uid));
  return Object.assign(rig, { arn });
}

/** The only group of the nodes: no look shows it any more. */
export async function untagNodes(rig: FakeRig): Promise<string> {
  const id = await groupOf(rig, rig.instances[0] ?? '');
  const group = rig.aws.account.groups.get(id);
  if (group) rig.aws.account.groups.put({ ...group, tags: {} });
  return id;
}
