/** What a provider declares of its load balancers, for commands that print what follows from it. */
import path from 'node:path';
import { CloudError, type ClusterIdentity, type LoadBalancers } from '@outrigger/cloud-provider';
import { openProvider, type OpenedProvider } from '@outrigger/cloud-runtime';
import { bool, FlagError, readFlagFile, string, type FlagGroup } from '@outrigger/controller-manager';
import { silentLogger, systemClock, systemRandom } from '@outrigger/kube';
import type { Environment } from '../program/environment.ts';
import { loadProviderSpec } from '../cloud/load-provider-spec.ts';
import { parseProviderSpecs } from '../cloud/provider-specs.ts';

export interface DeclaringProviderFlags {
  cloudProvider: string;
  cloudConfig: string;
  providerPath: string;
  defaultProvider: boolean;
}

export const declaringProviderFlags: FlagGroup<DeclaringProviderFlags> = {
  title: 'Provider',
  flags: {
    cloudProvider: {
      type: string,
      default: '',
      usage: 'The provider, as in the --cloud-provider flag of the manager; only one.',
    },
    cloudConfig: {
      type: string,
      default: '',
      usage: "File with the provider's configuration, which may determine what it supports.",
    },
    providerPath: {
      type: string,
      default: '',
      usage: 'Directory whose node_modules is searched for --cloud-provider.',
    },
    defaultProvider: {
      type: bool,
      default: true,
      usage: 'Whether the provider also serves Services without a loadBalancerClass.',
    },
  },
};

/** Opens the provider and closes it again. Throws a `FlagError` without one, a `CloudError` when it has no load balancers. */
export async function readDeclared(
  flags: DeclaringProviderFlags,
  environment: Environment,
): Promise<{ readonly providerName: string; readonly loadBalancers: LoadBalancers }> {
  // Nothing is made in any cluster's name.
  await using opened = await openToRead(flags, { id: '', name: '' }, environment);
  const { loadBalancers, provider } = opened;
  return { providerName: provider.name, loadBalancers };
}

/** The provider of `--cloud-provider`, which can do nothing but read. Throws as `readDeclared` does. */
export async function openToRead(
  { cloudConfig, cloudProvider, providerPath }: Omit<DeclaringProviderFlags, 'defaultProvider'>,
  cluster: ClusterIdentity,
  environment: Environment,
): Promise<AsyncDisposable & { readonly provider: OpenedProvider; readonly loadBalancers: LoadBalancers }> {
  if (cloudProvider === '') throw new FlagError('invalid-flag', '--cloud-provider is not set: name the provider');
  const { clock = systemClock, workingDirectory } = environment;
  const [spec, another] = parseProviderSpecs(cloudProvider);
  if (!spec || another) throw new FlagError('invalid-flag', `--cloud-provider=${cloudProvider}: name one provider`);
  const provider = await loadProviderSpec(spec, { providerPath }, environment);
  const config =
    cloudConfig === ''
      ? undefined
      : {
          fileName: path.resolve(workingDirectory, cloudConfig),
          text: await readFlagFile('--cloud-config', cloudConfig, workingDirectory),
        };
  const options = { cluster, config, clock, logger: silentLogger, random: systemRandom, onWriteRefused: () => {} };
  const opened = await openProvider(provider, options);
  const { loadBalancers } = opened.capabilities;
  const close = (): Promise<void> => Promise.resolve(opened[Symbol.asyncDispose]());
  if (loadBalancers) return { provider: opened, loadBalancers, [Symbol.asyncDispose]: close };
  await close();
  throw new CloudError('unsupported', `the provider ${opened.name} has no load balancers`);
}
