/** Where a floating IP can be made for a load balancer that is to get one: asked for only then, and once for all Services of a look. */
import type { CallContext } from '@outrigger/cloud-provider';
import type { ApiClient } from '../../client/api-client.ts';
import { listOf } from '../../client/operation.ts';
import type { FloatingIPWish } from '../desired/desired-tree.ts';
import type { WireFloatingIP } from '../neutron-wire.ts';
import type { FloatingNetwork } from '../observed-tree.ts';
import type { WireLoadBalancer } from '../octavia-wire.ts';
import { listSubnets } from './read-lists.ts';

export class FloatingNetworks {
  readonly #client: ApiClient;
  readonly #call: CallContext;
  readonly #subnets = new Map<string, Promise<FloatingNetwork['subnets']>>();
  #first: Promise<string | null> | undefined;

  constructor(client: ApiClient, call: CallContext) {
    this.#client = client;
    this.#call = call;
  }

  /** `wish` is asked only where it matters: it is worked out of all that the Service says. */
  async of(
    { provisioning_status: status, vip_port_id: port }: WireLoadBalancer,
    { requestedIP, wish: wished }: { readonly requestedIP: string | undefined; readonly wish: () => FloatingIPWish },
    floatingIPs: readonly WireFloatingIP[],
  ): Promise<FloatingNetwork | undefined> {
    if (port === null || status !== 'ACTIVE') return undefined;
    const attached = floatingIPs.find((one) => one.port_id === port);
    if (attached && !requestedIP) return undefined;
    const wish = wished();
    if (wish.kind === 'none' || (wish.kind === 'any' && wish.isThereOnly)) return undefined;
    if (attached && (wish.kind === 'any' || attached.floating_ip_address === wish.address)) return undefined;
    this.#first ??= wish.networkId === undefined ? firstExternalNetwork(this.#client, this.#call) : undefined;
    const networkId = wish.networkId ?? (await this.#first) ?? null;
    // One that is named need not be seen: subnets of a network that is not shared are the administrator's.
    const chooses = wish.kind === 'any' && wish.subnets !== undefined && wish.subnets.subnetId === undefined;
    return { networkId, subnets: chooses && networkId !== null ? await this.#subnetsOf(networkId) : [] };
  }

  #subnetsOf(networkId: string): Promise<FloatingNetwork['subnets']> {
    let subnets = this.#subnets.get(networkId);
    if (!subnets) this.#subnets.set(networkId, (subnets = this.#listSubnets(networkId)));
    return subnets;
  }

  async #listSubnets(networkId: string): Promise<FloatingNetwork['subnets']> {
    const subnets = await listSubnets(this.#client, [['network_id', networkId]], this.#call);
    return subnets.map(({ id, name, tags = [] }) => ({ id, name, tags }));
  }
}

/** As CPO chooses: the first that has a subnet. `null`: the project sees none. */
export async function firstExternalNetwork(client: ApiClient, call: CallContext): Promise<string | null> {
  const networks = await client.list<{ readonly id: string; readonly subnets: readonly string[] }>(
    call,
    listOf('network', '/v2.0/networks', [['router:external', 'true']]),
  );
  return networks.find(({ subnets }) => subnets.length > 0)?.id ?? null;
}
