/** What the fake keeps of a classic load balancer: all inside of one thing. Its ID is its name. */
import type { Tags } from '../things.ts';

export interface ClassicListener {
  readonly protocol: string;
  readonly port: number;
  readonly instanceProtocol: string;
  readonly instancePort: number;
  readonly certificate: string | undefined;
  readonly policies: readonly string[];
}

interface ClassicPolicy {
  readonly name: string;
  readonly type: string;
  readonly attributes: Readonly<Record<string, string>>;
}

interface ClassicHealthCheck {
  readonly Target: string;
  readonly Interval: number;
  readonly Timeout: number;
  readonly UnhealthyThreshold: number;
  readonly HealthyThreshold: number;
}

export interface ClassicAttributes {
  readonly CrossZoneLoadBalancing: object;
  readonly AccessLog: object;
  readonly ConnectionDraining: object;
  readonly ConnectionSettings: object;
  readonly AdditionalAttributes: readonly { readonly Key?: string; readonly Value?: string }[];
}

export interface ClassicLoadBalancer {
  readonly id: string;
  readonly scheme: 'internet-facing' | 'internal';
  readonly vpcId: string;
  readonly dnsName: string;
  /** With the interface in each. */
  readonly subnets: readonly { readonly id: string; readonly interfaceId: string }[];
  readonly groupIds: readonly string[];
  readonly listeners: readonly ClassicListener[];
  readonly policies: readonly ClassicPolicy[];
  /** Of instances, by their port. */
  readonly backEndPolicies: Readonly<Record<string, readonly string[]>>;
  readonly health: ClassicHealthCheck;
  readonly attributes: ClassicAttributes;
  readonly instanceIds: readonly string[];
  /** When they were registered, by ID, by the monotonic clock. Default: long ago. */
  readonly registeredAt: Readonly<Record<string, number>>;
  /** Milliseconds since the Unix epoch. */
  readonly createdAt: number;
  readonly tags: Tags;
}
