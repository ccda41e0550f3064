/** What the host writes into a Service's `status.loadBalancer`. */
import type { PortProtocol } from './port-protocol.ts';

export interface PortStatus {
  readonly port: number;
  readonly protocol: PortProtocol;
  /** A reason in CamelCase or `domain/Reason`, at most 316 characters: shown as condition `LoadBalancerPortsError`. */
  readonly error?: string | undefined;
}

/** One address of a load balancer: `ip` or `hostname`, one of them at least. */
export interface LoadBalancerIngress {
  readonly ip?: string | undefined;
  readonly hostname?: string | undefined;
  /** Only with `ip`. `Proxy`: traffic comes from the load balancer's own address (KEP-1860). Default in Kubernetes: `VIP`. */
  readonly ipMode?: 'VIP' | 'Proxy' | undefined;
  readonly ports?: readonly PortStatus[] | undefined;
}
