/**
 * For tests: what cloud-provider-openstack's load balancer controller asks OpenStack, in its order, and what it would still want
 * changed of a tree that it finds. After `pkg/openstack/loadbalancer.go` and `loadbalancer_sg.go`, release 1.36.
 */
import type { BackEnd, LoadBalancerService } from '@outrigger/cloud-provider';
import type { ApiClient } from '../client/api-client.ts';
import { annotated } from './desired/tree-inputs.suite.ts';
import type { WireFloatingIP, WirePort, WireSecurityGroup } from './neutron-wire.ts';
import type { WireListener, WireLoadBalancer, WireMember, WirePool } from './octavia-wire.ts';
import { callContext } from './rig.suite.ts';

const LBAAS = '/v2.0/lbaas';

/** The cloud that CPO works on, and what its config and its cluster say. The fake's `Rig` is one. */
export interface CpoWorld {
  readonly client: Pick<ApiClient, 'request' | 'list'>;
  readonly seeded: {
    readonly subnet: { readonly id: string; readonly cidr: string };
    readonly publicNetwork: { readonly id: string };
  };
  readonly backEnds: readonly BackEnd[];
  /** Resolves when Octavia is done with what was asked last: a real one refuses the next change before. Default: at once. */
  readonly settled?: (loadBalancerId: string) => Promise<void>;
}

export interface CpoOptions {
  readonly clusterName?: string;
  /** The load balancer's name; CPO's of today. */
  readonly name?: string;
  /** Of another Service, to be shared. */
  readonly loadBalancerId?: string;
  readonly securityGroup?: boolean;
  /** One call for each thing, as with `provider-requires-serial-api-calls`. */
  readonly serial?: boolean;
}

export const cpoName = ({ name, namespace }: LoadBalancerService, clusterName = 'kubernetes'): string =>
  `kube_service_${clusterName}_${namespace}_${name}`.slice(0, 255);

/** Makes all of one Service, and gives it back with the annotation that CPO writes. */
export async function cpoEnsure(
  world: CpoWorld,
  service: LoadBalancerService,
  options: CpoOptions = {},
): Promise<LoadBalancerService> {
  const { clusterName = 'kubernetes' } = options;
  const tag = cpoName(service, clusterName);
  const id = options.loadBalancerId ?? (await createLoadBalancer(world, service, options));
  if (options.loadBalancerId || options.serial) await addListeners(world, service, id, tag);
  const loadBalancer = await read<WireLoadBalancer>(world, `${LBAAS}/loadbalancers/${id}`, 'loadbalancer');
  const address = options.loadBalancerId
    ? undefined
    : await createFloatingIP(world, service, loadBalancer, clusterName);
  if (!loadBalancer.tags?.includes(tag)) {
    await send(world, 'PUT', `${LBAAS}/loadbalancers/${id}`, {
      loadbalancer: { tags: [...(loadBalancer.tags ?? []), tag] },
    });
    await world.settled?.(id);
  }
  if (options.securityGroup) await createGroup(world, service);
  const ingress = address === undefined ? [] : [{ ip: address }];
  return { ...service, ingress, annotations: { ...service.annotations, ...annotated({ loadBalancerId: id }) } };
}

async function createLoadBalancer(
  world: CpoWorld,
  service: LoadBalancerService,
  { clusterName = 'kubernetes', name, serial = false }: CpoOptions,
): Promise<string> {
  const tag = cpoName(service, clusterName);
  const { loadbalancer } = await send<{ loadbalancer: WireLoadBalancer }>(world, 'POST', `${LBAAS}/loadbalancers`, {
    loadbalancer: {
      name: name ?? tag,
      description: `Kubernetes external service ${service.namespace}/${service.name} from cluster ${clusterName}`,
      provider: 'amphora',
      vip_subnet_id: world.seeded.subnet.id,
      tags: [tag],
      ...(!serial && {
        listeners: service.ports.map((port, i) => ({
          ...listenerBody(port, i, name ?? tag, tag),
          default_pool: { ...poolBody(port, i, name ?? tag), members: membersOf(world, port) },
        })),
      }),
    },
  });
  await world.settled?.(loadbalancer.id);
  return loadbalancer.id;
}

async function addListeners(world: CpoWorld, service: LoadBalancerService, id: string, tag: string): Promise<void> {
  for (const [i, port] of service.ports.entries()) {
    const body = { ...listenerBody(port, i, tag, tag), loadbalancer_id: id };
    const { listener } = await send<{ listener: WireListener }>(world, 'POST', `${LBAAS}/listeners`, {
      listener: body,
    });
    await world.settled?.(id);
    const { pool } = await send<{ pool: WirePool }>(world, 'POST', `${LBAAS}/pools`, {
      pool: { ...poolBody(port, i, tag), listener_id: listener.id },
    });
    await world.settled?.(id);
    await send(world, 'PUT', `${LBAAS}/pools/${pool.id}/members`, { members: membersOf(world, port) });
    await world.settled?.(id);
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

const membersOf = (world: CpoWorld, { nodePort }: Port): readonly object[] =>
  world.backEnds.map(({ addresses: [address], node: { name } }) => ({
    name,
    address: address?.address,
    protocol_port: nodePort,
    subnet_id: world.seeded.subnet.id,
  }));

async function createFloatingIP(
  world: CpoWorld,
  { name, namespace }: LoadBalancerService,
  { vip_port_id }: WireLoadBalancer,
  clusterName: string,
): Promise<string> {
  const { floatingip } = await send<{ floatingip: WireFloatingIP }>(world, 'POST', '/v2.0/floatingips', {
    floatingip: {
      floating_network_id: world.seeded.publicNetwork.id,
      port_id: vip_port_id,
      description: `Floating IP for Kubernetes external service ${namespace}/${name} from cluster ${clusterName}`,
    },
  });
  return floatingip.floating_ip_address;
}

const groupName = ({ name, namespace, uid }: LoadBalancerService): string =>
  `lb-sg-${uid}-${namespace}-${name}`.slice(0, 255);

async function createGroup(world: CpoWorld, service: LoadBalancerService): Promise<void> {
  const { name, namespace } = service;
  const { security_group: group } = await send<{ security_group: WireSecurityGroup }>(
    world,
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
    const range = { port_range_min: nodePort, port_range_max: nodePort, remote_ip_prefix: world.seeded.subnet.cidr };
    const rule = {
      security_group_id: group.id,
      direction: 'ingress',
      ethertype: 'IPv4',
      protocol: protocol.toLowerCase(),
      ...range,
    };
    await send(world, 'POST', '/v2.0/security-group-rules', { security_group_rule: rule });
  }
  for (const port of await list<WirePort>(world, '/v2.0/ports', 'ports')) {
    if (!world.backEnds.some(({ node }) => node.providerID?.endsWith(port.device_id) && port.device_id !== ''))
      continue;
    await send(world, 'PUT', `/v2.0/ports/${port.id}`, {
      port: { security_groups: [...port.security_groups, group.id] },
    });
  }
}

/** What CPO would still change of the tree that the Service's annotation names. Empty: it takes it as its own, as it is. */
export async function cpoWouldChange(
  world: CpoWorld,
  service: LoadBalancerService,
  clusterName = 'kubernetes',
): Promise<readonly string[]> {
  const tag = cpoName(service, clusterName);
  const id = service.annotations['loadbalancer.openstack.org/load-balancer-id'] ?? '';
  const loadBalancer = await read<WireLoadBalancer>(world, `${LBAAS}/loadbalancers/${id}`, 'loadbalancer');
  const all = await list<WireListener>(world, `${LBAAS}/listeners`, 'listeners');
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
    const pool = await read<WirePool>(world, `${LBAAS}/pools/${listener.default_pool_id}`, 'pool');
    if (pool.protocol !== port.protocol || pool.lb_algorithm !== 'ROUND_ROBIN') changes.push(`pool of ${port.port}`);
    const members = await list<WireMember>(world, `${LBAAS}/pools/${pool.id}/members`, 'members');
    const there = members.map((one) => `${one.name}-${one.address}-${one.protocol_port}-${one.monitor_port ?? 0}`);
    const wanted = world.backEnds.map(
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
export async function cpoDelete(
  world: CpoWorld,
  service: LoadBalancerService,
  clusterName = 'kubernetes',
): Promise<void> {
  const id = service.annotations['loadbalancer.openstack.org/load-balancer-id'] ?? '';
  const loadBalancer = await read<WireLoadBalancer>(world, `${LBAAS}/loadbalancers/${id}`, 'loadbalancer');
  const others = loadBalancer.tags?.filter(
    (tag) => tag.startsWith('kube_service_') && tag !== cpoName(service, clusterName),
  );
  if (others?.length || !loadBalancer.name.startsWith('kube_service_'))
    throw new Error('CPO would leave the load balancer');
  for (const { description, id: floatingIP, port_id: port } of await list<WireFloatingIP>(
    world,
    '/v2.0/floatingips',
    'floatingips',
  )) {
    if (port !== loadBalancer.vip_port_id || !description?.includes('Floating IP for Kubernetes external service'))
      continue;
    await send(world, 'DELETE', `/v2.0/floatingips/${floatingIP}`);
  }
  await send(world, 'DELETE', `${LBAAS}/loadbalancers/${id}?cascade=true`);
  for (const group of await list<WireSecurityGroup>(world, '/v2.0/security-groups', 'security_groups')) {
    if (group.name !== groupName(service)) continue;
    for (const port of await list<WirePort>(world, '/v2.0/ports', 'ports')) {
      if (!port.security_groups.includes(group.id)) continue;
      const groups = port.security_groups.filter((one) => one !== group.id);
      await send(world, 'PUT', `/v2.0/ports/${port.id}`, { port: { security_groups: groups } });
    }
    await send(world, 'DELETE', `/v2.0/security-groups/${group.id}`);
  }
}

const serviceAt = (path: string): 'load-balancer' | 'network' => (path.startsWith(LBAAS) ? 'load-balancer' : 'network');

async function send<T>(world: CpoWorld, method: 'POST' | 'PUT' | 'DELETE', path: string, body?: object): Promise<T> {
  const [bare = '', search] = path.split('?');
  const query = search === undefined ? {} : { query: [['cascade', 'true']] as const };
  return world.client.request<T>(callContext(), {
    service: serviceAt(path),
    operation: 'cpo',
    method,
    path: bare,
    ...query,
    ...(body && { body }),
  });
}

async function read<T>(world: CpoWorld, path: string, key: string): Promise<T> {
  const answer = await world.client.request<Record<string, T>>(callContext(), {
    service: serviceAt(path),
    operation: 'cpo',
    method: 'GET',
    path,
  });
  return answer[key] as T;
}

function list<T>(world: CpoWorld, path: string, collection: string): Promise<readonly T[]> {
  return world.client.list<T>(callContext(), { service: serviceAt(path), operation: 'cpo', path, collection });
}
