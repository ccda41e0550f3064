/** What the capabilities of this provider ask OpenStack through: one request, or one whole list. */
import type { CallContext } from '@outrigger/cloud-provider';
import type { HttpMethod } from '@outrigger/provider-kit';

/** The service types of the catalogue that the provider uses. */
export const serviceTypes = ['compute', 'network', 'load-balancer', 'block-storage', 'key-manager'] as const;
export type ServiceType = (typeof serviceTypes)[number];

/** In the order given; a name may be repeated. */
export type Query = readonly (readonly [name: string, value: string])[];

export interface ApiRequest {
  readonly service: ServiceType;
  /** The metric label: `GET /servers/{id}`. Never with IDs in it. */
  readonly operation: string;
  readonly method: HttpMethod;
  /**
   * Below the service's versioned root: `/servers/detail`, `/volumes/…`; of network, load balancer and key manager with the version
   * in it: `/v2.0/ports`, `/v2.0/lbaas/loadbalancers/…`, `/v1/secrets/…`. Each ID encoded.
   */
  readonly path: string;
  readonly query?: Query;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** The least microversion that the request needs (`2.69`). Default: the service's oldest. */
  readonly microversion?: string;
  /** Neutron's `If-Match: revision_number=…`. */
  readonly revision?: number;
  /** May be sent again when its answer was lost. Default: true but for POST. */
  readonly idempotent?: boolean;
}

/** One list, all of its pages. */
export interface ListRequest extends Omit<ApiRequest, 'method' | 'body' | 'revision' | 'idempotent'> {
  /** The key of the answer that holds the items: `servers`, `ports`, `loadbalancers`. */
  readonly collection: string;
}

export interface ApiClient {
  /** The region whose end points are used; `undefined` where the config names none and the catalogue has one only. */
  readonly region: string | undefined;
  /**
   * The answer's body; `undefined` for one without. Throws a `CloudError` for every status from 400 on: `not-found` only for the
   * service's own 404 about the thing that the path names (a proxy's page is `unavailable`), `conflict` for 409 and 412,
   * `quota` for a refusal that says so, `unauthenticated` after one renewal of the token.
   */
  request<T>(call: CallContext, request: ApiRequest): Promise<T>;
  /** All items of all pages, or an error: never a part. */
  list<T>(call: CallContext, request: ListRequest): Promise<readonly T[]>;
  /** Whether the catalogue has the service, for this region and interface. */
  hasService(call: CallContext, service: ServiceType): Promise<boolean>;
  /** The highest microversion of the service (`2.93`); `undefined` where it has none. Asked once, then remembered. */
  maxMicroversion(call: CallContext, service: ServiceType): Promise<string | undefined>;
  /** The aliases of Neutron's extensions (`extraroute-atomic`). Asked once, then remembered. */
  networkExtensions(call: CallContext): Promise<ReadonlySet<string>>;
}
