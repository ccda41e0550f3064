/** What Services ask for, and what Octavia must say then. Each is made, compared, and taken away; at most eight at a time. */
import type { Service } from '@outrigger/kube';

const PREFIX = 'loadbalancer.openstack.org/';
const INTERNAL = 'service.beta.kubernetes.io/openstack-internal-load-balancer';

type ServicePort = NonNullable<NonNullable<Service['spec']>['ports']>[number];

/** What an Octavia listener must be, as far as the case says. */
export interface ExpectedListener {
  readonly at: string;
  readonly allowedCidrs?: readonly string[];
  readonly connectionLimit?: number;
  readonly clientTimeoutMs?: number;
  readonly insertHeaders?: Readonly<Record<string, string>>;
  readonly pool?: {
    readonly protocol?: string;
    readonly algorithm?: string;
    readonly persistence?: string | undefined;
    readonly monitor?: string | undefined;
  };
}

export interface ServiceCase {
  readonly name: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec?: Partial<NonNullable<Service['spec']>>;
  /** Where its address is from. Default: a floating IP of any subnet of `outside`. */
  readonly address?: 'outside-a' | 'outside-b' | 'nodes' | 'host name';
  readonly zone?: string;
  /** The seeded flavor. */
  readonly flavor?: boolean;
  readonly listeners: readonly ExpectedListener[];
}

const tcp = (port: number): ServicePort => ({ name: `tcp-${port}`, port, protocol: 'TCP' });
const udp = (port: number): ServicePort => ({ name: `udp-${port}`, port, protocol: 'UDP' });

/** With no more said: TCP port 80 and a floating IP. */
export const SERVICE_CASES: readonly ServiceCase[] = [
  {
    name: 'plain',
    spec: { ports: [tcp(80), tcp(443)] },
    listeners: [
      { at: 'TCP 443', pool: { protocol: 'TCP', algorithm: 'ROUND_ROBIN', persistence: undefined } },
      { at: 'TCP 80', pool: { protocol: 'TCP', algorithm: 'ROUND_ROBIN', persistence: undefined } },
    ],
  },
  {
    name: 'mixed',
    spec: { ports: [tcp(53), udp(53)] },
    listeners: [
      { at: 'TCP 53', pool: { protocol: 'TCP' } },
      { at: 'UDP 53', pool: { protocol: 'UDP' } },
    ],
  },
  {
    name: 'internal',
    annotations: { [INTERNAL]: 'true' },
    address: 'nodes',
    listeners: [{ at: 'TCP 80' }],
  },
  {
    name: 'ranges',
    spec: { loadBalancerSourceRanges: ['192.0.2.0/24', '198.51.100.7/32'] },
    listeners: [{ at: 'TCP 80', allowedCidrs: ['192.0.2.0/24', '198.51.100.7/32'] }],
  },
  {
    name: 'local',
    spec: { externalTrafficPolicy: 'Local' },
    annotations: { [`${PREFIX}enable-health-monitor`]: 'true' },
    listeners: [{ at: 'TCP 80', pool: { monitor: 'HTTP /healthz' } }],
  },
  {
    name: 'monitored',
    annotations: { [`${PREFIX}enable-health-monitor`]: 'true' },
    spec: { sessionAffinity: 'ClientIP' },
    listeners: [{ at: 'TCP 80', pool: { monitor: 'TCP', persistence: 'SOURCE_IP' } }],
  },
  {
    name: 'tuned',
    annotations: {
      [`${PREFIX}lb-method`]: 'LEAST_CONNECTIONS',
      [`${PREFIX}connection-limit`]: '77',
      [`${PREFIX}timeout-client-data`]: '61000',
    },
    listeners: [
      { at: 'TCP 80', connectionLimit: 77, clientTimeoutMs: 61_000, pool: { algorithm: 'LEAST_CONNECTIONS' } },
    ],
  },
  {
    name: 'proxied',
    annotations: { [`${PREFIX}proxy-protocol`]: 'true' },
    listeners: [{ at: 'TCP 80', pool: { protocol: 'PROXY' } }],
  },
  {
    name: 'forwarded',
    annotations: { [`${PREFIX}x-forwarded-for`]: 'true' },
    listeners: [{ at: 'HTTP 80', insertHeaders: { 'X-Forwarded-For': 'true' }, pool: { protocol: 'HTTP' } }],
  },
  {
    name: 'named',
    annotations: { [`${PREFIX}hostname`]: 'named.example.com' },
    address: 'host name',
    listeners: [{ at: 'TCP 80' }],
  },
  {
    name: 'zoned',
    annotations: { [`${PREFIX}availability-zone`]: 'az-2' },
    zone: 'az-2',
    listeners: [{ at: 'TCP 80' }],
  },
  {
    name: 'flavored',
    flavor: true,
    listeners: [{ at: 'TCP 80' }],
  },
  {
    name: 'subnet-named',
    annotations: { [`${PREFIX}floating-subnet`]: 'outside-b' },
    address: 'outside-b',
    listeners: [{ at: 'TCP 80' }],
  },
  {
    name: 'subnet-tagged',
    annotations: { [`${PREFIX}floating-subnet-tags`]: '&public,a' },
    address: 'outside-a',
    listeners: [{ at: 'TCP 80' }],
  },
  {
    name: 'sctp',
    spec: { ports: [{ name: 'sctp', port: 36_412, protocol: 'SCTP' }] },
    listeners: [{ at: 'SCTP 36412', pool: { protocol: 'SCTP' } }],
  },
];

/** The Service of a case. `flavorId`: of the seeded flavor. */
export function serviceOf({ annotations, flavor, name, spec }: ServiceCase, flavorId: string): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      namespace: 'default',
      name,
      annotations: { ...annotations, ...(flavor === true ? { [`${PREFIX}flavor-id`]: flavorId } : {}) },
    },
    spec: { type: 'LoadBalancer', selector: { app: name }, ports: [tcp(80)], ...spec },
  };
}
