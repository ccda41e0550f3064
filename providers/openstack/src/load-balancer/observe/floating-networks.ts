/** Where a floating IP can be made for a load balancer that is to get one: asked for only then, and once for all Services of a look. */
import type { CallContext, Clock } from '@outrigger/cloud-provider';
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
  readonly #external: ExternalNetwork;
  readonly #subnets = new Map<string, Promise<FloatingNetwork['subnets']>>();
  #first: Promise<string | null> | undefined;

  constructor(client: ApiClient, external: ExternalNetwork, call: CallContext) {
    this.#client = client;
    this.#external = external;
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
    this.#first ??= wish.networkId === undefined ? this.#external.read(this.#client, this.#call) : undefined;
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

/** So long it is believed, in milliseconds: whoever gives a project another one waits for it. */
const BELIEVED_MS = 60_000;

/** The network in which floating IPs are made where nothing names one. */
export class ExternalNetwork {
  readonly #clock: Clock;
  #known: { readonly id: string; readonly readAt: number } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** As it was read last; `undefined`: the project saw none, or none was asked for. */
  get id(): string | undefined {
    return this.#known?.id;
  }

  /** As CPO chooses: the first external one that has a subnet. `null`: the project sees none. */
  async read(client: ApiClient, call: CallContext): Promise<string | null> {
    const now = this.#clock.monotonic();
    if (this.#known && now < this.#known.readAt + BELIEVED_MS) return this.#known.id;
    const networks = await client.list<{ readonly id: string; readonly subnets: readonly string[] }>(
      call,
      listOf('network', '/v2.0/networks', [['router:external', 'true']]),
    );
    const id = networks.find(({ subnets }) => subnets.length > 0)?.id;
    this.#known = id === undefined ? undefined : { id, readAt: now };
    return id ?? null;
  }
}
