/** Tells what happens, with the time since its act began, and knows when an act is over. */
import { systemClock } from '@outrigger/kube';
import { seconds, wrap, type Screen } from './screen.ts';

export interface Narrator {
  /** A new act: times count from here. */
  begin(title: string): void;
  /** Milliseconds since the act began. */
  elapsed(): number;
  /** Sentences about a node or a Service. */
  tell(about: string, sentences: readonly string[]): void;
  /** Something may have changed that `until` waits for. */
  look(): void;
  /** Resolves when nothing is missing any more; rejects with the signal's reason. */
  until(missing: () => readonly string[], signal: AbortSignal): Promise<void>;
}

const COLUMNS = 100;
const SUBJECT = 6;
const INDENT = 2 + 9 + 2 + SUBJECT + 2;

export function createNarrator(screen: Screen): Narrator {
  let begun = systemClock.monotonic();
  const watchers = new Set<() => void>();
  const look = (): void => {
    for (const watcher of watchers) watcher();
  };
  const elapsed = (): number => systemClock.monotonic() - begun;
  return {
    begin: (title) => {
      begun = systemClock.monotonic();
      screen.line(`\n  ${screen.bold(title)}`);
    },
    elapsed,
    tell: (about, sentences) => {
      const time = `+${seconds(elapsed()).trim()}`.padStart(9);
      for (const [index, text] of wrap(sentences, COLUMNS - INDENT).entries()) {
        const head = `${screen.dim(time)}  ${screen.bold(about.padEnd(SUBJECT))}`;
        screen.line(index === 0 ? `  ${head}  ${text}` : `${' '.repeat(INDENT)}${text}`);
      }
      look();
    },
    look,
    until: (missing, signal) =>
      new Promise((resolve, reject) => {
        const stop = (): void => {
          watchers.delete(check);
          reject(signal.reason as Error);
        };
        const check = (): void => {
          if (missing().length > 0) return;
          watchers.delete(check);
          signal.removeEventListener('abort', stop);
          resolve();
        };
        watchers.add(check);
        signal.addEventListener('abort', stop, { once: true });
        if (signal.aborted) stop();
        else check();
      }),
  };
}
