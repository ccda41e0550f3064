/**
 * A file that is read again while the program runs: bound service account tokens and certificates are replaced on disk
 * well before they expire.
 */
import { whyUnreadable } from '../read-failure.ts';
import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import type { ReadFile } from './cluster-config.ts';
import { ConfigError } from './config-error.ts';

/** How old the text may be when it is used, in milliseconds. client-go allows tokens a minute; a read costs nothing. */
const REREAD_AFTER_MS = 10_000;

export interface RereadFileOptions {
  readonly path: string;
  /** What names the file, for messages. Default: the path itself. */
  readonly where?: string | undefined;
  readonly readFile: ReadFile;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The text of a file, never older than `REREAD_AFTER_MS` when the file can be read, else the last that could be. */
export class RereadFile {
  readonly #options: RereadFileOptions;
  #text: string | undefined;
  #readAt = 0;
  #reading: Promise<string> | undefined;

  constructor(options: RereadFileOptions) {
    this.#options = options;
  }

  /**
   * The text, without white space around it. `fresh` reads now, however new the text is.
   * @throws ConfigError `config-file-unreadable` when it could never be read, or is empty.
   */
  async read(fresh = false): Promise<string> {
    const { clock } = this.#options;
    if (!fresh && this.#text !== undefined && clock.monotonic() - this.#readAt < REREAD_AFTER_MS) return this.#text;
    this.#reading ??= this.#load().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #load(): Promise<string> {
    const { path, readFile, clock, logger } = this.#options;
    try {
      const text = (await readFile(path)).trim();
      if (text === '') throw new Error('the file is empty');
      this.#text = text;
      this.#readAt = clock.monotonic();
      return text;
    } catch (error) {
      // A rotation that is half done: what was read before is still the best there is, and a 401 comes soon enough.
      if (this.#text !== undefined) {
        this.#readAt = clock.monotonic();
        logger.warn('File cannot be read again; the text read before stays in use', { path, error });
        return this.#text;
      }
      throw unreadable(this.#options.where ?? path, path, error);
    }
  }
}

/** The error for a file that cannot be read. */
export function unreadable(where: string, path: string, cause: unknown): ConfigError {
  const why = whyUnreadable(cause);
  return new ConfigError('config-file-unreadable', where, where.endsWith(path) ? why : `cannot read ${path} (${why})`);
}
