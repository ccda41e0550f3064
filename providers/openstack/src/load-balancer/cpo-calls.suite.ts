/**
 * For tests: what cloud-provider-openstack's load balancer controller asks OpenStack, in its order, and what it would still want
 * changed of a tree that it finds. After `pkg/openstack/loadbalancer.go` and `loadbalancer_sg.go`, release 1.36.
 */
import type { LoadBalancerService } from '@outrigger/cloud-provider';
import { annotated } from './desired/tree-inputs.suite.ts';
import type { WireFloatingIP, WireSecurityGroup } from './neutron-wire.ts';
import type { WireListener, WireLoadBalancer, WireMember, WirePool } from './octavia-wire.ts';
import { callContext, type Rig } from './rig.suite.ts';

const LBAAS = '/v2.0/lbaas';

export interface CpoOptions {
  readonly clusterName?: string;
  /** The load balancer's name; CPO's of today. */
  readonly name?: string;
  /** Of another Service, to be shared. */
  readonly loadBalancerId?: string;
  readonly securityGroup?: boolean;
}

export const cpoName = ({ name, namespace }: LoadBalancerService, clusterName = 'kubernetes'): string =>
  `kube_service_${clusterName}_${namespace}_${name}`.slice(0, 255);

/** Makes all of one Service, and gives it back with the annotation that CPO writes. */
export async function cpoEnsure(
  rig: Rig,
  service: LoadBalancerService,
  options: CpoOptions = {},
): Promise<LoadBalancerService> {
  const { clusterName = 'kubernetes' } = options;
  const tag = cpoName(service, clusterName);
  const id = options.loadBalancerId ?? (await createLoadBalancer(rig, service, options));
  if (options.loadBalancerId) await addListeners(rig, service, id, tag);
  const loadBalancer = await read<WireLoadBalancer>(rig, `${LBAAS}/loadbalancers/${id}`, 'loadbalancer');
  const address = options.loadBalancerId ? undefined : await createFloatingIP(rig, service, loadBalancer, clusterName);
  if (!loadBalancer.tags?.includes(tag)) {
    await send(rig, 'PUT', `${LBAAS}/loadbalancers/${id}`, {
      loadbalancer: { tags: [...(loadBalancer.tags ?? []), tag] },
    });
  }
  if (options.securityGroup) await createGroup(rig, service);
  const ingress = address === undefined ? [] : [{ ip: address }];
  return { ...service, ingress, annotations: { ...service.annotations, ...annotated({ loadBalancerId: id }) } };
}

async function createLoadBalancer(
  rig: Rig,
  service: LoadBalancerService,
  { clusterName = 'kubernetes', name }: CpoOptions,
): Promise<string> {
  const tag = cpoName(service, clusterName);
  const { loadbalancer } = await send<{ loadbalancer: WireLoadBalancer }>(rig, 'POST', `${LBAAS}/loadbalancers`, {
    loadbalancer: {
      name: name ?? tag,
      description: `Kubernetes external service ${service.namespace}/${service.name} from cluster ${clusterName}`,
      provider: 'amphora',
      vip_subnet_id: rig.seeded.subnet.id,
      tags: [tag],
      listeners: service.ports.map((port, i) => ({
        ...listenerBody(port, i, name ?? tag, tag),
        default_pool: { ...poolBody(port, i, name ?? tag), members: membersOf(rig, port) },
      })),
    },
  });
  return loadbalancer.id;
}

async function addListeners(rig: Rig, service: LoadBalancerService, id: string, tag: string): Promise<void> {
  for (const [i, port] of service.ports.entries()) {
    const body = { ...listenerBody(port, i, tag, tag), loadbalancer_id: id };
    const { listener } = await send<{ listener: WireListener }>(rig, 'POST', `${LBAAS}/listeners`, { listener: body });
    const { pool } = await send<{ pool: WirePool }>(rig, 'POST', `${LBAAS}/pools`, {
      pool: { ...poolBody(port, i, tag), listener_id: listener.id },
    });
    await send(rig, 'PUT', `${LBAAS}/pools/${pool.id}/members`, { members: membersOf(rig, port) });
  }
}

type Port = LoadBalancerService['ports'][number];

const listenerBody = ({ port, protocol }: Port, i: number, name: string, tag: string): object => ({
  name: `listener_${i}_${name}`,
  protocol,
  protocol_port: port,
  connection_limit: -1,
  timeout_client_data: 50_000,
  timeout_member_connect: 5_000,
  timeout_member_data: 50_000,
  timeout_tcp_inspect: 0,
  allowed_cidrs: ['0.0.0.0/0'],
  tags: [tag],
});

const poolBody = ({ protocol }: Port, i: number, name: string): object => ({
  name: `pool_${i}_${name}`,
  protocol,
  lb_algorithm: 'ROUND_ROBIN',
});

const membersOf = (rig: Rig, { nodePort }: Port): readonly object[] =>
  rig.backEnds.map(({ addresses: [address], node: { name } }) => ({
    name,
    address: address?.address,
    protocol_port: nodePort,
    subnet_id: rig.seeded.subnet.id,
  }));

async function createFloatingIP(
  rig: Rig,
  { name, namespace }: LoadBalancerService,
  { vip_port_id }: WireLoadBalancer,
  clusterName: string,
): Promise<string> {
  const { floatingip } = await send<{ floatingip: WireFloatingIP }>(rig, 'POST', '/v2.0/floatingips', {
    floatingip: {
      floating_network_id: rig.seeded.publicNetwork.id,
      port_id: vip_port_id,
      description: `Floating IP for Kubernetes external service ${namespace}/${name} from cluster ${clusterName}`,
    },
  });
  return floatingip.floating_ip_address;
}

const groupName = ({ name, namespace, uid }: LoadBalancerService): string =>
  `lb-sg-${uid}-${namespace}-${name}`.slice(0, 255);

async function createGroup(rig: Rig, service: LoadBalancerService): Promise<void> {
  const { name, namespace } = service;
  const { security_group: group } = await send<{ security_group: WireSecurityGroup }>(
    rig,
    'POST',
    '/v2.0/security-groups',
    {
      security_group: {
        name: groupName(service),
        description: `Security Group for ${namespace}/${name} Service LoadBalancer in cluster kubernetes`,
      },
    },
  );
  for (const { nodePort, protocol } of service.ports) {
    const range = { port_range_min: nodePort, port_range_max: nodePort, remote_ip_prefix: rig.seeded.subnet.cidr };
    const rule = {
      security_group_id: group.id,
      direction: 'ingress',
      ethertype: 'IPv4',
      protocol: protocol.toLowerCase(),
      ...range,
    };
    await send(rig, 'POST', '/v2.0/security-group-rules', { security_group_rule: rule });
  }
  for (const port of rig.cloud.networking.ports.ports.all()) {
    if (!rig.backEnds.some(({ node }) => node.providerID?.endsWith(port.device_id) && port.device_id !== '')) continue;
    await send(rig, 'PUT', `/v2.0/ports/${port.id}`, {
      port: { security_groups: [...port.security_groups, group.id] },
    });
  }
}

/** What CPO would still change of the tree that the Service's annotation names. Empty: it takes it as its own, as it is. */
export async function cpoWouldChange(
  rig: Rig,
  service: LoadBalancerService,
  clusterName = 'kubernetes',
): Promise<readonly string[]> {
  const tag = cpoName(service, clusterName);
  const id = service.annotations['loadbalancer.openstack.org/load-balancer-id'] ?? '';
  const loadBalancer = await read<WireLoadBalancer>(rig, `${LBAAS}/loadbalancers/${id}`, 'loadbalancer');
  const all = await list<WireListener>(rig, `${LBAAS}/listeners`, 'listeners');
  const listeners = all.filter(({ loadbalancers }) => loadbalancers.some((one) => one.id === id));
  const changes = loadBalancer.tags?.includes(tag) ? [] : ['tags of the load balancer'];
  const left = new Set(listeners);
  for (const [i, port] of service.ports.entries()) {
    const listener = listeners.find((one) => one.protocol === port.protocol && one.protocol_port === port.port);
    if (!listener) {
      changes.push(`no listener ${port.port}`);
      continue;
    }
    left.delete(listener);
    if (!listener.tags?.includes(tag)) changes.push(`tags of listener ${port.port}`);
    const body = listenerBody(port, i, tag, tag) as Readonly<Record<string, unknown>>;
    for (const key of [
      'connection_limit',
      'timeout_client_data',
      'timeout_member_connect',
      'timeout_member_data',
      'timeout_tcp_inspect',
      'allowed_cidrs',
    ] as const) {
      if (JSON.stringify(listener[key]) !== JSON.stringify(body[key])) changes.push(`${key} of listener ${port.port}`);
    }
    const pool = await read<WirePool>(rig, `${LBAAS}/pools/${listener.default_pool_id}`, 'pool');
    if (pool.protocol !== port.protocol || pool.lb_algorithm !== 'ROUND_ROBIN') changes.push(`pool of ${port.port}`);
    const members = await list<WireMember>(rig, `${LBAAS}/pools/${pool.id}/members`, 'members');
    const there = members.map((one) => `${one.name}-${one.address}-${one.protocol_port}-${one.monitor_port ?? 0}`);
    const wanted = rig.backEnds.map(
      ({ addresses: [address], node }) => `${node.name}-${address?.address}-${port.nodePort}-0`,
    );
    if (JSON.stringify(there.toSorted()) !== JSON.stringify(wanted.toSorted())) changes.push(`members of ${port.port}`);
    if (pool.healthmonitor_id) changes.push(`monitor of ${port.port}`);
  }
  const isOwner = loadBalancer.name === tag;
  for (const { protocol_port: port, tags = [] } of left) {
    if (tags.includes(tag) || (isOwner && tags.length === 0)) changes.push(`listener ${port} too many`);
  }
  return changes;
}

/** Deletes what CPO would of a Service that has no other beside it on the load balancer. */
export async function cpoDelete(rig: Rig, service: LoadBalancerService, clusterName = 'kubernetes'): Promise<void> {
  const id = service.annotations['loadbalancer.openstack.org/load-balancer-id'] ?? '';
  const loadBalancer = await read<WireLoadBalancer>(rig, `${LBAAS}/loadbalancers/${id}`, 'loadbalancer');
  const others = loadBalancer.tags?.filter(
    (tag) => tag.startsWith('kube_service_') && tag !== cpoName(service, clusterName),
  );
  if (others?.length || !loadBalancer.name.startsWith('kube_service_'))
    throw new Error('CPO would leave the load balancer');
  for (const { description, id: floatingIP, port_id: port } of await list<WireFloatingIP>(
    rig,
    '/v2.0/floatingips',
    'floatingips',
  )) {
    if (port !== loadBalancer.vip_port_id || !description?.includes('Floating IP for Kubernetes external service'))
      continue;
    await send(rig, 'DELETE', `/v2.0/floatingips/${floatingIP}`);
  }
  await send(rig, 'DELETE', `${LBAAS}/loadbalancers/${id}?cascade=true`);
  for (const group of await list<WireSecurityGroup>(rig, '/v2.0/security-groups', 'security_groups')) {
    if (group.name !== groupName(service)) continue;
    for (const port of rig.cloud.networking.ports.ports.all()) {
      if (!port.security_groups.includes(group.id)) continue;
      const groups = port.security_groups.filter((one) => one !== group.id);
      await send(rig, 'PUT', `/v2.0/ports/${port.id}`, { port: { security_groups: groups } });
    }
    await send(rig, 'DELETE', `/v2.0/security-groups/${group.id}`);
  }
}

const serviceAt = (path: string): 'load-balancer' | 'network' => (path.startsWith(LBAAS) ? 'load-balancer' : 'network');

async function send<T>(rig: Rig, method: 'POST' | 'PUT' | 'DELETE', path: string, body?: object): Promise<T> {
  const [bare = '', search] = path.split('?');
  const query = search === undefined ? {} : { query: [['cascade', 'true']] as const };
  return rig.client.request<T>(callContext(), {
    service: serviceAt(path),
    operation: 'cpo',
    method,
    path: bare,
    ...query,
    ...(body && { body }),
  });
}

async function read<T>(rig: Rig, path: string, key: string): Promise<T> {
  const answer = await rig.client.request<Record<string, T>>(callContext(), {
    service: serviceAt(path),
    operation: 'cpo',
    method: 'GET',
    path,
  });
  return answer[key] as T;
}

function list<T>(rig: Rig, path: string, collection: string): Promise<readonly T[]> {
  return rig.client.list<T>(callContext(), { service: serviceAt(path), operation: 'cpo', path, collection });
}
