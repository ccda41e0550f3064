/** `outrigger rbac`: what the program has to be granted, from the flags that it is to run with. */
import { FlagError, string, type FlagGroup } from '@outrigger/controller-manager';
import { controllerFlags } from '../controllers/controllers.ts';
import { debuggingFlags } from '../options/debugging-flags.ts';
import { readGates } from '../options/feature-gates.ts';
import { programGroups } from '../options/program-options.ts';
import { webhookFlags } from '../options/webhook-flags.ts';
import { cloudPermissions } from '../rbac/cloud-permissions.ts';
import { OBJECT_NAME } from '../rbac/object-name.ts';
import { rbacObjects } from '../rbac/rbac-objects.ts';
import { programAccess, ruleOptionsOf } from '../rbac/program-rules.ts';
import { chosenWebhooks } from '../webhooks/webhooks.ts';
import { planWork } from '../controllers/work-plan.ts';
import { yamlDocuments } from '../deploy/yaml-documents.ts';
import { defineCommand, type Command } from './command.ts';

interface RbacOptions {
  serviceAccount: string;
  serviceAccountNamespace: string;
  user: string;
}

const rbacFlags: FlagGroup<RbacOptions> = {
  title: 'RBAC',
  flags: {
    serviceAccount: { type: string, default: OBJECT_NAME, usage: 'The service account that the program runs as.' },
    serviceAccountNamespace: { type: string, default: 'kube-system', usage: 'Its namespace.' },
    user: {
      type: string,
      default: '',
      usage:
        'The user as which the program authenticates, instead of the service account: that of its client certificate, as static pods have. Roles are still named after --service-account.',
    },
  },
};

export const rbacCommand: Command = defineCommand({
  name: 'rbac',
  summary:
    'Prints the roles and bindings that the program needs with the given flags, and the permissions that it needs in its clouds, where the providers declare them.',
  flags: [rbacFlags],
  programFlags: ({ controllers }) => [...programGroups, ...controllerFlags(controllers)],
  examples: [
    [
      'Grant what the program needs to run with these flags',
      'outrigger rbac --cloud-provider=openstack --controllers=*,-route | kubectl apply --filename=-',
    ],
    [
      'For a static pod, which authenticates with a client certificate',
      'outrigger rbac --cloud-provider=openstack --user=outrigger-cloud-controller-manager',
    ],
  ],
  run: async (parsed, environment) => {
    const { serviceAccount: name, serviceAccountNamespace: namespace, user } = parsed.of(rbacFlags);
    if (name === '' || namespace === '') {
      throw new FlagError('invalid-flag', '--service-account and --service-account-namespace must not be empty');
    }
    const options = ruleOptionsOf(parsed);
    const plan = await planWork({ environment, options });
    const access = programAccess(options, plan);
    const objects = rbacObjects(access, { name, namespace }, user === '' ? undefined : user);
    const webhooks = chosenWebhooks({
      debugging: parsed.of(debuggingFlags),
      gates: readGates(options.generic.featureGates),
      webhook: parsed.of(webhookFlags),
    });
    const uses = new Set([
      ...[...plan.main, ...plan.migrated].flatMap(({ uses = [], usesWith }) => [
        ...uses,
        ...(usesWith?.(options) ?? []),
      ]),
      ...webhooks.flatMap((webhook) => webhook.uses),
    ]);
    environment.stdout.write(await cloudPermissions(options.cloud, uses, environment));
    environment.stdout.write(await yamlDocuments(objects));
    return 0;
  },
});
