/**
 * Somebody who may write the Services of one namespace, and nothing else: does all that can be done with that, at a bounded rate, and knows
 * every ID and address of the others.
 */
import {
  createClient,
  createTransport,
  isStatusError,
  loadConfig,
  resources,
  systemClock,
  type Client,
  type ResourceClient,
  type Service,
} from '@outrigger/kube';
import type { ControlPlane } from '@outrigger/testing';
import { Pacer } from './pacer.ts';
import { rbacResource } from './rbac-resource.ts';

export const HOSTILE_NAMESPACE = 'hostile';
const USER = 'hostile-tenant';
/** How much it does. */
export const TENANT = {
  /** That it makes, deletes and makes again: so many Services at a time at most. */
  names: 100,
  /** 20 a second: more than this is the API server's and etcd's to bear, and measures them. */
  pace: { perSecond: 20, atOnce: 4 },
} as const;
const PREFIX = 'loadbalancer.openstack.org/';
const FINALIZER = 'example.com/mine';
const CLEANUP = 'service.kubernetes.io/load-balancer-cleanup';
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

/** How often each was carried out, and how often the API server refused one. */
export interface TenantCounts {
  created: number;
  changed: number;
  deleted: number;
  refused: number;
}

type Patch = Readonly<Record<string, unknown>>;
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

/** Makes the namespace and who may write its Services there, and read its Events. */
export async function allowTenant(admin: Client): Promise<void> {
  const metadata = { name: USER, namespace: HOSTILE_NAMESPACE };
  await admin.of(resources.namespaces).create({ metadata: { name: HOSTILE_NAMESPACE } });
  const rules = [
    { apiGroups: [''], resources: ['services'], verbs: ['*'] },
    { apiGroups: [''], resources: ['events'], verbs: ['get', 'list', 'watch'] },
  ];
  await admin.of(rbacResource('Role')).create({ metadata, rules } as object);
  const { group } = rbacResource('Role');
  const subjects = [{ apiGroup: group, kind: 'User', name: USER }];
  const roleRef = { apiGroup: group, kind: 'Role', name: USER };
  await admin.of(rbacResource('RoleBinding')).create({ metadata, subjects, roleRef } as object);
}

export class HostileTenant implements AsyncDisposable {
  readonly counts: TenantCounts = { created: 0, changed: 0, deleted: 0, refused: 0 };
  readonly #owned: AsyncDisposableStack;
  readonly #services: ResourceClient<Service>;
  readonly #random: () => number;
  readonly #targets: Targets;
  readonly #there = new Set<string>();
  readonly #pacer: Pacer;

  private constructor(
    owned: AsyncDisposableStack,
    client: Client,
    options: { readonly random: () => number; readonly targets: Targets },
  ) {
    this.#owned = owned;
    this.#services = client.of(resources.services);
    this.#random = options.random;
    this.#targets = options.targets;
    this.#pacer = new Pacer({ ...TENANT.pace, act: () => this.#act() });
  }

  /** Begins. */
  static async start(options: {
    readonly controlPlane: ControlPlane;
    readonly random: () => number;
    readonly targets: Targets;
  }): Promise<HostileTenant> {
    const owned = new AsyncDisposableStack();
    const { path } = await options.controlPlane.kubeconfigFor({ user: USER });
    const transport = owned.use(createTransport(await loadConfig({ kubeconfig: path })));
    const tenant = new HostileTenant(owned, createClient(transport), options);
    tenant.#pacer.start();
    return tenant;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pacer.stop();
    await this.#owned.disposeAsync();
  }

  async #act(): Promise<void> {
    const name = `h-${Math.floor(this.#random() * TENANT.names)}`;
    const ref = { namespace: HOSTILE_NAMESPACE, name };
    try {
      if (!this.#there.has(name)) {
        this.#there.add(name);
        await this.#services.create(this.#service(name));
        this.counts.created++;
      } else if (this.#random() < 0.45) {
        this.#there.delete(name);
        // What it has put there itself keeps a Service from going: half of them wait for it.
        if (this.#random() < 0.5) await this.#patch(name, { metadata: { finalizers: null } });
        await this.#services.delete(ref);
        this.counts.deleted++;
      } else {
        await this.#patch(name, this.#change());
        this.counts.changed++;
      }
    } catch (error) {
      if (!isStatusError(error)) throw error;
      this.counts.refused++;
    }
  }

  async #patch(name: string, body: Patch): Promise<void> {
    await this.#services.patch({ namespace: HOSTILE_NAMESPACE, name }, { type: 'merge', body }, { answer: 'metadata' });
  }

  readonly #choose: Choose = (among) => among[Math.floor(this.#random() * among.length)]!;

  #service(name: string): Service {
    const service = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, namespace: HOSTILE_NAMESPACE, annotations: this.#annotations() },
      spec: { type: 'LoadBalancer', ports: this.#ports(), ...this.#wish() },
    };
    const { metadata, spec } = service;
    const finalizers = this.#random() < 0.2 ? { finalizers: [this.#choose([FINALIZER, CLEANUP])] } : {};
    return { ...service, metadata: { ...metadata, ...finalizers }, spec } as Service;
  }

  /** One of a hundred has 2,000 ports. */
  #ports(): readonly object[] {
    const few = 1 + Math.floor(this.#random() * 5);
    const count = this.#random() < 0.01 ? MOST_PORTS : few;
    const protocol = this.#choose(['TCP', 'TCP', 'TCP', 'UDP']);
    return Array.from({ length: count }, (_, i) => ({ name: `p${i}`, port: 1 + i, targetPort: 65_535 - i, protocol }));
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

  #change(): Patch {
    const choice = this.#random();
    if (choice < 0.35) return { metadata: { annotations: this.#annotations() } };
    if (choice < 0.5) return { spec: { type: this.#choose(['LoadBalancer', 'ClusterIP', 'NodePort']) } };
    if (choice < 0.65) return { spec: { ports: this.#ports() } };
    if (choice < 0.75) return { spec: { loadBalancerIP: this.#choose(this.#targets.addresses) } };
    if (choice < 0.85) return { metadata: { finalizers: this.#choose([[FINALIZER], [CLEANUP, FINALIZER], []]) } };
    if (choice < 0.9) return { status: { loadBalancer: { ingress: [{ ip: this.#choose(this.#targets.addresses) }] } } };
    return { metadata: { labels: { [`l${Math.floor(this.#random() * 50)}`]: String(systemClock.now()) } } };
  }
}
