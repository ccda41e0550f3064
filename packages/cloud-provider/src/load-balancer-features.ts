/** What a cloud's load balancers can do, as data. */
import type { IPFamily } from './load-balancer-service.ts';
import type { PortProtocol } from './port-protocol.ts';

/** A Service that asks for more is refused with one clear Event, never served in part. */
export interface LoadBalancerFeatures {
  readonly protocols: readonly PortProtocol[];
  /** TCP and UDP on one Service. */
  readonly mixedProtocols: boolean;
  readonly ipFamilies: readonly IPFamily[];
  /** Both families on one Service. */
  readonly dualStack: boolean;
  readonly sessionAffinity: boolean;
  readonly externalTrafficPolicyLocal: boolean;
  readonly sourceRanges: boolean;
  /** `allocateLoadBalancerNodePorts: false`: reaches pods without node ports. */
  readonly withoutNodePorts: boolean;
  readonly requestedIP: boolean;
}

/** One annotation on a Service that the provider reads. */
export interface ServiceAnnotation {
  readonly name: string;
  /** What it does, for the reference page. */
  readonly description: string;
  readonly values: 'string' | 'boolean' | 'integer' | readonly string[];
  /**
   * It names something of the cloud that may be another's, and what one could do by that: `uses another Service's load balancer`.
   * `--trusted-service-namespaces` and the admission policy hold it back by namespace. Default: it names nothing.
   */
  readonly dangerous?: string | undefined;
  /** Characters of its value, at most 4,096; a Service with a longer one is refused. Default: 255. */
  readonly maxLength?: number | undefined;
}
