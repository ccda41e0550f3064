/** A cloud-controller-manager, made of providers and controllers: the shipped one is one choice of them, a fork is another. */
import type { Command } from '../commands/command.ts';
import type { CloudController } from '../controllers/cloud-controller.ts';
import { controllerFlags, defaultControllers } from '../controllers/controllers.ts';
import { main } from './main.ts';
import type { ProgramEnvironment } from './program-environment.ts';
import { flagSetOf } from '../options/program-options.ts';

export interface CloudControllerManagerOptions {
  /** Name for `--cloud-provider` → lazy import of the provider's module. Others can still be named by package or path. */
  readonly providers: Readonly<Record<string, () => Promise<unknown>>>;
  /**
   * What `--controllers` chooses from. Default: `defaultControllers`. One is added by `[...defaultControllers, mine]`, and removed or
   * replaced by its name.
   */
  readonly controllers?: readonly CloudController[];
  /**
   * What it can be asked to do instead of running, by a word before any flag: `defaultCommands`, and commands of your own. Default: none. They
   * are text that stays in the memory of a manager: the shipped one has them in a second program, `outrigger`.
   */
  readonly commands?: readonly Command[];
}

export interface CloudControllerManager {
  /**
   * The program, or one of its commands: `args` without the program's name. Returns the exit code when all has ended: 0 when it
   * was stopped as asked, 1 for everything else. Never throws.
   */
  main(args: readonly string[], environment: ProgramEnvironment): Promise<number>;
}

/** Throws a `TypeError` for two controllers, two commands or two flags of one name: which of them is meant could not be told. */
export function newCloudControllerManager({
  commands = [],
  controllers = defaultControllers,
  providers,
}: CloudControllerManagerOptions): CloudControllerManager {
  const controller = repeated(controllers.flatMap(({ aliases = [], name }) => [name, ...aliases]));
  if (controller !== undefined) {
    throw new TypeError(`two controllers have the name ${controller}: to replace one, leave out the other`);
  }
  const command = repeated(commands.map(({ name }) => name));
  if (command !== undefined) throw new TypeError(`two commands have the name ${command}`);
  // A flag of a controller that the program has already would be found when it is first run: here it is the author who is told.
  flagSetOf(controllerFlags(controllers));
  return {
    main: (args, environment) => main(args, { ...environment, builtInProviders: providers, controllers, commands }),
  };
}

function repeated(names: readonly string[]): string | undefined {
  return names.find((name, index) => names.indexOf(name) < index);
}
