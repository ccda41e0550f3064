/** What is known of each Service by its key, beside the store, which has those that are there. */
import type { LoadBalancerService } from '@outrigger/cloud-provider';
import type { Service, Store } from '@outrigger/kube';
import { AddressSharers } from './address-sharers.ts';
import { surplusOf } from './leftovers.ts';
import { addressesIn, identityOf } from './load-balancer-service.ts';
import { namespaceOf } from './observations.ts';
import type { ServiceState } from './service-state.ts';
import { wakingText } from './waking-text.ts';

/** Keys of Services that are gone themselves begin so. No namespace has such a name. */
const LEFTOVER = 'uid:';

const leftoverKey = (uid: string): string => LEFTOVER + uid;
export const isLeftover = (key: string): boolean => key.startsWith(LEFTOVER);

export class ServiceStates {
  /** Who has which addresses. */
  readonly sharers: AddressSharers = new AddressSharers();
  readonly #byKey = new Map<string, ServiceState>();
  /** Those of them whose objects are gone, the oldest first. */
  readonly #leftovers = new Map<string, ServiceState>();
  readonly #services: Pick<Store<Service>, 'get'>;
  readonly #onNodesDone: () => void;
  /** So many are yet to follow the nodes. */
  #due = 0;

  /** `onNodesDone`: the last that was to follow the nodes has done so, or failed. */
  constructor(services: Pick<Store<Service>, 'get'>, onNodesDone: () => void) {
    this.#services = services;
    this.#onNodesDone = onNodesDone;
  }

  get(key: string): ServiceState | undefined {
    return this.#byKey.get(key);
  }

  keys(): Iterable<string> {
    return this.#byKey.keys();
  }

  /** `undefined`: nothing is known of it any more. */
  set(key: string, state: ServiceState | undefined): void {
    const before = this.#byKey.get(key);
    if (before === state) return;
    if (state) this.#byKey.set(key, state);
    else this.#byKey.delete(key);
    // Of one that is gone the store tells.
    const isSettled = state?.settled && state.settled.ingress !== before?.settled?.ingress;
    if (isSettled && !isLeftover(key)) this.sharers.keep(key, addressesIn(state.settled.ingress));
    if (isLeftover(key) && state) this.#leftovers.set(key, state);
    else this.#leftovers.delete(key);
    const more = Number(state?.nodes?.isDue ?? false) - Number(before?.nodes?.isDue ?? false);
    this.#due += more;
    if (more < 0 && this.#due === 0) this.#onNodesDone();
  }

  /** Its object is gone. Returns the key that it has from here on, and the one that has to go for it, if any has to. */
  leaveOver(state: ServiceState): { readonly key: string; readonly surplus: string | undefined } {
    const key = leftoverKey(state.uid);
    this.set(key, state);
    return { key, surplus: surplusOf(this.#leftovers, state) };
  }

  /** Where the state of this Service is by now, which was under `key`; `undefined`: nothing is known of it any more. */
  homeOf(key: string, uid: string): string | undefined {
    return [key, leftoverKey(uid)].find((one) => this.get(one)?.uid === uid);
  }

  /** What the key is about: as it was when it went, or as the store has it. */
  subjectOf(key: string): Service | undefined {
    return this.get(key)?.leftover ?? this.#services.get(key);
  }

  /** As the provider knows it. */
  identityOf(key: string): LoadBalancerService | undefined {
    const service = this.subjectOf(key);
    return service && identityOf(service);
  }

  /** Where a Service is that people ask for: by its key, or by its UID where it is deleted. */
  keyOfAsked(asked: string): string {
    return this.#byKey.has(leftoverKey(asked)) ? leftoverKey(asked) : asked;
  }

  /** Whether it was as it should be until nodes changed, or its time to be looked at again came, and asks for nothing else since. */
  onlyFollows(key: string): boolean {
    const { nodes, settled } = this.get(key) ?? {};
    const service = this.#services.get(key);
    const isOfItself = nodes?.isDue === true || settled?.againAt !== undefined;
    return isOfItself && service !== undefined && settled?.text === wakingText(service);
  }

  /** Its namespace: whoever may write Services in one may write thousands, over and over. */
  tenantOf(key: string): string {
    return this.get(key)?.leftover?.metadata?.namespace ?? namespaceOf(key);
  }

  /** All of a namespace follow a node that joins: who asks for something meanwhile is not behind them. */
  groupOf(key: string): string {
    return (this.onlyFollows(key) ? 'nodes ' : '') + this.tenantOf(key);
  }
}
