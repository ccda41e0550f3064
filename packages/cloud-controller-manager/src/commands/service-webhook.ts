/** `outrigger service-webhook`: how the API server is told to ask what a provider's cloud says to a Service. */
import { CloudError } from '@outrigger/cloud-provider';
import { serviceWebhookManifest } from '../deploy/service-webhook.ts';
import { defineCommand, type Command } from './command.ts';
import { declaringProviderFlags, readDeclared } from './declared-load-balancers.ts';

export const serviceWebhookCommand: Command = defineCommand({
  name: 'service-webhook',
  summary: 'Prints a ValidatingWebhookConfiguration that has the provider check a Service before it is stored.',
  flags: [declaringProviderFlags],
  examples: [
    [
      'Print the configuration, and add the CA of the certificate to it',
      'outrigger service-webhook --cloud-provider=openstack --cloud-config=cloud.conf > webhook.yml',
    ],
  ],
  run: async (parsed, environment) => {
    const flags = parsed.of(declaringProviderFlags);
    const { loadBalancers, providerName } = await readDeclared(flags, environment);
    if (!loadBalancers.validate) {
      const text = `the provider ${providerName} checks nothing before a Service is stored: no webhook is needed`;
      throw new CloudError('unsupported', text);
    }
    const { classes } = loadBalancers;
    environment.stdout.write(await serviceWebhookManifest({ providerName, classes, isDefault: flags.defaultProvider }));
    return 0;
  },
});
