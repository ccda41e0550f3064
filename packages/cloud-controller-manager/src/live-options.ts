/** `--config`, read again while the program runs. */
import { readFile } from 'node:fs/promises';
import { FlagError, reloadFiles, type FlagSet } from '@outrigger/controller-manager';
import { whyUnreadable, type Clock, type Logger, type Metrics } from '@outrigger/kube';
import { readConfigFile } from './options/config-file.ts';
import { readProgramOptions, type ProgramOptions } from './options/program-options.ts';

/** What changes without a restart. A file that changes anything else is refused as a whole: what it says would not be so. */
const LIVE: ReadonlySet<string> = new Set(['cloud-call-limits', 'v']);

export interface LiveOptionsSource {
  /** The command line, without the program's name. */
  readonly args: readonly string[];
  readonly flags: FlagSet;
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
  readonly #source: LiveOptionsSource;
  readonly #text: string;
  #options: ProgramOptions;

  private constructor(source: LiveOptionsSource, text: string, options: ProgramOptions) {
    this.#source = source;
    this.#text = text;
    this.#options = options;
  }

  /** Throws a `FlagError`. */
  static async read(source: LiveOptionsSource): Promise<LiveOptions> {
    const { file } = source;
    // Before it is parsed: a change in between is a change that is seen.
    const text = file === '' ? '' : await textOf(file);
    return new LiveOptions(source, text, await optionsOf(source));
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
        apply: async () => {
          const [before, next] = [this.#options, await optionsOf(this.#source)];
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

async function optionsOf({ args, file, flags }: LiveOptionsSource): Promise<ProgramOptions> {
  return readProgramOptions(args, file === '' ? [] : await readConfigFile(file, flags), flags);
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new FlagError('invalid-flag', `--config=${file}: ${whyUnreadable(error)}`);
  }
}

function refuseFixed(file: string, before: ProgramOptions, next: ProgramOptions): void {
  const were = new Map(before.flagValues);
  const fixed = next.flagValues.filter(([name, value]) => !LIVE.has(name) && were.get(name) !== value);
  if (fixed.length === 0) return;
  const names = fixed.map(([name]) => `--${name}`).join(', ');
  throw new FlagError('invalid-flag', `${file}: it changes ${names}, which needs a restart; nothing of it is in force`);
}
