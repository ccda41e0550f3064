/** `outrigger admission-policy`: what a provider does not serve, refused when a Service is written. */
import { oneOf, strings, type FlagGroup } from '@outrigger/controller-manager';
import { admissionPolicyOf, trustPolicyOf } from '@outrigger/controllers';
import { yamlDocuments } from '../deploy/yaml-documents.ts';
import { defineCommand, type Command } from './command.ts';
import { declaringProviderFlags, readDeclared } from './declared-load-balancers.ts';

const admissionPolicyFlags: FlagGroup<{ action: 'Deny' | 'Warn'; trustedServiceNamespaces: readonly string[] }> = {
  title: 'Admission policy',
  flags: {
    action: {
      type: oneOf(['Deny', 'Warn']),
      default: 'Deny',
      usage: "'Deny' rejects such a Service, 'Warn' only returns a warning to the client.",
    },
    trustedServiceNamespaces: {
      type: strings,
      default: ['*'],
      usage:
        "Namespaces whose Services may name resources of the cloud, like the manager's flag of this name; in all others a second policy rejects loadBalancerIP and the annotations that the provider marks as dangerous. '*': all.",
    },
  },
};

export const admissionPolicyCommand: Command = defineCommand({
  name: 'admission-policy',
  summary:
    'Prints a ValidatingAdmissionPolicy that rejects Services which a provider does not support, and one that rejects, by namespace, Services which name resources of the cloud.',
  flags: [declaringProviderFlags, admissionPolicyFlags],
  examples: [
    [
      'Reject what the provider does not support',
      'outrigger admission-policy --cloud-provider=openstack --cloud-config=cloud.conf | kubectl apply --filename=-',
    ],
  ],
  run: async (parsed, environment) => {
    const { loadBalancers, providerName } = await readDeclared(parsed.of(declaringProviderFlags), environment);
    const { action, trustedServiceNamespaces: trustedNamespaces } = parsed.of(admissionPolicyFlags);
    const options = { providerName, isDefault: parsed.of(declaringProviderFlags).defaultProvider, action };
    const policies = [
      ...admissionPolicyOf(loadBalancers, options),
      ...trustPolicyOf(loadBalancers, { ...options, trustedNamespaces }),
    ];
    environment.stdout.write(await yamlDocuments(policies));
    return 0;
  },
});
