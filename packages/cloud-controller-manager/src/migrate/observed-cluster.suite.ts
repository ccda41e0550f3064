/** Clusters on their way from another manager to Outrigger, for tests: one that is ready, and what it can lack. */
import type { CSINode, Lease, Node, PersistentVolume, Pod, Service, Taint } from '@outrigger/kube';
import type { ObservedCluster, ObservedKubelet, Reading } from './observed-cluster.ts';
import { seenPrograms, type ProgramFlags } from './seen-program.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');
export const UNSEEN = { known: false, why: 'Forbidden (403)' } as const;
export const TARGET = { providerName: '', leaseName: 'cloud-controller-manager' };
export const FINALIZER = 'service.kubernetes.io/load-balancer-cleanup';

export function seen<T>(value: T): Reading<T> {
  return { known: true, value };
}

export function flags(values: Readonly<Record<string, string>>): ProgramFlags {
  return new Map(Object.entries(values));
}

function node(name: string, change: Partial<Node> = {}): Node {
  return {
    metadata: { name, labels: { 'topology.kubernetes.io/zone': 'a' } },
    spec: { providerID: `acme://${name}` },
    status: { addresses: [{ type: 'InternalIP', address: '10.0.0.1' }] },
    ...change,
  };
}

function service(name: string, change: Partial<Service> = {}): Service {
  return {
    metadata: { namespace: 'default', name, finalizers: [FINALIZER] },
    spec: { type: 'LoadBalancer' },
    status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } },
    ...change,
  };
}

export function pod(name: string, command: readonly string[], more: Partial<Pod['spec']> = {}, image = 'x'): Pod {
  const containers = [{ name: 'main', image, command: [...command] }];
  return { metadata: { name }, spec: { nodeName: 'cp-1', containers, ...more } };
}

/** Its mirror, as a kubelet makes it of a static Pod. */
export function mirrorOf({ metadata, ...rest }: Pod): Pod {
  return { ...rest, metadata: { ...metadata, annotations: { 'kubernetes.io/config.mirror': 'of-its-file' } } };
}

export function lease(name: string, holderIdentity: string, age = 1): Lease {
  const renewTime = new Date(NOW - age * 1000).toISOString();
  return { metadata: { name }, spec: { holderIdentity, leaseDurationSeconds: 15, renewTime } };
}

export const kubelet: ObservedKubelet = { flags: seen(flags({ 'cloud-provider': 'external' })), providerID: seen('') };
export const manager: Pod = pod('kcm', [
  'kube-controller-manager',
  '--cloud-provider=external',
  '--allocate-node-cidrs=true',
]);
export const apiServer: Pod = pod('api', ['kube-apiserver', '--enable-admission-plugins=NodeRestriction']);
export const other: Pod = pod('acme-ccm', ['/bin/acme-cloud-controller-manager', '--cloud-provider=acme']);
export const outrigger: Pod = ours('outrigger-1');

/** A pod of Outrigger. */
export function ours(name: string, ...args: readonly string[]): Pod {
  return pod(name, args, { nodeName: 'cp-2' }, 'outrigger/cloud-controller-manager:1.0');
}

interface Parts {
  readonly pods?: readonly Pod[];
  readonly leases?: readonly Lease[];
  readonly nodes?: readonly Node[];
  readonly services?: readonly Service[];
}

/** Another manager is at work, Outrigger waits: all before the hand-over is done. */
export function cluster(parts: Parts = {}, change: Partial<ObservedCluster> = {}): ObservedCluster {
  const nodes = parts.nodes ?? [node('a'), node('b')];
  return {
    now: NOW,
    nodes: seen(nodes),
    kubelets: new Map(nodes.map(({ metadata }) => [metadata?.name ?? '', kubelet])),
    leases: seen(parts.leases ?? [lease('cloud-controller-manager', 'acme-ccm_1')]),
    programs: seen(seenPrograms(parts.pods ?? [manager, apiServer, other, outrigger])),
    apiServerFlags: seen(flags({})),
    csiNodes: seen([]),
    volumes: seen([]),
    plans: seen([]),
    services: seen(parts.services ?? [service('web')]),
    ...change,
  };
}

const withPods = (...pods: readonly Pod[]): ObservedCluster =>
  cluster({ pods: [manager, apiServer, outrigger, ...pods] });
export const withNode = (change: Partial<Node>): ObservedCluster => cluster({ nodes: [node('a'), node('b', change)] });
export const withService = (change: Partial<Service>): ObservedCluster =>
  cluster({ services: [service('web', change)] });
export const withKubelet = (one: ObservedKubelet, change: Partial<Node> = {}): ObservedCluster =>
  cluster({ nodes: [node('b', change)] }, { kubelets: new Map([['b', one]]) });
export const silent: ObservedKubelet = { flags: UNSEEN, providerID: UNSEEN };
export const ccm = (...args: readonly string[]): ObservedCluster =>
  withPods(pod('acme-ccm', ['acme-cloud-controller-manager', ...args]));
/** The other manager with `theirs`, and Outrigger with `args`. */
export const besides = (theirs: readonly string[], ...args: readonly string[]): ObservedCluster =>
  cluster({
    pods: [manager, apiServer, pod('acme-ccm', ['acme-cloud-controller-manager', ...theirs]), ours('or', ...args)],
  });
/** kube-controller-manager with `theirs`, and Outrigger with `args`, both with the controller node-ipam-controller. */
export const allocators = (theirs: readonly string[], ...args: readonly string[]): ObservedCluster =>
  cluster({
    pods: [
      pod('kcm', ['kube-controller-manager', '--allocate-node-cidrs', ...theirs]),
      apiServer,
      other,
      ours('or', '--allocate-node-cidrs', '--controllers=*,node-ipam-controller', ...args),
    ],
  });
export const cinder: Reading<readonly PersistentVolume[]> = seen([
  { metadata: { name: 'v' }, spec: { cinder: { volumeID: 'x' } } },
]);

/** These nodes have the driver for the volume. */
export function drivers(...names: readonly string[]): Reading<readonly CSINode[]> {
  const driver = { name: 'cinder.csi.openstack.org', nodeID: 'x' };
  return seen(names.map((name) => ({ metadata: { name }, spec: { drivers: [driver] } })));
}

export function apiServerLease(name: string, age = 1): Lease {
  const { spec = {} } = lease(name, name, age);
  return { metadata: { name, labels: { 'apiserver.kubernetes.io/identity': 'kube-apiserver' } }, spec };
}
export const migrating: readonly string[] = ['--enable-leader-migration', '--leader-migration-config=/x'];
export const uninitialized: Taint = { key: 'node.cloudprovider.kubernetes.io/uninitialized', effect: 'NoSchedule' };
