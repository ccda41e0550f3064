/** Octavia as a whole: its settings, what it keeps, and the neutron that it makes VIPs in. */
import type { Clock } from '@outrigger/cloud-provider';
import type { Caller } from '../fake-http.ts';
import type { Identifiers } from '../identifiers.ts';
import type { Networking } from '../neutron/networking.ts';
import { octaviaRefusal } from './octavia-error.ts';
import type { FakeLoadBalancer, OctaviaObject, ProvisioningStatus } from './octavia-objects.ts';
import { isDoomed } from './octavia-rules.ts';
import { OctaviaStore } from './octavia-store.ts';
import { OctaviaViews } from './octavia-views.ts';
import { Provisioning, type Outcome } from './provisioning.ts';

/** What octavia's quotas count, under the name that a refusal gives it. */
export type OctaviaQuota = 'Load Balancer' | 'Listener' | 'Pool' | 'Member' | 'Health Monitor';

export interface OctaviaSettings {
  /** What a new load balancer takes, in milliseconds. Default: 0. */
  createMs: number;
  /** What a change of a load balancer or of anything below it takes, in milliseconds. Default: 0. */
  updateMs: number;
  /** What the end of a load balancer takes, in milliseconds. Default: 0. */
  deleteMs: number;
  /**
   * What was made along with a load balancer, in one POST, stays PENDING_CREATE for so long after the load balancer itself is
   * ACTIVE, in milliseconds (minutes on Zed; `Infinity` is for ever). Default: 0.
   */
  childrenLateMs: number;
  /** The highest version of the API, `2.<apiMinor>`. Default: 26, with `additional_vips`. */
  apiMinor: number;
  /** Default: amphora, and its former name. `ovn` is put in where a test needs it. */
  providers: readonly string[];
  /** Flavors by ID, and availability zones by name. Default: none, as in the lab. */
  flavors: ReadonlyMap<string, string>;
  availabilityZones: ReadonlySet<string>;
  /** Barbican's containers. A TERMINATED_HTTPS listener of another is refused. */
  tlsContainers: ReadonlySet<string>;
  /** Most that a project may have. Default: no limit. */
  quotas: Readonly<Partial<Record<OctaviaQuota, number>>>;
  /** Whether a change fails: what it was about ends in ERROR. Default: none does. */
  fails: (loadBalancerId: string) => boolean;
}

export interface OctaviaOptions {
  readonly clock: Clock;
  readonly ids: Identifiers;
  readonly networking: Networking;
}

export class Octavia {
  readonly settings: OctaviaSettings = {
    createMs: 0,
    updateMs: 0,
    deleteMs: 0,
    childrenLateMs: 0,
    apiMinor: 26,
    providers: ['amphora', 'octavia'],
    flavors: new Map(),
    availabilityZones: new Set(),
    tlsContainers: new Set(),
    quotas: {},
    fails: () => false,
  };
  readonly #store: OctaviaStore = new OctaviaStore();
  readonly views: OctaviaViews;
  readonly provisioning: Provisioning;
  readonly networking: Networking;
  readonly ids: Identifiers;

  constructor({ clock, ids, networking }: OctaviaOptions) {
    this.ids = ids;
    this.networking = networking;
    this.views = new OctaviaViews(this.#store);
    this.provisioning = new Provisioning({
      clock,
      store: this.#store,
      timestamp: () => this.timestamp(),
      outcomeOf: (loadBalancer) => this.#outcomeOf(loadBalancer),
    });
  }

  /** As it is at this moment of the clock. */
  get store(): OctaviaStore {
    this.provisioning.settle();
    return this.#store;
  }

  /** As octavia writes it, without a zone: `2026-01-01T00:00:00`. */
  timestamp(): string {
    return this.ids.timestamp().replace('Z', '');
  }

  /** What every new object has. */
  birth(caller: Caller, given: Readonly<Record<string, unknown>>): OctaviaObject {
    return {
      id: this.ids.uuid(),
      project_id: caller.projectId,
      name: (given['name'] as string | null | undefined) ?? '',
      admin_state_up: given['admin_state_up'] !== false,
      provisioning_status: 'PENDING_CREATE',
      operating_status: 'OFFLINE',
      created_at: this.timestamp(),
      updated_at: null,
      tags: [...new Set((given['tags'] as readonly string[] | undefined) ?? [])],
    };
  }

  /** Throws 403 where `more` of the kind are above the quota. */
  checkQuota(kind: OctaviaQuota, all: ReadonlyMap<string, OctaviaObject>, caller: Caller, more = 1): void {
    const limit = this.settings.quotas[kind];
    if (limit === undefined || more <= 0) return;
    const used = [...all.values()].filter(({ project_id }) => project_id === caller.projectId).length;
    if (used + more > limit) throw octaviaRefusal(403, `Quota has been met for resources: ${kind}`);
  }

  #outcomeOf(loadBalancer: FakeLoadBalancer): Outcome {
    if (isDoomed(loadBalancer, this.#store.listenersOf(loadBalancer.id))) return 'broken';
    return this.settings.fails(loadBalancer.id) ? 'failed' : 'done';
  }

  /** A test's own hand: any object's status. */
  setProvisioningStatus(id: string, status: ProvisioningStatus): void {
    const found = this.store.find(id);
    if (!found) throw new Error(`there is no ${id} in octavia`);
    found.provisioning_status = status;
  }
}
