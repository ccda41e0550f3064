/**
 * The nodes that take traffic, for all Services at once. Each change that matters to load balancers is a generation: a Service is
 * settled for one, and one that is not is looked at, so that no change can be missed. What is not changed stays the same object.
 */
import type { BackEnd, LoadBalancers, LoadBalancerService } from '@outrigger/cloud-provider';
import type { Node, ResourceEvent } from '@outrigger/kube';
import {
  backEndOf,
  byNodeName,
  isBackEnd,
  isForeign,
  type BackEndProvider,
  type ConfirmedAddresses,
} from './back-ends.ts';

/** Selections that Services share. Where there are more kinds of them, the others have an array each. */
const MOST_SHARED = 100;

/** One node, before a change and after it; `undefined`: it takes no traffic. */
export interface ComparedNode {
  readonly before: BackEnd | undefined;
  readonly after: BackEnd | undefined;
}

export class BackEndSet {
  readonly #provider: BackEndProvider;
  readonly #loadBalancers: Pick<LoadBalancers, 'selectBackEnds'>;
  readonly #confirmed: ConfirmedAddresses;
  readonly #byKey = new Map<string, BackEnd>();
  #sorted: readonly BackEnd[] | undefined;
  #selections: (readonly BackEnd[])[] = [];
  /** By the Service as it was asked about: a selection goes through all nodes. */
  #selected = new WeakMap<LoadBalancerService, readonly BackEnd[]>();
  #generation = 0;

  constructor(
    provider: BackEndProvider,
    loadBalancers: Pick<LoadBalancers, 'selectBackEnds'>,
    confirmed: ConfirmedAddresses = () => undefined,
  ) {
    this.#provider = provider;
    this.#loadBalancers = loadBalancers;
    this.#confirmed = confirmed;
  }

  /** Grows by one with each `advance`. */
  get generation(): number {
    return this.#generation;
  }

  /** All of them, by name. */
  get all(): readonly BackEnd[] {
    this.#sorted ??= [...this.#byKey.values()].toSorted(byNodeName);
    return this.#sorted;
  }

  /** How many of them are there by `takesForeignNodes` alone. */
  get foreign(): number {
    return this.all.filter(({ node }) => isForeign(node.providerID, this.#provider)).length;
  }

  /** What was noted since the last generation is reason enough to look at the load balancers. */
  advance(): void {
    this.#generation += 1;
  }

  /** What the node is, and what it would be by this change: the same object where nothing of it has changed. */
  compare(change: ResourceEvent<Node>): ComparedNode {
    const before = this.#byKey.get(change.key);
    const isOne = change.type !== 'delete' && isBackEnd(change.object, this.#provider);
    return { before, after: isOne ? backEndOf(change.object, this.#confirmed, before) : undefined };
  }

  /**
   * A node has changed. What the load balancers may have once they are looked at changes with it, the generation does not. Returns
   * whether a back end has other addresses now, its own or those that the cloud confirms.
   */
  note(change: ResourceEvent<Node>, { after, before }: ComparedNode = this.compare(change)): boolean {
    if (after === before) return false;
    if (after) this.#byKey.set(change.key, after);
    else this.#byKey.delete(change.key);
    this.#sorted = undefined;
    this.forgetSelections();
    return before !== undefined && after !== undefined && before.addresses !== after.addresses;
  }

  /** What the provider selects by, besides nodes and Services, may be something else now. */
  forgetSelections(): void {
    this.#selections = [];
    this.#selected = new WeakMap();
  }

  /** Those of one Service; the same array for all Services that have the same. Throws what the provider throws. */
  select(service: LoadBalancerService): readonly BackEnd[] {
    const selected = this.#selected.get(service) ?? this.#shared(this.#selectAnew(service));
    this.#selected.set(service, selected);
    return selected;
  }

  #selectAnew(service: LoadBalancerService): readonly BackEnd[] {
    return this.#loadBalancers.selectBackEnds?.(service, this.all) ?? this.all;
  }

  #shared(chosen: readonly BackEnd[]): readonly BackEnd[] {
    for (const known of [this.all, ...this.#selections]) if (isSame(known, chosen)) return known;
    if (this.#selections.length < MOST_SHARED) this.#selections.push(chosen);
    return chosen;
  }
}

function isSame(a: readonly BackEnd[], b: readonly BackEnd[]): boolean {
  return a === b || (a.length === b.length && a.every((one, i) => one === b[i]));
}
