/** The provisioning status: one change of a load balancer at a time, each with its time, on the fake's clock. */
import type { Clock } from '@outrigger/cloud-provider';
import { immutable } from './octavia-error.ts';
import type { FakeLoadBalancer, OctaviaObject } from './octavia-objects.ts';
import type { OctaviaStore } from './octavia-store.ts';

export interface Change {
  readonly loadBalancer: FakeLoadBalancer;
  readonly durationMs: number;
  /** Made just now: PENDING_CREATE until then, ACTIVE afterwards. */
  readonly created?: readonly OctaviaObject[];
  /** PENDING_UPDATE until then, ACTIVE afterwards. */
  readonly touched?: readonly OctaviaObject[];
  /** PENDING_DELETE until then, gone afterwards. */
  readonly removed?: readonly OctaviaObject[];
  /** Above those: PENDING_UPDATE until then, and ACTIVE afterwards however it ends. */
  readonly above?: readonly OctaviaObject[];
  /** Made along with the load balancer, or still not finished: ACTIVE afterwards unless in ERROR. */
  readonly settles?: readonly OctaviaObject[];
  /** Of the load balancer. Default: PENDING_UPDATE. */
  readonly status?: 'PENDING_CREATE' | 'PENDING_UPDATE' | 'PENDING_DELETE';
  readonly onDone?: () => void;
}

/** `failed`: what the change was about ends in ERROR. `broken`: the load balancer itself does. */
export type Outcome = 'done' | 'failed' | 'broken';

export interface ProvisioningOptions {
  readonly clock: Clock;
  readonly store: OctaviaStore;
  readonly timestamp: () => string;
  /** Asked when a change is due. */
  readonly outcomeOf: (loadBalancer: FakeLoadBalancer) => Outcome;
}

export class Provisioning {
  readonly #options: ProvisioningOptions;
  #late: readonly { readonly due: number; readonly objects: readonly OctaviaObject[] }[] = [];
  /** By load balancer. */
  readonly #running = new Map<string, { readonly due: number; readonly change: Change }>();

  constructor(options: ProvisioningOptions) {
    this.#options = options;
  }

  /** Ends whatever is due. Before each request, so that the clock alone moves the statuses on. */
  settle(): void {
    const now = this.#options.clock.monotonic();
    this.#late = this.#late.filter(({ due, objects }) => {
      if (due > now) return true;
      for (const each of objects) if (each.provisioning_status === 'PENDING_CREATE') this.#activate(each);
      return false;
    });
    for (const [id, { due, change }] of this.#running) {
      if (due > now) continue;
      this.#running.delete(id);
      this.#end(change);
    }
  }

  /** Leaves what is still PENDING_CREATE so for `durationMs`, and then makes it ACTIVE, outside of any change. */
  finishLate(objects: readonly OctaviaObject[], durationMs: number): void {
    this.#late = [...this.#late, { due: this.#options.clock.monotonic() + durationMs, objects }];
  }

  /** Throws 409 unless the load balancer takes changes: while it is pending, and in ERROR, it does not. */
  checkMutable(loadBalancer: FakeLoadBalancer): void {
    if (loadBalancer.provisioning_status !== 'ACTIVE') throw immutable('Load Balancer', loadBalancer.id);
  }

  begin(change: Change): void {
    const { loadBalancer, durationMs, touched = [], removed = [], above = [], status = 'PENDING_UPDATE' } = change;
    loadBalancer.provisioning_status = status;
    for (const each of [...touched, ...above]) each.provisioning_status = 'PENDING_UPDATE';
    for (const each of removed) each.provisioning_status = 'PENDING_DELETE';
    this.#running.set(loadBalancer.id, { due: this.#options.clock.monotonic() + durationMs, change });
  }

  #end({ loadBalancer, created = [], touched = [], removed = [], above = [], settles = [], onDone }: Change): void {
    const outcome = this.#options.outcomeOf(loadBalancer);
    if (outcome === 'broken') {
      loadBalancer.provisioning_status = 'ERROR';
      return;
    }
    if (outcome === 'failed') {
      // What is above stays usable (octavia/controller/worker/v2/tasks/lifecycle_tasks.py; a member's end on Zed).
      const subjects = [...created, ...touched, ...removed];
      for (const each of subjects.length > 0 ? subjects : [loadBalancer]) each.provisioning_status = 'ERROR';
      if (subjects.length > 0) for (const each of [...above, loadBalancer]) this.#activate(each);
      return;
    }
    for (const each of [...created, ...touched, ...above, loadBalancer]) this.#activate(each);
    for (const each of settles) if (each.provisioning_status !== 'ERROR') this.#activate(each);
    for (const each of removed) this.#options.store.remove(each);
    onDone?.();
  }

  #activate(object: OctaviaObject): void {
    object.provisioning_status = 'ACTIVE';
    object.updated_at = this.#options.timestamp();
    if (object.operating_status === 'OFFLINE' && object.admin_state_up) object.operating_status = 'ONLINE';
  }
}
