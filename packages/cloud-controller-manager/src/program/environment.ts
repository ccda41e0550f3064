/** What `main` takes: what is outside of the program, and the providers, controllers and commands that it is made of. */
import type { FlagSet } from '@outrigger/controller-manager';
import type { CloudController } from '../controllers/cloud-controller.ts';
import type { ProgramEnvironment } from './program-environment.ts';

export interface Environment extends ProgramEnvironment {
  /** Name for `--cloud-provider` → lazy import of the provider's module. */
  readonly builtInProviders: Readonly<Record<string, () => Promise<unknown>>>;
  /** The controllers that `--controllers` chooses from. Default: `defaultControllers`. */
  readonly controllers?: readonly CloudController[];
  /** What a word before any flag chooses from. Default: none. */
  readonly commands?: readonly Command[];
}

/** What the program can be asked to do instead of running: a word before any flag. `defineCommand` makes one. */
export interface Command {
  /** The word by which it is called: `explain`. */
  readonly name: string;
  /** One line for the list of commands, with a full stop. */
  readonly summary: string;
  /** For completion: the words of which one comes after its name. Default: none is known. */
  readonly choices?: readonly string[];
  /** What it parses. Absent where its code is in another package. */
  readonly flagsOf?: (environment: Pick<Environment, 'controllers'>) => FlagSet;
  /** As its help shows them, without what they do. Default: none. */
  readonly examples?: readonly string[];
  /** `args` without its name. Returns the exit code; what is wrong with them is one line on stderr. Never throws. */
  run(args: readonly string[], environment: Environment): Promise<number>;
}
