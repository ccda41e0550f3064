/** For tests: that a plan says in `touches` whatever it uses that is not the Service's own. The host judges nothing but what is said. */
import {
  sameOwner,
  type BackEnd,
  type DesiredLoadBalancer,
  type LoadBalancerPart,
  type LoadBalancerPlan,
  type Owner,
} from '@outrigger/cloud-provider';
import { assertTouchesDeclared as assertDeclared } from '../../../../packages/conformance/src/provider/declared-touches.ts';
import type { FakeOpenStack } from '../../fake/fake-openstack.ts';
import { ownersIn } from './ownership.ts';

export interface World {
  readonly cloud: FakeOpenStack;
  /** The whole cloud config: what it names needs no leave. */
  readonly config: unknown;
  readonly nodes: readonly BackEnd[];
}

/** Fails on an action that names what is there, and is neither the Service's own, nor configured, nor the nodes', nor said and allowed. */
export function assertTouchesDeclared(
  { actions }: LoadBalancerPlan,
  desired: DesiredLoadBalancer,
  parts: readonly LoadBalancerPart[],
  { cloud, config, nodes }: World,
): void {
  if (actions.length === 0) return;
  const free = new Set([...idsIn(config), ...nodesThings(cloud, nodes), ...ownThings(cloud, desired.owner, parts)]);
  for (const action of actions) {
    const used = idsIn(action.input).flatMap((id) => {
      const kind = kindOf(cloud, id);
      return kind === undefined || free.has(id) ? [] : [{ kind, id }];
    });
    assertDeclared(action, used, desired, parts);
  }
}

const UUID = /[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}/giu;

/** As OpenStack stores them. In which networks floating IPs are made is left to the cloud (docs/guides/multi-tenant.md); `among` is for people. */
function idsIn(value: unknown): readonly string[] {
  const text = JSON.stringify(value, (key, one: unknown) => {
    if (key === 'floatingip') return { ...(one as object), floating_network_id: undefined, subnet_id: undefined };
    return key === 'among' ? undefined : one;
  });
  const ids = text.match(UUID) ?? [];
  return ids.map((id) =>
    id
      .toLowerCase()
      .replaceAll('-', '')
      .replace(/^(.{8})(.{4})(.{4})(.{4})/u, '$1-$2-$3-$4-'),
  );
}

function kindOf({ compute, networking, octavia: { store } }: FakeOpenStack, id: string): string | undefined {
  const { floatingIps, networks, ports, routers, securityGroups } = networking;
  const things = {
    network: networks.networks.get(id),
    subnet: networks.subnets.get(id),
    port: ports.ports.get(id),
    router: routers.routers.get(id),
    'floating-ip': floatingIps.floatingIps.get(id),
    'security-group': securityGroups.groups.get(id),
    'security-group-rule': securityGroups.rules.get(id),
    'load-balancer': store.loadBalancers.get(id),
    listener: store.listeners.get(id),
    pool: store.pools.get(id),
    member: store.members.get(id),
    'health-monitor': store.monitors.get(id),
    server: compute.server(id),
  };
  return Object.entries(things).find(([, thing]) => thing !== undefined)?.[0];
}

/** Its parts, what hangs below them, where that lies, and the ports that have its security group. */
function ownThings(cloud: FakeOpenStack, owner: Owner, parts: readonly LoadBalancerPart[]): readonly string[] {
  const { networking, octavia } = cloud;
  const { store } = octavia;
  const isOthers = ({ tags }: { readonly tags: readonly string[] }): boolean => {
    const whose = ownersIn(tags).owner;
    return whose !== undefined && !sameOwner(whose, owner);
  };
  return parts
    .filter((part) => sameOwner(part.owner, owner))
    .flatMap(({ id }) => {
      const vip = store.loadBalancers.get(id);
      const pools = store.poolsOf(id).filter((one) => !isOthers(one));
      const members = pools.flatMap((pool) => store.membersOf(pool.id));
      return [
        id,
        ...(vip ? [vip.vip_port_id, vip.vip_subnet_id] : []),
        ...(vip?.additional_vips ?? []).map((one) => one.subnet_id),
        ...store.listenersOf(id).flatMap((one) => (isOthers(one) ? [] : [one.id])),
        ...pools.flatMap((pool) => [pool.id, store.monitorOf(pool.id)?.id ?? '']),
        ...members.flatMap((one) => [one.id, one.subnet_id ?? '']),
        ...networking.securityGroups.rules.where('security_group_id', id).map((rule) => rule.id),
        ...networking.ports.ports.all().flatMap((port) => (port.security_groups.includes(id) ? [port.id] : [])),
      ];
    });
}

/** Their servers. What is theirs in Neutron is looked up from that, or from their addresses, and no plan names it. */
function nodesThings({ compute }: FakeOpenStack, nodes: readonly BackEnd[]): readonly string[] {
  return nodes.flatMap(({ node }) => idsIn(node.providerID ?? '')).filter((id) => compute.server(id) !== undefined);
}
