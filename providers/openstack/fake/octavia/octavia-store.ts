/** All there is in octavia, and what belongs to what. */
import type { Caller } from '../fake-http.ts';
import { notFound } from './octavia-error.ts';
import type {
  FakeHealthMonitor,
  FakeListener,
  FakeLoadBalancer,
  FakeMember,
  FakePool,
  OctaviaObject,
} from './octavia-objects.ts';

export class OctaviaStore {
  readonly loadBalancers: Map<string, FakeLoadBalancer> = new Map();
  readonly listeners: Map<string, FakeListener> = new Map();
  readonly pools: Map<string, FakePool> = new Map();
  readonly members: Map<string, FakeMember> = new Map();
  readonly #membersOf = new Map<string, Set<FakeMember>>();
  readonly monitors: Map<string, FakeHealthMonitor> = new Map();

  listenersOf(loadBalancerId: string): readonly FakeListener[] {
    return [...this.listeners.values()].filter((each) => each.loadBalancerId === loadBalancerId);
  }

  poolsOf(loadBalancerId: string): readonly FakePool[] {
    return [...this.pools.values()].filter((each) => each.loadBalancerId === loadBalancerId);
  }

  /** The listeners that a pool is the default of. */
  listenersOfPool(poolId: string): readonly FakeListener[] {
    return [...this.listeners.values()].filter((each) => each.default_pool_id === poolId);
  }

  membersOf(poolId: string): readonly FakeMember[] {
    return [...(this.#membersOf.get(poolId) ?? [])];
  }

  addMember(member: FakeMember): void {
    this.members.set(member.id, member);
    const ofPool = this.#membersOf.get(member.poolId) ?? new Set();
    this.#membersOf.set(member.poolId, ofPool.add(member));
  }

  monitorOf(poolId: string): FakeHealthMonitor | undefined {
    return [...this.monitors.values()].find((each) => each.poolId === poolId);
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
    const member = this.members.get(id);
    if (member) this.#membersOf.get(member.poolId)?.delete(member);
    for (const all of [this.loadBalancers, this.listeners, this.pools, this.members, this.monitors]) all.delete(id);
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
