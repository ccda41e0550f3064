/** Ports of a Service as listeners of a load balancer. Pure. */
import { CloudError, type LoadBalancerService, type ServicePort } from '@outrigger/cloud-provider';
import { annotationRows, itemsOf, type Annotations } from './annotation-rows.ts';

export interface Listener {
  readonly port: number;
  /** Of an NLB `TCP`, `UDP`, `TCP_UDP`, `TLS`; of a Classic Load Balancer `TCP`, `SSL`, `HTTP`, `HTTPS`. */
  readonly protocol: 'TCP' | 'UDP' | 'TCP_UDP' | 'TLS' | 'SSL' | 'HTTP' | 'HTTPS';
  readonly nodePort: number;
  /** What the nodes speak, of the same words. */
  readonly targetProtocol: Listener['protocol'];
  /** ARN. */
  readonly certificate?: string;
  /** Of AWS; its default without. */
  readonly tlsPolicy?: string;
}

/** Throws `invalid` or `unsupported`. */
export function listenersOf(service: LoadBalancerService, set: Annotations, type: 'nlb' | 'clb'): readonly Listener[] {
  const hasTls = tlsPorts(set);
  const one = type === 'nlb' ? nlbListener : classicListener;
  const all = service.ports.map((port) => one(port, set, hasTls(port)));
  return [...Map.groupBy(all, ({ port }) => port).values()].map(together).toSorted((a, b) => a.port - b.port);
}

function tlsPorts({ certificate, tlsPorts: text = '*' }: Annotations): (port: ServicePort) => boolean {
  const ports = itemsOf(text.toLowerCase());
  return ({ name, port }) =>
    certificate !== undefined &&
    (ports.includes('*') || ports.includes(`${port}`) || ports.includes(name.toLowerCase()));
}

/** Of AWS two listeners cannot have one port: TCP and UDP are one listener where both lead to one node port. */
function together([first, second]: readonly Listener[]): Listener {
  if (!first) throw new Error('a group without a member');
  if (!second) return first;
  const where = `port ${first.port} with two protocols`;
  if (first.certificate !== undefined || second.certificate !== undefined) {
    const name = annotationRows.tlsPorts.name;
    throw new CloudError('unsupported', `${where}: not with TLS; leave the port out of annotation ${name}`);
  }
  if (first.nodePort !== second.nodePort) {
    const message = `${where}: an NLB has one listener for both, so that both need one nodePort, and they have ${first.nodePort} and ${second.nodePort}`;
    throw new CloudError('unsupported', message);
  }
  return { ...first, protocol: 'TCP_UDP', targetProtocol: 'TCP_UDP' };
}

function nlbListener(servicePort: ServicePort, set: Annotations, hasTls: boolean): Listener {
  const { port, protocol } = servicePort;
  const nodePort = nodePortOf(servicePort);
  if (protocol === 'SCTP') throw new CloudError('unsupported', `port ${port}: AWS has no load balancer for SCTP`);
  if (!hasTls || protocol === 'UDP' || set.certificate === undefined) {
    return { port, protocol, nodePort, targetProtocol: protocol };
  }
  const targetProtocol = set.backendProtocol === 'ssl' ? 'TLS' : 'TCP';
  return { port, protocol: 'TLS', nodePort, targetProtocol, ...tlsOf(set) };
}

/** By what the nodes speak, with TLS at the load balancer. */
const WITH_TLS = { http: 'HTTPS', https: 'HTTPS', ssl: 'SSL', tcp: 'SSL' } as const;
const SPOKEN = { http: 'HTTP', https: 'HTTPS', ssl: 'SSL', tcp: 'TCP' } as const;

/** As cloud-provider-aws: without a certificate, `http` alone is not TCP. */
function classicListener(servicePort: ServicePort, set: Annotations, hasTls: boolean): Listener {
  const { port, protocol } = servicePort;
  const nodePort = nodePortOf(servicePort);
  if (protocol !== 'TCP') {
    const message = `port ${port}: a Classic Load Balancer has no ${protocol}: set annotation ${annotationRows.type.name} to nlb`;
    throw new CloudError('unsupported', message);
  }
  const spoken = (Object.keys(SPOKEN) as (keyof typeof SPOKEN)[]).find((word) => word === set.backendProtocol);
  if (hasTls) {
    const target = spoken ?? 'tcp';
    return { port, protocol: WITH_TLS[target], nodePort, targetProtocol: SPOKEN[target], ...tlsOf(set) };
  }
  const plain = spoken === 'http' ? 'HTTP' : 'TCP';
  return { port, protocol: plain, nodePort, targetProtocol: plain };
}

function tlsOf({ certificate, tlsPolicy }: Annotations): Pick<Listener, 'certificate' | 'tlsPolicy'> {
  return { ...(certificate !== undefined && { certificate }), ...(tlsPolicy !== undefined && { tlsPolicy }) };
}

function nodePortOf({ nodePort, port }: ServicePort): number {
  if (nodePort !== undefined) return nodePort;
  throw new CloudError('unsupported', `port ${port} has no node port: set allocateLoadBalancerNodePorts to true`);
}
