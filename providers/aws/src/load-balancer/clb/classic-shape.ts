/** A Classic Load Balancer as data: what a Service asks for, and what AWS shows, in the same words. Pure. */
import type {
  Listener as WireListener,
  LoadBalancerAttributes,
  LoadBalancerDescription,
} from '../../client/generated/elb.ts';
import type { Listener } from '../annotations/listeners.ts';
import type { ServiceSettings } from '../annotations/service-settings.ts';
import type { Settings } from '../observe/settings-memory.ts';
import type { Tags } from '../ownership.ts';

export interface ClassicHealthCheck {
  /** `HTTP:32000/healthz`. */
  readonly target: string;
  readonly healthyThreshold: number;
  readonly unhealthyThreshold: number;
  /** Seconds. */
  readonly interval: number;
  /** Seconds. */
  readonly timeout: number;
}

export interface ClassicListener {
  readonly port: number;
  readonly protocol: string;
  readonly nodePort: number;
  readonly targetProtocol: string;
  readonly certificate?: string;
}

export interface ClassicShape {
  readonly scheme: 'internet-facing' | 'internal';
  readonly subnets: readonly string[];
  /** The first is the one that nodes let in. */
  readonly securityGroups: readonly string[];
  /** By port. */
  readonly listeners: readonly ClassicListener[];
  /** AWS' name of what its TLS listeners have; `undefined` without any. */
  readonly tlsPolicy: string | undefined;
  /** Node ports that get the PROXY protocol. Sorted. */
  readonly proxyPorts: readonly number[];
  readonly healthCheck: ClassicHealthCheck;
  readonly settings: Settings;
  readonly tags: Tags;
}

/** Upstream's names of policies. */
export const PROXY_POLICY = 'k8s-proxyprotocol-enabled';
export const TLS_POLICY = 'k8s-SSLNegotiationPolicy-';
/** Of AWS: what a listener has without one. */
const USUAL_TLS_POLICY = 'ELBSecurityPolicy-2016-08';
const TLS: readonly string[] = ['SSL', 'HTTPS'];

export const hasTls = ({ protocol }: Pick<ClassicListener, 'protocol'>): boolean => TLS.includes(protocol);

/** What depends on other parts is given. */
export function shapeOf(
  settings: ServiceSettings,
  { securityGroups, subnets }: Pick<ClassicShape, 'securityGroups' | 'subnets'>,
): ClassicShape {
  const listeners = settings.listeners.map(listenerOf);
  const { classic, health, isInternal, tags } = settings;
  const { healthyThreshold, interval, path = '', protocol, timeout = 5, unhealthyThreshold } = health;
  // As upstream: of all ports, the first that the Service names.
  const port = health.port ?? settings.firstNodePort;
  return {
    scheme: isInternal ? 'internal' : 'internet-facing',
    subnets,
    securityGroups,
    listeners,
    tlsPolicy: listeners.some(hasTls) ? (classic.tlsPolicy ?? USUAL_TLS_POLICY) : undefined,
    proxyPorts: classic.proxyProtocol ? sorted(listeners.map(({ nodePort }) => nodePort)) : [],
    healthCheck: { target: `${protocol}:${port}${path}`, healthyThreshold, unhealthyThreshold, interval, timeout },
    settings: settingsFor(settings),
    tags,
  };
}

function listenerOf({ certificate, nodePort, port, protocol, targetProtocol }: Listener): ClassicListener {
  return { port, protocol, nodePort, targetProtocol, ...(certificate !== undefined && { certificate }) };
}

/** As AWS shows it; attributes and tags it tells apart from the rest. */
export function shapeIn(thing: LoadBalancerDescription): Omit<ClassicShape, 'settings' | 'tags'> {
  const { BackendServerDescriptions = [], HealthCheck, Scheme, SecurityGroups = [], Subnets = [] } = thing;
  const proxied = BackendServerDescriptions.filter(({ PolicyNames = [] }) => PolicyNames.includes(PROXY_POLICY));
  return {
    scheme: Scheme === 'internal' ? 'internal' : 'internet-facing',
    subnets: Subnets,
    securityGroups: SecurityGroups,
    listeners: listenersIn(thing),
    tlsPolicy: tlsPolicyIn(thing),
    proxyPorts: sorted(proxied.flatMap(({ InstancePort }) => InstancePort ?? [])),
    healthCheck: {
      target: HealthCheck?.Target ?? '',
      healthyThreshold: HealthCheck?.HealthyThreshold ?? 0,
      unhealthyThreshold: HealthCheck?.UnhealthyThreshold ?? 0,
      interval: HealthCheck?.Interval ?? 0,
      timeout: HealthCheck?.Timeout ?? 0,
    },
  };
}

export function listenersIn({ ListenerDescriptions = [] }: LoadBalancerDescription): readonly ClassicListener[] {
  return ListenerDescriptions.flatMap(({ Listener: one }) => (one ? readListener(one) : [])).toSorted(
    (a, b) => a.port - b.port,
  );
}

function readListener(one: WireListener): ClassicListener {
  const { InstancePort, InstanceProtocol, LoadBalancerPort, Protocol, SSLCertificateId = '' } = one;
  return {
    port: LoadBalancerPort,
    protocol: Protocol.toUpperCase(),
    nodePort: InstancePort,
    targetProtocol: (InstanceProtocol ?? Protocol).toUpperCase(),
    ...(SSLCertificateId !== '' && { certificate: SSLCertificateId }),
  };
}

/** Where its listeners differ, a name that nothing asks for. */
function tlsPolicyIn({ ListenerDescriptions = [] }: LoadBalancerDescription): string | undefined {
  const names = ListenerDescriptions.filter(({ Listener: one }) => TLS.includes(one?.Protocol.toUpperCase() ?? '')).map(
    ({ PolicyNames = [] }) =>
      PolicyNames.find((name) => name.startsWith(TLS_POLICY))?.slice(TLS_POLICY.length) ?? USUAL_TLS_POLICY,
  );
  const [first, second] = new Set(names);
  return second === undefined ? first : 'several';
}

/** What `ModifyLoadBalancerAttributes` sets, as texts. */
function settingsFor({ accessLogs, classic, crossZone }: ServiceSettings): Settings {
  return {
    crossZone: `${crossZone}`,
    idleTimeout: `${classic.idleTimeout}`,
    draining: `${classic.drainingTimeout ?? 'false'}`,
    accessLogs: accessLogs ? `${accessLogs.interval} ${accessLogs.bucket} ${accessLogs.prefix}` : 'false',
  };
}

export function settingsIn(attributes: LoadBalancerAttributes): Settings {
  const { AccessLog, ConnectionDraining, ConnectionSettings, CrossZoneLoadBalancing } = attributes;
  const logs = `${AccessLog?.EmitInterval ?? 60} ${AccessLog?.S3BucketName} ${AccessLog?.S3BucketPrefix ?? ''}`;
  return {
    crossZone: `${CrossZoneLoadBalancing?.Enabled ?? false}`,
    idleTimeout: `${ConnectionSettings?.IdleTimeout ?? 60}`,
    draining: ConnectionDraining?.Enabled ? `${ConnectionDraining.Timeout ?? 300}` : 'false',
    accessLogs: AccessLog?.Enabled ? logs : 'false',
  };
}

export function attributesFor(settings: Settings): LoadBalancerAttributes {
  const { accessLogs = 'false', crossZone, draining = 'false', idleTimeout } = settings;
  // The last may have spaces.
  const [interval, S3BucketName = '', ...words] = accessLogs.split(' ');
  const S3BucketPrefix = words.join(' ');
  const prefix = S3BucketPrefix === '' ? {} : { S3BucketPrefix };
  return {
    CrossZoneLoadBalancing: { Enabled: crossZone === 'true' },
    ConnectionSettings: { IdleTimeout: Number(idleTimeout) },
    ConnectionDraining: draining === 'false' ? { Enabled: false } : { Enabled: true, Timeout: Number(draining) },
    AccessLog:
      accessLogs === 'false'
        ? { Enabled: false }
        : { Enabled: true, EmitInterval: Number(interval), S3BucketName, ...prefix },
  };
}

const sorted = (numbers: readonly number[]): readonly number[] => [...new Set(numbers)].toSorted((a, b) => a - b);
