/**
 * Commands whose code is in packages that only some have installed: who writes a provider, and not who runs the image. What is here is
 * a word, and where it leads.
 */
import { watchStopSignals } from '@outrigger/controller-manager';
import { silentLogger } from '@outrigger/kube';
import { oneLine } from '../explain/one-line.ts';
import type { Environment } from '../program/environment.ts';
import type { TextOutput } from '../program/program-environment.ts';
import type { Command } from './command.ts';

/** What such a command gets of the program. Each package says the same by itself: none of them imports this one. */
interface InstalledCommandIo {
  readonly stdout: TextOutput;
  readonly stderr: TextOutput;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute; paths of the command line start there. */
  readonly cwd: string;
  /** Aborted by SIGTERM and SIGINT. */
  readonly signal: AbortSignal;
}

/** A function of the module `<package>/command`. Resolves with the exit code. */
type InstalledRun = (args: readonly string[], io: InstalledCommandIo) => Promise<number>;

interface InstalledCommand extends Pick<Command, 'name' | 'summary'> {
  readonly package: string;
  /** The name of the function. */
  readonly member: string;
}

/** Loads a module by its name. Default: `import`, from where the program is. */
export type ImportModule = (specifier: string) => Promise<unknown>;

// The specifier is no literal: a bundler leaves this import as it is. It starts from the program's own file and never from the working
// directory: whoever may write there would choose what runs. It goes on in all folders above, as package managers need it: they put packages
// into any of these.
const importModule: ImportModule = (specifier) => import(specifier);

function installedCommand({ member, name, package: from, summary }: InstalledCommand): Command {
  return { name, summary, run: (args, environment) => runInstalled({ from, member, name }, args, environment) };
}

/** Exit code 1 with one line where it is not installed, or is of another version. */
export async function runInstalled(
  { from, member, name }: { readonly from: string; readonly member: string; readonly name: string },
  args: readonly string[],
  { env, exit, signals, stderr, stdout, workingDirectory: cwd }: Environment,
  load: ImportModule = importModule,
): Promise<number> {
  const refuse = (why: string): number => {
    stderr.write(`outrigger ${name}: ${oneLine(why)}\n`);
    return 1;
  };
  let run: unknown;
  try {
    run = ((await load(`${from}/command`)) as Readonly<Record<string, unknown>>)[member];
  } catch (error) {
    if (!isMissing(from, error)) return refuse(`${from} could not be loaded: ${firstLine(error)}`);
  }
  if (typeof run !== 'function') {
    return refuse(
      `this command is part of ${from}, which is not installed beside this program: npm install --save-dev ${from}`,
    );
  }
  using stop = watchStopSignals(signals, silentLogger, () => exit(1));
  try {
    return await (run as InstalledRun)(args, { stdout, stderr, env, cwd, signal: stop.signal });
  } catch (error) {
    return refuse(firstLine(error));
  }
}

/** The package itself, or this part of it, in an older version; not something that it needs in turn. */
function isMissing(name: string, error: unknown): boolean {
  const { code, message } = error as NodeJS.ErrnoException;
  // Named by its folder, which is another in a workspace.
  if (code === 'ERR_PACKAGE_PATH_NOT_EXPORTED') return message.includes("'./command'");
  return code === 'ERR_MODULE_NOT_FOUND' && message.startsWith(`Cannot find package '${name}'`);
}

function firstLine(error: unknown): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n', 1);
  return line;
}

/** In the order of their names. */
export const installedCommands: readonly Command[] = [
  installedCommand({
    name: 'conformance',
    summary: 'Judges a provider, or the cloud-controller-manager of a running cluster, by what it promises.',
    package: '@outrigger/conformance',
    member: 'conformanceCommand',
  }),
  installedCommand({
    name: 'docs',
    summary: "Brings the pages of several providers' repositories into one tree, with an index.",
    package: '@outrigger/create-provider',
    member: 'docsCommand',
  }),
  installedCommand({
    name: 'lint-repo',
    summary: "Holds a provider's repository against what Kubernetes asks of one.",
    package: '@outrigger/create-provider',
    member: 'lintRepoCommand',
  }),
];
