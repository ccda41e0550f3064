/** From one part of `--cloud-provider` to the provider, not opened: the program and its commands find the same one. */
import type { CloudProvider } from '@outrigger/cloud-provider';
import { loadProvider } from '@outrigger/cloud-runtime';
import type { Environment } from '../program/environment.ts';
import type { CloudOptions } from '../options/cloud-flags.ts';
import type { ProviderSpec } from './provider-specs.ts';

/** Rejects with a `CloudError` `configuration`. */
export function loadProviderSpec(
  { name, spec }: ProviderSpec,
  { providerPath, userAgent }: Pick<CloudOptions, 'providerPath'> & Partial<Pick<CloudOptions, 'userAgent'>>,
  { builtInProviders, workingDirectory }: Pick<Environment, 'builtInProviders' | 'workingDirectory'>,
): Promise<CloudProvider> {
  return loadProvider(spec, {
    builtIn: builtInProviders,
    workingDirectory,
    providerPath: providerPath === '' ? undefined : providerPath,
    name,
    userAgent,
  });
}
