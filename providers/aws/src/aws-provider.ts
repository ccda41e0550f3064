/** The provider: reads the cloud config, connects late, and puts the capabilities together. */
import {
  asError,
  CloudError,
  isCloudError,
  type CallContext,
  type Capabilities,
  type CloudErrorCode,
  type CloudPermissions,
  type CloudProvider,
  type ConfigText,
  type ProviderHost,
} from '@outrigger/cloud-provider';
import { checkWithWarnings, type Fetch } from '@outrigger/provider-kit';
import { createAwsClient, type AwsClient } from './client/aws-client.ts';
import { callLimits } from './client/call-limits.ts';
import { accountOf, placeOf } from './cluster/account.ts';
import type { AwsSetup } from './cluster/aws-setup.ts';
import { OwnCluster } from './cluster/own-cluster.ts';
import type { AwsConfig, AwsService } from './config/aws-config.ts';
import { readAwsConfig } from './config/read-aws-config.ts';
import { CurrentClient } from './current-client.ts';
import { AwsInstances } from './instances/aws-instances.ts';
import { createAwsLoadBalancers } from './load-balancer/create-load-balancers.ts';
import { createAwsNodeTags } from './node-tags/aws-node-tags.ts';
import { permissions } from './permissions.ts';
import { createAwsRoutes } from './routes/aws-routes.ts';
import { createAwsVolumes } from './volumes/aws-volumes.ts';

export interface AwsProviderOptions {
  /** The prefix of its provider IDs. Default: `aws`. */
  readonly name?: string;
  /** Goes before the provider's own name in the `User-Agent`, the last first. Default: nothing. */
  readonly userAgent?: readonly string[];
  /** Environment variables. Default: the process's own. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Sends in place of connections of the provider's own. */
  readonly fetch?: Fetch;
}

export function createAwsProvider(options: AwsProviderOptions = {}): CloudProvider {
  return new AwsProvider(options);
}

/** What stays for the life of the provider, and looks at what the config in use says. */
interface Opened {
  readonly host: ProviderHost;
  readonly client: CurrentClient;
  readonly setup: AwsSetup;
  readonly instances: AwsInstances;
  config: AwsConfig;
}

/** Of errors that a changed config does not mend by waiting. */
const OF_THE_CONFIG: readonly CloudErrorCode[] = ['configuration', 'unauthenticated', 'forbidden', 'unsupported'];
const USER_AGENT = 'outrigger-provider-aws';

/** As the SDKs of AWS call them. */
const SERVICE_IDS: Readonly<Record<AwsService, string>> = {
  ec2: 'EC2',
  elb: 'Elastic Load Balancing',
  elbv2: 'Elastic Load Balancing v2',
  imds: 'ec2imds',
  sts: 'STS',
};

class AwsProvider implements CloudProvider {
  readonly name: string;
  readonly permissions: CloudPermissions = permissions;
  readonly buckets: readonly string[] = Object.keys(callLimits);
  readonly callLimits: Readonly<Record<string, { readonly qps: number; readonly burst: number }>> = callLimits;
  readonly #options: AwsProviderOptions;
  #opened: Opened | undefined;

  constructor(options: AwsProviderOptions) {
    this.name = options.name ?? 'aws';
    this.#options = options;
  }

  checkConfig(text: ConfigText | undefined): Promise<void> {
    return checkWithWarnings(async (warn) => readAwsConfig(text, warn));
  }

  /** Waits for no cloud. Whether it is there, and takes the credentials, is found out meanwhile. */
  async open(host: ProviderHost): Promise<Capabilities> {
    const config = readAwsConfig(host.config, (warning) => host.logger.warn(warning));
    const client = new CurrentClient(this.#connect(host, config));
    const current = (): AwsConfig => this.#opened?.config ?? config;
    const setup: AwsSetup = {
      name: this.name,
      host,
      client,
      config: current,
      cluster: new OwnCluster({ client, config: current }),
      place: placeOf(client),
    };
    const instances = new AwsInstances(setup);
    this.#opened = { host, client, setup, instances, config };
    void this.#tryOut(setup);
    return {
      instances,
      loadBalancers: createAwsLoadBalancers(setup),
      routes: createAwsRoutes(setup),
      volumes: createAwsVolumes(setup),
      nodeTags: createAwsNodeTags(setup),
    };
  }

  /** What is wrong with the config itself (credentials that are refused, another account or region) keeps the old one; a cloud that cannot be reached does not. */
  async reconfigure(text: ConfigText, call: CallContext): Promise<void> {
    const opened = this.#opened;
    if (!opened) throw new CloudError('unavailable', `the provider ${this.name} is not open`);
    const { client, host, instances, setup } = opened;
    const config = readAwsConfig(text, (warning) => host.logger.warn(warning));
    const next = this.#connect(host, config);
    try {
      setup.place.admit(await accountOf(next, call));
    } catch (error) {
      if (OF_THE_CONFIG.some((code) => isCloudError(error, code))) {
        await next[Symbol.asyncDispose]();
        throw error;
      }
      call.signal.throwIfAborted();
      setup.place.reconfigured();
      host.logger.warn('The changed cloud config is in use, but AWS could not be asked with it', { error });
    }
    opened.config = config;
    const before = client.replace(next);
    setup.cluster.reconfigured();
    instances.reconfigured();
    // What is under way ends first; nobody need wait for it.
    void this.#end(before, host);
  }

  async close(): Promise<void> {
    await this.#opened?.client[Symbol.asyncDispose]();
  }

  /** A cluster may have nothing to ask for hours: what is wrong is told now. Never throws. */
  async #tryOut({ client, cluster, host, place }: AwsSetup): Promise<void> {
    const call = host.callContext();
    const steps = [
      ['region', () => client.region(call)],
      ['credentials', () => place.learn(call)],
      ['cluster', () => cluster.learn(call)],
    ] as const;
    for (const [what, ask] of steps) {
      try {
        await ask();
      } catch (error) {
        if (!OF_THE_CONFIG.some((code) => isCloudError(error, code))) continue;
        host.logger.error('AWS cannot be used as the cloud config says', { what, error: asError(error) });
        // The others would fail for the same reason.
        if (what !== 'cluster') return;
      }
    }
  }

  async #end(client: AwsClient, { logger }: ProviderHost): Promise<void> {
    try {
      await client[Symbol.asyncDispose]();
    } catch (error) {
      logger.warn('Connections of the previous cloud config were not closed cleanly', { error });
    }
  }

  #connect(host: ProviderHost, { region, roleArn, serviceOverrides, sourceArn }: AwsConfig): AwsClient {
    const { env, fetch, userAgent = [] } = this.#options;
    return createAwsClient({
      host,
      region,
      role: roleArn === undefined ? undefined : { arn: roleArn, sourceArn },
      endpoints: serviceOverrides.map((one) => ({ ...one, service: SERVICE_IDS[one.service] })),
      env,
      fetch,
      userAgent: [...userAgent.toReversed(), USER_AGENT],
    });
  }
}
