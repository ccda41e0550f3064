/** All there is in octavia, and what belongs to what. */
import type { Caller, FakeRequest } from '../fake-http.ts';
import { notFound } from './octavia-error.ts';
import type {
  FakeHealthMonitor,
  FakeListener,
  FakeLoadBalancer,
  FakeMember,
  FakePool,
  OctaviaObject,
} from './octavia-objects.ts';

/** One kind of what hangs below something: by its ID, and by what it hangs below, in the order in which it came. */
class ChildrenIndex<T extends OctaviaObject> {
  readonly byID: Map<string, T> = new Map();
  readonly #parentOf: (child: T) => string;
  readonly #byParent = new Map<string, Set<T>>();

  constructor(parentOf: (child: T) => string) {
    this.#parentOf = parentOf;
  }

  add(child: T): void {
    this.byID.set(child.id, child);
    const parent = this.#parentOf(child);
    const siblings = this.#byParent.get(parent) ?? new Set();
    this.#byParent.set(parent, siblings.add(child));
  }

  of(parent: string): readonly T[] {
    return [...(this.#byParent.get(parent) ?? [])];
  }

  remove(id: string): void {
    const child = this.byID.get(id);
    if (!child) return;
    this.byID.delete(id);
    const parent = this.#parentOf(child);
    const siblings = this.#byParent.get(parent);
    siblings?.delete(child);
    if (siblings?.size === 0) this.#byParent.delete(parent);
  }
}

export class OctaviaStore {
  readonly loadBalancers: Map<string, FakeLoadBalancer> = new Map();
  readonly #listeners = new ChildrenIndex<FakeListener>(({ loadBalancerId }) => loadBalancerId);
  readonly #pools = new ChildrenIndex<FakePool>(({ loadBalancerId }) => loadBalancerId);
  readonly #members = new ChildrenIndex<FakeMember>(({ poolId }) => poolId);
  readonly #monitors = new ChildrenIndex<FakeHealthMonitor>(({ poolId }) => poolId);

  readonly listeners: ReadonlyMap<string, FakeListener> = this.#listeners.byID;
  readonly pools: ReadonlyMap<string, FakePool> = this.#pools.byID;
  readonly members: ReadonlyMap<string, FakeMember> = this.#members.byID;
  readonly monitors: ReadonlyMap<string, FakeHealthMonitor> = this.#monitors.byID;

  addListener(listener: FakeListener): void {
    this.#listeners.add(listener);
  }

  addPool(pool: FakePool): void {
    this.#pools.add(pool);
  }

  addMember(member: FakeMember): void {
    this.#members.add(member);
  }

  addMonitor(monitor: FakeHealthMonitor): void {
    this.#monitors.add(monitor);
  }

  listenersOf(loadBalancerId: string): readonly FakeListener[] {
    return this.#listeners.of(loadBalancerId);
  }

  poolsOf(loadBalancerId: string): readonly FakePool[] {
    return this.#pools.of(loadBalancerId);
  }

  /** The listeners that a pool is the default of: they are of its own load balancer. */
  listenersOfPool(poolId: string): readonly FakeListener[] {
    const siblings = this.listenersOf(this.pools.get(poolId)?.loadBalancerId ?? '');
    return siblings.filter((each) => each.default_pool_id === poolId);
  }

  membersOf(poolId: string): readonly FakeMember[] {
    return this.#members.of(poolId);
  }

  monitorOf(poolId: string): FakeHealthMonitor | undefined {
    return this.#monitors.of(poolId)[0];
  }

  /** With all that is below it, the load balancer last. */
  treeOf(loadBalancer: FakeLoadBalancer): readonly OctaviaObject[] {
    const pools = this.poolsOf(loadBalancer.id).flatMap((pool) => this.poolTree(pool));
    return [...this.listenersOf(loadBalancer.id), ...pools, loadBalancer];
  }

  poolTree(pool: FakePool): readonly OctaviaObject[] {
    const monitor = this.monitorOf(pool.id);
    return [...this.membersOf(pool.id), ...(monitor ? [monitor] : []), pool];
  }

  remove({ id }: OctaviaObject): void {
    for (const listener of this.listenersOfPool(id)) listener.default_pool_id = null;
    this.loadBalancers.delete(id);
    for (const kind of [this.#listeners, this.#pools, this.#members, this.#monitors]) kind.remove(id);
  }

  find(id: string): OctaviaObject | undefined {
    return (
      this.loadBalancers.get(id) ??
      this.listeners.get(id) ??
      this.pools.get(id) ??
      this.members.get(id) ??
      this.monitors.get(id)
    );
  }

  /** What the caller may see, or 404. */
  visible<T extends OctaviaObject>(all: ReadonlyMap<string, T>, kind: string, id: string, caller: Caller): T {
    const found = all.get(id);
    if (found && isVisible(found, caller)) return found;
    throw notFound(kind, id);
  }
}

export const isVisible = ({ project_id }: OctaviaObject, { projectId, roles }: Caller): boolean =>
  project_id === projectId || roles.includes('admin');

/** What the caller may see of a kind: only of one load balancer, where it is asked for. */
export function candidates<T extends OctaviaObject>(
  all: ReadonlyMap<string, T>,
  below: (loadBalancerId: string) => readonly T[],
  { caller, request }: { readonly caller: Caller; readonly request: FakeRequest },
): readonly T[] {
  const loadBalancerId = request.query.get('loadbalancer_id');
  const some = loadBalancerId === null ? [...all.values()] : below(loadBalancerId);
  return some.filter((each) => isVisible(each, caller));
}
