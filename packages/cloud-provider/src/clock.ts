/** The host's clock and logger, as a provider sees them. The same shapes as in `@outrigger/kube`, on which the contract does not depend. */

/** Time. A provider never reads the machine's own. */
export interface Clock {
  /** Wall clock, milliseconds since the Unix epoch. */
  now(): number;
  /** Only grows; milliseconds since an arbitrary start. For durations, deadlines and `asOf`. */
  monotonic(): number;
  /** Resolves after `delayMs`, rejects when the signal aborts. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
}

/** A logger. Secrets that the host knows are redacted; a provider must not log others. */
export interface Logger {
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** Printed at `-v=<level>` and above. */
  verbose(level: number, message: string, fields?: Readonly<Record<string, unknown>>): void;
}
