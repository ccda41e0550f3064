/** What a command of this package takes from its process. */
import type { Clock } from '@outrigger/kube';

export interface CommandIo {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute; relative paths start from here. */
  readonly cwd: string;
  /** Ends the run: what was made is taken away still. */
  readonly signal?: AbortSignal;
  /** Of a run against a cluster; a provider's fixture has its own. Default: `systemClock`. */
  readonly clock?: Clock;
}
