/**
 * Files that are read again while the program runs. They are looked at, not watched: a mounted ConfigMap or Secret is
 * changed by swapping a symbolic link somewhere above the file, which no watch on the file itself notices, and the kubelet
 * takes a minute for it anyway.
 */
import { readFile as readFileFromDisk } from 'node:fs/promises';
import { sleepOn, type Clock, type Counter, type Gauge, type Logger, type Metrics } from '@outrigger/kube';

export interface ReloadFilesOptions {
  /** For log and metrics: `cloud-config`, `serving-certificate`. */
  readonly name: string;
  /** All of them are handed over when one has changed. */
  readonly paths: readonly string[];
  /** The texts in use. */
  readonly current: readonly string[];
  /** Puts new texts to use. Rejects with what is wrong with them; then the old ones must still be in force. */
  readonly apply: (texts: readonly string[], signal: AbortSignal) => Promise<void>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Ends the reloading. */
  readonly signal: AbortSignal;
  /** Default: 10,000. */
  readonly intervalMs?: number;
  /** After what time texts that were refused are tried again, unchanged: the reason may have been elsewhere. Default: 60,000. */
  readonly retryMs?: number;
  /** Default: from disk. */
  readonly readFile?: (path: string) => Promise<string>;
}

/**
 * Runs until the signal aborts; never throws and keeps no process alive. What is refused is one warning, not one for each
 * try, and shows in `outrigger_reload_successful{file}` (1 or 0) and `outrigger_reloads_total{file,outcome}`.
 */
export async function reloadFiles(options: ReloadFilesOptions): Promise<void> {
  const reloader = new Reloader(options);
  const { clock, intervalMs = 10_000, signal } = options;
  // A process that has nothing else to do may end.
  const alone: Pick<Clock, 'setTimer'> = { setTimer: (ms, fire) => clock.setTimer(ms, fire, { unref: true }) };
  for (;;) {
    await sleepOn(alone, intervalMs, signal).catch(() => undefined);
    if (signal.aborted) return;
    await reloader.look();
  }
}

class Reloader {
  readonly #options: ReloadFilesOptions;
  readonly #total: Counter;
  readonly #successful: Gauge;
  #current: readonly string[];
  #refused: { readonly texts: readonly string[]; readonly reason: string; readonly at: number } | undefined;

  constructor(options: ReloadFilesOptions) {
    const { metrics, name } = options;
    this.#options = options;
    this.#current = options.current;
    this.#total = metrics.counter({
      name: 'outrigger_reloads_total',
      help: 'Changed files by what became of them: applied or refused.',
      labels: ['file', 'outcome'],
    });
    this.#successful = metrics.gauge({
      name: 'outrigger_reload_successful',
      help: 'Whether what the file says is in force: 1, or 0 when it was refused and older content is.',
      labels: ['file'],
    });
    this.#successful.set(1, { file: name });
  }

  async look(): Promise<void> {
    const { apply, clock, logger, name, paths, readFile = fromDisk, retryMs = 60_000, signal } = this.#options;
    let texts: readonly string[] = [];
    try {
      texts = await Promise.all(paths.map((path) => readFile(path)));
      if (same(texts, this.#current)) {
        // Somebody has put the old content back.
        this.#refused = undefined;
        this.#successful.set(1, { file: name });
        return;
      }
      const refused = this.#refused;
      if (refused && same(texts, refused.texts) && clock.monotonic() - refused.at < retryMs) return;
      await apply(texts, signal);
    } catch (error) {
      if (!signal.aborted) this.#refuse(texts, error);
      return;
    }
    this.#current = texts;
    this.#refused = undefined;
    this.#successful.set(1, { file: name });
    this.#total.inc({ file: name, outcome: 'applied' });
    logger.info('File reloaded', { file: name, paths });
  }

  #refuse(texts: readonly string[], error: unknown): void {
    const { clock, logger, name, paths } = this.#options;
    const reason = error instanceof Error ? error.message : String(error);
    const known = this.#refused !== undefined && same(texts, this.#refused.texts) && this.#refused.reason === reason;
    this.#refused = { texts, reason, at: clock.monotonic() };
    if (known) return;
    this.#successful.set(0, { file: name });
    this.#total.inc({ file: name, outcome: 'refused' });
    logger.warn('Changed file refused; what was read before stays in force', { file: name, paths, error });
  }
}

function fromDisk(path: string): Promise<string> {
  return readFileFromDisk(path, 'utf8');
}

function same(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, i) => text === b[i]);
}
