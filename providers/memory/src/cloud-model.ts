/** What there is in the cloud in memory, as its API shows it. */
import type { InstanceMaintenance, NodeAddress } from '@outrigger/cloud-provider';

export interface MemoryInstance {
  readonly id: string;
  /** `memory://<region>/<id>`. */
  readonly providerID: string;
  readonly name: string;
  readonly state: 'running' | 'shutdown';
  readonly type: string;
  readonly zone: string;
  readonly region: string;
  readonly addresses: readonly NodeAddress[];
  readonly labels: Readonly<Record<string, string>>;
  /** Of whoever pays for it, or looks for it. */
  readonly tags: Readonly<Record<string, string>>;
  /** What its firmware says: nodes without a provider ID are found by it, whatever their name. Default: none. */
  readonly systemUUID?: string | undefined;
  /** Default, and `null` over HTTP: none. */
  readonly maintenance?: InstanceMaintenance | null | undefined;
  /** Ranges for its pods. */
  readonly podCidrs: readonly string[];
}

/** What a new instance needs; the rest is made up. Default `id`: the name. */
export type NewInstance = Pick<MemoryInstance, 'name'> & Partial<MemoryInstance>;

/** A route of the cloud's one network. */
export interface MemoryRoute {
  readonly id: string;
  readonly destination: string;
  readonly instanceId: string;
  /** Of the instance, as it was when the route was made. */
  readonly providerID: string;
  readonly nodeName: string;
  /** The cluster that made it; empty for one made by hand. */
  readonly clusterId: string;
}

export type NewRoute = Omit<MemoryRoute, 'id' | 'providerID'>;

/** A part of a load balancer: an address, a firewall, a load balancer, a DNS record. */
export interface MemoryPart {
  readonly id: string;
  readonly kind: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** As it is now. Default: `ready`. */
  readonly state?: 'pending' | 'ready';
}

/** A disk. */
export interface MemoryVolume {
  readonly id: string;
  /** Where it can be used. At least one. */
  readonly zones: readonly string[];
  readonly region: string;
}

/** What a new volume needs; the rest is made up. */
export type NewVolume = Pick<MemoryVolume, 'id'> & Partial<MemoryVolume>;

/** How the cloud behaves. All can be changed while it runs. */
export interface MemoryCloudSettings {
  /** Time that each request takes, in milliseconds. Default: 0. */
  readonly latencyMs: number;
  /** More requests than this are answered 429 with `Retry-After`. Default: none are. */
  readonly rateLimit?: { readonly qps: number; readonly burst: number } | undefined;
  /** Most instances, routes and parts there may be. Default: no limit. */
  readonly quota: Readonly<Partial<Record<'instances' | 'routes' | 'parts', number>>>;
  /** Time after which a load balancer that is new or was changed is `ready`, in milliseconds. Default: 0. */
  readonly loadBalancerDelayMs: number;
  /** Lists and batches show what was so long ago, in milliseconds. Default: 0. */
  readonly listLagMs: number;
  /** Reads by ID do too. Default: 0. */
  readonly readLagMs: number;
}

/** A failure by rule. The first rule that applies decides. */
export interface FaultRule {
  /** Requests whose operation starts like this (`GET /instances`). Default: all. */
  readonly operation?: string | undefined;
  /** The n-th request that the rule sees, from 1. Default: each. */
  readonly nth?: number | undefined;
  /** From 0 to 1, by the cloud's own random source. Default: 1. */
  readonly probability?: number | undefined;
  /** How many requests it hits at most. Default: no limit. */
  readonly times?: number | undefined;
  /** `status`: answers it. `empty`: a list without entries. `lost`: does the work, then answers 500. `hang`: never answers. */
  readonly effect: 'status' | 'empty' | 'lost' | 'hang';
  /** With `status`. Default: 500. */
  readonly status?: number | undefined;
  readonly retryAfterSeconds?: number | undefined;
}

/** One request that the cloud was asked. */
export interface CloudCall {
  readonly operation: string;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
  readonly status: number;
}
