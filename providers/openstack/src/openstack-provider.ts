/** The provider: reads the cloud config, connects late, and puts the capabilities together. */
import { homedir } from 'node:os';
import {
  CloudError,
  isCloudError,
  type CallContext,
  type Capabilities,
  type CloudProvider,
  type ConfigText,
  type ProviderHost,
} from '@outrigger/cloud-provider';
import { connectionOf } from './client/connection.ts';
import type { Fetch } from './client/http-transport.ts';
import { OpenStackClient } from './client/openstack-client.ts';
import { ReplaceableClient } from './client/replaceable-client.ts';
import type { CloudConfig } from './config/cloud-config.ts';
import { readCloudConfig, type ConfigEnvironment } from './config/read-cloud-config.ts';
import { OpenStackInstances } from './instances/openstack-instances.ts';
import { OpenStackLoadBalancers } from './load-balancer/openstack-load-balancers.ts';
import { OpenStackRoutes } from './routes/openstack-routes.ts';
import { OpenStackVolumes } from './volumes/openstack-volumes.ts';

export interface OpenStackProviderOptions {
  /** The prefix of its provider IDs, and its load balancer class: `outrigger.dev/<name>`. Default: `openstack`. */
  readonly name?: string;
  /** Goes before the provider's own name in the `User-Agent`, the last first. Default: nothing. */
  readonly userAgent?: readonly string[];
  /** Default: the process's own. */
  readonly environment?: ConfigEnvironment;
  /** Sends in place of connections of the provider's own. */
  readonly fetch?: Fetch;
}

/** What one cloud config gives. */
interface Setup {
  readonly config: CloudConfig;
  readonly client: OpenStackClient;
}

export function createOpenStackProvider(options: OpenStackProviderOptions = {}): CloudProvider {
  return new OpenStackProvider(options);
}

const USER_AGENT = 'outrigger-provider-openstack';

class OpenStackProvider implements CloudProvider {
  readonly name: string;
  readonly #options: OpenStackProviderOptions;
  #host: ProviderHost | undefined;
  #setup: Setup | undefined;
  #client: ReplaceableClient | undefined;
  #capabilities: Capabilities = {};

  constructor(options: OpenStackProviderOptions) {
    this.name = options.name ?? 'openstack';
    this.#options = options;
  }

  /** Asks the cloud nothing: whether it is there, and takes the credentials, shows with the first request. */
  async open(host: ProviderHost): Promise<Capabilities> {
    this.#host = host;
    this.#setup = await this.#setUp(host, host.config);
    this.#client = new ReplaceableClient(this.#setup.client);
    this.#capabilities = this.#assemble(host, this.#client, this.#setup.config);
    return this.#capabilities;
  }

  /** Credentials that keystone refuses keep the old config; a keystone that cannot be reached does not. */
  async reconfigure(text: ConfigText, call: CallContext): Promise<void> {
    const host = this.#host;
    const before = this.#setup;
    if (!host || !before || !this.#client) throw new CloudError('unavailable', `the provider ${this.name} is not open`);
    const setup = await this.#setUp(host, text);
    try {
      await setup.client.connect(call);
    } catch (error) {
      if (isCloudError(error, 'unauthenticated')) {
        await setup.client[Symbol.asyncDispose]();
        throw error;
      }
      host.logger.warn('the changed cloud config is in use, and could not be tried', { file: text.fileName, error });
    }
    this.#setup = setup;
    this.#client.replace(setup.client);
    this.#capabilities = this.#assemble(host, this.#client, setup.config, before.config);
    host.capabilitiesChanged(this.#capabilities);
    // What is under way ends first; nobody need wait for it.
    before.client[Symbol.asyncDispose]().catch((error: unknown) => {
      host.logger.warn('connections of the config before did not close cleanly', { error });
    });
  }

  async close(): Promise<void> {
    await this.#setup?.client[Symbol.asyncDispose]();
  }

  async #setUp(host: ProviderHost, text: ConfigText | undefined): Promise<Setup> {
    const environment = this.#options.environment ?? ownEnvironment();
    const config = await readCloudConfig(text, environment, (warning) => host.logger.warn(warning));
    const fileName = text?.fileName ?? '';
    if (config.global.tlsInsecure) {
      host.logger.warn(`${fileName}: [Global] tls-insecure: nobody checks that OpenStack's servers are who they say`);
    }
    const connection = await connectionOf(config, fileName, environment.env);
    const { fetch, userAgent = [] } = this.#options;
    // As upstream's --user-agent, which puts each before what is there (`NewOpenStackClient`).
    const agent = [...userAgent.toReversed(), USER_AGENT].join(' ');
    return { config, client: new OpenStackClient({ connection, host, userAgent: agent, fetch }) };
  }

  /** A capability that the change does not concern stays the same object: its controllers go on undisturbed. */
  #assemble(
    { clock, cluster }: ProviderHost,
    client: ReplaceableClient,
    { loadBalancer, route }: CloudConfig,
    before?: CloudConfig,
  ): Capabilities {
    const { name } = this;
    const old = this.#capabilities;
    const current = { name, clock, cluster, client: () => client, config: () => this.#config() };
    const { routerId } = route;
    const { enabled, previousClusterName } = loadBalancer;
    const sameOwner = before?.loadBalancer.previousClusterName === previousClusterName;
    const sameRouter = before?.route.routerId === routerId;
    return {
      instances: old.instances ?? new OpenStackInstances(current),
      loadBalancers: enabled
        ? ((sameOwner ? old.loadBalancers : undefined) ??
          new OpenStackLoadBalancers({ ...current, previousClusterName }))
        : undefined,
      routes:
        routerId === undefined
          ? undefined
          : ((sameRouter ? old.routes : undefined) ?? new OpenStackRoutes({ client, routerId, clock })),
      volumes: old.volumes ?? new OpenStackVolumes(client),
    };
  }

  #config(): CloudConfig {
    if (!this.#setup) throw new CloudError('unavailable', `the provider ${this.name} is not open`);
    return this.#setup.config;
  }
}

function ownEnvironment(): ConfigEnvironment {
  return { env: process.env, workingDirectory: process.cwd(), homeDirectory: homedir() };
}
