/** An account of the fake in one region: its things, IDs that come again with the same seed, and what the test has set. */
import { createHash } from 'node:crypto';
import type { Clock } from '@outrigger/cloud-provider';
import { canonicalRange } from './ec2/ip-range.ts';
import type { ClassicLoadBalancer } from './elb/classic-load-balancer.ts';
import { SessionCredentials } from './session-credentials.ts';
import { LaggedStore } from './lagged-store.ts';
import type { Listener, LoadBalancer, TargetGroup } from './elbv2/things.ts';
import { TargetRegister } from './elbv2/target-register.ts';
import type {
  Address,
  Instance,
  NetworkInterface,
  RouteTable,
  SecurityGroup,
  SecurityGroupRule,
  Subnet,
  Volume,
  Vpc,
  Zone,
} from './things.ts';

/** What a test may change while the fake runs. Milliseconds by its clock. */
export interface FakeAwsKnobs {
  /** By how much what EC2 describes lies behind writes: new things are `NotFound` and in no list, old values are shown. Default: 0. */
  ec2LagMs: number;
  /** The same of both ELB APIs. Default: 0. */
  elbLagMs: number;
  /** True: writes that name a thing do not find it either before the lag is over. Default: false. */
  writesLag: boolean;
  /** How long a new load balancer is `provisioning`. Default: 0. */
  provisioningMs: number;
  /** How long a new target is `initial`, and a new instance of a Classic Load Balancer out of service. Default: 0. */
  targetInitialMs: number;
  /** How long the network interfaces of a load balancer outlive it, and hold its security groups. Default: 0. */
  interfaceReleaseMs: number;
  /** Quotas of the region. Defaults: 50 and 20, as of a new account. */
  mostNetworkLoadBalancers: number;
  mostClassicLoadBalancers: number;
  /** In a zone, of a load balancer, each counted once for each of its target groups, or of a target group that none has. Default: 1000; AWS: 500. */
  mostTargets: number;
  /** Inbound, of each family, of a security group; one that names a group counts in both. Default: 60, as of a new account. */
  mostRules: number;
  /** How many of the instance IDs that there are not an error names. Default: all. */
  mostUnknownNamed: number;
  /** True: AWS' buckets of requests are in force. Default: false. */
  throttles: boolean;
}

export const DEFAULT_KNOBS: FakeAwsKnobs = {
  ec2LagMs: 0,
  elbLagMs: 0,
  writesLag: false,
  provisioningMs: 0,
  targetInitialMs: 0,
  interfaceReleaseMs: 0,
  mostNetworkLoadBalancers: 50,
  mostClassicLoadBalancers: 20,
  mostTargets: 1_000,
  mostRules: 60,
  mostUnknownNamed: Infinity,
  throttles: false,
};

export interface AwsAccountOptions {
  readonly clock: Clock;
  readonly region: string;
  readonly accountId: string;
  readonly seed: string;
  readonly zones: readonly Zone[];
  readonly knobs: FakeAwsKnobs;
}

export class AwsAccount {
  readonly clock: Clock;
  readonly region: string;
  readonly accountId: string;
  readonly knobs: FakeAwsKnobs;
  readonly zones: readonly Zone[];
  readonly vpcs: LaggedStore<Vpc>;
  readonly subnets: LaggedStore<Subnet>;
  readonly routeTables: LaggedStore<RouteTable>;
  readonly groups: LaggedStore<SecurityGroup>;
  readonly rules: LaggedStore<SecurityGroupRule>;
  readonly interfaces: LaggedStore<NetworkInterface>;
  readonly instances: LaggedStore<Instance>;
  readonly volumes: LaggedStore<Volume>;
  readonly addresses: LaggedStore<Address>;
  readonly balancers: LaggedStore<LoadBalancer>;
  readonly listeners: LaggedStore<Listener>;
  readonly targetGroups: LaggedStore<TargetGroup>;
  readonly targets: TargetRegister;
  readonly classics: LaggedStore<ClassicLoadBalancer>;
  readonly sessions: SessionCredentials;
  readonly #seed: string;
  readonly #numbers = new Map<string, number>();
  readonly #hosts = new Map<string, number>();

  constructor({ accountId, clock, knobs, region, seed, zones }: AwsAccountOptions) {
    this.clock = clock;
    this.region = region;
    this.accountId = accountId;
    this.knobs = knobs;
    this.zones = zones;
    this.#seed = seed;
    const ec2Lag = (): number => this.knobs.ec2LagMs;
    this.vpcs = new LaggedStore(clock, ec2Lag);
    this.subnets = new LaggedStore(clock, ec2Lag);
    this.routeTables = new LaggedStore(clock, ec2Lag);
    this.groups = new LaggedStore(clock, ec2Lag);
    this.rules = new LaggedStore(clock, ec2Lag);
    this.interfaces = new LaggedStore(clock, ec2Lag);
    this.instances = new LaggedStore(clock, ec2Lag);
    this.volumes = new LaggedStore(clock, ec2Lag);
    this.addresses = new LaggedStore(clock, ec2Lag);
    const elbLag = (): number => this.knobs.elbLagMs;
    this.balancers = new LaggedStore(clock, elbLag);
    this.listeners = new LaggedStore(clock, elbLag);
    this.targetGroups = new LaggedStore(clock, elbLag);
    this.targets = new TargetRegister(clock);
    this.classics = new LaggedStore(clock, elbLag);
    this.sessions = new SessionCredentials(clock);
  }

  /** `i-0123456789abcdef0`. */
  newId(prefix: string): string {
    return `${prefix}-${this.newHex(prefix, 17)}`;
  }

  newHex(kind: string, length: number): string {
    const n = this.#numberOf(kind);
    return createHash('sha256').update(`${this.#seed}/${kind}/${n}`).digest('hex').slice(0, length);
  }

  /** The next free address of a subnet. AWS keeps the first four and the last one of each. */
  newAddress(subnet: Subnet, family: 'ipv4' | 'ipv6'): string {
    const cidr = family === 'ipv4' ? subnet.cidr : (subnet.ipv6Cidr ?? '');
    const key = `${subnet.id}/${family}`;
    const host = this.#hosts.get(key) ?? 4;
    this.#hosts.set(key, host + 1);
    const [base = ''] = cidr.split('/');
    if (family === 'ipv6') return canonicalRange(`${base}${host.toString(16)}/128`, 'ipv6')?.split('/')[0] ?? '';
    const whole = base.split('.').reduce((sum, part) => sum * 256 + Number(part), 0) + host;
    return [24, 16, 8, 0].map((shift) => Math.floor(whole / 2 ** shift) % 256).join('.');
  }

  /** `52.95.0.4`: of nobody else. */
  newPublicAddress(): string {
    const n = this.#numberOf('public-address') + 4;
    return `52.95.${Math.floor(n / 256)}.${n % 256}`;
  }

  /** Credentials that live for a while. */
  newSession(livesMs: number): {
    readonly accessKey: string;
    readonly secret: string;
    readonly token: string;
    readonly expiresAt: number;
  } {
    const accessKey = `ASIA${this.newHex('access-key', 16).toUpperCase()}`;
    const session = {
      secret: this.newHex('session-secret', 40),
      token: this.newHex('session-token', 64),
      expiresAt: this.clock.now() + livesMs,
    };
    this.sessions.add(accessKey, session);
    return { accessKey, ...session };
  }

  zoneId(name: string): string {
    return this.zones.find((zone) => zone.name === name)?.id ?? '';
  }

  vpcOf(subnetId: string): string {
    return this.subnets.get(subnetId)?.vpcId ?? '';
  }

  /** Network interfaces as they stand: those of load balancers that are gone go after a while. */
  liveInterfaces(): readonly NetworkInterface[] {
    const now = this.clock.monotonic();
    for (const { goneAt, id } of this.interfaces.all())
      if (goneAt !== undefined && goneAt <= now) this.interfaces.remove(id);
    return this.interfaces.all();
  }

  #numberOf(kind: string): number {
    const n = (this.#numbers.get(kind) ?? 0) + 1;
    this.#numbers.set(kind, n);
    return n;
  }
}
