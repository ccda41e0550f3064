/**
 * Somebody who may write the Services of one namespace, and nothing else: does all that can be done with that, at a bounded rate, and knows
 * every ID and address of the others.
 */
import { isStatusError, resources, type Client, type ResourceClient, type Service } from '@outrigger/kube';
import { clientOf } from '@outrigger/testing';
import { CLEANUP, HOSTILE_NAMESPACE, HostileServices, type Change, type Targets } from './hostile-services.ts';
import { Pacer } from './pacer.ts';
import { rbacResource } from './rbac-resource.ts';

export const TENANT_USER = 'hostile-tenant';
/** How much it does. */
export const TENANT = {
  /** That it makes, deletes and makes again: so many Services at a time at most. */
  names: 100,
  /** Where two processors are all that there is, more than this is the API server's and etcd's to bear, and measures them. */
  pace: { perSecond: 10, atOnce: 2 },
} as const;

export interface HostileTenantOptions {
  /** Of `TENANT_USER`: the file. */
  readonly kubeconfig: string;
  readonly random: () => number;
  readonly targets: Targets;
}

/** How often each was carried out, and how often the API server refused one. */
export interface TenantCounts {
  created: number;
  changed: number;
  deleted: number;
  refused: number;
}

/** Makes the namespace and who may write its Services there, and read its Events. */
export async function allowTenant(admin: Client): Promise<void> {
  const metadata = { name: TENANT_USER, namespace: HOSTILE_NAMESPACE };
  await admin.of(resources.namespaces).create({ metadata: { name: HOSTILE_NAMESPACE } });
  const rules = [
    { apiGroups: [''], resources: ['services'], verbs: ['*'] },
    { apiGroups: [''], resources: ['events'], verbs: ['get', 'list', 'watch'] },
  ];
  await admin.of(rbacResource('Role')).create({ metadata, rules } as object);
  const { group } = rbacResource('Role');
  const subjects = [{ apiGroup: group, kind: 'User', name: TENANT_USER }];
  const roleRef = { apiGroup: group, kind: 'Role', name: TENANT_USER };
  await admin.of(rbacResource('RoleBinding')).create({ metadata, subjects, roleRef } as object);
}

export class HostileTenant implements AsyncDisposable {
  readonly counts: TenantCounts = { created: 0, changed: 0, deleted: 0, refused: 0 };
  readonly #owned: AsyncDisposableStack;
  readonly #services: ResourceClient<Service>;
  readonly #random: () => number;
  readonly #hostile: HostileServices;
  readonly #there = new Set<string>();
  readonly #pacer: Pacer;

  private constructor(owned: AsyncDisposableStack, client: Client, { random, targets }: HostileTenantOptions) {
    this.#owned = owned;
    this.#services = client.of(resources.services);
    this.#random = random;
    this.#hostile = new HostileServices(random, targets);
    this.#pacer = new Pacer({ ...TENANT.pace, act: () => this.#act() });
  }

  /** Begins. */
  static async start(options: HostileTenantOptions): Promise<HostileTenant> {
    const owned = new AsyncDisposableStack();
    const tenant = new HostileTenant(owned, owned.use(await clientOf(options.kubeconfig)), options);
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
        await this.#services.create(this.#hostile.service(name));
        this.counts.created++;
      } else if (this.#random() < 0.45) {
        this.#there.delete(name);
        // What it has put there itself keeps a Service from going: half of them wait for it.
        if (this.#random() < 0.5) await this.#patch(name, { metadata: { finalizers: null } });
        await this.#services.delete(ref);
        this.counts.deleted++;
      } else {
        await this.#patch(name, strategic(this.#hostile.change()));
        this.counts.changed++;
      }
    } catch (error) {
      if (!isStatusError(error)) throw error;
      this.counts.refused++;
    }
  }

  async #patch(name: string, body: object): Promise<void> {
    await this.#services.patch(
      { namespace: HOSTILE_NAMESPACE, name },
      { type: 'strategic', body },
      { answer: 'metadata' },
    );
  }
}

/**
 * The strategic merge patch that does the same: what kubectl sends, and what costs the API server least. Lists that it would add to are
 * replaced.
 */
function strategic({ metadata = {}, spec = {}, ...others }: Change): object {
  const { finalizers, ...named } = metadata;
  const { ports, ...wish } = spec;
  return {
    ...others,
    metadata: { ...named, ...(finalizers && replacingFinalizers(finalizers)) },
    spec: { ...wish, ...(ports && { ports: [{ $patch: 'replace' }, ...ports] }) },
  };
}

/** A list of finalizers is added to, and only the program's own is what a list may lack. */
function replacingFinalizers(finalizers: readonly string[]): object {
  if (finalizers.length === 0) return { finalizers: null };
  return finalizers.includes(CLEANUP)
    ? { finalizers }
    : { finalizers, '$deleteFromPrimitiveList/finalizers': [CLEANUP] };
}
