/** Services of the cluster, and the load balancers that Octavia has for them. */
import assert from 'node:assert/strict';
import { isNotFound, resources, type Service } from '@outrigger/kube';
import { isActive, octaviaTrees, type OctaviaTree } from './octavia-tree.ts';
import type { OpenStackCluster } from './openstack-cluster.ts';

const NAMESPACE = 'default';

export class LabServices {
  readonly #cluster: OpenStackCluster;
  readonly #services;

  constructor(cluster: OpenStackCluster) {
    this.#cluster = cluster;
    this.#services = cluster.client.of(resources.services);
  }

  async create(service: Service): Promise<void> {
    await this.#services.create(service);
  }

  async get(name: string): Promise<Service> {
    return this.#services.get({ namespace: NAMESPACE, name });
  }

  async patch(name: string, body: object): Promise<void> {
    await this.#services.patch({ namespace: NAMESPACE, name }, { type: 'merge', body });
  }

  /** Resolves when the API server has taken it: they may be there for a while. */
  async beginDelete(name: string): Promise<void> {
    await this.#services.delete({ namespace: NAMESPACE, name });
  }

  async untilGone(...names: readonly string[]): Promise<void> {
    await this.#cluster.until(`${names.join(', ')} are gone`, async () => {
      const found = await Promise.all(names.map((name) => this.#exists(name)));
      return found.every((exists) => !exists);
    });
  }

  async delete(...names: readonly string[]): Promise<void> {
    await Promise.all(names.map((name) => this.beginDelete(name)));
    await this.untilGone(...names);
  }

  /** The addresses in its status; none while there are none. */
  async ingress(name: string): Promise<readonly string[]> {
    const { status } = await this.get(name);
    return (status?.loadBalancer?.ingress ?? []).map(({ hostname, ip }) => ip ?? hostname ?? '');
  }

  async untilServed(name: string): Promise<readonly string[]> {
    await this.#cluster.until(`${name} has an address`, async () => (await this.ingress(name)).length > 0);
    return this.ingress(name);
  }

  /** The load balancers that are called after it. */
  async trees(name: string): Promise<readonly OctaviaTree[]> {
    const trees = await octaviaTrees(this.#cluster.lab.user);
    return trees.filter((tree) => tree.name.endsWith(`_${NAMESPACE}_${name}`));
  }

  /** What Octavia says of them, without a look at what hangs on them, which may be going. */
  async statuses(name: string): Promise<readonly string[]> {
    const rows = await this.#cluster.lab.user.list<{ readonly name: string; readonly provisioning_status: string }>(
      'load-balancer',
      '/loadbalancers',
    );
    return rows
      .filter((row) => row.name.endsWith(`_${NAMESPACE}_${name}`))
      .map(({ provisioning_status }) => provisioning_status);
  }

  /**
   * Its only one, when it and all that hangs on it are ACTIVE. Where Octavia is slower than the program waits for an answer, there
   * are two for a while: the program takes the one away that is too many.
   */
  async untilActive(name: string): Promise<OctaviaTree> {
    let found: readonly OctaviaTree[] = [];
    await this.#cluster.until(`the only load balancer of ${name} is ACTIVE with all that hangs on it`, async () => {
      found = await this.trees(name);
      return found.length === 1 && found.every(isActive);
    });
    return found[0] ?? assert.fail();
  }

  async #exists(name: string): Promise<boolean> {
    try {
      await this.get(name);
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }
}
