/** Which of AWS' request rate limits an operation counts against, and whether it may be sent twice. */
/** Requests a second in the long run, and at once after a pause. */
interface CallLimit {
  readonly qps: number;
  readonly burst: number;
}

/**
 * By bucket, AWS' own limits of an account in a region. EC2 counts each action by itself: all that read share here what it gives to each one, as do all
 * that write, which leaves room for others in the account. ELB counts all actions of one API together (40 at once, 10 a second), and most
 * kinds of them once more: what reads is kept below that, so that a crowd of reads never takes what the changes need.
 */
export const callLimits: Readonly<Record<Bucket, CallLimit>> = {
  ec2: { qps: 20, burst: 100 },
  'ec2-write': { qps: 5, burst: 50 },
  'ec2-tags': { qps: 10, burst: 100 },
  'ec2-topology': { qps: 1, burst: 1 },
  elb: { qps: 6, burst: 30 },
  'elb-write': { qps: 3, burst: 20 },
  'elb-create': { qps: 0.2, burst: 10 },
  'elb-targets': { qps: 4, burst: 20 },
  elbv2: { qps: 6, burst: 30 },
  'elbv2-write': { qps: 3, burst: 20 },
  'elbv2-create': { qps: 0.2, burst: 10 },
  'elbv2-targets': { qps: 4, burst: 20 },
  sts: { qps: 50, burst: 50 },
  metadata: { qps: 50, burst: 50 },
};

export type Bucket =
  | 'ec2'
  | 'ec2-write'
  | 'ec2-tags'
  | 'ec2-topology'
  | `${'elb' | 'elbv2'}${'' | '-write' | '-create' | '-targets'}`
  | 'sts'
  | 'metadata';

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
  if (operation.startsWith('Describe')) return service;
  if (service === 'ec2') return operation === 'CreateTags' ? 'ec2-tags' : 'ec2-write';
  if (SLOWEST.has(operation)) return `${service}-create`;
  return /^(?:Register|Deregister)/u.test(operation) ? `${service}-targets` : `${service}-write`;
}

/** Whether the host may send it again when its answer was lost. */
export function isRepeatable(service: ServiceName, operation: string): boolean {
  return !ONCE.has(`${service} ${operation}`);
}
