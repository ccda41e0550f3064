/** Instances of OpenStack: servers of nova, with the addresses of their Neutron ports. */
import {
  asError,
  type CallContext,
  type Clock,
  type Instance,
  type InstanceAnswer,
  type InstanceNeed,
  type Instances,
  type NodeRef,
} from '@outrigger/cloud-provider';
import type { ApiClient } from '../client/api-client.ts';
import type { CloudConfig } from '../config/cloud-config.ts';
import type { Home } from '../home.ts';
import { FlavorTypes } from './flavor-types.ts';
import { labelValueOf } from './label-value.ts';
import { nodeAddresses } from './node-addresses.ts';
import { NovaServers } from './nova-servers.ts';
import { PortLookUp } from './port-look-up.ts';
import { askedServer, providerIDOf, serverIn, type ProviderIDRules } from './provider-ids.ts';
import { ServerLookUp, type ServerAnswer } from './server-look-up.ts';
import type { ServerPorts } from './server-ports.ts';
import { maintenanceOf, stateOf, type Server } from './server.ts';

export interface OpenStackInstancesOptions {
  /** The provider's name. */
  readonly name: string;
  readonly client: ApiClient;
  /** As it is now: a reload may change it. */
  readonly config: () => Pick<CloudConfig, 'networking' | 'regional'>;
  readonly clock: Clock;
  readonly home: Home;
}

export class OpenStackInstances implements Instances {
  /** One list of the project serves them all. */
  readonly batchSize = 10_000;
  readonly #options: OpenStackInstancesOptions;
  readonly #servers: ServerLookUp;
  readonly #ports: PortLookUp;
  readonly #types: FlavorTypes;

  constructor(options: OpenStackInstancesOptions) {
    this.#options = options;
    const nova = new NovaServers(options.client);
    this.#servers = new ServerLookUp({ nova, clock: options.clock, home: options.home });
    this.#ports = new PortLookUp(options.client);
    this.#types = new FlavorTypes(nova);
  }

  machineOf(providerID: string): string | undefined {
    return serverIn(providerID, this.#options.name);
  }

  async lookUp(nodes: readonly NodeRef[], need: InstanceNeed, call: CallContext): Promise<readonly InstanceAnswer[]> {
    const rules = this.#rules();
    const before = this.#options.home.place;
    const answers = await this.#servers.many(
      nodes.map((node) => askedServer(node, rules)),
      call,
    );
    return this.#placed(before, await this.#instances(nodes, answers, need, call));
  }

  async read(node: NodeRef, need: InstanceNeed, call: CallContext): Promise<InstanceAnswer> {
    const before = this.#options.home.place;
    const answer = await this.#servers.one(askedServer(node, this.#rules()), call);
    const [read] = this.#placed(before, await this.#instances([node], [answer], need, call));
    if (!read) throw new Error(`read of node ${node.name}: no answer`);
    return read;
  }

  /** Where they come from; of what was asked while the place has changed, nobody knows. `before`: none until the first token. */
  #placed(before: string | undefined, answers: readonly InstanceAnswer[]): readonly InstanceAnswer[] {
    const { place } = this.#options.home;
    if (place === undefined || (before !== undefined && before !== place)) return answers;
    return answers.map((answer) => ({ ...answer, place }));
  }

  #rules(): ProviderIDRules {
    return { name: this.#options.name, region: this.#options.client.region };
  }

  /** What one node's answer lacks fails for that node alone. */
  async #instances(
    nodes: readonly NodeRef[],
    answers: readonly ServerAnswer[],
    need: InstanceNeed,
    call: CallContext,
  ): Promise<readonly InstanceAnswer[]> {
    const found = answers.flatMap(({ result }) => (result.kind === 'found' ? [result.server.id] : []));
    const { inProject } = this.#servers;
    const ports = need === 'metadata' ? await this.#ports.of([...new Set(found)], inProject, call) : undefined;
    return Promise.all(
      answers.map(async ({ asOf, result }, at): Promise<InstanceAnswer> => {
        if (result.kind !== 'found') return { asOf, result };
        const { server } = result;
        try {
          const state: Instance = { providerID: this.#providerID(nodes[at], server), state: stateOf(server) };
          const instance = ports ? { ...state, ...(await this.#metadata(server, ports.get(server.id), call)) } : state;
          return { asOf, result: { kind: 'found', instance } };
        } catch (error) {
          return { asOf, result: { kind: 'failed', error: asError(error) } };
        }
      }),
    );
  }

  /** A node keeps the one that it has, in whichever of its forms. */
  #providerID(node: NodeRef | undefined, { id }: Server): string {
    const { name, config } = this.#options;
    if (node?.providerID?.startsWith(`${name}://`)) return node.providerID;
    return providerIDOf(id, this.#rules(), config().regional);
  }

  async #metadata(
    server: Server,
    ports: ServerPorts | Error | undefined,
    call: CallContext,
  ): Promise<Omit<Instance, 'providerID' | 'state'>> {
    if (!ports || ports instanceof Error) throw ports ?? new Error(`ports of server ${server.id} were not read`);
    const type = await this.#types.typeOf(server, call);
    const zone = labelValueOf(server['OS-EXT-AZ:availability_zone']);
    const region = labelValueOf(this.#rules().region);
    const maintenance = maintenanceOf(server);
    return {
      ...(server.name && { name: server.name }),
      ...(type === undefined ? {} : { type }),
      ...(zone === undefined ? {} : { zone }),
      ...(region === undefined ? {} : { region }),
      ...(maintenance && { maintenance }),
      addresses: nodeAddresses(server, ports, this.#options.config().networking),
    };
  }
}
