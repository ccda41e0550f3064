/** From a Service, its back ends and the cloud config to what should be there for it. Pure. */
import {
  canonicalIp,
  CloudError,
  familyOf,
  isCloudError,
  quote,
  type BackEnd,
  type LoadBalancerService,
  type LoadBalancerWarning,
} from '@outrigger/cloud-provider';
import { namedPlaces } from '../named-places.ts';
import { addressFamilies, familiesIn, familyIn, sourcesOf, type AddressFamilies } from './address-families.ts';
import type {
  DesiredTree,
  DesiredTreeResult,
  ExistingLoadBalancer,
  FloatingIPWish,
  StatusWish,
  VipWish,
} from './desired-tree.ts';
import { listenersOf } from './listeners.ts';
import { loadBalancerNames } from './load-balancer-names.ts';
import { memberNodes, oldestAddresses, type MemberNode } from './members.ts';
import { octaviaFeatures } from './octavia-features.ts';
import { securityRules } from './security-rules.ts';
import { sizeRefusal } from './sizes.ts';
import { serviceOptions, type LoadBalancerSettings, type ServiceOptions } from './service-options.ts';

export interface DesiredTreeInput {
  readonly service: LoadBalancerService;
  /** As `selectBackEnds` left them. */
  readonly backEnds: readonly BackEnd[];
  /** `--cluster-name`. */
  readonly clusterName: string;
  readonly config: LoadBalancerSettings;
  /** Of Octavia, as `octaviaFeatures` takes it. */
  readonly apiVersion: string;
  /** The range of a subnet, as far as it has been looked at. Default: of none. */
  readonly cidrOf?: (subnetId: string) => string | undefined;
}

/** The same input gives the same goal, whatever the order of nodes, annotations and source ranges. */
export function desiredTree(input: DesiredTreeInput): DesiredTreeResult {
  const warnings: LoadBalancerWarning[] = [];
  try {
    return { kind: 'tree', tree: treeOf(input, (warning) => warnings.push(warning)), warnings };
  } catch (error) {
    if (isCloudError(error)) return { kind: 'refused', error: new CloudError(error.code, error.message) };
    throw error;
  }
}

type Warn = (warning: LoadBalancerWarning) => void;

function treeOf(input: DesiredTreeInput, warn: Warn): DesiredTree {
  const { apiVersion, service, clusterName, config } = input;
  const { loadBalancer: settings } = config;
  const features = octaviaFeatures(apiVersion, settings.lbProvider);
  const options = serviceOptions(service, config, features, warn);
  const families = addressFamilies(service, features, warn);
  const sources = sourcesOf(service, families, { features, manageSecurityGroups: settings.manageSecurityGroups });
  const names = loadBalancerNames(service, { name: clusterName });
  const nodes = memberNodes(input.backEnds, familiesIn(families));
  if (service.ports.length === 0) throw new CloudError('invalid', 'the Service has no ports');
  if (service.externalTrafficPolicy === 'Local' && options.monitor === undefined) {
    const message = `externalTrafficPolicy is Local and there is no health monitor: nodes without an endpoint drop its traffic; set loadbalancer.openstack.org/enable-health-monitor: "true"`;
    warn({ reason: 'LoadBalancerHealthMonitorNeeded', message });
  }
  const context = {
    service,
    nodes,
    families,
    options,
    features,
    allowedCidrs: sources.allowedCidrs,
    name: names.loadBalancer,
  };
  const refused = sizeRefusal(context, settings.manageSecurityGroups ? sources.ranges : undefined);
  const refusedAnew = options.refusedAnew ?? refused;
  const what = `${service.namespace}/${service.name} of cluster ${clusterName}`;
  const requested = requestedAddress(service, options, families);
  return {
    loadBalancer: {
      names,
      description: cut(`Kubernetes Service ${what}`),
      provider: settings.lbProvider,
      ...(options.flavorId && { flavorId: options.flavorId }),
      ...(options.availabilityZone && { availabilityZone: options.availabilityZone }),
      vip: vipOf(options, families, { address: requested.vip, nodes, cidrOf: input.cidrOf }),
      additionalVips: families.second ? [{ family: families.second }] : [],
      serial: settings.providerRequiresSerialApiCalls,
      cascadeDelete: settings.cascadeDelete,
      ...(refusedAnew && { refusedAnew }),
      ...existingOf(options, settings.maxSharedLb),
    },
    ...(refused && { refused }),
    listeners: refused ? [] : listenersOf(context),
    floatingIP: floatingIPOf(options, families, { address: requested.floating, what }),
    ...(settings.manageSecurityGroups && {
      securityGroup: {
        description: cut(`Members of Kubernetes Service ${what}`),
        rules: refused ? [] : securityRules(context, sources.ranges),
      },
    }),
    status: statusOf(options, settings),
    places: namedPlaces(service, config),
  };
}

function vipOf(
  { vip }: ServiceOptions,
  { first: family }: AddressFamilies,
  {
    address,
    cidrOf,
    nodes,
  }: {
    readonly address: string | undefined;
    readonly cidrOf: DesiredTreeInput['cidrOf'];
    readonly nodes: readonly MemberNode[];
  },
): VipWish {
  const cidr = vip.subnetId && cidrOf?.(vip.subnetId);
  const subnetOf = vip.portId || vip.subnetId || vip.networkId ? [] : oldestAddresses(nodes, family);
  return {
    family,
    ...vip,
    ...(cidr && { subnetFamily: familyIn(cidr) }),
    ...(address && { address }),
    ...(subnetOf.length > 0 && { subnetOf }),
  };
}

/** `loadBalancerIP` is the VIP's own of an internal or IPv6 load balancer, and the floating one of any other. */
function requestedAddress(
  { requestedIP }: LoadBalancerService,
  { internal }: ServiceOptions,
  { first }: AddressFamilies,
): { readonly vip?: string; readonly floating?: string } {
  if (!requestedIP) return {};
  const address = canonicalIp(requestedIP);
  const family = address && `IPv${familyOf(address)}`;
  if (address && family === first && (internal || first === 'IPv6')) return { vip: address };
  if (address && family === 'IPv4' && first === 'IPv4') return { floating: address };
  throw new CloudError('invalid', `loadBalancerIP ${quote(requestedIP)} is not an ${first} address`);
}

/** Floating IPs are of IPv4; an IPv6 address is reached as it is. */
function floatingIPOf(
  { internal, isInternalDoubtful, keepFloatingIP: keep, floatingNetworkId, floatingSubnets }: ServiceOptions,
  { first, second }: AddressFamilies,
  { address, what }: { readonly address: string | undefined; readonly what: string },
): FloatingIPWish {
  if (internal || (first !== 'IPv4' && second !== 'IPv4')) return { kind: 'none', keep };
  const network = {
    ...(floatingNetworkId && { networkId: floatingNetworkId }),
    keep,
    description: cut(`Floating IP for Kubernetes external service ${what}`),
  };
  // Nothing is exposed, or hidden, that is not so already.
  if (isInternalDoubtful) return { kind: 'any', ...network, isThereOnly: true };
  if (!address) return { kind: 'any', ...network, ...(floatingSubnets && { subnets: floatingSubnets }) };
  const subnetId = floatingSubnets?.subnetId;
  return { kind: 'address', ...network, address, ...(subnetId && { subnetId }) };
}

function existingOf(
  { loadBalancerId: id, internal }: ServiceOptions,
  maxShared: number,
): { readonly existing?: ExistingLoadBalancer } {
  return id ? { existing: { id, maxShared, mayShare: !internal } } : {};
}

/** With the PROXY protocol kube-proxy must not take the short way to the members, which would come without the header (KEP-1860). */
function statusOf(
  { hostname, proxyProtocol }: ServiceOptions,
  settings: LoadBalancerSettings['loadBalancer'],
): StatusWish {
  return {
    ...(hostname && { hostname }),
    ...(proxyProtocol && settings.enableIngressHostname && { hostnameSuffix: settings.ingressHostnameSuffix }),
    ipMode: proxyProtocol ? 'Proxy' : 'VIP',
  };
}

/** Octavia's and Neutron's descriptions have 255 characters. */
const cut = (text: string): string => text.slice(0, 255);
