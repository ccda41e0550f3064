/** `outrigger admission-policy`: what a provider does not serve, refused when a Service is written. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { CloudError } from '@outrigger/cloud-provider';
import { loadProvider, openProvider } from '@outrigger/cloud-runtime';
import { bool, FlagError, oneOf, string, type FlagGroup } from '@outrigger/controller-manager';
import { admissionPolicyOf } from '@outrigger/controllers';
import { silentLogger, systemClock, systemRandom } from '@outrigger/kube';
import { yamlDocuments } from '../yaml-documents.ts';
import { defineCommand, type Command } from './command.ts';

interface AdmissionPolicyFlags {
  cloudProvider: string;
  cloudConfig: string;
  providerPath: string;
  defaultProvider: boolean;
  action: 'Deny' | 'Warn';
}

const admissionPolicyFlags: FlagGroup<AdmissionPolicyFlags> = {
  title: 'Admission policy',
  flags: {
    cloudProvider: { type: string, default: '', usage: 'The provider, as the program takes it: one.' },
    cloudConfig: {
      type: string,
      default: '',
      usage: "File with the provider's configuration: it may decide what is served.",
    },
    providerPath: {
      type: string,
      default: '',
      usage: 'Directory in whose node_modules --cloud-provider is looked for.',
    },
    defaultProvider: {
      type: bool,
      default: true,
      usage: 'Whether it serves the Services without a loadBalancerClass too.',
    },
    action: {
      type: oneOf(['Deny', 'Warn']),
      default: 'Deny',
      usage: "'Deny' refuses such a Service, 'Warn' only tells the person who writes it.",
    },
  },
};

export const admissionPolicyCommand: Command = defineCommand({
  name: 'admission-policy',
  summary: 'Prints a ValidatingAdmissionPolicy that refuses the Services which a provider does not serve.',
  flags: [admissionPolicyFlags],
  run: async (parsed, { builtInProviders, clock = systemClock, stdout, workingDirectory }) => {
    const { action, cloudConfig, cloudProvider, defaultProvider, providerPath } = parsed.of(admissionPolicyFlags);
    if (cloudProvider === '') throw new FlagError('invalid-flag', '--cloud-provider is not set: name the provider');
    const provider = await loadProvider(cloudProvider, {
      builtIn: builtInProviders,
      workingDirectory,
      ...(providerPath === '' ? {} : { providerPath }),
    });
    const fileName = path.resolve(workingDirectory, cloudConfig);
    const config = cloudConfig === '' ? undefined : { fileName, text: await readFile(fileName, 'utf8') };
    // Nothing is made in any cluster's name.
    const cluster = { id: '', name: '' };
    const options = { cluster, config, clock, logger: silentLogger, random: systemRandom, onWriteRefused: () => {} };
    await using opened = await openProvider(provider, options);
    const { loadBalancers } = opened.capabilities;
    if (!loadBalancers) throw new CloudError('unsupported', `the provider ${opened.name} has no load balancers`);
    const policy = admissionPolicyOf(loadBalancers, {
      providerName: opened.name,
      isDefault: defaultProvider,
      action,
    });
    stdout.write(await yamlDocuments(policy));
    return 0;
  },
});
