/** What a command of `outrigger` that is in another package gets of the program. */

export interface CommandOutput {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
}

export interface CommandIo extends CommandOutput {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute; paths of the command line start there. */
  readonly cwd: string;
  /** Aborted when the person who called wants no answer any more. */
  readonly signal: AbortSignal;
}
