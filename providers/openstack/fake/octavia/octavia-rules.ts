/** What octavia and its providers refuse, whatever the load balancer's status. */
import { parseAddress, parseRange } from '../ip-range.ts';
import { invalid, octaviaRefusal, unsupported } from './octavia-error.ts';
import type { FakeHealthMonitor, FakeListener, FakeLoadBalancer, FakeMember, FakePool } from './octavia-objects.ts';

/** `VALID_LISTENER_POOL_PROTOCOL_MAP` (octavia/common/constants.py). */
const POOLS_OF: Readonly<Record<string, readonly string[]>> = {
  TCP: ['HTTP', 'HTTPS', 'PROXY', 'PROXYV2', 'TCP'],
  HTTP: ['HTTP', 'PROXY', 'PROXYV2'],
  HTTPS: ['HTTPS', 'PROXY', 'PROXYV2', 'TCP'],
  TERMINATED_HTTPS: ['HTTP', 'PROXY', 'PROXYV2'],
  UDP: ['UDP'],
  SCTP: ['SCTP'],
  PROMETHEUS: [],
};

const layer4 = (protocol: string): string => (protocol === 'UDP' || protocol === 'SCTP' ? protocol : 'TCP');

export function checkPoolOfListener(listenerProtocol: string, poolProtocol: string): void {
  if (POOLS_OF[listenerProtocol]?.includes(poolProtocol) === true) return;
  throw invalid(`The pool protocol '${poolProtocol}' is invalid while the listener protocol is '${listenerProtocol}'.`);
}

export function checkListener(
  listener: FakeListener,
  loadBalancer: FakeLoadBalancer,
  others: readonly FakeListener[],
): void {
  const { protocol, protocol_port, insert_headers, default_tls_container_ref, allowed_cidrs } = listener;
  if (Object.keys(insert_headers).length > 0 && protocol !== 'HTTP' && protocol !== 'TERMINATED_HTTPS') {
    throw octaviaRefusal(400, `insert-headers is not a valid option for a ${protocol} protocol listener.`);
  }
  if (protocol === 'TERMINATED_HTTPS' && default_tls_container_ref === null) {
    throw invalid(
      'An SNI or default certificate container reference must be provided for TERMINATED_HTTPS protocol listeners.',
    );
  }
  if (protocol !== 'TERMINATED_HTTPS' && default_tls_container_ref !== null) {
    throw invalid(`Certificate container references are not allowed on ${protocol} protocol listeners.`);
  }
  const clash = others.find(
    (each) =>
      each.id !== listener.id && each.protocol_port === protocol_port && layer4(each.protocol) === layer4(protocol),
  );
  if (clash) {
    throw octaviaRefusal(
      409,
      `Another Listener on this Load Balancer is already using protocol ${clash.protocol} and protocol_port ${protocol_port}`,
    );
  }
  for (const cidr of allowed_cidrs ?? []) {
    if (parseRange(cidr)?.family !== parseAddress(loadBalancer.vip_address)?.family) {
      throw invalid(`CIDR ${cidr} IP version incompatible with VIP ${loadBalancer.vip_address} IP version.`);
    }
  }
  if (loadBalancer.provider !== 'ovn') return;
  if (!['TCP', 'UDP', 'SCTP'].includes(protocol)) {
    throw unsupported('ovn', `OVN provider does not support ${protocol} protocol`);
  }
  if ((allowed_cidrs ?? []).length > 0) {
    throw unsupported('ovn', 'OVN provider does not support allowed_cidrs option');
  }
}

export function checkPool(pool: FakePool, { provider }: FakeLoadBalancer): void {
  const { lb_algorithm, protocol, session_persistence } = pool;
  if (provider === 'ovn') {
    if (lb_algorithm !== 'SOURCE_IP_PORT' && lb_algorithm !== 'SOURCE_IP') {
      throw unsupported('ovn', `OVN provider does not support ${lb_algorithm} algorithm`);
    }
    if (!['TCP', 'UDP', 'SCTP'].includes(protocol)) {
      throw unsupported('ovn', `OVN provider does not support ${protocol} protocol`);
    }
  } else if (lb_algorithm === 'SOURCE_IP_PORT') {
    throw unsupported(provider, 'Amphora provider does not support SOURCE_IP_PORT algorithm.');
  }
  const isDatagram = protocol === 'UDP' || protocol === 'SCTP';
  const hasTimes =
    session_persistence?.persistence_timeout != null || session_persistence?.persistence_granularity != null;
  if (!isDatagram && hasTimes) {
    throw invalid('persistence_timeout and persistence_granularity is only for UDP and SCTP protocol pools.');
  }
  if (isDatagram && session_persistence && session_persistence.type !== 'SOURCE_IP') {
    throw invalid(
      `Session persistence of type ${session_persistence.type} is not supported for UDP/SCTP protocol pools.`,
    );
  }
}

/** Datagrams are not carried from one family to the other (octavia/api/drivers/amphora_driver/v2/driver.py). */
export function checkMembers(members: readonly FakeMember[], pool: FakePool, loadBalancer: FakeLoadBalancer): void {
  if (pool.protocol !== 'UDP' && pool.protocol !== 'SCTP') return;
  const vips = [loadBalancer.vip_address, ...loadBalancer.additional_vips.map(({ ip_address = '' }) => ip_address)];
  const families = new Set(vips.map((vip) => parseAddress(vip)?.family));
  if (members.every(({ address }) => families.has(parseAddress(address)?.family))) return;
  throw unsupported(
    loadBalancer.provider,
    `This provider doesn't support mixing IPv4 and IPv6 addresses for its VIP and members in ${pool.protocol} load balancers.`,
  );
}

export function checkMonitor(monitor: FakeHealthMonitor, pool: FakePool, { provider }: FakeLoadBalancer): void {
  const isDatagram = pool.protocol === 'UDP' || pool.protocol === 'SCTP';
  if (isDatagram && !['UDP-CONNECT', 'SCTP', 'TCP', 'HTTP'].includes(monitor.type)) {
    throw invalid(
      `The associated pool protocol is ${pool.protocol}, so only a UDP-CONNECT/SCTP/TCP/HTTP health monitor is supported.`,
    );
  }
  if (!isDatagram && (monitor.type === 'UDP-CONNECT' || monitor.type === 'SCTP')) {
    throw invalid(`The ${monitor.type} type is only supported for pools of type UDP/SCTP.`);
  }
  // `udp_connect_min_interval_health_monitor`, 3 by default.
  if (monitor.type === 'UDP-CONNECT' && monitor.delay < 3) {
    throw invalid(
      `The request delay value ${monitor.delay} should be larger than 3 for UDP-CONNECT health monitor type.`,
    );
  }
  if (monitor.type !== 'HTTP' && monitor.type !== 'HTTPS') {
    for (const name of ['http_method', 'url_path', 'expected_codes'] as const) {
      if (monitor[name] === null) continue;
      throw octaviaRefusal(400, `${name} is not a valid option for health monitors of type ${monitor.type}`);
    }
  }
  if (provider === 'ovn' && monitor.type !== 'TCP' && monitor.type !== 'UDP-CONNECT') {
    throw unsupported('ovn', `OVN provider does not support health monitor type ${monitor.type}`);
  }
}

/** Two VIPs and source ranges end in ERROR, from which even a cascade delete does not lead out (seen on Zed). */
export const isDoomed = (loadBalancer: FakeLoadBalancer, listeners: readonly FakeListener[]): boolean =>
  loadBalancer.additional_vips.length > 0 && listeners.some(({ allowed_cidrs }) => (allowed_cidrs ?? []).length > 0);
