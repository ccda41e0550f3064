/** What there is in an account, in the words of AWS' API, without what is random: so it is compared, and kept in golden/. */
import type {
  BackendServerDescription,
  HealthCheck,
  LoadBalancerAttributes,
} from '@aws-sdk/client-elastic-load-balancing';
import type {
  IpAddressType,
  LoadBalancerSchemeEnum,
  ProtocolEnum,
  TargetTypeEnum,
} from '@aws-sdk/client-elastic-load-balancing-v2';

export interface AccountState {
  readonly networkLoadBalancers: readonly NetworkState[];
  readonly targetGroups: readonly TargetGroupState[];
  readonly classicLoadBalancers: readonly ClassicState[];
  readonly securityGroups: readonly GroupState[];
  readonly routes: readonly object[];
}

/** Tags and attributes, by their keys. */
export type Values = Readonly<Record<string, string>>;

interface ListenerState {
  readonly port: number;
  readonly protocol: ProtocolEnum;
  /** Its name. */
  readonly targetGroup: string;
  /** ARN. */
  readonly certificate?: string;
  readonly tlsPolicy?: string;
  readonly tags: Values;
}

export interface NetworkState {
  readonly name: string;
  readonly scheme: LoadBalancerSchemeEnum;
  readonly type: string;
  readonly addresses: IpAddressType;
  readonly zones: readonly { readonly zone: string; readonly subnet: string }[];
  readonly securityGroups: readonly string[];
  readonly attributes: Values;
  readonly tags: Values;
  readonly listeners: readonly ListenerState[];
}

export interface TargetGroupState {
  readonly name: string;
  readonly protocol: ProtocolEnum;
  readonly port: number;
  readonly targetType: TargetTypeEnum;
  readonly healthCheck: {
    readonly protocol: ProtocolEnum;
    readonly port: string;
    readonly path?: string;
    readonly intervalSeconds: number;
    readonly healthy: number;
    readonly unhealthy: number;
  };
  readonly attributes: Values;
  readonly tags: Values;
  readonly targets: readonly { readonly id: string; readonly port: number }[];
}

interface ClassicListenerState {
  readonly Protocol: string;
  readonly LoadBalancerPort: number;
  readonly InstanceProtocol: string;
  readonly InstancePort: number;
  readonly SSLCertificateId?: string;
  readonly policies: string[];
}

export interface ClassicState {
  readonly name: string;
  readonly scheme: string;
  readonly subnets: readonly string[];
  readonly securityGroups: readonly string[];
  readonly listeners: readonly ClassicListenerState[];
  /** Policies of node ports. */
  readonly backEnds: BackendServerDescription[];
  readonly healthCheck: HealthCheck;
  readonly instances: readonly string[];
  readonly attributes: LoadBalancerAttributes;
  readonly tags: Values;
}

export interface RuleState {
  readonly protocol: string;
  /** `80-80`, or `all`. */
  readonly ports: string;
  /** A range, or the ID of a group. */
  readonly source: string;
  readonly description?: string;
}

export interface GroupState {
  readonly name: string;
  readonly description: string;
  readonly id: string;
  readonly tags: Values;
  readonly ingress: readonly RuleState[];
}
