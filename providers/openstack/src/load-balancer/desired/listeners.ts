/** Listener, pool, members and health monitor of each port. What fits together is by Octavia's own tables (`VALID_LISTENER_POOL_PROTOCOL_MAP`). */
import { CloudError, type LoadBalancerService, type ServicePort } from '@outrigger/cloud-provider';
import { annotationTable } from './annotation-table.ts';
import { familiesIn, type AddressFamilies } from './address-families.ts';
import type {
  DesiredHealthMonitor,
  DesiredListener,
  ListenerProtocol,
  MonitorType,
  PoolProtocol,
} from './desired-tree.ts';
import { childName } from './load-balancer-names.ts';
import { membersOf, type MemberNode } from './members.ts';
import { carriesPackets, type OctaviaFeatures } from './octavia-features.ts';
import { cloudOf, type ServiceOptions } from './service-options.ts';

export interface ListenerContext {
  readonly service: LoadBalancerService;
  readonly nodes: readonly MemberNode[];
  readonly families: AddressFamilies;
  readonly options: ServiceOptions;
  readonly features: OctaviaFeatures;
  readonly allowedCidrs: readonly string[] | undefined;
  /** The load balancer's. */
  readonly name: string;
}

/** Throws `invalid` or `unsupported` for a port that cannot be served as asked. */
export function listenersOf(context: ListenerContext): readonly DesiredListener[] {
  const taken = new Set<string>();
  return context.service.ports.map((port, index) => {
    const key = `${port.port}/${port.protocol}`;
    if (taken.has(key)) throw new CloudError('invalid', `port ${key} is listed twice`);
    taken.add(key);
    return listenerOf(context, port, index);
  });
}

function listenerOf(context: ListenerContext, port: ServicePort, index: number): DesiredListener {
  const { service, options, allowedCidrs, families, features, name } = context;
  const protocol = listenerProtocol(context, port);
  const monitor = monitorOf(context, port, index);
  const members = membersOf(port, context.nodes, {
    families: familiesIn(families),
    // A proxy reaches a node by either family; what only rewrites packets needs a member of each that it has an address of.
    each: carriesPackets(features.provider, port.protocol),
    subnetId: options.memberSubnetId,
    monitorPort: monitor?.type === 'HTTP' ? service.healthCheckNodePort : undefined,
  });
  return {
    name: childName('listener', index, name),
    protocol,
    port: port.port,
    connectionLimit: options.connectionLimit,
    ...(allowedCidrs && { allowedCidrs }),
    ...(options.timeouts && { timeouts: options.timeouts }),
    insertHeaders: { xForwardedFor: options.xForwardedFor },
    ...(protocol === 'TERMINATED_HTTPS' && options.tlsContainerRef && { tlsContainerRef: options.tlsContainerRef }),
    pool: {
      name: childName('pool', index, name),
      protocol: poolProtocol(protocol, options),
      lbMethod: options.lbMethod,
      sessionPersistence: service.clientIPAffinitySeconds === undefined ? null : { type: 'SOURCE_IP' },
      members,
      ...(monitor && { monitor }),
    },
  };
}

/** What is asked for all ports has to be possible for each: CPO makes HTTP listeners of UDP ports then, which serve nobody. */
function listenerProtocol({ options, features }: ListenerContext, { port, protocol }: ServicePort): ListenerProtocol {
  const { proxyProtocol, tlsContainerRef, xForwardedFor } = options;
  if (protocol !== 'TCP') {
    const asked = tlsContainerRef
      ? annotationTable.tlsContainerRef
      : xForwardedFor
        ? annotationTable.xForwardedFor
        : proxyProtocol && annotationTable.proxyProtocol;
    if (asked) {
      throw new CloudError(
        'invalid',
        `port ${port}/${protocol}: ${asked.name} is for TCP only; use one Service for each protocol`,
      );
    }
    if (protocol === 'SCTP' && !features.sctp) {
      throw new CloudError(
        'unsupported',
        `port ${port}/${protocol}: ${cloudOf(features)} does not support SCTP: it needs 2.23 or later`,
      );
    }
    return protocol;
  }
  if (tlsContainerRef) return 'TERMINATED_HTTPS';
  return xForwardedFor ? 'HTTP' : 'TCP';
}

function poolProtocol(listener: ListenerProtocol, { proxyProtocol }: ServiceOptions): PoolProtocol {
  if (proxyProtocol && listener !== 'UDP' && listener !== 'SCTP') return proxyProtocol;
  return listener === 'TERMINATED_HTTPS' ? 'HTTP' : listener;
}

/** With `externalTrafficPolicy: Local` kube-proxy says on a port of its own which nodes have end points; where Octavia can ask it. */
function monitorOf(context: ListenerContext, port: ServicePort, index: number): DesiredHealthMonitor | undefined {
  const { service, options, features, name } = context;
  if (!options.monitor) return undefined;
  const asksKubeProxy = service.externalTrafficPolicy === 'Local' && (service.healthCheckNodePort ?? 0) > 0;
  const canAsk = port.protocol === 'UDP' ? features.httpMonitorsOnUdp : features.httpMonitors;
  const type: MonitorType = asksKubeProxy && canAsk ? 'HTTP' : port.protocol === 'UDP' ? 'UDP-CONNECT' : port.protocol;
  if (type === 'SCTP' && !features.sctpMonitors) {
    const off = `${annotationTable.enableHealthMonitor.name}: "false"`;
    throw new CloudError(
      'unsupported',
      `port ${port.port}/SCTP: ${cloudOf(features)} has no health monitor for it; set ${off}`,
    );
  }
  return {
    name: childName('monitor', index, name),
    type,
    ...options.monitor,
    ...(type === 'HTTP' && { http: { method: 'GET', urlPath: '/healthz', expectedCodes: '200' } as const }),
  };
}
