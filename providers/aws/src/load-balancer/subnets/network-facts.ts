/** What the VPC has for load balancers, as data. */
import type { CloudError, IPFamily } from '@outrigger/cloud-provider';

export interface SubnetFacts {
  readonly id: string;
  /** `eu-central-1a`. */
  readonly zone: string;
  /** Value of its tag `Name`. */
  readonly name: string | undefined;
  /** `own`: it has the cluster's tag; `other`: it has that of other clusters alone; `none`: it has none. */
  readonly cluster: 'own' | 'other' | 'none';
  readonly roles: readonly ('elb' | 'internal-elb')[];
  /** Its route table leads to an internet gateway. */
  readonly isPublic: boolean;
  /** Not one of a local zone, a Wavelength zone or an Outpost, where there is no load balancer of these kinds. */
  readonly isRegular: boolean;
  readonly families: readonly IPFamily[];
  /** `10.0.0.0/20`: of these families. */
  readonly ranges: readonly string[];
  readonly freeAddresses: number;
  /** Namespaces that it is set aside for; `*` stands for all. */
  readonly allowed: readonly string[];
}

export interface NetworkFacts {
  readonly subnets: readonly SubnetFacts[];
}

/** Which subnets a Service may have. */
export interface SubnetLeave {
  /** The Service's. */
  readonly namespace: string;
  /** Of those that it names. */
  readonly mayUse: (id: string) => boolean;
  /** Of a name that is none of those. */
  readonly refused: (name: string) => CloudError;
}
