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
  /** Of the load balancer. Default: PENDING_UPDATE. */
  readonly status?: 'PENDING_CREATE' | 'PENDING_UPDATE' | 'PENDING_DELETE';
  /** What the work ends with. Default: as it should. `error` leaves the load balancer in ERROR. */
  readonly outcome?: () => 'done' | 'error';
  readonly onDone?: () => void;
}

export class Provisioning {
  readonly #clock: Clock;
  readonly #store: OctaviaStore;
  readonly #timestamp: () => string;
  #late: readonly { readonly due: number; readonly objects: readonly OctaviaObject[] }[] = [];
  /** By load balancer. */
  readonly #running = new Map<string, { readonly due: number; readonly change: Change }>();

  constructor(clock: Clock, store: OctaviaStore, timestamp: () => string) {
    this.#clock = clock;
    this.#store = store;
    this.#timestamp = timestamp;
  }

  /** Ends whatever is due. Before each request, so that the clock alone moves the statuses on. */
  settle(): void {
    const now = this.#clock.monotonic();
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
    this.#late = [...this.#late, { due: this.#clock.monotonic() + durationMs, objects }];
  }

  /** Throws 409 unless the load balancer takes changes: while it is pending, and in ERROR, it does not. */
  checkMutable(loadBalancer: FakeLoadBalancer): void {
    if (loadBalancer.provisioning_status !== 'ACTIVE') throw immutable('Load Balancer', loadBalancer.id);
  }

  begin(change: Change): void {
    const { loadBalancer, durationMs, touched = [], removed = [], status = 'PENDING_UPDATE' } = change;
    loadBalancer.provisioning_status = status;
    for (const each of touched) each.provisioning_status = 'PENDING_UPDATE';
    for (const each of removed) each.provisioning_status = 'PENDING_DELETE';
    this.#running.set(loadBalancer.id, { due: this.#clock.monotonic() + durationMs, change });
  }

  #end({ loadBalancer, created = [], touched = [], removed = [], outcome, onDone }: Change): void {
    if (outcome?.() === 'error') {
      for (const each of [...created, ...touched, ...removed, loadBalancer]) each.provisioning_status = 'ERROR';
      return;
    }
    for (const each of [...created, ...touched, loadBalancer]) {
      this.#activate(each);
    }
    for (const each of removed) this.#store.remove(each);
    onDone?.();
  }
  #activate(object: OctaviaObject): void {
    object.provisioning_status = 'ACTIVE';
    object.updated_at = this.#timestamp();
    if (object.operating_status === 'OFFLINE' && object.admin_state_up) object.operating_status = 'ONLINE';
  }
}
