/** Services, nodes and configs for tests of what should be there. */
import type { BackEnd, LoadBalancerService, NodeAddress, ServicePort } from '@outrigger/cloud-provider';
import type { CloudConfig, LoadBalancerClassConfig, LoadBalancerConfig } from '../../config/cloud-config.ts';
import { annotationTable, type AnnotationKey } from './annotation-table.ts';
import { desiredTree, type DesiredTreeInput } from './desired-tree-of.ts';
import type { DesiredTree } from './desired-tree.ts';

/** A UUID that says what it is of: `idOf('subnet')`. */
export function idOf(word: string): string {
  const hex = Buffer.from(word).toString('hex').padEnd(32, '0').slice(0, 32);
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** `annotated({ internal: 'true' })`, by the table's keys. */
export function annotated(values: Partial<Record<AnnotationKey, string>>): Readonly<Record<string, string>> {
  // The keys are the table's own.
  const entries = Object.entries(values) as [AnnotationKey, string][];
  return Object.fromEntries(entries.map(([key, value]) => [annotationTable[key].name, value]));
}

export function portOf(
  port: number,
  protocol: ServicePort['protocol'] = 'TCP',
  nodePort: number = 30_000 + port,
): ServicePort {
  return { name: `p${port}-${protocol.toLowerCase()}`, port, protocol, nodePort };
}

export function serviceOf(more: Partial<LoadBalancerService> = {}): LoadBalancerService {
  return {
    uid: '0a1b2c3d-0000-4000-8000-000000000001',
    namespace: 'default',
    name: 'web',
    labels: {},
    annotations: {},
    ports: [portOf(80)],
    ipFamilies: ['IPv4'],
    ipFamilyPolicy: 'SingleStack',
    externalTrafficPolicy: 'Cluster',
    sourceRanges: [],
    ingress: [],
    ...more,
  };
}

/** Addresses are internal, or after `external:` external. */
export function backEndOf(
  name: string,
  addresses: readonly string[],
  labels: Readonly<Record<string, string>> = {},
): BackEnd {
  return {
    node: { name, uid: `uid-${name}`, providerID: `openstack:///${idOf(name)}`, labels, annotations: {} },
    addresses: addresses.map((text): NodeAddress => {
      const [, external, address = ''] = /^(external:)?(.*)$/.exec(text) ?? [];
      return { type: external ? 'ExternalIP' : 'InternalIP', address };
    }),
  };
}

/** What the cloud config says where it says nothing (CPO's `ReadConfig`). */
const defaultLoadBalancer: LoadBalancerConfig = {
  enabled: true,
  allowAllNamedResources: false,
  foreignNodes: true,
  subnetId: undefined,
  memberSubnetId: undefined,
  networkId: undefined,
  floatingNetworkId: undefined,
  floatingSubnetId: undefined,
  floatingSubnet: undefined,
  floatingSubnetTags: undefined,
  lbMethod: 'ROUND_ROBIN',
  lbProvider: 'amphora',
  createMonitor: false,
  monitorDelayMs: 5_000,
  monitorTimeoutMs: 3_000,
  monitorMaxRetries: 1,
  monitorMaxRetriesDown: 3,
  manageSecurityGroups: false,
  internalLb: false,
  nodeSelector: undefined,
  cascadeDelete: true,
  flavorId: undefined,
  availabilityZone: undefined,
  enableIngressHostname: false,
  ingressHostnameSuffix: 'nip.io',
  maxSharedLb: 2,
  containerStore: 'barbican',
  providerRequiresSerialApiCalls: false,
  defaultTlsContainerRef: undefined,
};

export function configOf(
  loadBalancer: Partial<LoadBalancerConfig> = {},
  classes: Readonly<Record<string, Partial<LoadBalancerClassConfig>>> = {},
): Pick<CloudConfig, 'loadBalancer' | 'loadBalancerClasses'> {
  const none = {
    floatingNetworkId: undefined,
    floatingSubnetId: undefined,
    floatingSubnet: undefined,
    floatingSubnetTags: undefined,
    networkId: undefined,
    subnetId: undefined,
    memberSubnetId: undefined,
  };
  const byName = Object.entries(classes).map(([name, one]) => [name, { ...none, ...one }] as const);
  return { loadBalancer: { ...defaultLoadBalancer, ...loadBalancer }, loadBalancerClasses: new Map(byName) };
}

export const twoNodes: readonly BackEnd[] = [
  backEndOf('node-1', ['192.168.1.1', 'fd00::1']),
  backEndOf('node-2', ['192.168.1.2', 'fd00::2']),
];

/** Of Zed, 2.26, unless said otherwise. */
export function inputOf(
  service: Partial<LoadBalancerService> = {},
  more: Partial<DesiredTreeInput> = {},
): DesiredTreeInput {
  return {
    service: serviceOf(service),
    backEnds: twoNodes,
    clusterName: 'kubernetes',
    config: configOf(),
    apiVersion: '2.26',
    ...more,
  };
}

/** The goal; a refusal fails the test. */
export function treeFor(...input: Parameters<typeof inputOf>): DesiredTree {
  const result = desiredTree(inputOf(...input));
  if (result.kind === 'refused') throw result.error;
  if (result.tree.refused) throw result.tree.refused;
  return result.tree;
}

/** The refusal's text; a goal fails the test. */
export function refusalFor(...input: Parameters<typeof inputOf>): string {
  const result = desiredTree(inputOf(...input));
  const error = result.kind === 'tree' ? result.tree.refused : result.error;
  if (!error) throw new Error('not refused');
  return `${error.code}: ${error.message}`;
}
