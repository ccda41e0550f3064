/** Runs the program, or one of its commands, as far as it comes without a machine's own environment. */
import { defaultCommands } from '../commands/commands.ts';
import { main } from './main.ts';
import type { Environment } from './environment.ts';
import { testEnvironment } from './test-environment.suite.ts';

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** `columns`: width of the terminal; default: none. Of the environment what a test needs otherwise; default: called as `outrigger`, without a provider. */
export async function runMain(
  args: readonly string[],
  { columns, ...environment }: Partial<Environment> & { readonly columns?: number } = {},
): Promise<Outcome> {
  let [stdout, stderr] = ['', ''];
  const code = await main(args, {
    program: 'outrigger',
    builtInProviders: {},
    commands: defaultCommands,
    ...testEnvironment(import.meta.dirname, (text) => void (stderr += text)),
    stdout: { write: (text) => void (stdout += text), ...(columns !== undefined && { columns }) },
    ...environment,
  });
  return { code, stdout, stderr };
}
