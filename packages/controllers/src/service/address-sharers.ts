/** Services that share a load balancer share its addresses, which their statuses say: who else may have lost what one has lost. */
import type { ResourceEvent, Service } from '@outrigger/kube';
import { ipsOf } from './load-balancer-service.ts';

export class AddressSharers {
  /** The keys of the Services whose statuses say an address. */
  readonly #keys = new Map<string, Set<string>>();

  /** All changes from the first on. Returns the keys of the others whose status says an address that this Service's has lost. */
  note(change: ResourceEvent<Service>): readonly string[] {
    const { key } = change;
    const before = change.type === 'add' ? [] : ipsOf(change.previous);
    const now = change.type === 'delete' ? [] : ipsOf(change.object);
    for (const ip of now) {
      const keys = this.#keys.get(ip);
      if (keys) keys.add(key);
      else this.#keys.set(ip, new Set([key]));
    }
    const lost = before.filter((ip) => !now.includes(ip));
    return [...new Set(lost.flatMap((ip) => this.#leave(ip, key)))];
  }

  /** Returns who is left. */
  #leave(ip: string, key: string): readonly string[] {
    const keys = this.#keys.get(ip);
    keys?.delete(key);
    if (keys?.size === 0) this.#keys.delete(ip);
    return [...(keys ?? [])];
  }
}
