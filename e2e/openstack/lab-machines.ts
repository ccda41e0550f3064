/** Real servers of nova, for kubelets that are not real. */
import { waitUntil } from '../wait-until.ts';
import type { LabCloud } from './lab-cloud.ts';

/** As nova shows a server. */
export interface Server {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly flavor: { readonly original_name: string };
  readonly 'OS-EXT-AZ:availability_zone': string;
  /** Why its status is ERROR. */
  readonly fault?: { readonly message: string };
}

/** As neutron shows the port of a server. */
export interface Port {
  readonly id: string;
  readonly device_id: string;
  readonly status: string;
  readonly fixed_ips: readonly { readonly ip_address: string; readonly subnet_id: string }[];
  readonly allowed_address_pairs: readonly { readonly ip_address: string }[];
}

interface Named {
  readonly id: string;
  readonly name: string;
}

const PATIENCE_MS = 120_000;

export class LabMachines implements AsyncDisposable {
  readonly #cloud: LabCloud;
  readonly #made = new Set<string>();

  constructor(cloud: LabCloud) {
    this.#cloud = cloud;
  }

  /** Resolves when it is ACTIVE and so is its port. */
  async create(name: string, zone = ''): Promise<Server> {
    const [flavors, images, networks] = await Promise.all([
      this.#cloud.list<Named>('compute', '/flavors'),
      this.#cloud.list<Named>('image', '/images'),
      this.#cloud.list<Named>('network', '/networks'),
    ]);
    const server = {
      name,
      flavorRef: idOf(flavors, 'm1.small'),
      imageRef: idOf(images, 'node-image'),
      networks: [{ uuid: idOf(networks, 'nodes') }],
      ...(zone === '' ? {} : { availability_zone: zone }),
    };
    const made = await this.#cloud.request<{ server: Named }>('compute', 'POST', '/servers', { body: { server } });
    this.#made.add(made.server.id);
    await this.until(`server ${name} is ACTIVE`, async () => {
      const found = await this.get(made.server.id);
      if (found?.status === 'ERROR') throw new Error(`server ${name} is in ERROR: ${found.fault?.message}`);
      return found?.status === 'ACTIVE';
    });
    await this.until(
      `the port of ${name} is ACTIVE`,
      async () => (await this.portOf(made.server.id)).status === 'ACTIVE',
    );
    const found = await this.get(made.server.id);
    if (!found) throw new Error(`server ${name} has gone`);
    return found;
  }

  /** `undefined` when there is none. */
  async get(id: string): Promise<Server | undefined> {
    const answer = await this.#cloud.request<{ server?: Server }>('compute', 'GET', `/servers/${id}`, {
      accept: [404],
    });
    return answer.server;
  }

  async portOf(id: string): Promise<Port> {
    const [port] = await this.#cloud.list<Port>('network', `/ports?device_id=${id}`);
    if (!port) throw new Error(`server ${id} has no port`);
    return port;
  }

  /** Resolves when it is so. */
  async setStatus(id: string, status: 'ACTIVE' | 'SHUTOFF'): Promise<void> {
    const action = status === 'ACTIVE' ? 'os-start' : 'os-stop';
    await this.#cloud.request('compute', 'POST', `/servers/${id}/action`, { body: { [action]: null } });
    await this.until(`server ${id} is ${status}`, async () => (await this.get(id))?.status === status);
  }

  /** Resolves when nova has none any more. */
  async delete(id: string): Promise<void> {
    await this.#cloud.request('compute', 'DELETE', `/servers/${id}`, { accept: [404] });
    await this.until(`server ${id} is gone`, async () => (await this.get(id)) === undefined);
    this.#made.delete(id);
  }

  async until(what: string, holds: () => Promise<boolean>): Promise<void> {
    await waitUntil(what, holds, { patienceMs: PATIENCE_MS, pollMs: 500, logs: [] });
  }

  /** Those that are still there go. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#made].map((id) => this.delete(id)));
  }
}

export function idOf(things: readonly Named[], name: string): string {
  const found = things.find((thing) => thing.name === name);
  if (!found) throw new Error(`the lab has no ${name}; it has ${things.map((thing) => thing.name).join(', ')}`);
  return found.id;
}
