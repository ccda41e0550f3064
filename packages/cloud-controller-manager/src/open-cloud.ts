/** From `--cloud-provider` and `--cloud-config` to a provider in use. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { CloudProvider, ClusterIdentity, ConfigText } from '@outrigger/cloud-provider';
import { loadProvider, openProvider, type OpenedProvider } from '@outrigger/cloud-runtime';
import { FlagError } from '@outrigger/controller-manager';
import type { Foundation } from './foundation.ts';

/** The provider's code and configuration: read before anything is touched, so that mistakes end the start. */
export interface Cloud {
  readonly provider: CloudProvider;
  readonly config: ConfigText | undefined;
}

/** Throws a `CloudError` `configuration`, or a `FlagError` for a file that cannot be read. */
export async function loadCloud({ environment, options }: Foundation): Promise<Cloud> {
  const { cloudConfig, cloudProvider, providerPath } = options.cloud;
  const { builtInProviders, workingDirectory } = environment;
  const provider = await loadProvider(cloudProvider, {
    builtIn: builtInProviders,
    workingDirectory,
    providerPath: providerPath === '' ? undefined : providerPath,
  });
  return { provider, config: cloudConfig === '' ? undefined : await readConfig(workingDirectory, cloudConfig) };
}

/** `guard` is asked before each request to the cloud, and throws when none may start. */
export function openCloud(
  foundation: Foundation,
  cloud: Cloud,
  options: { readonly cluster: ClusterIdentity; readonly guard: () => void; readonly signal: AbortSignal },
): Promise<OpenedProvider> {
  const { clock, logger, metrics, random, redactor } = foundation;
  return openProvider(cloud.provider, {
    ...options,
    config: cloud.config,
    clock,
    logger: logger.with({ component: `cloud-${cloud.provider.name}` }),
    metrics,
    random,
    ...(foundation.options.debugging.dryRun && {
      onWriteRefused: (call: string) => logger.error('A change in the cloud was refused: this is a dry run', { call }),
    }),
    onSecret: (secret) => redactor.add(secret),
  });
}

async function readConfig(workingDirectory: string, fileName: string): Promise<ConfigText> {
  try {
    return { fileName, text: await readFile(path.resolve(workingDirectory, fileName), 'utf8') };
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'there is no such file' : 'it cannot be read';
    throw new FlagError('invalid-flag', `--cloud-config=${fileName}: ${why}`);
  }
}
