/** What `main` takes: what is outside of the program, and the providers and controllers that it is made of. */
import type { CloudController } from '../controllers/cloud-controller.ts';
import type { ProgramEnvironment } from './program-environment.ts';

export interface Environment extends ProgramEnvironment {
  /** Name for `--cloud-provider` → lazy import of the provider's module. */
  readonly builtInProviders: Readonly<Record<string, () => Promise<unknown>>>;
  /** The controllers that `--controllers` chooses from. Default: `defaultControllers`. */
  readonly controllers?: readonly CloudController[];
}
