/** What the fake keeps of the newer load balancer API. The ID of each thing is its ARN. */
import type { Tags } from '../things.ts';

export type Settings = Readonly<Record<string, string>>;

export interface BalancerSubnet {
  readonly subnetId: string;
  readonly allocationId: string | undefined;
  readonly privateIp: string | undefined;
  readonly ipv6: string | undefined;
  readonly interfaceId: string;
}

export interface LoadBalancer {
  readonly id: string;
  readonly name: string;
  readonly scheme: 'internet-facing' | 'internal';
  readonly vpcId: string;
  readonly dnsName: string;
  readonly subnets: readonly BalancerSubnet[];
  readonly groupIds: readonly string[];
  readonly ipAddressType: string;
  readonly prefixForSourceNat: 'on' | 'off';
  /** Milliseconds since the Unix epoch. */
  readonly createdAt: number;
  /** By the monotonic clock. */
  readonly activeAt: number;
  readonly attributes: Settings;
  readonly tags: Tags;
  /** Set by a test: another service has it, as a VPC endpoint service does. Default: none has. */
  readonly isAssociated?: boolean;
}

export interface Listener {
  readonly id: string;
  readonly balancerId: string;
  readonly protocol: string;
  readonly port: number;
  readonly targetGroupIds: readonly string[];
  readonly actions: readonly object[];
  readonly sslPolicy: string | undefined;
  readonly certificate: string | undefined;
  /** Beside the default one. */
  readonly moreCertificates: readonly string[];
  readonly alpn: readonly string[];
  readonly tags: Tags;
}

export interface HealthCheck {
  readonly HealthCheckProtocol: string;
  readonly HealthCheckPort: string;
  readonly HealthCheckEnabled: boolean;
  readonly HealthCheckIntervalSeconds: number;
  readonly HealthCheckTimeoutSeconds: number;
  readonly HealthyThresholdCount: number;
  readonly UnhealthyThresholdCount: number;
  readonly HealthCheckPath?: string | undefined;
  readonly Matcher?: { readonly HttpCode: string } | undefined;
}

export interface TargetGroup {
  readonly id: string;
  readonly name: string;
  readonly protocol: string;
  readonly port: number;
  readonly vpcId: string;
  readonly targetType: string;
  readonly ipAddressType: 'ipv4' | 'ipv6';
  readonly health: HealthCheck;
  readonly attributes: Settings;
  readonly tags: Tags;
}
