/** What a Service asks for, whatever is there already. Pure: the Service and the cloud config alone decide. */
import {
  CloudError,
  parseCidr,
  quote,
  type IPFamily,
  type LoadBalancerService,
  type LoadBalancerWarning,
} from '@outrigger/cloud-provider';
import {
  annotations,
  annotationRows,
  ANNOTATION_PREFIX,
  isTrue,
  itemsOf,
  type Annotations,
} from './annotation-rows.ts';
import { healthCheckOf, type HealthCheck, type HealthProbeConfig } from './health-check.ts';
import { keyValuesOf } from './key-values.ts';
import { listenersOf, type Listener } from './listeners.ts';
import { additionalTagsOf } from './resource-tags.ts';
import { targetGroupAttributesOf } from './target-group-attributes.ts';

/** Of the cloud config. */
export interface LoadBalancerConfig extends HealthProbeConfig {
  /** The group of all Classic Load Balancers, in place of one of their own. */
  readonly elbSecurityGroup?: string | undefined;
}

interface AccessLogs {
  readonly bucket: string;
  readonly prefix: string;
  /** Minutes; of a Classic Load Balancer. */
  readonly interval: 5 | 60;
}

/** What is of both kinds of load balancers. */
export interface ServiceSettings {
  readonly type: 'nlb' | 'clb';
  readonly isInternal: boolean;
  /** Of its addresses; the first of them is IPv4 unless the Service asks for IPv6 alone. */
  readonly families: readonly IPFamily[];
  /** By port. */
  readonly listeners: readonly Listener[];
  /** Of the port that the Service names first, which a Classic Load Balancer asks about its health. */
  readonly firstNodePort: number;
  readonly health: HealthCheck;
  /** IDs, or values of the tag `Name`. Empty: they are to be found. */
  readonly subnets: readonly string[];
  /** One for each subnet, or none. */
  readonly eipAllocations: readonly string[];
  /** One for each subnet, or none. */
  readonly privateAddresses: readonly string[];
  readonly tags: Readonly<Record<string, string>>;
  readonly groups: {
    /** In place of its own. Empty: it gets its own. */
    readonly named: readonly string[];
    /** Whether the cloud config has named these. */
    readonly isOfConfig: boolean;
    /** Beside these. */
    readonly extra: readonly string[];
  };
  /** In canonical form, sorted, of its families alone. Never empty. */
  readonly sourceRanges: readonly string[];
  readonly crossZone: boolean;
  readonly accessLogs: AccessLogs | undefined;
  /** Of an NLB. All that can be set, so that one whose annotation has gone is set back. */
  readonly targetGroupAttributes: Readonly<Record<string, string>>;
  readonly classic: ClassicSettings;
}

/** What only a Classic Load Balancer has. */
interface ClassicSettings {
  readonly proxyProtocol: boolean;
  /** Seconds; `undefined`: connections are cut. */
  readonly drainingTimeout: number | undefined;
  /** Seconds. */
  readonly idleTimeout: number;
  readonly tlsPolicy: string | undefined;
}

const DRAINING_SECONDS = 300;
const IDLE_SECONDS = 60;
const ANYWHERE: Readonly<Record<IPFamily, string>> = { IPv4: '0.0.0.0/0', IPv6: '::/0' };

/** Of the AWS Load Balancer Controller and EKS Auto Mode: on a Service as long as they have something for it. */
const THEIR_FINALIZER = /^service\.(?:k8s\.aws|eks\.amazonaws\.com)\/resources$/u;

type Warn = (warning: LoadBalancerWarning) => void;

/** It is the AWS Load Balancer Controller's: nothing of it is looked at. */
export function isServedElsewhere({ annotations: given }: Pick<LoadBalancerService, 'annotations'>): boolean {
  return ['external', 'nlb-ip'].includes(given[annotationRows.type.name] ?? '');
}

/** The finalizer by which it still holds the Service, whatever this one's annotations say now. */
export function theirFinalizerOn({ finalizers = [] }: Pick<LoadBalancerService, 'finalizers'>): string | undefined {
  return finalizers.find((one) => THEIR_FINALIZER.test(one));
}

/** Throws `invalid` or `unsupported` for what cannot be, with the name of the annotation and its value. */
export function settingsOf(
  service: LoadBalancerService,
  config: LoadBalancerConfig,
  warn: Warn = () => {},
): ServiceSettings {
  const set = annotations.read(service.annotations, warn);
  warnOfUnknown(service.annotations, warn);
  const type = set.type === 'nlb' ? 'nlb' : 'clb';
  for (const key of ONLY[type === 'nlb' ? 'clb' : 'nlb']) warnOfOther(key, set, type, warn);
  const families = familiesOf(service, type, warn);
  const isInternal = set.internal !== undefined && set.internal !== 'false';
  const named = itemsOf(set.securityGroups);
  const isOfConfig = named.length === 0 && type === 'clb' && Boolean(config.elbSecurityGroup);
  return {
    type,
    isInternal,
    families,
    listeners: listenersOf(service, set, type),
    firstNodePort: service.ports[0]?.nodePort ?? 0,
    health: healthCheckOf(service, set, type, config),
    subnets: distinct('subnets', set),
    ...(type === 'nlb' ? addressesOf(set, isInternal) : { eipAllocations: [], privateAddresses: [] }),
    tags: additionalTagsOf(set.tags),
    groups: {
      named: isOfConfig && config.elbSecurityGroup ? [config.elbSecurityGroup] : named,
      isOfConfig,
      extra: itemsOf(set.extraSecurityGroups),
    },
    sourceRanges: sourceRangesOf(service, families),
    crossZone: isTrue(set.crossZone),
    accessLogs: accessLogsOf(set),
    targetGroupAttributes: type === 'nlb' ? targetGroupAttributesOf(service, set.targetGroupAttributes) : {},
    classic: {
      proxyProtocol: set.proxyProtocol !== undefined,
      drainingTimeout: isTrue(set.draining) ? (set.drainingTimeout ?? DRAINING_SECONDS) : undefined,
      idleTimeout: set.idleTimeout ?? IDLE_SECONDS,
      tlsPolicy: set.tlsPolicy,
    },
  };
}

/** Labels that a node must have to be a target; the empty value stands for any. */
export function targetLabelsOf({
  annotations: given,
}: Pick<LoadBalancerService, 'annotations'>): ReadonlyMap<string, string> {
  return keyValuesOf(annotations.read(given).nodeLabels);
}

/** What the other kind of load balancer has alone: upstream passes over it. */
const ONLY = {
  nlb: ['eipAllocations', 'privateAddresses', 'targetGroupAttributes'],
  clb: ['accessLogInterval', 'draining', 'drainingTimeout', 'idleTimeout', 'proxyProtocol'],
} as const;

function warnOfOther(key: keyof Annotations, set: Annotations, type: ServiceSettings['type'], warn: Warn): void {
  if (set[key] === undefined) return;
  const kind = type === 'nlb' ? 'a Network Load Balancer' : 'a Classic Load Balancer';
  const message = `annotation ${annotationRows[key].name} is ignored: ${kind} has no such setting`;
  warn({ reason: 'LoadBalancerAnnotationIgnored', message });
}

/** In one line: who writes a Service may write thousands. */
function warnOfUnknown(given: Readonly<Record<string, string>>, warn: Warn): void {
  const known = new Set(Object.values(annotationRows).map(({ name }) => name));
  const [first, ...more] = Object.keys(given)
    .filter((name) => name.startsWith(ANNOTATION_PREFIX) && !known.has(name))
    .toSorted();
  if (first === undefined) return;
  const others = more.length === 0 ? '' : ` (and ${more.length} others)`;
  const message = `annotation ${quote(first)}${others} is ignored: it is not one of cloud-provider-aws; one of the AWS Load Balancer Controller needs its loadBalancerClass`;
  warn({ reason: 'LoadBalancerAnnotationIgnored', message });
}

function familiesOf(
  { ipFamilies, ipFamilyPolicy }: LoadBalancerService,
  type: ServiceSettings['type'],
  warn: Warn,
): readonly IPFamily[] {
  const asked: readonly IPFamily[] = ipFamilies.length === 0 ? ['IPv4'] : ipFamilies;
  if (type === 'nlb' || !asked.includes('IPv6')) return asked.toSorted();
  if (!asked.includes('IPv4')) {
    const message = `a Classic Load Balancer has no IPv6 addresses: set annotation ${annotationRows.type.name} to nlb`;
    throw new CloudError('unsupported', message);
  }
  const message = `Only IPv4 is served, and ipFamilyPolicy is ${ipFamilyPolicy}: a Classic Load Balancer has no IPv6 addresses`;
  warn({ reason: 'LoadBalancerSingleStack', message });
  return ['IPv4'];
}

function distinct(key: 'subnets' | 'eipAllocations' | 'privateAddresses', set: Annotations): readonly string[] {
  const items = itemsOf(set[key]);
  if (new Set(items).size < items.length) annotations.refuse(key, `${set[key]}`, 'one stands there twice');
  return items;
}

function addressesOf(
  set: Annotations,
  isInternal: boolean,
): Pick<ServiceSettings, 'eipAllocations' | 'privateAddresses'> {
  const eipAllocations = distinct('eipAllocations', set);
  const privateAddresses = distinct('privateAddresses', set);
  if (isInternal && eipAllocations.length > 0) {
    annotations.refuse('eipAllocations', `${set.eipAllocations}`, 'an internal load balancer has no public addresses');
  }
  if (!isInternal && privateAddresses.length > 0) {
    annotations.refuse('privateAddresses', `${set.privateAddresses}`, 'only an internal load balancer can choose them');
  }
  return { eipAllocations, privateAddresses };
}

function accessLogsOf(set: Annotations): AccessLogs | undefined {
  if (!isTrue(set.accessLog)) return undefined;
  const { accessLogBucket: bucket } = set;
  if (bucket === undefined) {
    annotations.refuse('accessLog', `${set.accessLog}`, `set ${annotationRows.accessLogBucket.name} too`);
  }
  return { bucket, prefix: set.accessLogPrefix ?? '', interval: set.accessLogInterval === '5' ? 5 : 60 };
}

/** Ranges of a family that the load balancer has no address of let nobody in. */
function sourceRangesOf({ sourceRanges }: LoadBalancerService, families: readonly IPFamily[]): readonly string[] {
  if (sourceRanges.length === 0) return families.map((family) => ANYWHERE[family]).toSorted();
  const all = sourceRanges.map((text) => {
    const range = parseCidr(text.trim());
    if (!range) throw new CloudError('invalid', `source range ${quote(text)} is not a range such as 10.0.0.0/24`);
    return range;
  });
  const served = all.filter(({ family }) => families.includes(`IPv${family}`)).map(({ text }) => text);
  if (served.length === 0) {
    const message = `no source range is of family ${families.join(' or ')}: they would block all clients`;
    throw new CloudError('invalid', message);
  }
  return [...new Set(served)].toSorted();
}
