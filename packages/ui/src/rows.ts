/** Objects of Kubernetes, with what the leader says of them, as the lines of the page's tables. Pure. */
import type { ListedStanding } from '@outrigger/cloud-controller-manager';
import type { Node, Service } from '@outrigger/kube';
import type { Line, NodeRow, NodeState, OrphanRow, RouteRow, ServiceRow, ServiceState } from './view-types.ts';

const CLOUD_TAINT = 'node.cloudprovider.kubernetes.io/';
/** A route that is made is about a destination; a node to which none can be made is about the node. */
const NO_ROUTE = 'waits';

export function nodeRow(node: Node, listed: readonly ListedStanding[]): NodeRow {
  const { creationTimestamp = '', labels = {}, name = '' } = node.metadata ?? {};
  const addresses = node.status?.addresses ?? [];
  const of = (type: string): string | undefined => addresses.find((one) => one.type === type)?.address;
  const tookMs = listed.find((one) => one.tookMs !== undefined)?.tookMs;
  return {
    name,
    zone: labels['topology.kubernetes.io/zone'] ?? '',
    state: nodeState(node, listed),
    type: labels['node.kubernetes.io/instance-type'] ?? '',
    address: of('InternalIP') ?? of('ExternalIP') ?? '',
    providerID: node.spec?.providerID ?? '',
    podCIDRs: (node.spec?.podCIDRs ?? []).join(', '),
    created: Date.parse(creationTimestamp) || 0,
    ...(tookMs !== undefined && { tookMs: Math.round(tookMs) }),
    lines: listed.filter(({ planned }) => planned.length > 0).map(lineOf),
  };
}

function nodeState({ metadata, spec, status }: Node, listed: readonly ListedStanding[]): NodeState {
  const has = (taint: string): boolean => spec?.taints?.some(({ key }) => key === CLOUD_TAINT + taint) ?? false;
  if (listed.some(({ state }) => state === 'hold')) return 'held';
  if (metadata?.deletionTimestamp !== undefined) return 'deleting';
  if (has('uninitialized')) return 'waiting';
  if (has('shutdown')) return 'shut-down';
  return status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ? 'ready' : 'not-ready';
}

/** `undefined`: it has nothing to do with load balancers. */
export function serviceRow(service: Service, listed: readonly ListedStanding[]): ServiceRow | undefined {
  const { creationTimestamp = '', name = '', namespace = '' } = service.metadata ?? {};
  const { loadBalancerClass = '', ports = [], type } = service.spec ?? {};
  if (type !== 'LoadBalancer' && listed.length === 0) return undefined;
  const ingress = service.status?.loadBalancer?.ingress ?? [];
  const parts = listed.flatMap((one) => one.parts ?? []);
  return {
    name: `${namespace}/${name}`,
    state: serviceState(service, listed),
    addresses: ingress.map(({ hostname, ip }) => ip ?? hostname ?? '').join(', '),
    ports: ports.map(({ port, protocol = 'TCP' }) => `${port}/${protocol}`).join(', '),
    loadBalancerClass,
    created: Date.parse(creationTimestamp) || 0,
    ...(listed.length > 0 && { parts }),
    lines: listed.filter(({ planned }) => planned.length > 0).map(lineOf),
  };
}

function serviceState({ metadata, status }: Service, listed: readonly ListedStanding[]): ServiceState {
  if (metadata?.deletionTimestamp !== undefined) return 'deleting';
  const hasFailed = listed.some(
    ({ planned, state }) =>
      state === 'refuse' ||
      state === 'failed' ||
      planned.some(({ text }) => text.startsWith('The last attempt failed')),
  );
  if (hasFailed) return 'failing';
  if (listed.length > 0) return listed.every(({ state }) => state === 'ready') ? 'ready' : 'waiting';
  return status?.loadBalancer?.ingress?.length ? 'ready' : 'unknown';
}

export function routeRows(listed: readonly ListedStanding[]): readonly RouteRow[] {
  const counts = new Map<string, number>();
  return listed
    .filter(({ state }) => state !== 'orphan')
    .map((one) => {
      const key = `${one.controller} ${one.name} ${one.to ?? ''}`;
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      const isNode = one.state === NO_ROUTE;
      return {
        name: count > 1 ? `${key} ${count}` : key,
        destination: isNode ? '' : one.name,
        state: one.state,
        to: one.to ?? (isNode ? one.name : ''),
        lines: one.planned.length > 0 ? [lineOf(one)] : [],
      };
    });
}

export function orphanRows(kind: 'service' | 'route', listed: readonly ListedStanding[]): readonly OrphanRow[] {
  return listed
    .filter(({ state }) => state === 'orphan')
    .map((one) => ({ name: one.name, kind, parts: one.parts ?? [], lines: [lineOf(one)] }));
}

function lineOf({ controller, planned, state }: ListedStanding): Line {
  return { controller, state, planned };
}
