/** From `--cloud-provider` and `--cloud-config` to providers in use. */
import {
  CloudError,
  isCloudError,
  type CloudProvider,
  type ClusterIdentity,
  type ConfigText,
} from '@outrigger/cloud-provider';
import {
  checkConfig,
  joinProviders,
  LoadBalancerClasses,
  openProvider,
  openProviderLate,
  type OpenedProvider,
  type OpenProviderOptions,
  type RequestLeadership,
} from '@outrigger/cloud-runtime';
import { FlagError, readFlagFile } from '@outrigger/controller-manager';
import type { Environment } from '../program/environment.ts';
import type { Foundation } from '../program/foundation.ts';
import type { CloudHealth } from './cloud-health.ts';
import { loadProviderSpec } from './load-provider-spec.ts';
import { checkCallLimits, limitsOf } from '../options/call-limits.ts';
import { parseCloudConfigs, parseProviderSpecs } from './provider-specs.ts';

/** So long the start waits for several providers, to find what is wrong between them. */
const OPENING_MS = 5_000;

/** A provider's code and configuration: read before anything is touched, so that mistakes end the start. */
export interface Cloud {
  readonly provider: CloudProvider;
  /** The same provider anew. */
  readonly make: () => Promise<CloudProvider>;
  readonly config: ConfigText | undefined;
}

/** In the order of `--cloud-provider`. */
export interface OpenedClouds extends AsyncDisposable {
  readonly providers: readonly [OpenedProvider, ...OpenedProvider[]];
}

/**
 * Throws a `CloudError` `configuration`, or a `FlagError` for a file that cannot be read and for two providers of one name. Of several
 * providers, one that refuses its config is told at once, and keeps the others from nothing.
 */
export async function loadClouds(
  foundation: Pick<Foundation, 'logger' | 'options'> & { readonly environment: Environment },
): Promise<readonly Cloud[]> {
  const { environment, logger, options } = foundation;
  const { cloudConfig, cloudProvider } = options.cloud;
  const specs = parseProviderSpecs(cloudProvider);
  const loaded: { readonly provider: CloudProvider; readonly make: () => Promise<CloudProvider> }[] = [];
  for (const spec of specs) {
    const make = (): Promise<CloudProvider> => loadProviderSpec(spec, options.cloud, environment);
    loaded.push({ provider: await make(), make });
  }
  const names = loaded.map(({ provider }) => provider.name);
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice !== undefined) {
    const text = `--cloud-provider=${cloudProvider}: two providers have the name ${twice}; rename one of them: <name>=<provider>`;
    throw new FlagError('invalid-flag', text);
  }
  checkCallLimits(
    options,
    loaded.map(({ provider }) => provider),
  );
  const files = parseCloudConfigs(cloudConfig, names);
  const clouds = await Promise.all(
    loaded.map(async ({ make, provider }): Promise<Cloud> => {
      const fileName = files.get(provider.name);
      if (fileName === undefined) return { provider, make, config: undefined };
      const text = await readFlagFile('--cloud-config', fileName, environment.workingDirectory);
      return { provider, make, config: { fileName, text } };
    }),
  );
  for (const cloud of clouds) {
    const { config, provider } = cloud;
    await checkConfig(provider, config).catch((error: unknown) => {
      if (clouds.length === 1) throw withConfigFile(error, cloud);
      logger.error('The cloud config is refused', { provider: provider.name, error: withConfigFile(error, cloud) });
    });
  }
  return clouds;
}

export interface OpenCloudsOptions {
  readonly cluster: ClusterIdentity;
  readonly leadership: RequestLeadership;
  readonly signal: AbortSignal;
  /** Hears of what becomes of each request. */
  readonly cloudHealth: CloudHealth;
}

/**
 * Each request to a cloud is sent under `leadership`. One provider that cannot be opened ends
 * the start; of several, the others go on without it.
 */
export async function openClouds(
  foundation: Foundation,
  clouds: readonly Cloud[],
  options: OpenCloudsOptions,
): Promise<OpenedClouds> {
  const [only, ...others] = clouds;
  if (only && others.length === 0) {
    const provider = await openProvider(only.provider, openOptions(foundation, only, options)).catch(
      (error: unknown) => {
        throw withConfigFile(error, only);
      },
    );
    return { providers: [provider], [Symbol.asyncDispose]: () => Promise.resolve(provider[Symbol.asyncDispose]()) };
  }
  const { clock, logger } = foundation;
  const classes = new LoadBalancerClasses();
  await using opening = new AsyncDisposableStack();
  const late = clouds.map((cloud) => {
    const { name } = cloud.provider;
    let first: CloudProvider | undefined = cloud.provider;
    const provider = openProviderLate({
      ...openOptions(foundation, cloud, options),
      name,
      make: () => {
        const made = first ? Promise.resolve(first) : cloud.make();
        first = undefined;
        return made;
      },
      admit: (capabilities) => {
        const admitted = classes.admit(name, capabilities);
        if (admitted !== capabilities) {
          logger.error('The load balancers of a provider are not used: another provider serves its class', {
            provider: name,
            conflicts: classes.conflicts.join('; '),
          });
        }
        return admitted;
      },
    });
    opening.use(provider);
    return provider;
  });
  const enough = new AbortController();
  await Promise.race([
    Promise.all(late.map(({ firstAttempt }) => firstAttempt)),
    clock.sleep(OPENING_MS, AbortSignal.any([options.signal, enough.signal])).catch(() => undefined),
  ]);
  enough.abort();
  options.signal.throwIfAborted();
  const [conflict] = classes.conflicts;
  if (conflict !== undefined) throw new CloudError('configuration', `--cloud-provider: ${conflict}`);
  const owned = opening.move();
  const [first, ...rest] = joinProviders(late, { clock });
  return {
    providers: [first as OpenedProvider, ...rest],
    // One that does not close must not keep the others from it.
    [Symbol.asyncDispose]: async () => {
      await Promise.all(late.map((provider) => provider[Symbol.asyncDispose]()));
      await owned.disposeAsync();
    },
  };
}

function openOptions(
  foundation: Foundation,
  { config, provider }: Cloud,
  { cloudHealth, ...options }: OpenCloudsOptions,
): OpenProviderOptions {
  const {
    clock,
    logger,
    metrics,
    options: { debugging },
    random,
    redactor,
  } = foundation;
  return {
    ...options,
    onRequest: cloudHealth.follow(provider.name),
    budget: { buckets: (bucket) => limitsOf(foundation.live.current.cloud.cloudCallLimits, provider, bucket) },
    config,
    clock,
    logger: logger.with({ component: `cloud-${provider.name}` }),
    metrics,
    random,
    ...(debugging.dryRun && {
      onWriteRefused: (call: string) => logger.error('A change in the cloud was refused: this is a dry run', { call }),
    }),
    onSecret: (secret, options) =>
      redactor.add(secret, { rotating: options?.rotating ? `cloud ${provider.name}` : undefined }),
  };
}

/** A provider knows its configuration, and some do not say from which file they have it. */
function withConfigFile(error: unknown, { config, provider }: Cloud): unknown {
  if (!isCloudError(error, 'configuration')) return error;
  const { message } = error;
  const whose = message.includes(provider.name) ? '' : `provider ${provider.name}: `;
  const file = config?.fileName;
  const where = file ? `; see --cloud-config=${file}` : '; --cloud-config is not set';
  return new CloudError('configuration', whose + message + (message.startsWith(`${file}:`) ? '' : where));
}
