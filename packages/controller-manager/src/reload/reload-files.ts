/**
 * Files that are read again while the program runs. They are looked at, not watched: a mounted ConfigMap or Secret is
 * changed by swapping a symbolic link somewhere above the file, which no watch on the file itself notices, and the kubelet
 * takes a minute for it anyway. What an editor or `cp` writes in place may be found half written, and be valid: without its last lines.
 */
import { createHash } from 'node:crypto';
import { readFile as readFileFromDisk } from 'node:fs/promises';
import { sleepOn, type Clock, type Counter, type Gauge, type Logger, type Metrics } from '@outrigger/kube';

/** After this time what has changed is looked at again, and put to use if it is still the same. */
const SETTLE_MS = 1_000;

export interface ReloadFilesOptions {
  /** For log and metrics: `cloud-config`, `serving-certificate`. */
  readonly name: string;
  /** All of them are handed over when one has changed. */
  readonly paths: readonly string[];
  /**
   * More files, a change of which is one of these: what is handed over stays the same. Asked for at each look. Any of them may be
   * missing, and comes and goes as a change. Default: none.
   */
  readonly also?: () => readonly string[];
  /** The texts in use. Empty: none of the files was there, which is no refusal until one is. */
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
  if (options.also) await reloader.begin();
  for (;;) {
    await sleepOn(alone, reloader.isChanging ? SETTLE_MS : intervalMs, signal).catch(() => undefined);
    if (signal.aborted) return;
    await reloader.look();
  }
}

class Reloader {
  readonly #options: ReloadFilesOptions;
  readonly #total: Counter;
  readonly #successful: Gauge;
  /** The texts in use, and the marks of the files beside them. */
  #current: readonly string[];
  /** What the last look has found, where it is another one that decides. */
  #seen: readonly string[] | undefined;
  #refused: { readonly found: readonly string[]; readonly reason: string; readonly at: number } | undefined;

  constructor(options: ReloadFilesOptions) {
    const { metrics, name } = options;
    this.#options = options;
    this.#current = options.current;
    this.#total = metrics.counter({
      name: 'outrigger_reloads_total',
      help: 'Reloads of changed files by result: applied or refused.',
      labels: ['file', 'outcome'],
    });
    this.#successful = metrics.gauge({
      name: 'outrigger_reload_successful',
      help: 'Whether the content of the file is in effect: 1, or 0 if it was rejected and older content is.',
      labels: ['file'],
    });
    this.#successful.set(1, { file: name });
  }

  /** Something has changed, and may go on to. */
  get isChanging(): boolean {
    return this.#seen !== undefined;
  }

  /** What is there now is in use. */
  async begin(): Promise<void> {
    this.#current = [...this.#options.current, ...(await this.#marks())];
  }

  async look(): Promise<void> {
    const { apply, clock, logger, name, paths, readFile = fromDisk, retryMs = 60_000, signal } = this.#options;
    let found: readonly string[] = [];
    const seen = this.#seen;
    this.#seen = undefined;
    try {
      const texts = await Promise.all(paths.map((path) => readFile(path)));
      const marks = await this.#marks();
      found = [...texts, ...marks];
      if (same(found, this.#current)) {
        // Somebody has put the old content back.
        this.#refused = undefined;
        this.#successful.set(1, { file: name });
        return;
      }
      const refused = this.#refused;
      if (refused && same(found, refused.found) && clock.monotonic() - refused.at < retryMs) return;
      if (seen === undefined || !same(found, seen)) {
        this.#seen = found;
        return;
      }
      await apply(texts, signal);
      // Other files may be named now. Of those that were, one that changed meanwhile is applied again.
      found = [...texts, ...(await this.#marks(marks))];
    } catch (error) {
      const isAwaited = this.#current.length === 0 && (error as NodeJS.ErrnoException).code === 'ENOENT';
      if (!signal.aborted && !isAwaited) this.#refuse(found, error);
      return;
    }
    this.#current = found;
    this.#refused = undefined;
    this.#successful.set(1, { file: name });
    this.#total.inc({ file: name, outcome: 'applied' });
    logger.info('File reloaded', { file: name, paths });
  }

  /** A line for each file beside the texts. No content: there are secrets in it. `known`: lines that stay as they are. */
  #marks(known: readonly string[] = []): Promise<readonly string[]> {
    const { also = () => [], readFile = fromDisk } = this.#options;
    return Promise.all(
      [...new Set(also())].toSorted().map(async (path) => {
        const before = known.find((line) => line.startsWith(`${path}\0`));
        if (before !== undefined) return before;
        const text = await readFile(path).catch((error: unknown) => ({ code: (error as NodeJS.ErrnoException).code }));
        const mark = typeof text === 'string' ? createHash('sha256').update(text).digest('hex') : text.code;
        return `${path}\0${mark}`;
      }),
    );
  }

  #refuse(found: readonly string[], error: unknown): void {
    const { clock, logger, name, paths } = this.#options;
    const reason = error instanceof Error ? error.message : String(error);
    const known = this.#refused !== undefined && same(found, this.#refused.found) && this.#refused.reason === reason;
    this.#refused = { found, reason, at: clock.monotonic() };
    if (known) return;
    this.#successful.set(0, { file: name });
    this.#total.inc({ file: name, outcome: 'refused' });
    logger.warn('Changed file rejected; the previous content stays in effect', { file: name, paths, error });
  }
}

function fromDisk(path: string): Promise<string> {
  return readFileFromDisk(path, 'utf8');
}

function same(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, i) => text === b[i]);
}
