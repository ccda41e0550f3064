/** What octavia shows of what it keeps. */
import type {
  FakeHealthMonitor,
  FakeListener,
  FakeLoadBalancer,
  FakeMember,
  FakePool,
  OctaviaObject,
} from './octavia-objects.ts';
import type { OctaviaStore } from './octavia-store.ts';

const idOf = ({ id }: OctaviaObject): object => ({ id });
const sortedTags = ({ tags }: OctaviaObject): readonly string[] => [...tags].sort();

export class OctaviaViews {
  readonly #store: OctaviaStore;

  constructor(store: OctaviaStore) {
    this.#store = store;
  }

  /** `isWhole`: the answer to the POST alone shows its listeners and pools in full. */
  loadBalancer(loadBalancer: FakeLoadBalancer, isWhole = false): object {
    const { ownsPort: _, additional_vips, ...shown } = loadBalancer;
    const listeners = this.#store.listenersOf(loadBalancer.id);
    const pools = this.#store.poolsOf(loadBalancer.id);
    return {
      ...shown,
      additional_vips,
      vip_qos_policy_id: null,
      tags: sortedTags(loadBalancer),
      tenant_id: loadBalancer.project_id,
      listeners: isWhole
        ? listeners.map((each) => ({ ...this.listener(each), loadbalancers: undefined }))
        : listeners.map(idOf),
      pools: isWhole ? pools.map((each) => this.#wholePool(each)) : pools.map(idOf),
    };
  }

  listener(listener: FakeListener): object {
    const { loadBalancerId, ...shown } = listener;
    return {
      ...shown,
      tags: sortedTags(listener),
      tenant_id: listener.project_id,
      loadbalancers: [{ id: loadBalancerId }],
      l7policies: [],
      client_ca_tls_container_ref: null,
      client_authentication: 'NONE',
      client_crl_container_ref: null,
      tls_ciphers: null,
      tls_versions: null,
      alpn_protocols: null,
    };
  }

  pool(pool: FakePool): object {
    const { loadBalancerId, session_persistence: persistence, ...shown } = pool;
    const monitor = this.#store.monitorOf(pool.id);
    return {
      ...shown,
      session_persistence: persistence && {
        cookie_name: null,
        persistence_timeout: null,
        persistence_granularity: null,
        ...persistence,
      },
      tags: sortedTags(pool),
      tenant_id: pool.project_id,
      loadbalancers: [{ id: loadBalancerId }],
      listeners: this.#store.listenersOfPool(pool.id).map(idOf),
      members: this.#store.membersOf(pool.id).map(idOf),
      ...(monitor ? { healthmonitor_id: monitor.id } : {}),
      tls_container_ref: null,
      ca_tls_container_ref: null,
      crl_container_ref: null,
      tls_enabled: false,
      tls_ciphers: null,
      tls_versions: null,
      alpn_protocols: null,
    };
  }

  member(member: FakeMember): object {
    const { poolId: _, ...shown } = member;
    return { ...shown, tags: sortedTags(member), tenant_id: member.project_id };
  }

  monitor(monitor: FakeHealthMonitor): object {
    const { poolId, ...shown } = monitor;
    return {
      ...shown,
      tags: sortedTags(monitor),
      tenant_id: monitor.project_id,
      pools: [{ id: poolId }],
      http_version: null,
      domain_name: null,
    };
  }

  /** `GET …/status`: pools below the listeners that they are the default of; a pool without a listener is not there. */
  status(loadBalancer: FakeLoadBalancer): object {
    const statusOf = ({ id, name, operating_status, provisioning_status }: OctaviaObject): object => ({
      id,
      name,
      operating_status,
      provisioning_status,
    });
    const poolStatus = (pool: FakePool): object => {
      const monitor = this.#store.monitorOf(pool.id);
      return {
        ...statusOf(pool),
        ...(monitor ? { health_monitor: { ...statusOf(monitor), type: monitor.type } } : {}),
        members: this.#store.membersOf(pool.id).map((member) => ({
          ...statusOf(member),
          address: member.address,
          protocol_port: member.protocol_port,
        })),
      };
    };
    return {
      ...statusOf(loadBalancer),
      listeners: this.#store.listenersOf(loadBalancer.id).map((listener) => {
        const pool = this.#store.pools.get(listener.default_pool_id ?? '');
        return { ...statusOf(listener), pools: pool ? [poolStatus(pool)] : [] };
      }),
    };
  }

  #wholePool(pool: FakePool): object {
    const members = this.#store.membersOf(pool.id).map((member) => this.member(member));
    // A monitor made along is not shown here (seen on Zed).
    return { ...this.pool(pool), loadbalancers: undefined, healthmonitor_id: undefined, members, healthmonitor: null };
  }
}
