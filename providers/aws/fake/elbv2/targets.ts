/** Targets of a group, and how they fare. */
import type { Operations } from '../../src/client/generated/elbv2.ts';
import type { AwsAccount } from '../aws-account.ts';
import { refused } from '../aws-error.ts';
import { existingGroup } from './target-groups.ts';
import type { Target } from './target-register.ts';
import type { TargetGroup } from './things.ts';

type Input<Name extends keyof Operations> = Operations[Name]['input'];
type Descriptions = Input<'RegisterTargets'>['Targets'];

const INSTANCE_ID = /^i-(?:[\da-f]{8}|[\da-f]{17})$/u;

export const targetOperations = {
  RegisterTargets: (
    { TargetGroupArn: arn, Targets: targets }: Input<'RegisterTargets'>,
    account: AwsAccount,
  ): object => {
    const group = existingGroup(account, arn);
    for (const { Id: id } of targets) checkTarget(account, group, id);
    const wanted = targets.map(({ Id: id, Port: port = group.port }) => ({ id, port }));
    checkQuota(account, arn, wanted);
    account.targets.register(arn, wanted);
    return {};
  },

  DeregisterTargets: (
    { TargetGroupArn: arn, Targets: targets }: Input<'DeregisterTargets'>,
    account: AwsAccount,
  ): object => {
    const { attributes } = existingGroup(account, arn);
    const delayMs = Number(attributes['deregistration_delay.timeout_seconds'] ?? '300') * 1_000;
    account.targets.deregister(
      arn,
      targets.map(({ Id: id, Port: port }) => ({ id, port })),
      delayMs,
    );
    return {};
  },

  DescribeTargetHealth: (
    { TargetGroupArn: arn, Targets: asked }: Input<'DescribeTargetHealth'>,
    account: AwsAccount,
  ): object => {
    const group = existingGroup(account, arn, 'seen');
    // What is terminated is deregistered by the service itself.
    const targets = account.targets
      .of(arn)
      .filter(({ id }) => group.targetType !== 'instance' || stateOf(account, id) !== 'terminated');
    const zones = zonesOf(account, group);
    const views = targets.map((target) => view(account, group, target, zones));
    if (!asked) return { TargetHealthDescriptions: views };
    return { TargetHealthDescriptions: asked.map((one) => askedView(group, targets, views, one)) };
  },
};

function stateOf(account: AwsAccount, id: string): string {
  return account.instances.get(id)?.state ?? 'terminated';
}

function checkTarget(account: AwsAccount, { targetType, vpcId }: TargetGroup, id: string): void {
  if (targetType !== 'instance') return;
  // Real ELBv2 says so of an ID of another form.
  if (!INSTANCE_ID.test(id)) throw refused('ValidationError', `Instance ID '${id}' is not valid`);
  const instance = account.instances.get(id);
  if (!instance) throw refused('InvalidTarget', `The following targets are not valid instances: '${id}'`);
  // https://docs.aws.amazon.com/elasticloadbalancing/latest/APIReference/API_RegisterTargets.html
  if (instance.state !== 'running')
    throw refused(
      'InvalidTarget',
      `The following targets are not in a running state and cannot be registered: '${id}'`,
    );
  if (account.vpcOf(instance.subnetId) !== vpcId)
    throw refused('InvalidTarget', `The following targets are not in the target group VPC '${vpcId}': '${id}'`);
}

/** What drains does not count. Of a zone in which nothing comes it does not matter how many there are. */
function checkQuota(account: AwsAccount, arn: string, wanted: readonly Pick<Target, 'id' | 'port'>[]): void {
  const zoneOf = (id: string): string => account.subnets.get(account.instances.get(id)?.subnetId ?? '')?.zone ?? '';
  const coming = new Set(wanted.map(({ id }) => zoneOf(id)));
  const all = new Map(wanted.map(({ id, port }) => [`${arn} ${id}:${port}`, zoneOf(id)]));
  for (const group of groupsBeside(account, arn))
    for (const { drainsUntil, id, port } of account.targets.of(group))
      if (drainsUntil === undefined) all.set(`${group} ${id}:${port}`, zoneOf(id));
  for (const zone of coming) {
    const count = [...all.values()].filter((one) => one === zone).length;
    if (count > account.knobs.mostTargets)
      throw refused('TooManyTargets', `The maximum number of targets in the Availability Zone '${zone}' is reached`);
  }
}

/** Of the load balancer that uses the group, all groups; else this one. */
function groupsBeside(account: AwsAccount, arn: string): ReadonlySet<string> {
  const listeners = account.listeners.all();
  const own = new Set(
    listeners.filter(({ targetGroupIds }) => targetGroupIds.includes(arn)).map(({ balancerId }) => balancerId),
  );
  const beside = listeners.filter(({ balancerId }) => own.has(balancerId));
  return new Set([arn, ...beside.flatMap(({ targetGroupIds }) => targetGroupIds)]);
}

/** Of the load balancer that uses the group; `undefined`: none does. */
function zonesOf(account: AwsAccount, { id }: TargetGroup): ReadonlySet<string> | undefined {
  const listener = account.listeners.all().find(({ targetGroupIds }) => targetGroupIds.includes(id));
  const balancer = listener && account.balancers.get(listener.balancerId);
  return balancer && new Set(balancer.subnets.map(({ subnetId }) => account.subnets.get(subnetId)?.zone ?? ''));
}

function askedView(
  group: TargetGroup,
  targets: readonly Target[],
  views: readonly object[],
  { Id: id, Port: port = group.port }: Descriptions[number],
): object {
  const at = targets.findIndex((one) => one.id === id && one.port === port);
  const found = at === -1 ? undefined : views[at];
  if (found) return found;
  return {
    Target: { Id: id, Port: port },
    TargetHealth: {
      State: 'unused',
      Reason: 'Target.NotRegistered',
      Description: 'Target is not registered to the target group',
    },
  };
}

function view(account: AwsAccount, group: TargetGroup, target: Target, zones: ReadonlySet<string> | undefined): object {
  const { id, port } = target;
  const { HealthCheckPort: checkPort } = group.health;
  return {
    Target: { Id: id, Port: port },
    HealthCheckPort: checkPort === 'traffic-port' ? String(port) : checkPort,
    TargetHealth: healthOf(account, group, target, zones),
  };
}

/** https://docs.aws.amazon.com/elasticloadbalancing/latest/APIReference/API_TargetHealth.html */
function healthOf(
  account: AwsAccount,
  group: TargetGroup,
  { drainsUntil, id, since }: Target,
  zones: ReadonlySet<string> | undefined,
): object {
  if (drainsUntil !== undefined) {
    return {
      State: 'draining',
      Reason: 'Target.DeregistrationInProgress',
      Description: 'Target deregistration is in progress',
    };
  }
  if (!zones) {
    return {
      State: 'unused',
      Reason: 'Target.NotInUse',
      Description: 'Target group is not configured to receive traffic from the load balancer',
    };
  }
  if (group.targetType === 'instance') {
    if (stateOf(account, id) !== 'running')
      return { State: 'unused', Reason: 'Target.InvalidState', Description: 'Target is in the stopped state' };
    const zone = account.subnets.get(account.instances.get(id)?.subnetId ?? '')?.zone ?? '';
    if (!zones.has(zone)) {
      return {
        State: 'unused',
        Reason: 'Target.NotInUse',
        Description: 'Target is in an Availability Zone that is not enabled for the load balancer',
      };
    }
  }
  if (account.clock.monotonic() < since + account.knobs.targetInitialMs) {
    return {
      State: 'initial',
      Reason: 'Elb.RegistrationInProgress',
      Description: 'Target registration is in progress',
    };
  }
  if (account.targets.healthOf(id) === 'healthy') return { State: 'healthy' };
  return { State: 'unhealthy', Reason: 'Target.FailedHealthChecks', Description: 'Health checks failed' };
}
