/** The provider: reads the cloud config, connects late, and puts the capabilities together. */
import { homedir } from 'node:os';
import {
  CloudError,
  isCloudError,
  type CallContext,
  type Capabilities,
  type CloudErrorCode,
  type CloudPermissions,
  type CloudProvider,
  type ConfigText,
  type PredecessorMetrics,
  type ProviderHost,
} from '@outrigger/cloud-provider';
import { checkWithWarnings, type Fetch } from '@outrigger/provider-kit';
import { serviceTypes } from './client/api-client.ts';
import { connectionOf, type Connection } from './client/connection.ts';
import { OpenStackClient } from './client/openstack-client.ts';
import { ReplaceableClient } from './client/replaceable-client.ts';
import type { CloudConfig } from './config/cloud-config.ts';
import { readCloudConfig, type ConfigEnvironment } from './config/read-cloud-config.ts';
import { Home } from './home.ts';
import { OpenStackInstances } from './instances/openstack-instances.ts';
import { OpenStackLoadBalancers } from './load-balancer/openstack-load-balancers.ts';
import { permissions } from './permissions.ts';
import { predecessorMetrics } from './predecessor-metrics.ts';
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
  /** That were read besides the config itself. */
  readonly files: readonly string[];
}

export function createOpenStackProvider(options: OpenStackProviderOptions = {}): CloudProvider {
  return new OpenStackProvider(options);
}

/** Of errors that a changed config does not mend by waiting. */
const OF_THE_CONFIG: readonly CloudErrorCode[] = ['configuration', 'unauthenticated', 'unsupported'];
const USER_AGENT = 'outrigger-provider-openstack';

class OpenStackProvider implements CloudProvider {
  readonly name: string;
  readonly permissions: CloudPermissions = permissions;
  readonly predecessorMetrics: PredecessorMetrics = predecessorMetrics;
  readonly buckets: readonly string[] = ['identity', ...serviceTypes];
  readonly #options: OpenStackProviderOptions;
  #host: ProviderHost | undefined;
  #setup: Setup | undefined;
  #client: ReplaceableClient | undefined;
  #capabilities: Capabilities = {};
  readonly #home = new Home();

  constructor(options: OpenStackProviderOptions) {
    this.name = options.name ?? 'openstack';
    this.#options = options;
  }

  checkConfig(text: ConfigText | undefined): Promise<void> {
    return checkWithWarnings((warn) => this.#read(text, warn));
  }

  /** Waits for no cloud. Whether it is there, and takes the credentials, is found out meanwhile. */
  async open(host: ProviderHost): Promise<Capabilities> {
    this.#host = host;
    this.#setup = await this.#setUp(host, host.config);
    this.#client = new ReplaceableClient(this.#setup.client);
    this.#capabilities = this.#assemble(host, this.#client, this.#setup.config);
    void this.#tryOut(host, this.#setup.client);
    return this.#capabilities;
  }

  /**
   * What is wrong with the config itself (credentials that keystone refuses, another project or region, a nova that is not in the
   * catalogue) keeps the old one; a keystone that cannot be reached does not.
   */
  async reconfigure(text: ConfigText, call: CallContext): Promise<void> {
    const host = this.#host;
    const before = this.#setup;
    if (!host || !before || !this.#client) throw new CloudError('unavailable', `the provider ${this.name} is not open`);
    const setup = await this.#setUp(host, text, { connectTells: true });
    try {
      await setup.client.connect(call);
    } catch (error) {
      if (isCloudError(error) && OF_THE_CONFIG.includes(error.code)) {
        await setup.client[Symbol.asyncDispose]();
        throw error;
      }
      host.logger.warn('The changed cloud config is in use, but could not be verified', { file: text.fileName, error });
    }
    this.#setup = setup;
    this.#client.replace(setup.client);
    this.#capabilities = this.#assemble(host, this.#client, setup.config, before.config);
    host.capabilitiesChanged(this.#capabilities);
    // What is under way ends first; nobody need wait for it.
    before.client[Symbol.asyncDispose]().catch((error: unknown) => {
      host.logger.warn('Connections of the previous cloud config were not closed cleanly', { error });
    });
  }

  /** A mounted Secret or a bundle of authorities is rotated without a change of `cloud.conf`. */
  watchedFiles(): readonly string[] {
    return this.#setup?.files ?? [];
  }

  async close(): Promise<void> {
    await this.#setup?.client[Symbol.asyncDispose]();
  }

  /** A cluster may have nothing to ask for hours: what is wrong is told now. Never throws. */
  async #tryOut(host: ProviderHost, client: OpenStackClient): Promise<void> {
    try {
      await client.connect(host.callContext());
    } catch (error) {
      // What keystone says has its line already.
      if (!isCloudError(error, 'unsupported') && !isCloudError(error, 'configuration')) return;
      this.#home.doubt();
      host.logger.error('OpenStack cannot be used as the cloud config says', { code: error.code, why: error.message });
    }
  }

  async #setUp(
    host: ProviderHost,
    text: ConfigText | undefined,
    { connectTells }: { readonly connectTells?: boolean } = {},
  ): Promise<Setup> {
    const { config, connection, files } = await this.#read(text, (warning) => host.logger.warn(warning));
    const fileName = text?.fileName ?? '';
    if (config.global.tlsInsecure) {
      host.logger.warn(
        `${fileName}: [Global] tls-insecure is set: the certificates of OpenStack's servers are not verified`,
      );
    }
    const { fetch, userAgent = [] } = this.#options;
    // As upstream's --user-agent, which puts each before what is there (`NewOpenStackClient`).
    const agent = [...userAgent.toReversed(), USER_AGENT].join(' ');
    const home = this.#home;
    const client = new OpenStackClient({ connection, connectTells, home, host, userAgent: agent, fetch });
    return { config, client, files };
  }

  async #read(
    text: ConfigText | undefined,
    warn: (message: string) => void,
  ): Promise<{ readonly config: CloudConfig; readonly connection: Connection; readonly files: readonly string[] }> {
    const environment = this.#options.environment ?? ownEnvironment();
    const files: string[] = [];
    const config = await readCloudConfig(text, environment, warn, (file) => void files.push(file));
    const { caFile, certFile, keyFile } = config.global;
    files.push(...[caFile, certFile, keyFile].filter((file) => file !== undefined));
    return { config, files, connection: await connectionOf(config, text?.fileName ?? '', environment.env) };
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
    const home = this.#home;
    const current = { name, clock, cluster, home, client, config: () => this.#config() };
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
          : ((sameRouter ? old.routes : undefined) ?? new OpenStackRoutes({ client, name, routerId })),
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
