/** A Service of type LoadBalancer, and its back ends, as far as a cloud needs to know them. Defaults are filled in. */
import type { NodeAddress, NodeRef } from './instances.ts';
import type { LoadBalancerIngress } from './load-balancer-status.ts';
import type { PortProtocol } from './port-protocol.ts';

/**
 * The name of the provider that has, or had, parts for this Service. The host writes it together with the finalizer, before
 * anything is made, and takes it away with it.
 */
export const loadBalancerOwnerAnnotation = 'outrigger.dev/load-balancer-provider';

/** Of the annotations of a Service. `undefined`: no provider is recorded, or an empty name, which is none. */
export function loadBalancerOwnerIn(annotations: Readonly<Record<string, string>> | undefined): string | undefined {
  return annotations?.[loadBalancerOwnerAnnotation] || undefined;
}

export type IPFamily = 'IPv4' | 'IPv6';

export interface ServicePort {
  /** Empty only on a Service with one port. */
  readonly name: string;
  readonly port: number;
  readonly protocol: PortProtocol;
  /** Absent with `allocateLoadBalancerNodePorts: false`. */
  readonly nodePort?: number | undefined;
  readonly appProtocol?: string | undefined;
}

/** Names one part for sure. */
export interface PartName {
  readonly kind: string;
  /** The cloud's own ID. */
  readonly id: string;
}

export interface LoadBalancerService {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Of values with more than 4,096 characters, the first of them. */
  readonly annotations: Readonly<Record<string, string>>;
  /**
   * `metadata.finalizers`, sorted, without `service.kubernetes.io/load-balancer-cleanup`, which is the host's: whoever else has something to
   * do before the Service goes, `example.com/resources`. A change of them is planned anew. Absent: there are none.
   */
  readonly finalizers?: readonly string[] | undefined;
  readonly ports: readonly ServicePort[];
  readonly ipFamilies: readonly IPFamily[];
  readonly ipFamilyPolicy: 'SingleStack' | 'PreferDualStack' | 'RequireDualStack';
  readonly externalTrafficPolicy: 'Cluster' | 'Local';
  /** Where each node says whether it has end points; with `externalTrafficPolicy: Local`. */
  readonly healthCheckNodePort?: number | undefined;
  /** Seconds for which a client stays with its end point; absent without session affinity. */
  readonly clientIPAffinitySeconds?: number | undefined;
  /** From the field, or the annotation `service.beta.kubernetes.io/load-balancer-source-ranges`. Empty: from anywhere. */
  readonly sourceRanges: readonly string[];
  /** `spec.loadBalancerIP`; deprecated upstream, not gone. */
  readonly requestedIP?: string | undefined;
  readonly loadBalancerClass?: string | undefined;
  /** `status.loadBalancer.ingress` as it is now: what a predecessor's parts are recognised by. */
  readonly ingress: readonly LoadBalancerIngress[];
  /** Parts without an owner that it is to take over: an administrator says so. Absent: none. */
  readonly adopt?: readonly PartName[] | undefined;
}

/** A node that may take traffic: never chosen by readiness. */
export interface BackEnd {
  readonly node: NodeRef;
  readonly addresses: readonly NodeAddress[];
}
