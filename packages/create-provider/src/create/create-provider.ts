/** The command line of `npm create @outrigger/provider`. */
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { CommandOutput } from '../command-io.ts';
import { CAPABILITIES, DEFAULT_CAPABILITIES } from './capabilities.ts';
import { createRepository } from './create-repository.ts';

const HELP = `npm create @outrigger/provider NAME -- [flags]

Makes the folder NAME: the repository of a provider whose tests run at once.

  --nodes           machines alone; without any of these flags: --load-balancers --routes
  --load-balancers  Services of type LoadBalancer
  --routes          routes to the pods of each node
  --volumes         zones of volumes that no CSI driver has
  --dns --cni --csi --flex --installer
                    a folder for what else there is for this cloud
  --title TEXT      how people call the cloud; by default made of NAME
  --directory DIR   the folder to make, in place of NAME
  --packages DIR    copy the tarballs of 'make packages' there into the repository, and install Outrigger from them and not from the registry
  --help            prints this
`;

/** `args` without the program's name. Returns the exit code. Never throws. */
export function createProvider(
  args: readonly string[],
  { cwd, stderr, stdout }: CommandOutput & { readonly cwd: string },
): number {
  try {
    const chosen = Object.fromEntries(CAPABILITIES.map((name) => [name, { type: 'boolean' }] as const));
    const { positionals, values } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        ...chosen,
        nodes: { type: 'boolean' },
        title: { type: 'string' },
        directory: { type: 'string' },
        packages: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
    const flags: Readonly<Record<string, unknown>> = values;
    if (values.help) {
      stdout.write(HELP);
      return 0;
    }
    const [name, ...more] = positionals;
    if (name === undefined || more.length > 0)
      throw new Error('name one provider: npm create @outrigger/provider my-cloud');
    const named = CAPABILITIES.filter((one) => flags[one] === true);
    const capabilities = named.length > 0 || values.nodes ? named : DEFAULT_CAPABILITIES;
    const folder = values.directory ?? name;
    const files = createRepository({
      directory: path.resolve(cwd, folder),
      name,
      title: values.title,
      capabilities,
      packages: values.packages === undefined ? undefined : path.resolve(cwd, values.packages),
    });
    stdout.write(`${folder}: ${files.length} files, with nodes${capabilities.map((one) => `, ${one}`).join('')}\n`);
    stdout.write(`\n  cd ${folder}\n  make test\n\nThen begin with cloud-controller-manager/src/api.ts.\n`);
    return 0;
  } catch (error) {
    stderr.write(`create-provider: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
}
