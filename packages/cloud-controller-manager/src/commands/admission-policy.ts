/** `outrigger admission-policy`: what a provider does not serve, refused when a Service is written. */
import { oneOf, type FlagGroup } from '@outrigger/controller-manager';
import { admissionPolicyOf } from '@outrigger/controllers';
import { yamlDocuments } from '../yaml-documents.ts';
import { defineCommand, type Command } from './command.ts';
import { declaringProviderFlags, readDeclared } from './declared-load-balancers.ts';

const admissionPolicyFlags: FlagGroup<{ action: 'Deny' | 'Warn' }> = {
  title: 'Admission policy',
  flags: {
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
  flags: [declaringProviderFlags, admissionPolicyFlags],
  run: async (parsed, environment) => {
    const { loadBalancers, providerName } = await readDeclared(parsed.of(declaringProviderFlags), environment);
    const policy = admissionPolicyOf(loadBalancers, {
      providerName,
      isDefault: parsed.of(declaringProviderFlags).defaultProvider,
      action: parsed.of(admissionPolicyFlags).action,
    });
    environment.stdout.write(await yamlDocuments(policy));
    return 0;
  },
});
