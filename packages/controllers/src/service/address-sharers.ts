/** Services that share a load balancer share its addresses, which their statuses say: who else may have lost what one has lost. */
import type { ResourceEvent, Service } from '@outrigger/kube';
import { ipsOf } from './load-balancer-service.ts';

interface Addresses {
  /** By its status. */
  readonly said: readonly string[];
  /** By what it is settled as: another program may have written others into its status meanwhile. */
  readonly kept: readonly string[];
}

const NONE: Addresses = { said: [], kept: [] };

export class AddressSharers {
  readonly #addresses = new Map<string, Addresses>();
  /** The keys of the Services that have an address. */
  readonly #keys = new Map<string, Set<string>>();

  /** All changes from the first on. Returns which addresses its status says no more, and the keys of the others that have one of them. */
  note(change: ResourceEvent<Service>): { readonly lost: readonly string[]; readonly others: readonly string[] } {
    const { key } = change;
    const before = this.#addresses.get(key) ?? NONE;
    const now = change.type === 'delete' ? NONE : { ...before, said: ipsOf(change.object) };
    this.#set(key, now);
    // One that goes takes along what it was settled with, whatever its status said.
    const had = change.type === 'delete' ? [...before.said, ...before.kept] : before.said;
    const lost = [...new Set(had)].filter((ip) => !now.said.includes(ip));
    const others = new Set(lost.flatMap((ip) => [...(this.#keys.get(ip) ?? [])]));
    others.delete(key);
    return { lost, others: [...others] };
  }

  /** It is settled with these, in canonical form. */
  keep(key: string, kept: readonly string[]): void {
    this.#set(key, { ...(this.#addresses.get(key) ?? NONE), kept });
  }

  #set(key: string, { kept, said }: Addresses): void {
    const before = this.#addresses.get(key) ?? NONE;
    const now = new Set([...said, ...kept]);
    if (now.size > 0) this.#addresses.set(key, { kept, said });
    else this.#addresses.delete(key);
    for (const ip of now) {
      const keys = this.#keys.get(ip);
      if (keys) keys.add(key);
      else this.#keys.set(ip, new Set([key]));
    }
    for (const ip of [...before.said, ...before.kept]) {
      if (now.has(ip)) continue;
      const keys = this.#keys.get(ip);
      keys?.delete(key);
      if (keys?.size === 0) this.#keys.delete(ip);
    }
  }
}
