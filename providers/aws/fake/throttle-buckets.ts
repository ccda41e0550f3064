/** AWS' buckets of requests: of one account in one region, by action or by a group of actions. */
import type { Clock } from '@outrigger/cloud-provider';
import type { ServiceName } from './request-scope.ts';

interface Bucket {
  readonly name: string;
  readonly burst: number;
  readonly perSecond: number;
}

type RequestInput = Readonly<Record<string, unknown>>;

/** https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-throttling.html, "Request token bucket sizes and refill rates" */
const UNFILTERED: readonly string[] = [
  'DescribeInstances',
  'DescribeNetworkInterfaces',
  'DescribeSecurityGroups',
  'DescribeVolumes',
];
const EC2_ACTIONS: Readonly<Record<string, readonly [burst: number, perSecond: number]>> = {
  AssignIpv6Addresses: [100, 5],
  CreateTags: [100, 10],
  DescribeInstanceTopology: [1, 1],
  ModifyNetworkInterfaceAttribute: [100, 5],
};
/** https://docs.aws.amazon.com/elasticloadbalancing/latest/userguide/elb-api-throttling.html: each API version has its own. */
const SLOW_ELB: readonly string[] = [
  'AttachLoadBalancerToSubnets',
  'CreateLoadBalancer',
  'DetachLoadBalancerFromSubnets',
  'SetSubnets',
];

export class ThrottleBuckets {
  readonly #clock: Clock;
  readonly #levels = new Map<string, { tokens: number; at: number }>();
  #refused = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How many requests found a bucket empty. */
  get refused(): number {
    return this.#refused;
  }

  /** False: a bucket is empty, and none has lost a token. */
  take(service: ServiceName, operation: string, input: RequestInput): boolean {
    const buckets = bucketsOf(service, operation, input);
    const now = this.#clock.monotonic();
    const levels = buckets.map(({ burst, name, perSecond }) => {
      const level = this.#levels.get(name) ?? { tokens: burst, at: now };
      level.tokens = Math.min(burst, level.tokens + ((now - level.at) / 1_000) * perSecond);
      level.at = now;
      this.#levels.set(name, level);
      return level;
    });
    // What was added in fractions is never quite a whole one.
    const hasAll = levels.every(({ tokens }) => tokens > 1 - 1e-9);
    if (hasAll) for (const level of levels) level.tokens--;
    else this.#refused++;
    return hasAll;
  }
}

function bucketsOf(service: ServiceName, operation: string, input: RequestInput): readonly Bucket[] {
  if (service === 'sts') return [];
  return service === 'ec2' ? [ec2Bucket(operation, input)] : elbBuckets(service, operation);
}

function ec2Bucket(operation: string, input: RequestInput): Bucket {
  const own = EC2_ACTIONS[operation];
  if (own) return { name: `ec2/${operation}`, burst: own[0], perSecond: own[1] };
  if (!operation.startsWith('Describe')) return { name: `ec2/${operation}`, burst: 50, perSecond: 5 };
  const isNarrow = Object.entries(input).some(
    ([name, value]) => name === 'MaxResults' || (Array.isArray(value) && value.length > 0),
  );
  if (isNarrow || !UNFILTERED.includes(operation)) return { name: `ec2/${operation}`, burst: 100, perSecond: 20 };
  return { name: `ec2/${operation}/unfiltered`, burst: 50, perSecond: 10 };
}

function elbBuckets(service: ServiceName, operation: string): readonly Bucket[] {
  const all = { name: `${service}/all`, burst: 40, perSecond: 10 };
  if (operation.startsWith('Describe')) return [all, { name: `${service}/describe`, burst: 40, perSecond: 10 }];
  if (SLOW_ELB.includes(operation)) return [all, { name: `${service}/slow`, burst: 10, perSecond: 0.2 }];
  const isTargets = /^(?:Register|Deregister)/u.test(operation);
  return [all, { name: `${service}/${isTargets ? 'targets' : 'mutating'}`, burst: 20, perSecond: isTargets ? 4 : 3 }];
}
