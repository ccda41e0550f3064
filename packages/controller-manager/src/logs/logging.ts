/** The program's log: pino underneath, klog's formats and flags on top. Lines go to stderr, as klog's do. */
import type { Clock, LogFields, Logger, Timer } from '@outrigger/kube';
import pino from 'pino';
import { renderKlogLine, type Severity } from './klog-line.ts';
import { codeOf, printableText, toLogValue, type LogValue } from './log-value.ts';
import { Redactor } from './redactor.ts';
import { verbosityOf, type VmodulePattern } from './verbosity.ts';

/** Where lines go. */
export interface LogDestination {
  write(line: string): unknown;
  /** Writes out what is still held, before the process ends. */
  flushSync?(): void;
  /** Who is told of lines that were lost since the last time, once one could be taken again. */
  onLost?: (lines: number) => void;
}

export interface LoggingOptions {
  readonly clock: Clock;
  /** `text`: klog's lines. `json`: Kubernetes' structured lines (`ts` in milliseconds, `msg`, `v`). */
  readonly format: 'text' | 'json';
  /** `-v`. Default: 0. */
  readonly level?: number;
  readonly vmodule?: readonly VmodulePattern[];
  readonly destination: LogDestination;
  readonly redactor?: Redactor;
  /** Default: this process. */
  readonly pid?: number;
  /** What stands where klog has `file:line`, until `with({component})` or `with({controller})` says otherwise. */
  readonly component: string;
}

/** The root logger, and what belongs to it. */
export interface Logging {
  readonly logger: Logger;
  /** Register secrets here as soon as they are read. */
  readonly redactor: Redactor;
  /** `-v` from now on, for this logger and all that were made from it. `--vmodule` stays. */
  readonly setVerbosity: (level: number) => void;
  /** Writes out what is still held. Call it last, before the process ends. */
  flush(): void;
}

/** How long a line is held for others to be written with it: a write for each costs more than making it. */
const HELD_MS = 50;
/** As many bytes are written at once. */
const HELD_BYTES = 8_192;

/** A reader that stands still must not cost more memory than this: then lines are lost. klog would block, and with it all work. */
const LOST_FROM_BYTES = 16 * 1_024 * 1_024;

/**
 * Lines to a file descriptor, several in one write: at most 50 ms old, by `flushSync`, and when the process ends. `heldBytes`: what waits
 * for the reader at most. Default: 16 MiB.
 */
export function fileDescriptorDestination(
  fd: number,
  clock: Clock,
  { heldBytes = LOST_FROM_BYTES }: { readonly heldBytes?: number } = {},
): LogDestination {
  const file = pino.destination({ dest: fd, sync: false, minLength: HELD_BYTES, maxLength: heldBytes });
  let due: Timer | undefined;
  let lost = 0;
  file.on('drop', () => lost++);
  const destination: LogDestination = {
    write: (line) => {
      const before = lost;
      file.write(line);
      if (before > 0 && lost === before) {
        lost = 0;
        destination.onLost?.(before);
      }
      due ??= clock.setTimer(
        HELD_MS,
        () => {
          due = undefined;
          file.flush();
        },
        { unref: true },
      );
    },
    flushSync: () => file.flushSync(),
  };
  return destination;
}

export function createLogging(options: LoggingOptions): Logging {
  const redactor = options.redactor ?? new Redactor();
  const { destination } = options;
  const sink: Sink = {
    ...options,
    verbosity: { level: options.level ?? 0, changes: 0 },
    vmodule: options.vmodule ?? [],
    pid: options.pid ?? process.pid,
    redactor,
    json: pino(
      {
        base: null,
        messageKey: 'msg',
        // The time stands first, as in component-base; pino's own time and level have other shapes.
        timestamp: false,
        formatters: { level: () => ({ ts: options.clock.now() }) },
      },
      { write: (line) => void destination.write(line) },
    ),
  };
  const logger = new ManagedLogger(sink, options.component, {});
  destination.onLost = (lines) => logger.warn('Log lines were dropped: the reader of the log is too slow', { lines });
  return {
    redactor,
    setVerbosity: (level) => {
      sink.verbosity.level = level;
      sink.verbosity.changes++;
    },
    logger,
    flush: () => {
      try {
        destination.flushSync?.();
      } catch {
        // The reader of the log is gone (EPIPE): nobody is left to be told.
      }
    },
  };
}

interface Sink extends LoggingOptions {
  readonly verbosity: { level: number; changes: number };
  readonly vmodule: readonly VmodulePattern[];
  readonly pid: number;
  readonly redactor: Redactor;
  readonly json: pino.Logger;
}

class ManagedLogger implements Logger {
  readonly #sink: Sink;
  readonly #component: string;
  readonly #bound: Readonly<Record<string, LogValue>>;
  #level = 0;
  /** With which change of the verbosity `#level` was found: patterns are not matched for each line. */
  #asOf = -1;

  constructor(sink: Sink, component: string, bound: Readonly<Record<string, LogValue>>) {
    this.#sink = sink;
    this.#component = component;
    this.#bound = bound;
  }

  error(message: string, fields?: LogFields): void {
    this.#write('E', undefined, message, fields);
  }

  warn(message: string, fields?: LogFields): void {
    this.#write('W', 0, message, fields);
  }

  info(message: string, fields?: LogFields): void {
    this.#write('I', 0, message, fields);
  }

  verbose(level: number, message: string, fields?: LogFields): void {
    if (this.enabled(level)) this.#write('I', level, message, fields);
  }

  enabled(level: number): boolean {
    const { verbosity, vmodule } = this.#sink;
    if (this.#asOf !== verbosity.changes) {
      this.#level = verbosityOf(this.#component, verbosity.level, vmodule);
      this.#asOf = verbosity.changes;
    }
    return level <= this.#level;
  }

  with(fields: LogFields): Logger {
    const { component, ...rest } = fields;
    const name = component ?? fields['controller'];
    const own = typeof name === 'string' ? name : this.#component;
    return new ManagedLogger(this.#sink, own, { ...this.#bound, ...this.#printable(rest) });
  }

  #write(severity: Severity, v: number | undefined, message: string, fields: LogFields = {}): void {
    const { clock, destination, format, json, pid, redactor } = this.#sink;
    const text = printableText(message, redactor);
    const all = { ...this.#bound, ...this.#printable(fields) };
    if (format === 'json') {
      const record = { caller: this.#component, msg: text, ...(v === undefined ? {} : { v }), ...all };
      if (severity === 'E') json.error(record);
      else if (severity === 'W') json.warn(record);
      else json.info(record);
      return;
    }
    const component = this.#component;
    destination.write(renderKlogLine({ severity, time: clock.now(), pid, component, message: text, fields: all }));
  }

  #printable(fields: LogFields): Record<string, LogValue> {
    const { redactor } = this.#sink;
    const printable: Record<string, LogValue> = {};
    for (const [key, value] of Object.entries(fields)) {
      if (value === undefined) continue;
      // klog's name for the error of a line.
      const name = key === 'error' ? 'err' : printableText(key, redactor);
      printable[name] = toLogValue(key, name === 'err' && !(value instanceof Error) ? asText(value) : value, redactor);
      if (!(value instanceof Error)) continue;
      const code = codeOf(value);
      if (code !== undefined) printable['code'] ??= code;
      // An error without a code is one that nobody foresaw: where it came from matters more than what it says.
      else if (isDefect(value) && value.stack !== undefined) printable['stack'] = printableText(value.stack, redactor);
    }
    return printable;
  }
}

function asText(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
}

function isDefect(error: Error): boolean {
  return error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError;
}
