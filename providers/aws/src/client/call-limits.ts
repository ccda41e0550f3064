/** Which of AWS' request rate limits an operation counts against, and whether it may be sent twice. */
/** Requests a second in the long run, and at once after a pause. */
interface CallLimit {
  readonly qps: number;
  readonly burst: number;
}

/**
 * By bucket, AWS' own limits of an account in a region. EC2 counts each action by itself: all that read share here what it gives to each one, as do all
 * that write, which leaves room for others in the account (https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-throttling.html). ELB counts all actions
 * together, each of its two API versions by itself, and each kind of them once more
 * (https://docs.aws.amazon.com/elasticloadbalancing/latest/userguide/elb-api-throttling.html). Reads are kept below what it gives them, so that a crowd of reads
 * never takes what the changes need; and of what may be at once a tenth is left, as requests do not arrive as evenly as they are sent.
 */
export const callLimits: Readonly<Record<Bucket, CallLimit>> = {
  ec2: { qps: 20, burst: 100 },
  'ec2-write': { qps: 5, burst: 50 },
  'ec2-tags': { qps: 10, burst: 100 },
  'ec2-topology': { qps: 1, burst: 1 },
  ...limitsOfElb('elb'),
  ...limitsOfElb('elbv2'),
  sts: { qps: 50, burst: 50 },
  metadata: { qps: 50, burst: 50 },
};

type ElbBucket<Api extends string> = Api | `${Api}.${'read' | 'write' | 'create' | 'targets'}`;

export type Bucket =
  | 'ec2'
  | 'ec2-write'
  | 'ec2-tags'
  | 'ec2-topology'
  | ElbBucket<'elb' | 'elbv2'>
  | 'sts'
  | 'metadata';

function limitsOfElb<Api extends string>(api: Api): Readonly<Record<ElbBucket<Api>, CallLimit>> {
  return {
    [api]: { qps: 10, burst: 36 },
    [`${api}.read`]: { qps: 6, burst: 30 },
    [`${api}.write`]: { qps: 3, burst: 18 },
    [`${api}.create`]: { qps: 0.2, burst: 9 },
    [`${api}.targets`]: { qps: 4, burst: 18 },
  } as Record<ElbBucket<Api>, CallLimit>;
}

/** Of ELB: those that AWS counts with `CreateLoadBalancer`. */
const SLOWEST: ReadonlySet<string> = new Set([
  'CreateLoadBalancer',
  'SetSubnets',
  'AttachLoadBalancerToSubnets',
  'DetachLoadBalancerFromSubnets',
]);

/**
 * Those that make a second thing, or fail over the first one, when they are sent again after an answer was lost. All others end where they
 * would have ended: ELB answers a second creation with the same settings as the first one.
 */
const ONCE: ReadonlySet<string> = new Set([
  'ec2 AssignIpv6Addresses',
  'ec2 AuthorizeSecurityGroupIngress',
  'ec2 CreateRoute',
  'ec2 CreateSecurityGroup',
  'elb CreateLoadBalancer',
  'elb CreateLoadBalancerPolicy',
]);

/** The short name of an API, as `AwsClient` has it. */
export type ServiceName = 'ec2' | 'elb' | 'elbv2' | 'sts';

export function bucketOf(service: ServiceName, operation: string): Bucket {
  if (service === 'sts') return 'sts';
  if (operation === 'DescribeInstanceTopology') return 'ec2-topology';
  const reads = operation.startsWith('Describe');
  if (service === 'ec2') return reads ? service : operation === 'CreateTags' ? 'ec2-tags' : 'ec2-write';
  if (reads) return `${service}.read`;
  if (SLOWEST.has(operation)) return `${service}.create`;
  return /^(?:Register|Deregister)/u.test(operation) ? `${service}.targets` : `${service}.write`;
}

/** Whether the host may send it again when its answer was lost. */
export function isRepeatable(service: ServiceName, operation: string): boolean {
  return !ONCE.has(`${service} ${operation}`);
}
