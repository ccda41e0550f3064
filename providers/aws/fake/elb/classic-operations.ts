/** The older load balancer API: a load balancer with its subnets, groups, instances, health check, attributes and tags. */
import type { Operations } from '../../src/client/generated/elb.ts';
import type { AwsAccount } from '../aws-account.ts';
import { refused } from '../aws-error.ts';
import { tagList } from '../ec2/describe.ts';
import { elbPage } from '../elb-page.ts';
import { releaseInterface } from '../elbv2/balancer-subnets.ts';
import { checkName, sameSet } from '../elbv2/load-balancers.ts';
import type { Tags } from '../things.ts';
import { listenerOf, listenerView } from './classic-listeners.ts';
import type { ClassicAttributes, ClassicLoadBalancer } from './classic-load-balancer.ts';
import { changeBalancer, existingClassic } from './existing-classic.ts';

type Input<Name extends keyof Operations> = Operations[Name]['input'];

/** https://docs.aws.amazon.com/elasticloadbalancing/2012-06-01/APIReference/API_AddTags.html */
const MOST_TAGS = 10;
const DEFAULT_ATTRIBUTES: ClassicAttributes = {
  CrossZoneLoadBalancing: { Enabled: false },
  AccessLog: { Enabled: false },
  ConnectionDraining: { Enabled: false, Timeout: 300 },
  ConnectionSettings: { IdleTimeout: 60 },
  AdditionalAttributes: [{ Key: 'elb.http.desyncmitigationmode', Value: 'defensive' }],
};

export const classicOperations = {
  CreateLoadBalancer: (input: Input<'CreateLoadBalancer'>, account: AwsAccount): object => {
    const {
      LoadBalancerName: name,
      Scheme: given = 'internet-facing',
      SecurityGroups: groupIds = [],
      Subnets: subnetIds = [],
    } = input;
    checkName(name, 'Load balancer');
    if (!['internal', 'internet-facing'].includes(given))
      throw refused('InvalidScheme', `The scheme '${given}' is not valid`);
    const scheme = given === 'internal' ? 'internal' : 'internet-facing';
    const listeners = input.Listeners.map((one) => listenerOf(one));
    const [first] = listeners;
    if (!first) throw refused('ValidationError', 'At least one listener must be specified');
    if (new Set(listeners.map(({ port }) => port)).size < listeners.length) {
      throw refused('DuplicateListener', 'More than one listener has the same port');
    }
    const tags = classicTags(input.Tags);
    const same = account.classics.get(name);
    if (same) {
      const isSame =
        same.scheme === scheme &&
        sameSet(same.groupIds, groupIds) &&
        sameSet(
          same.subnets.map(({ id }) => id),
          subnetIds,
        ) &&
        JSON.stringify(same.listeners) === JSON.stringify(listeners);
      const hasTags = sameSet(Object.entries(same.tags).map(String), Object.entries(tags).map(String));
      if (isSame && hasTags) return { DNSName: same.dnsName };
      throw refused(
        'DuplicateLoadBalancerName',
        `Load Balancer named ${name} already exists and it is configured with different ${isSame ? 'tags' : 'parameters'}`,
      );
    }
    if (account.classics.all().length >= account.knobs.mostClassicLoadBalancers) {
      throw refused('TooManyLoadBalancers', 'The maximum number of load balancers has been reached');
    }
    const vpcId = checkSubnets(account, subnetIds, scheme);
    checkGroups(account, groupIds, vpcId);
    const digits = String(Number.parseInt(account.newHex('classic-load-balancer', 8), 16)).padStart(10, '0');
    const balancer: ClassicLoadBalancer = {
      id: name,
      scheme,
      vpcId,
      dnsName: `${scheme === 'internal' ? 'internal-' : ''}${name}-${digits}.${account.region}.elb.amazonaws.com`,
      subnets: subnetIds.map((id) => ({ id, interfaceId: attach(account, id, name, groupIds) })),
      groupIds,
      listeners,
      policies: [],
      backEndPolicies: {},
      health: {
        Target: `TCP:${first.instancePort}`,
        Interval: 30,
        Timeout: 5,
        UnhealthyThreshold: 2,
        HealthyThreshold: 10,
      },
      attributes: DEFAULT_ATTRIBUTES,
      instanceIds: [],
      registeredAt: {},
      createdAt: account.clock.now(),
      tags,
    };
    account.classics.put(balancer);
    return { DNSName: balancer.dnsName };
  },

  DescribeLoadBalancers: (input: Input<'DescribeLoadBalancers'>, account: AwsAccount): object => {
    const { LoadBalancerNames: names } = input;
    const found =
      names && names.length > 0 ? names.map((name) => existingClassic(account, name, 'seen')) : account.classics.list();
    const { items, next } = elbPage(found, input, ({ id }) => id);
    return { LoadBalancerDescriptions: items.map((one) => view(account, one)), ...next };
  },

  /** Of one that is gone it succeeds (https://docs.aws.amazon.com/elasticloadbalancing/2012-06-01/APIReference/API_DeleteLoadBalancer.html). */
  DeleteLoadBalancer: ({ LoadBalancerName: name }: Input<'DeleteLoadBalancer'>, account: AwsAccount): object => {
    for (const { interfaceId } of account.classics.get(name)?.subnets ?? []) releaseInterface(account, interfaceId);
    account.classics.remove(name);
    return {};
  },

  ApplySecurityGroupsToLoadBalancer: (
    input: Input<'ApplySecurityGroupsToLoadBalancer'>,
    account: AwsAccount,
  ): object => {
    const { LoadBalancerName: name, SecurityGroups: groupIds } = input;
    const { subnets, vpcId } = existingClassic(account, name);
    if (groupIds.length === 0)
      throw refused('InvalidConfigurationRequest', 'At least one security group must be specified');
    checkGroups(account, groupIds, vpcId);
    for (const { interfaceId } of subnets) {
      const one = account.interfaces.get(interfaceId);
      if (one) account.interfaces.put({ ...one, groupIds });
    }
    changeBalancer(account, name, { groupIds });
    return { SecurityGroups: groupIds };
  },

  AttachLoadBalancerToSubnets: (input: Input<'AttachLoadBalancerToSubnets'>, account: AwsAccount): object => {
    const { LoadBalancerName: name, Subnets: ids } = input;
    const { groupIds, scheme, subnets } = existingClassic(account, name);
    const added = ids.filter((id) => !subnets.some((one) => one.id === id));
    checkSubnets(account, [...subnets.map(({ id }) => id), ...added], scheme);
    const all = [...subnets, ...added.map((id) => ({ id, interfaceId: attach(account, id, name, groupIds) }))];
    changeBalancer(account, name, { subnets: all });
    return { Subnets: all.map(({ id }) => id) };
  },

  DetachLoadBalancerFromSubnets: (input: Input<'DetachLoadBalancerFromSubnets'>, account: AwsAccount): object => {
    const { LoadBalancerName: name, Subnets: ids } = input;
    const { subnets } = existingClassic(account, name);
    const left = subnets.filter(({ id }) => !ids.includes(id));
    if (left.length === 0) throw refused('InvalidConfigurationRequest', 'Cannot detach all subnets of a load balancer');
    for (const { id, interfaceId } of subnets) if (ids.includes(id)) releaseInterface(account, interfaceId);
    changeBalancer(account, name, { subnets: left });
    return { Subnets: left.map(({ id }) => id) };
  },

  ConfigureHealthCheck: (
    { HealthCheck: health, LoadBalancerName: name }: Input<'ConfigureHealthCheck'>,
    account: AwsAccount,
  ): object => {
    existingClassic(account, name);
    if (!/^(?:(?:TCP|SSL):\d+|HTTPS?:\d+\/.*)$/iu.test(health.Target)) {
      throw refused(
        'ValidationError',
        `HealthCheck target '${health.Target}' must begin with one of HTTP, TCP, HTTPS, SSL, and HTTP needs a path`,
      );
    }
    if (health.Timeout >= health.Interval)
      throw refused('ValidationError', 'HealthCheck interval must be greater than HealthCheck timeout');
    const { HealthyThreshold, Interval, Target, Timeout, UnhealthyThreshold } = health;
    changeBalancer(account, name, { health: { HealthyThreshold, Interval, Target, Timeout, UnhealthyThreshold } });
    return { HealthCheck: health };
  },

  RegisterInstancesWithLoadBalancer: (
    input: Input<'RegisterInstancesWithLoadBalancer'>,
    account: AwsAccount,
  ): object => {
    const { Instances: instances, LoadBalancerName: name } = input;
    const { instanceIds, registeredAt, vpcId } = existingClassic(account, name);
    const ids = instances.map(({ InstanceId: id = '' }) => id);
    for (const id of ids) {
      const instance = account.instances.get(id);
      if (!instance || instance.state === 'terminated')
        throw refused('InvalidInstance', `Could not find EC2 instance ${id}.`);
      if (account.vpcOf(instance.subnetId) !== vpcId)
        throw refused('InvalidInstance', `EC2 instance ${id} is not in the same VPC as ELB.`);
    }
    const all = [...new Set([...instanceIds, ...ids])];
    const now = account.clock.monotonic();
    const added = ids.filter((id) => !instanceIds.includes(id)).map((id) => [id, now]);
    changeBalancer(account, name, {
      instanceIds: all,
      registeredAt: { ...registeredAt, ...Object.fromEntries(added) },
    });
    return { Instances: all.map((InstanceId) => ({ InstanceId })) };
  },

  DeregisterInstancesFromLoadBalancer: (
    input: Input<'DeregisterInstancesFromLoadBalancer'>,
    account: AwsAccount,
  ): object => {
    const { Instances: instances, LoadBalancerName: name } = input;
    const { instanceIds } = existingClassic(account, name);
    const left = instanceIds.filter((id) => !instances.some(({ InstanceId }) => InstanceId === id));
    changeBalancer(account, name, { instanceIds: left });
    return { Instances: left.map((InstanceId) => ({ InstanceId })) };
  },

  DescribeInstanceHealth: (input: Input<'DescribeInstanceHealth'>, account: AwsAccount): object => {
    const { instanceIds, registeredAt } = existingClassic(account, input.LoadBalancerName, 'seen');
    const asked = input.Instances?.map(({ InstanceId: id = '' }) => id) ?? instanceIds;
    return {
      InstanceStates: asked.map((id) => {
        if (!account.instances.get(id)) throw refused('InvalidInstance', `Could not find EC2 instance ${id}.`);
        const isRegistered = instanceIds.includes(id);
        const isRunning = account.instances.get(id)?.state === 'running';
        const isYoung = account.clock.monotonic() < (registeredAt[id] ?? -Infinity) + account.knobs.targetInitialMs;
        const serves = isRegistered && isRunning && !isYoung && account.targets.healthOf(id) === 'healthy';
        const why = isRegistered
          ? 'Instance has failed at least the UnhealthyThreshold number of health checks consecutively.'
          : 'Instance is not currently registered with the LoadBalancer.';
        return {
          InstanceId: id,
          State: serves ? 'InService' : 'OutOfService',
          ReasonCode: serves ? 'N/A' : 'Instance',
          Description: serves ? 'N/A' : why,
        };
      }),
    };
  },

  DescribeLoadBalancerAttributes: (
    { LoadBalancerName: name }: Input<'DescribeLoadBalancerAttributes'>,
    account: AwsAccount,
  ): object => ({
    LoadBalancerAttributes: existingClassic(account, name, 'seen').attributes,
  }),

  ModifyLoadBalancerAttributes: (input: Input<'ModifyLoadBalancerAttributes'>, account: AwsAccount): object => {
    const { LoadBalancerAttributes: change, LoadBalancerName: name } = input;
    const { attributes } = existingClassic(account, name);
    const { AccessLog: log } = change;
    if (log?.Enabled === true && log.S3BucketName === undefined) {
      throw refused('InvalidConfigurationRequest', 'The access logs S3 bucket must be specified');
    }
    if (log?.EmitInterval !== undefined && ![5, 60].includes(log.EmitInterval)) {
      throw refused('ValidationError', 'EmitInterval must be 5 or 60 minutes');
    }
    const { AdditionalAttributes: more = [], ConnectionDraining: draining } = change;
    changeBalancer(account, name, {
      attributes: {
        ...attributes,
        ...change,
        // The timeout stays while draining is off, and so does what is not named.
        ConnectionDraining: { ...attributes.ConnectionDraining, ...draining },
        AdditionalAttributes: [
          ...attributes.AdditionalAttributes.filter(({ Key: key }) => !more.some((one) => one.Key === key)),
          ...more,
        ],
      },
    });
    return { LoadBalancerName: name, LoadBalancerAttributes: change };
  },

  DescribeTags: ({ LoadBalancerNames: names }: Input<'DescribeTags'>, account: AwsAccount): object => ({
    TagDescriptions: names.map((name) => ({
      LoadBalancerName: name,
      Tags: tagList(existingClassic(account, name, 'seen').tags),
    })),
  }),

  AddTags: ({ LoadBalancerNames: names, Tags: tags }: Input<'AddTags'>, account: AwsAccount): object => {
    const name = onlyName(names);
    changeBalancer(account, name, { tags: checked({ ...existingClassic(account, name).tags, ...classicTags(tags) }) });
    return {};
  },

  RemoveTags: ({ LoadBalancerNames: names, Tags: tags }: Input<'RemoveTags'>, account: AwsAccount): object => {
    const name = onlyName(names);
    const old = Object.entries(existingClassic(account, name).tags);
    changeBalancer(account, name, {
      tags: Object.fromEntries(old.filter(([key]) => !tags.some((tag) => tag.Key === key))),
    });
    return {};
  },
};

/** https://docs.aws.amazon.com/elasticloadbalancing/2012-06-01/APIReference/API_AddTags.html: "one load balancer only". */
function onlyName(names: readonly string[]): string {
  const [name] = names;
  if (name === undefined || names.length > 1)
    throw refused('ValidationError', 'Exactly one load balancer name must be specified');
  return name;
}

function classicTags(tags: readonly { readonly Key: string; readonly Value?: string }[] = []): Tags {
  const all = Object.fromEntries(tags.map(({ Key: key, Value: value = '' }) => [key, value]));
  if (Object.keys(all).length < tags.length)
    throw refused('DuplicateTagKeys', 'A tag key was specified more than once');
  return checked(all);
}

function checked(tags: Tags): Tags {
  if (Object.keys(tags).length > MOST_TAGS)
    throw refused('TooManyTags', `A load balancer has at most ${MOST_TAGS} tags`);
  return tags;
}

/** The VPC of the subnets. */
function checkSubnets(account: AwsAccount, ids: readonly string[], scheme: string): string {
  if (ids.length === 0) throw refused('ValidationError', 'Either AvailabilityZones or SubnetIds must be specified');
  const subnets = ids.map((id) => {
    const subnet = account.subnets.get(id);
    if (subnet) return subnet;
    throw refused('SubnetNotFound', `The requested subnet ID '${id}' does not exist`);
  });
  const [vpcId = '', ...more] = new Set(subnets.map((subnet) => subnet.vpcId));
  if (more.length > 0) throw refused('InvalidConfigurationRequest', 'All subnets must be in the same VPC');
  if (new Set(subnets.map(({ zone }) => zone)).size < subnets.length) {
    throw refused('InvalidConfigurationRequest', 'ELB cannot be attached to multiple subnets in the same AZ.');
  }
  const routes = account.routeTables
    .all()
    .filter((table) => table.vpcId === vpcId)
    .flatMap((table) => table.routes);
  if (scheme === 'internet-facing' && !routes.some(({ gatewayId }) => gatewayId?.startsWith('igw-'))) {
    throw refused('InvalidSubnet', `VPC ${vpcId} has no internet gateway`);
  }
  return vpcId;
}

function checkGroups(account: AwsAccount, ids: readonly string[], vpcId: string): void {
  for (const id of ids) {
    const group = account.knobs.writesLag ? account.groups.seen(id) : account.groups.get(id);
    if (group?.vpcId !== vpcId)
      throw refused('InvalidSecurityGroup', `One or more of the specified security groups do not exist: ${id}`);
  }
}

/** An interface in the subnet, that holds the groups. */
function attach(account: AwsAccount, subnetId: string, name: string, groupIds: readonly string[]): string {
  const subnet = account.subnets.get(subnetId);
  const id = account.newId('eni');
  if (!subnet) return id;
  account.interfaces.put({
    id,
    subnetId,
    groupIds,
    privateIps: [account.newAddress(subnet, 'ipv4')],
    publicIp: undefined,
    ipv6: [],
    ipv4Prefixes: [],
    ipv6Prefixes: [],
    attachment: { id: account.newId('ela-attach'), instanceId: undefined, deviceIndex: 1, status: 'attached' },
    description: `ELB ${name}`,
    type: 'interface',
    requesterId: 'amazon-elb',
    sourceDestCheck: true,
    goneAt: undefined,
    tags: {},
  });
  return id;
}

function view(account: AwsAccount, balancer: ClassicLoadBalancer): object {
  const {
    backEndPolicies,
    createdAt,
    dnsName,
    groupIds,
    health,
    id,
    instanceIds,
    listeners,
    policies,
    scheme,
    subnets,
    vpcId,
  } = balancer;
  // What is terminated is deregistered by the service itself.
  const live = instanceIds.filter((one) => (account.instances.get(one)?.state ?? 'terminated') !== 'terminated');
  return {
    LoadBalancerName: id,
    DNSName: dnsName,
    CanonicalHostedZoneName: dnsName,
    CanonicalHostedZoneNameID: 'Z215JYRZR1TBD5',
    ListenerDescriptions: listeners.map((one) => ({ Listener: listenerView(one), PolicyNames: one.policies })),
    Policies: {
      AppCookieStickinessPolicies: [],
      LBCookieStickinessPolicies: [],
      OtherPolicies: policies.map(({ name }) => name),
    },
    BackendServerDescriptions: Object.entries(backEndPolicies).map(([port, names]) => ({
      InstancePort: Number(port),
      PolicyNames: names,
    })),
    AvailabilityZones: subnets.map((subnet) => account.subnets.get(subnet.id)?.zone ?? ''),
    Subnets: subnets.map((subnet) => subnet.id),
    VPCId: vpcId,
    Instances: live.map((InstanceId) => ({ InstanceId })),
    HealthCheck: health,
    SecurityGroups: groupIds,
    CreatedTime: new Date(createdAt).toISOString(),
    Scheme: scheme,
  };
}
