/** Ports of many servers: asked for by server, or out of the project's list where that is cheaper. */
import { asError, type CallContext } from '@outrigger/cloud-provider';
import type { ApiClient, Query } from '../client/api-client.ts';
import { asQuery, chunksOf, VALUES_IN_QUERY } from '../client/query-chunks.ts';
import { chunkCost, isCheaper, listCost } from './look-up-cost.ts';
import type { Port, ServerPorts, SubportAddress } from './server-ports.ts';

/** Neutron gives all at once where it is not told; a page is what one answer may safely hold. */
const PAGE_SIZE = 1000;

const FIELDS = ['id', 'device_id', 'network_id', 'status', 'fixed_ips', 'trunk_details'];

/** For each server its ports, or why they could not be read. */
export type PortsByServer = ReadonlyMap<string, ServerPorts | Error>;
type PortsRead = ReadonlyMap<string, readonly Port[] | Error>;

export class PortLookUp {
  readonly #client: ApiClient;
  /** Ports of the project when it was last listed. */
  #inProject: number | undefined;

  constructor(client: ApiClient) {
    this.#client = client;
  }

  /** `serversInProject`: as far as it is known; stands for the number of ports until they have been listed once. */
  async of(serverIds: readonly string[], serversInProject: number, call: CallContext): Promise<PortsByServer> {
    if (serverIds.length === 0) return new Map();
    const inProject = this.#inProject ?? Math.max(serversInProject, serverIds.length);
    const all = isCheaper(listCost(inProject, PAGE_SIZE), chunkCost(serverIds.length, VALUES_IN_QUERY));
    const chunks = all ? [serverIds] : chunksOf(serverIds);
    const read = await Promise.all(chunks.map((ids) => this.#read(ids, all, call)));
    return this.#withSubports(new Map(read.flatMap((map) => [...map])), call);
  }

  /** Out of the project's list, or asked for. What fails, fails for these servers alone. */
  async #read(serverIds: readonly string[], all: boolean, call: CallContext): Promise<PortsRead> {
    try {
      const ports = await this.#list<Port>('ports', all ? [] : asQuery('device_id', serverIds), FIELDS, call);
      if (all) this.#inProject = ports.length;
      return byServer(serverIds, ports);
    } catch (error) {
      return new Map(serverIds.map((id) => [id, asError(error)]));
    }
  }

  async #withSubports(read: PortsRead, call: CallContext): Promise<PortsByServer> {
    const ids = [...read.values()].flatMap((ports) => (ports instanceof Error ? [] : ports.flatMap(subportIds)));
    let addresses: ReadonlyMap<string, readonly SubportAddress[]> | Error = new Map();
    if (ids.length > 0) addresses = await this.#subportAddresses(ids, call).catch(asError);
    return new Map(
      [...read].map(([server, ports]): [string, ServerPorts | Error] => {
        if (ports instanceof Error) return [server, ports];
        const own = ports.flatMap(subportIds);
        if (own.length > 0 && addresses instanceof Error) return [server, addresses];
        const subports = addresses instanceof Error ? [] : own.flatMap((id) => addresses.get(id) ?? []);
        return [server, { ports, subports }];
      }),
    );
  }

  /** A subport, or its network, that is not in the answer has gone since its trunk was read. */
  async #subportAddresses(
    ids: readonly string[],
    call: CallContext,
  ): Promise<ReadonlyMap<string, readonly SubportAddress[]>> {
    const ports = await this.#byId<Port>('ports', ids, ['id', 'network_id', 'fixed_ips'], call);
    const networkIds = [...new Set(ports.map((port) => port.network_id))];
    const networks = await this.#byId<{ id: string; name: string }>('networks', networkIds, ['id', 'name'], call);
    const nameOf = new Map(networks.map(({ id, name }) => [id, name]));
    return new Map(
      ports.map(({ id, network_id: networkId, fixed_ips: fixed }) => {
        const network = nameOf.get(networkId);
        return [id, network === undefined ? [] : fixed.map(({ ip_address: address }) => ({ network, address }))];
      }),
    );
  }

  async #byId<T>(
    collection: 'ports' | 'networks',
    ids: readonly string[],
    fields: readonly string[],
    call: CallContext,
  ): Promise<readonly T[]> {
    const chunks = chunksOf(ids).map((chunk) => this.#list<T>(collection, asQuery('id', chunk), fields, call));
    return (await Promise.all(chunks)).flat();
  }

  #list<T>(
    collection: 'ports' | 'networks',
    filter: Query,
    fields: readonly string[],
    call: CallContext,
  ): Promise<readonly T[]> {
    return this.#client.list<T>(call, {
      service: 'network',
      operation: `GET /${collection}`,
      path: `/v2.0/${collection}`,
      collection,
      query: [...filter, ...asQuery('fields', fields), ['limit', String(PAGE_SIZE)]],
    });
  }
}

/**
 * In the order of the ports' IDs: MySQL gives them so to one who asks for a server's ports without an order, and with any other
 * the addresses of a node could change places from one look-up to the next.
 */
function byServer(serverIds: readonly string[], ports: readonly Port[]): ReadonlyMap<string, readonly Port[]> {
  const found = new Map<string, Port[]>(serverIds.map((id) => [id, []]));
  for (const port of ports) found.get(port.device_id)?.push(port);
  for (const list of found.values()) list.sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
  return found;
}

function subportIds({ trunk_details: trunk }: Port): readonly string[] {
  return trunk?.sub_ports.map(({ port_id: id }) => id) ?? [];
}
