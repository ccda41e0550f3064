/** What somebody writes who may write the Services of one namespace and nothing else, and knows every ID and address of the others. */
import { systemClock, type Service } from '@outrigger/kube';

export const HOSTILE_NAMESPACE = 'hostile';
const PREFIX = 'loadbalancer.openstack.org/';
const FINALIZER = 'example.com/mine';
export const CLEANUP = 'service.kubernetes.io/load-balancer-cleanup';
/** What a Service of any size may be sent with: the API server takes 256 KiB of annotations. */
const LARGE = 240_000;
const MOST_PORTS = 2_000;

/** What is not the tenant's: it names these wherever something can be named. */
export interface Targets {
  readonly addresses: readonly string[];
  readonly loadBalancers: readonly string[];
  readonly ports: readonly string[];
  readonly networks: readonly string[];
  readonly subnets: readonly string[];
}

/** What is changed of a Service: of a merge patch, so a list is the whole list. */
export type Change = Pick<Service, 'metadata' | 'spec' | 'status'>;
type ServiceSpec = NonNullable<Service['spec']>;
type Choose = <T>(among: readonly T[]) => T;

/** Texts of 240 KB that each cost more than their size where they are matched, split, redacted or quoted carelessly. */
const LARGE_TEXTS: readonly (readonly [annotation: string, text: string])[] = [
  ['floating-subnet', `{${'*,'.repeat(LARGE / 2)}}`],
  ['floating-subnet-tags', 'a,'.repeat(LARGE / 2)],
  ['floating-network-id', '-eyJ'.repeat(LARGE / 4)],
  ['class', '\\u0065'.repeat(LARGE / 6)],
  ['node-selector', 'a=b,'.repeat(LARGE / 4)],
  ['timeout-client-data', '9'.repeat(LARGE)],
  ['load-balancer-id', '{"a":'.repeat(LARGE / 5)],
  ['hostname', 'a.'.repeat(LARGE / 2)],
];

export class HostileServices {
  readonly #random: () => number;
  readonly #targets: Targets;

  constructor(random: () => number, targets: Targets) {
    this.#random = random;
    this.#targets = targets;
  }

  readonly #choose: Choose = (among) => among[Math.floor(this.#random() * among.length)]!;

  /** One to be created. */
  service(name: string): Service {
    const service = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, namespace: HOSTILE_NAMESPACE, annotations: this.#annotations() },
      spec: { type: 'LoadBalancer', ...this.#ports(), ...this.#wish() },
    };
    const { metadata, spec } = service;
    const finalizers = this.#random() < 0.2 ? { finalizers: [this.#choose([FINALIZER, CLEANUP])] } : {};
    return { ...service, metadata: { ...metadata, ...finalizers }, spec } as Service;
  }

  /**
   * One of a hundred has 2,000 ports, and no node ports: the API server writes to etcd once for each that it gives, and would be held for seconds
   * by that alone, whatever the program does.
   */
  #ports(): Pick<ServiceSpec, 'ports' | 'allocateLoadBalancerNodePorts'> {
    const isLarge = this.#random() < 0.01;
    const count = isLarge ? MOST_PORTS : 1 + Math.floor(this.#random() * 5);
    const protocol = this.#choose<'TCP' | 'UDP'>(['TCP', 'TCP', 'TCP', 'UDP']);
    const ports = Array.from({ length: count }, (_, i) => ({
      name: `p${i}`,
      port: 1 + i,
      targetPort: 65_535 - i,
      protocol,
    }));
    return isLarge ? { ports, allocateLoadBalancerNodePorts: false } : { ports };
  }

  #wish(): object {
    const { addresses } = this.#targets;
    if (this.#random() < 0.2) return { loadBalancerIP: this.#choose(addresses) };
    if (this.#random() < 0.1) return { loadBalancerClass: this.#choose(['example.com/other', 'example.com/none']) };
    if (this.#random() < 0.1) return { externalTrafficPolicy: 'Local' };
    return {};
  }

  /** Two of three ask for an internal load balancer: the addresses of the outside are few, and a quota is what divides them. */
  #annotations(): Readonly<Record<string, string>> {
    const { loadBalancers, networks, ports, subnets } = this.#targets;
    const internal = { 'service.beta.kubernetes.io/openstack-internal-load-balancer': 'true' };
    const choice = this.#random();
    if (choice < 0.1) {
      const [annotation, text] = this.#choose(LARGE_TEXTS);
      return { ...internal, [PREFIX + annotation]: text };
    }
    if (choice < 0.2) return { ...internal, [`${PREFIX}load-balancer-id`]: this.#choose(loadBalancers) };
    if (choice < 0.25) return { ...internal, [`${PREFIX}port-id`]: this.#choose(ports) };
    if (choice < 0.3) return { ...internal, [`${PREFIX}network-id`]: this.#choose(networks) };
    if (choice < 0.35) return { ...internal, [`${PREFIX}member-subnet-id`]: this.#choose(subnets) };
    if (choice < 0.45) {
      // As if its parts, and its load balancer, were those of others.
      const named = loadBalancers.slice(0, 50).map((id) => `load-balancer/${id}`);
      return { ...internal, 'outrigger.dev/load-balancer-parts': named.join(' ') };
    }
    if (choice < 0.5) return { ...internal, 'outrigger.dev/share-load-balancer-with': '*,'.repeat(2_000) };
    if (choice < 0.55) return { ...internal, 'outrigger.dev/release-load-balancer': 'true' };
    return internal;
  }

  /** A merge patch of one that is there. */
  change(): Change {
    const choice = this.#random();
    if (choice < 0.35) return { metadata: { annotations: this.#annotations() } };
    if (choice < 0.5) return { spec: { type: this.#choose(['LoadBalancer', 'ClusterIP', 'NodePort']) } };
    if (choice < 0.65) return { spec: this.#ports() };
    if (choice < 0.75) return { spec: { loadBalancerIP: this.#choose(this.#targets.addresses) } };
    if (choice < 0.85) return { metadata: { finalizers: this.#choose([[FINALIZER], [CLEANUP, FINALIZER], []]) } };
    if (choice < 0.9) return { status: { loadBalancer: { ingress: [{ ip: this.#choose(this.#targets.addresses) }] } } };
    return { metadata: { labels: { [`l${Math.floor(this.#random() * 50)}`]: String(systemClock.now()) } } };
  }
}
