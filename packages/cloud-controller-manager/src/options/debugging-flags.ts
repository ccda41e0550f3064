/** To see what the program does and why, and flags of Go's profiler, which there is none of here. */
import { bool, type FlagGroup } from '@outrigger/controller-manager';

export interface DebuggingOptions {
  dryRun: boolean;
  once: boolean;
  profiling: boolean;
  contentionProfiling: boolean;
}

export const debuggingFlags: FlagGroup<DebuggingOptions> = {
  title: 'Debugging',
  flags: {
    dryRun: {
      type: bool,
      default: false,
      usage:
        'Observe and plan, but apply nothing: no write, no Lease, no Event, no change in the cloud. Planned actions are written to the log and to /debug/plan, which is served only in a dry run. Can run beside the leader.',
    },
    once: {
      type: bool,
      default: false,
      usage:
        'With --dry-run: print what is planned once nothing has been added for 10 seconds, and exit: 0 nothing is planned, 2 something is, 1 it could not be determined. The search for orphans, which begins later, is not waited for.',
    },
    profiling: {
      type: bool,
      default: true,
      usage:
        "Serve PUT /debug/flags/v, which changes the verbosity, and /explain/, which explains the state of an object. Go's profiler has no counterpart here: /debug/pprof is not served.",
    },
    contentionProfiling: {
      type: bool,
      default: false,
      compatibility: true,
      usage: "Accepted for compatibility: Go's profiler has no counterpart here.",
    },
  },
};
