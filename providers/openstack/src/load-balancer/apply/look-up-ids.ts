/** Puts the IDs that Neutron knows into a planned request, right before it is sent. */
import { CloudError, type CallContext } from '@outrigger/cloud-provider';
import type { ApiClient } from '../../client/api-client.ts';
import { readOne } from '../../client/read-one.ts';
import type { BackEndAddress } from '../desired/desired-tree.ts';
import type { WirePort, WireSubnet } from '../neutron-wire.ts';
import { listLoadBalancers, listSubnetsOf } from '../observe/read-lists.ts';
import type { PlannedRequest } from '../plan/change.ts';
import type { LookUp, NetworkLookUp, Reference, SubnetLookUp } from '../plan/references.ts';
import { portsByAddress, subnetOfMost } from './ports-by-address.ts';
import { POLL_MS } from './settling.ts';

export class IdLookUps {
  readonly #client: ApiClient;
  readonly #call: CallContext;
  readonly #nodes: readonly BackEndAddress[];
  readonly #found = new Map<string, Promise<string>>();

  constructor(client: ApiClient, call: CallContext, nodes: readonly BackEndAddress[] = []) {
    this.#client = client;
    this.#call = call;
    this.#nodes = nodes;
  }

  /** With IDs in place of references. Throws `invalid` where what one refers to is not to be had, `retry-after` where a look tells more. */
  async fill(request: PlannedRequest): Promise<PlannedRequest> {
    return { ...request, body: (await this.#filled(request.body)) as NonNullable<PlannedRequest['body']> };
  }

  async #filled(value: unknown): Promise<unknown> {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return Promise.all(value.map((one) => this.#filled(one)));
    if ('lookUp' in value) return this.#id((value as Reference).lookUp);
    const entries = Object.entries(value).map(async ([key, one]) => [key, await this.#filled(one)] as const);
    return Object.fromEntries(await Promise.all(entries));
  }

  /** Once for all that refer to it. */
  #id(lookUp: LookUp): Promise<string> {
    const key = JSON.stringify(lookUp);
    let found = this.#found.get(key);
    if (!found) {
      found = this.#find(lookUp);
      this.#found.set(key, found);
    }
    return found;
  }

  #find(lookUp: LookUp): Promise<string> {
    if ('vipPortOf' in lookUp) return this.#vipPort(lookUp.vipPortOf);
    return 'subnetOf' in lookUp ? this.#subnetOfNodes() : this.#subnetOfFamily(lookUp);
  }

  async #vipPort(tag: string): Promise<string> {
    const found = await listLoadBalancers(this.#client, [['tags', tag]], this.#call);
    // An Octavia that does not know the filter shows all.
    const [one, ...others] = found.filter(({ tags = [] }) => tags.includes(tag));
    if (one?.vip_port_id && others.length === 0) return one.vip_port_id;
    const text = 'the port of the load balancer is not known yet; it is read again';
    throw new CloudError('retry-after', text, { effect: 'none', retryAfterMs: POLL_MS });
  }

  async #subnetOfNodes(): Promise<string> {
    const addresses = this.#nodes.map(({ address }) => address);
    const subnet = subnetOfMost(await portsByAddress(this.#client, addresses, this.#call), this.#nodes);
    if (subnet !== undefined) return subnet;
    const [{ address, nodeName } = { address: '', nodeName: '' }] = this.#nodes;
    const text = `no port of a node is known by its address (the oldest node, ${nodeName}, has ${address}), so the load balancer’s subnet is not known; set subnet-id or network-id`;
    throw new CloudError('invalid', text);
  }

  async #subnetOfFamily({ family, network }: Extract<SubnetLookUp, { family: unknown }>): Promise<string> {
    const networkId = await this.#network(network);
    const [subnet, ...others] = await listSubnetsOf(this.#client, networkId, family, this.#call);
    if (subnet && others.length === 0) return subnet.id;
    const count = subnet ? others.length + 1 : 0;
    const text = `the network ${networkId} has ${count} ${family} subnets, and an address of the load balancer needs exactly one; set network-id to another, or ask for one family`;
    throw new CloudError('invalid', text);
  }

  async #network(network: NetworkLookUp): Promise<string> {
    if ('id' in network) return network.id;
    if ('ofPort' in network) {
      type Port = WirePort & { readonly network_id: string };
      return (await readOne<Port>(this.#client, ['network', '/v2.0/ports'], network.ofPort, this.#call)).network_id;
    }
    const { ofSubnet = '' } = network;
    const id = typeof ofSubnet === 'string' ? ofSubnet : await this.#id(ofSubnet.lookUp);
    return (await readOne<WireSubnet>(this.#client, ['network', '/v2.0/subnets'], id, this.#call)).network_id;
  }
}
