/** `cloud-controller-manager --help`. */
import { renderHelp, type FlagSet } from '@outrigger/controller-manager';
import { renderExamples } from '../commands/command.ts';
import { renderCommands } from '../commands/find-command.ts';
import { defaultControllers } from '../controllers/controllers.ts';
import type { Environment } from './environment.ts';

const ABOUT =
  'Connects a Kubernetes cluster with its cloud: initializes nodes, deletes those whose machine is gone, and creates load balancers and routes.';

export const programExamples: readonly (readonly [what: string, line: string])[] = [
  [
    'In a pod, with its service account',
    'cloud-controller-manager --cloud-provider=openstack --cloud-config=/etc/outrigger/cloud.conf',
  ],
  [
    'Log what it would do, beside the leader, and change nothing',
    'cloud-controller-manager --cloud-provider=openstack --cloud-config=cloud.conf --kubeconfig=$HOME/.kube/config --dry-run --secure-port=10259',
  ],
  [
    'With a provider of your own, and without the controller of routes',
    'cloud-controller-manager --cloud-provider=./my-cloud.ts --controllers=*,-route',
  ],
];

export function programHelp(
  flags: FlagSet,
  { builtInProviders, commands = [], controllers = defaultControllers, stdout }: Environment,
): string {
  const providers = Object.keys(builtInProviders).toSorted().join(', ') || 'none';
  const names = controllers.map(({ aliases = [], disabledByDefault = false, name }) => ({
    name,
    note: `${aliases.join(', ')}${disabledByDefault ? ' (off by default)' : ''}`.trim(),
  }));
  const width = Math.max(...names.map(({ name }) => name.length));
  const rows = names.map(({ name, note }) => `  ${name.padEnd(width)}  ${note}`.trimEnd());
  return renderHelp(ABOUT, flags, {
    columns: stdout.columns,
    before: [
      'Usage:\n\n  cloud-controller-manager --cloud-provider=NAME [flags]\n',
      renderExamples(programExamples),
      `Built-in providers: ${providers}\n`,
      `Controllers, with their aliases (--controllers):\n\n${rows.join('\n')}\n`,
      renderCommands(commands),
    ],
  });
}
