/** Target groups of network load balancers: their health checks and attributes. */
import type { Operations } from '../../src/client/generated/elbv2.ts';
import type { AwsAccount } from '../aws-account.ts';
import { refused } from '../aws-error.ts';
import { elbPage } from '../elb-page.ts';
import { tagsOf } from './elb-tags.ts';
import { attributeList, changedAttributes, checkName, existingBalancer } from './load-balancers.ts';
import type { HealthCheck, Settings, TargetGroup } from './things.ts';

type Input<Name extends keyof Operations> = Operations[Name]['input'];

const MOST_GROUPS = 3_000;

/** https://docs.aws.amazon.com/elasticloadbalancing/latest/APIReference/API_TargetGroupAttribute.html */
function attributesOf(protocol: string, targetType: string): Settings {
  const isUdp = protocol.includes('UDP');
  return {
    'deregistration_delay.connection_termination.enabled': String(isUdp),
    'deregistration_delay.timeout_seconds': '300',
    'load_balancing.cross_zone.enabled': 'use_load_balancer_configuration',
    'preserve_client_ip.enabled': String(isUdp || targetType === 'instance'),
    'proxy_protocol_v2.enabled': 'false',
    'stickiness.enabled': 'false',
    'stickiness.type': 'source_ip',
    'target_group_health.dns_failover.minimum_healthy_targets.count': '1',
    'target_group_health.dns_failover.minimum_healthy_targets.percentage': 'off',
    'target_group_health.unhealthy_state_routing.minimum_healthy_targets.count': '1',
    'target_group_health.unhealthy_state_routing.minimum_healthy_targets.percentage': 'off',
    'target_health_state.unhealthy.connection_termination.enabled': 'true',
    'target_health_state.unhealthy.draining_interval_seconds': '0',
  };
}

export const targetGroupOperations = {
  CreateTargetGroup: (input: Input<'CreateTargetGroup'>, account: AwsAccount): object => {
    const {
      IpAddressType: ipAddressType = 'ipv4',
      Name: name,
      Port: port,
      Protocol: protocol,
      TargetType: targetType = 'instance',
      VpcId: vpcId,
    } = input;
    checkName(name, 'Target group');
    if (protocol === undefined || port === undefined || vpcId === undefined) {
      throw refused('ValidationError', 'A protocol, a port and a VPC must be specified');
    }
    if (!['TCP', 'UDP', 'TCP_UDP', 'TLS'].includes(protocol))
      throw refused('UnsupportedProtocol', `The fake has no target groups of ${protocol}`);
    if (!['instance', 'ip'].includes(targetType))
      throw refused('ValidationError', `The fake has no targets of the type ${targetType}`);
    if (!account.vpcs.get(vpcId)) throw refused('ValidationError', `The VPC ID '${vpcId}' is not found`);
    const group: TargetGroup = {
      id: `arn:aws:elasticloadbalancing:${account.region}:${account.accountId}:targetgroup/${name}/${account.newHex('target-group', 16)}`,
      name,
      protocol,
      port,
      vpcId,
      targetType,
      ipAddressType,
      health: healthOf(undefined, input),
      attributes: attributesOf(protocol, targetType),
      tags: tagsOf(input.Tags),
    };
    const same = account.targetGroups.all().find((one) => one.name === name);
    if (same) {
      const settings = ({
        health,
        ipAddressType: family,
        port: on,
        protocol: by,
        targetType: type,
        vpcId: vpc,
      }: TargetGroup): string => JSON.stringify([by, on, vpc, type, family, health]);
      if (settings(same) === settings(group)) return { TargetGroups: [view(account, same)] };
      throw refused(
        'DuplicateTargetGroupName',
        `A target group with the same name '${name}' exists, but with different settings`,
      );
    }
    if (account.targetGroups.all().length >= MOST_GROUPS)
      throw refused('TooManyTargetGroups', 'The maximum number of target groups has been reached');
    account.targetGroups.put(group);
    return { TargetGroups: [view(account, group)] };
  },

  DescribeTargetGroups: (input: Input<'DescribeTargetGroups'>, account: AwsAccount): object => {
    const { LoadBalancerArn: balancer, Names: names, TargetGroupArns: arns } = input;
    const all = account.targetGroups.list();
    for (const arn of arns ?? []) if (!account.targetGroups.seen(arn)) throw notFound(arn);
    const unknown = names?.find((name) => !all.some((one) => one.name === name));
    if (unknown !== undefined) throw notFound(unknown);
    if (balancer !== undefined) existingBalancer(account, balancer, 'seen');
    const used = balancersByGroup(account);
    const found = all.filter(
      ({ id, name }) =>
        (arns?.includes(id) ?? true) &&
        (names?.includes(name) ?? true) &&
        (balancer === undefined || (used.get(id)?.has(balancer) ?? false)),
    );
    const { items, next } = elbPage(found, input, ({ id }) => id);
    return { TargetGroups: items.map((one) => view(account, one, used)), ...next };
  },

  ModifyTargetGroup: (input: Input<'ModifyTargetGroup'>, account: AwsAccount): object => {
    const group = existingGroup(account, input.TargetGroupArn);
    const changed = { ...group, health: healthOf(group.health, input) };
    account.targetGroups.put(changed);
    return { TargetGroups: [view(account, changed)] };
  },

  /** Of one that is gone it succeeds: the API names no error for it. */
  DeleteTargetGroup: ({ TargetGroupArn: arn }: Input<'DeleteTargetGroup'>, account: AwsAccount): object => {
    if (account.listeners.all().some(({ targetGroupIds }) => targetGroupIds.includes(arn))) {
      throw refused('ResourceInUse', `Target group '${arn}' is currently in use by a listener or a rule`);
    }
    account.targetGroups.remove(arn);
    account.targets.forget(arn);
    return {};
  },

  DescribeTargetGroupAttributes: (
    { TargetGroupArn: arn }: Input<'DescribeTargetGroupAttributes'>,
    account: AwsAccount,
  ): object => ({
    Attributes: attributeList(existingGroup(account, arn, 'seen').attributes),
  }),

  ModifyTargetGroupAttributes: (input: Input<'ModifyTargetGroupAttributes'>, account: AwsAccount): object => {
    const group = existingGroup(account, input.TargetGroupArn);
    const attributes = changedAttributes(group.attributes, input.Attributes, 'Target group');
    if (group.protocol.includes('UDP') && attributes['preserve_client_ip.enabled'] === 'false') {
      throw refused(
        'InvalidConfigurationRequest',
        `Client IP preservation cannot be disabled for target groups of ${group.protocol}`,
      );
    }
    account.targetGroups.put({ ...group, attributes });
    return { Attributes: attributeList(attributes) };
  },
};

export function existingGroup(account: AwsAccount, arn: string, how: 'get' | 'seen' = 'get'): TargetGroup {
  const isSeen = how === 'seen' || account.knobs.writesLag;
  const group = isSeen ? account.targetGroups.seen(arn) : account.targetGroups.get(arn);
  if (group) return group;
  throw notFound(arn);
}

function notFound(which: string): Error {
  return refused('TargetGroupNotFound', `One or more target groups not found: '${which}'`);
}

/** Defaults of https://docs.aws.amazon.com/elasticloadbalancing/latest/APIReference/API_CreateTargetGroup.html. */
function healthOf(
  old: HealthCheck | undefined,
  input: Partial<Pick<Input<'ModifyTargetGroup'>, Exclude<keyof Input<'ModifyTargetGroup'>, 'TargetGroupArn'>>>,
): HealthCheck {
  const { HealthCheckProtocol: protocol = old?.HealthCheckProtocol ?? 'TCP' } = input;
  if (!['TCP', 'HTTP', 'HTTPS'].includes(protocol))
    throw refused('ValidationError', `Health check protocol '${protocol}' is not supported`);
  const isHttp = protocol !== 'TCP';
  if (!isHttp && (input.HealthCheckPath !== undefined || input.Matcher)) {
    throw refused(
      'ValidationError',
      'Health check path and matcher are not supported for health checks with protocol TCP',
    );
  }
  const base = old?.HealthCheckProtocol === protocol ? old : undefined;
  const health: HealthCheck = {
    HealthCheckProtocol: protocol,
    HealthCheckPort: input.HealthCheckPort ?? old?.HealthCheckPort ?? 'traffic-port',
    HealthCheckEnabled: input.HealthCheckEnabled ?? true,
    HealthCheckIntervalSeconds: input.HealthCheckIntervalSeconds ?? old?.HealthCheckIntervalSeconds ?? 30,
    HealthCheckTimeoutSeconds:
      input.HealthCheckTimeoutSeconds ?? base?.HealthCheckTimeoutSeconds ?? (protocol === 'HTTP' ? 6 : 10),
    HealthyThresholdCount: input.HealthyThresholdCount ?? old?.HealthyThresholdCount ?? 5,
    UnhealthyThresholdCount: input.UnhealthyThresholdCount ?? old?.UnhealthyThresholdCount ?? 2,
    ...(isHttp && {
      HealthCheckPath: input.HealthCheckPath ?? base?.HealthCheckPath ?? '/',
      Matcher: { HttpCode: input.Matcher?.HttpCode ?? base?.Matcher?.HttpCode ?? '200-399' },
    }),
  };
  if (health.HealthCheckTimeoutSeconds > health.HealthCheckIntervalSeconds) {
    throw refused('ValidationError', 'Health check timeout must be smaller than or equal to the interval');
  }
  return health;
}

function balancersByGroup(account: AwsAccount): ReadonlyMap<string, ReadonlySet<string>> {
  const used = new Map<string, Set<string>>();
  for (const { balancerId, targetGroupIds } of account.listeners.list()) {
    for (const id of targetGroupIds) used.set(id, (used.get(id) ?? new Set()).add(balancerId));
  }
  return used;
}

function view(
  account: AwsAccount,
  group: TargetGroup,
  used: ReadonlyMap<string, ReadonlySet<string>> = balancersByGroup(account),
): object {
  const { health, id, ipAddressType, name, port, protocol, targetType, vpcId } = group;
  return {
    TargetGroupArn: id,
    TargetGroupName: name,
    Protocol: protocol,
    Port: port,
    VpcId: vpcId,
    TargetType: targetType,
    IpAddressType: ipAddressType,
    LoadBalancerArns: [...(used.get(id) ?? [])],
    ...health,
  };
}
