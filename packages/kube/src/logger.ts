/** Structured logging as the machinery needs it. `@outrigger/controller-manager` has the implementation with klog's flags. */

/** Key/value pairs of one log line. An `Error` under `error` is printed with its code and causes. */
export type LogFields = Readonly<Record<string, unknown>>;

/** A logger in klog's manner: three severities, and verbose lines with a level (`-v`). */
export interface Logger {
  /** Something failed and a person may have to act. */
  error(message: string, fields?: LogFields): void;
  /** Something is off, and is being dealt with. */
  warn(message: string, fields?: LogFields): void;
  /** What an operator wants to see at the default verbosity. */
  info(message: string, fields?: LogFields): void;
  /** A line that is printed only at `-v=<level>` or above (2: changes, 4: decisions, 6: requests, 8: bodies). */
  verbose(level: number, message: string, fields?: LogFields): void;
  /** Whether a line of this level would be printed; ask before building expensive fields. */
  enabled(level: number): boolean;
  /** A logger that adds these fields to each line. */
  with(fields: LogFields): Logger;
}

/** Says nothing. */
export const silentLogger: Logger = {
  error: () => {},
  warn: () => {},
  info: () => {},
  verbose: () => {},
  enabled: () => false,
  with: () => silentLogger,
};
