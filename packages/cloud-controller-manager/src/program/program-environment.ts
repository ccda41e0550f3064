/** What the program takes from outside, so that a test can run the whole of it in its own process. */
import type { SignalSource } from '@outrigger/controller-manager';
import type { Clock } from '@outrigger/kube';
import type { FaultSource } from './watch-faults.ts';

/** A stream that text is written to: `process.stdout`, or a test's own. */
export interface TextOutput {
  write(text: string): unknown;
  /** Set: lines are buffered and written to this file descriptor directly. */
  readonly fd?: number;
  /** Width of the terminal. */
  readonly columns?: number;
}

export interface ProgramEnvironment {
  /** By which of its names it was called: `outrigger` does nothing without a command. Default: `cloud-controller-manager`. */
  readonly program?: 'cloud-controller-manager' | 'outrigger';
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Help and version. */
  readonly stdout: TextOutput;
  /** The log, and why the program did not start. */
  readonly stderr: TextOutput;
  /** Where SIGTERM and SIGINT come from. */
  readonly signals: SignalSource;
  /** Where errors come from that nothing caught. Default: they are left to Node. */
  readonly faults?: FaultSource;
  /** Ends the process at once: the second signal, an error that nothing caught. */
  readonly exit: (code: number) => void;
  /** Absolute; `--cloud-provider` is resolved from here. */
  readonly workingDirectory: string;
  readonly hostname: string;
  /** Default: `systemClock`. */
  readonly clock?: Clock;
}
