/**
 * What one Service gets of the cloud config, its class and its annotations. Which of them goes first is CPO's (`checkService`,
 * `getSubnetID`, `getNetworkID`, `getMemberSubnetID`): annotation, class, config; but of an external Service the class goes
 * before the annotations for the VIP and the floating IP.
 */
import { CloudError, quote, type LoadBalancerService, type LoadBalancerWarning } from '@outrigger/cloud-provider';
import type { CloudConfig, LoadBalancerClassConfig } from '../../config/cloud-config.ts';
import { annotationTable, type AnnotationKey, type AnnotationValues } from './annotation-table.ts';
import { lbMethods, type FloatingSubnets, type LbMethod, type ListenerTimeouts } from './desired-tree.ts';
import { subnetNamePattern } from './floating-subnets.ts';
import { PatternTooLarge } from './linear-pattern.ts';
import type { OctaviaFeatures } from './octavia-features.ts';
import { readAnnotations, refuseAnnotation } from './service-annotations.ts';

export interface ServiceOptions {
  readonly internal: boolean;
  /** It does not say whether it is internal: what its load balancer has stays. */
  readonly isInternalDoubtful: boolean;
  /** What it says of a new load balancer cannot be read: only one that it has already does without. */
  readonly refusedAnew: CloudError | undefined;
  readonly vip: { readonly portId?: string; readonly subnetId?: string; readonly networkId?: string };
  readonly memberSubnetId: string | undefined;
  readonly floatingNetworkId: string | undefined;
  readonly floatingSubnets: FloatingSubnets | undefined;
  readonly keepFloatingIP: boolean;
  readonly loadBalancerId: string | undefined;
  readonly flavorId: string | undefined;
  readonly availabilityZone: string | undefined;
  readonly connectionLimit: number;
  readonly timeouts: ListenerTimeouts | undefined;
  readonly proxyProtocol: 'PROXY' | 'PROXYV2' | undefined;
  readonly xForwardedFor: boolean;
  readonly tlsContainerRef: string | undefined;
  readonly lbMethod: LbMethod;
  /** `undefined`: no monitors. */
  readonly monitor: MonitorOptions | undefined;
  readonly hostname: string | undefined;
}

/** Delay and timeout in seconds. */
interface MonitorOptions {
  readonly delay: number;
  readonly timeout: number;
  readonly maxRetries: number;
  readonly maxRetriesDown: number;
}

export type LoadBalancerSettings = Pick<CloudConfig, 'loadBalancer' | 'loadBalancerClasses'>;

interface Sources {
  readonly set: AnnotationValues;
  readonly config: CloudConfig['loadBalancer'];
  readonly className: string | undefined;
  readonly fromClass: Partial<LoadBalancerClassConfig>;
  readonly features: OctaviaFeatures;
  readonly warn: (warning: LoadBalancerWarning) => void;
}

/** Throws `invalid` or `unsupported`, naming annotation or key and value. */
export function serviceOptions(
  { annotations }: Pick<LoadBalancerService, 'annotations'>,
  { loadBalancer: config, loadBalancerClasses }: LoadBalancerSettings,
  features: OctaviaFeatures,
  warn: (warning: LoadBalancerWarning) => void,
): ServiceOptions {
  const doubts = new Map<AnnotationKey, CloudError>();
  const set = readAnnotations(annotations, warn, (key, refused) => doubts.set(key, refused));
  const className = set.class || undefined;
  const sources: Sources = {
    set,
    config,
    className,
    fromClass: classOf(className, loadBalancerClasses),
    features,
    warn,
  };
  return {
    ...networkOptions(sources),
    isInternalDoubtful: doubts.has('internal'),
    refusedAnew: [...doubts.values()][0],
    ...octaviaOptions(sources),
    ...protocolOptions(sources),
    keepFloatingIP: set.keepFloatingIP ?? false,
    loadBalancerId: set.loadBalancerId || undefined,
    hostname: set.hostname || undefined,
  };
}

function networkOptions({ set, config, className, fromClass, warn }: Sources) {
  const internal = config.internalLb || (set.internal ?? false);
  if (internal && set.internal === false) {
    const message = `${annotationTable.internal.name} is ignored: the cloud config says internal-lb=true, so that no Service gets a floating IP. Remove the annotation`;
    warn({ reason: 'LoadBalancerForcedInternal', message });
  }
  const subnetId = set.subnetId || fromClass.subnetId || config.subnetId;
  const networkId = set.networkId || fromClass.networkId || config.networkId;
  const vip = internal
    ? { subnetId, networkId }
    : { subnetId: fromClass.subnetId || subnetId, networkId: fromClass.networkId || networkId };
  return {
    internal,
    vip: set.portId ? { portId: set.portId } : present(vip),
    memberSubnetId:
      set.memberSubnetId ||
      fromClass.memberSubnetId ||
      config.memberSubnetId ||
      config.subnetId ||
      subnetId ||
      undefined,
    floatingNetworkId: fromClass.floatingNetworkId || (set.floatingNetworkId ?? config.floatingNetworkId) || undefined,
    floatingSubnets:
      floatingSubnets(fromClass, `cloud config: [LoadBalancerClass ${JSON.stringify(className)}] floating-subnet`) ??
      floatingSubnets(set, `annotation ${annotationTable.floatingSubnet.name}`) ??
      floatingSubnets(config, 'cloud config: [LoadBalancer] floating-subnet'),
  };
}

function octaviaOptions({ set, config, features, warn }: Sources) {
  const timeouts: ListenerTimeouts = {
    clientData: set.timeoutClientData ?? 50_000,
    memberConnect: set.timeoutMemberConnect ?? 5_000,
    memberData: set.timeoutMemberData ?? 50_000,
    tcpInspect: set.timeoutTcpInspect ?? 0,
  };
  /** Of what a cloud cannot do, what the Service itself asks for is told; what the config says for all is passed over, as CPO does. */
  const where = <Value>(can: boolean, value: Value, keys: readonly AnnotationKey[]): Value | undefined => {
    if (can) return value;
    for (const key of keys.filter((one) => set[one] !== undefined && set[one] !== '')) {
      const message = `annotation ${annotationTable[key].name} is ignored: ${cloudOf(features)} does not support it`;
      warn({ reason: 'LoadBalancerAnnotationIgnored', message });
    }
    return undefined;
  };
  return {
    timeouts: where(features.timeouts, timeouts, [
      'timeoutClientData',
      'timeoutMemberConnect',
      'timeoutMemberData',
      'timeoutTcpInspect',
    ]),
    flavorId: where(features.flavors, (set.flavorId ?? config.flavorId) || undefined, ['flavorId']),
    availabilityZone: where(
      features.availabilityZones,
      (set.availabilityZone ?? config.availabilityZone) || undefined,
      ['availabilityZone'],
    ),
    connectionLimit: set.connectionLimit ?? -1,
    lbMethod: lbMethodOf(set.lbMethod, config.lbMethod, features),
    monitor:
      (set.enableHealthMonitor ?? config.createMonitor)
        ? {
            delay: set.healthMonitorDelay ?? Math.trunc(config.monitorDelayMs / 1000),
            timeout: set.healthMonitorTimeout ?? Math.trunc(config.monitorTimeoutMs / 1000),
            maxRetries: set.healthMonitorMaxRetries ?? config.monitorMaxRetries,
            maxRetriesDown: set.healthMonitorMaxRetriesDown ?? config.monitorMaxRetriesDown,
          }
        : undefined,
  };
}

function protocolOptions({ set, config, features }: Sources) {
  const tlsContainerRef = (set.tlsContainerRef ?? config.defaultTlsContainerRef) || undefined;
  const proxyProtocol = proxyProtocolOf(set.proxyProtocol);
  const xForwardedFor = set.xForwardedFor ?? false;
  if (proxyProtocol !== undefined && xForwardedFor) {
    refuseAnnotation(
      'proxyProtocol',
      `${set.proxyProtocol}`,
      `not together with ${annotationTable.xForwardedFor.name}`,
    );
  }
  if (!features.proxies) {
    const none = `${cloudOf(features)} is not a proxy and does not support it`;
    if (proxyProtocol) refuseAnnotation('proxyProtocol', `${set.proxyProtocol}`, none);
    if (xForwardedFor) refuseAnnotation('xForwardedFor', 'true', none);
    if (tlsContainerRef) refuseContainerRef(tlsContainerRef, set, none);
  }
  if (proxyProtocol === 'PROXYV2' && !features.proxyV2) {
    refuseAnnotation('proxyProtocol', 'v2', `${cloudOf(features)} does not support it: it needs 2.22 or later`);
  }
  if (tlsContainerRef !== undefined) checkContainerRef(tlsContainerRef, set, config.containerStore);
  return { tlsContainerRef, proxyProtocol, xForwardedFor };
}

/** `provider ovn (Octavia API 2.26)`. */
export const cloudOf = ({ provider, version }: OctaviaFeatures): string =>
  `load-balancer provider ${provider} (Octavia API ${version})`;

function classOf(name: string | undefined, classes: LoadBalancerSettings['loadBalancerClasses']) {
  if (name === undefined) return {};
  const known = [...classes.keys()].toSorted().join(', ') || 'none';
  return classes.get(name) ?? refuseAnnotation('class', name, `the cloud config has no such class (it has: ${known})`);
}

function floatingSubnets(
  from: Partial<
    Pick<AnnotationValues & LoadBalancerClassConfig, 'floatingSubnetId' | 'floatingSubnet' | 'floatingSubnetTags'>
  >,
  place: string,
): FloatingSubnets | undefined {
  const { floatingSubnetId: subnetId, floatingSubnet: name, floatingSubnetTags: tags } = from;
  if (subnetId) return { subnetId };
  if (!name && !tags) return undefined;
  try {
    subnetNamePattern(name ?? '');
  } catch (error) {
    const what = error instanceof PatternTooLarge ? place : `${place}: ${quote(name ?? '')}`;
    throw new CloudError('invalid', `${what}: ${error instanceof Error ? error.message : String(error)}`);
  }
  return { ...(name && { name }), ...(tags && { tags }) };
}

function lbMethodOf(asked: string | undefined, fallback: string, features: OctaviaFeatures): LbMethod {
  const method = features.lbMethods.find((one) => one === (asked ?? fallback));
  if (method !== undefined) return method;
  const why = `${cloudOf(features)} has ${features.lbMethods.join(', ')}`;
  if (asked !== undefined) return refuseAnnotation('lbMethod', asked, why);
  // What the config says for all is for those that have it: `lb-method` is by default one that `ovn` has not.
  const [own] = features.lbMethods;
  if (own !== undefined && lbMethods.some((one) => one === fallback)) return own;
  throw new CloudError('invalid', `cloud config: [LoadBalancer] lb-method: ${quote(fallback)}: ${why}`);
}

function proxyProtocolOf(value: string | undefined): 'PROXY' | 'PROXYV2' | undefined {
  if (value === 'v2') return 'PROXYV2';
  return value === 'true' || value === 'v1' ? 'PROXY' : undefined;
}

/** Barbican's as CPO tells them: `https://<key manager>/v1/containers/<id>` or `…/secrets/<id>`. */
function checkContainerRef(ref: string, set: AnnotationValues, store: string): void {
  const isBarbican = store === 'barbican';
  if (ref.length <= 255 && (!isBarbican || /\/(containers|secrets)\/[^/]+$/.test(ref))) return;
  const form = isBarbican ? ', and with container-store=barbican ends in /containers/<id> or /secrets/<id>' : '';
  refuseContainerRef(ref, set, `a reference has at most 255 characters${form}`);
}

function refuseContainerRef(ref: string, set: AnnotationValues, why: string): never {
  if (set.tlsContainerRef) refuseAnnotation('tlsContainerRef', ref, why);
  const place = 'cloud config: [LoadBalancer] default-tls-container-ref';
  const without = `; a Service can do without it by an empty annotation ${annotationTable.tlsContainerRef.name}`;
  throw new CloudError('invalid', `${place}: ${quote(ref)}: ${why}${without}`);
}

/** Without the members that are not set: an absent member and an empty one would be two texts of one goal. */
function present<Key extends string>(
  values: Readonly<Record<Key, string | undefined>>,
): Readonly<Partial<Record<Key, string>>> {
  // Only members with text are left.
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value)) as Partial<Record<Key, string>>;
}
