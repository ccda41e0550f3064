/** `--config`, read again while the program runs. */
import path from 'node:path';
import { FlagError, readFlagFile, reloadFiles, type FlagSet } from '@outrigger/controller-manager';
import type { Clock, Logger, Metrics } from '@outrigger/kube';
import { parseConfigFile } from './config-file.ts';
import { configFileOf, readProgramOptions, type ProgramOptions } from './program-options.ts';

/** What changes without a restart. A file that changes anything else is refused as a whole: what it says would not be so. */
const LIVE: ReadonlySet<string> = new Set(['cloud-call-limits', 'v']);

export interface CommandLine {
  /** Without the program's name. */
  readonly args: readonly string[];
  readonly flags: FlagSet;
  /** From where `--config` is resolved. */
  readonly workingDirectory: string;
}

interface Source extends Pick<CommandLine, 'args' | 'flags'> {
  /** `--config`, absolute; empty: none. */
  readonly file: string;
}

export interface ReloadOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Is handed what is about to be in force. Throws a `FlagError` for what cannot be. */
  readonly apply: (next: ProgramOptions, before: ProgramOptions) => void;
}

/** The options in force. */
export class LiveOptions {
  readonly #source: Source;
  readonly #text: string;
  #options: ProgramOptions;

  private constructor(source: Source, text: string, options: ProgramOptions) {
    this.#source = source;
    this.#text = text;
    this.#options = options;
  }

  /** Throws a `FlagError`. */
  static async read({ args, flags, workingDirectory }: CommandLine): Promise<LiveOptions> {
    const config = configFileOf(args, flags);
    const file = config === '' ? '' : path.resolve(workingDirectory, config);
    const source = { args, flags, file };
    const text = file === '' ? '' : await readFlagFile('--config', file);
    return new LiveOptions(source, text, await optionsOf(source, text));
  }

  get current(): ProgramOptions {
    return this.#options;
  }

  /** Follows the file until it is disposed of. */
  follow({ apply, clock, logger, metrics }: ReloadOptions): Disposable {
    const { file } = this.#source;
    const stop = new AbortController();
    if (file !== '') {
      void reloadFiles({
        name: 'config',
        paths: [file],
        current: [this.#text],
        apply: async ([text = '']) => {
          const [before, next] = [this.#options, await optionsOf(this.#source, text)];
          refuseFixed(file, before, next);
          apply(next, before);
          this.#options = next;
        },
        clock,
        logger,
        metrics,
        signal: stop.signal,
      });
    }
    return { [Symbol.dispose]: () => stop.abort() };
  }
}

async function optionsOf({ args, file, flags }: Source, text: string): Promise<ProgramOptions> {
  return readProgramOptions(args, file === '' ? [] : await parseConfigFile(file, text, flags), flags);
}

function refuseFixed(file: string, before: ProgramOptions, next: ProgramOptions): void {
  const were = new Map(before.flagValues);
  const fixed = next.flagValues.filter(([name, value]) => !LIVE.has(name) && were.get(name) !== value);
  if (fixed.length === 0) return;
  const names = fixed.map(([name]) => `--${name}`).join(', ');
  throw new FlagError('invalid-flag', `${file}: it changes ${names}, which needs a restart; no change is in effect`);
}
