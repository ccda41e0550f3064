/** To see what the program does and why, and flags of Go's profiler, which there is none of here. */
import { bool, type FlagGroup } from '@outrigger/controller-manager';

export interface DebuggingOptions {
  dryRun: boolean;
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
        'Observe and plan, and apply nothing: no write, no Lease, no Event, no change in the cloud. What would be done goes to the log and to /debug/plan, which is served in a dry run alone. May run beside the manager that leads.',
    },
    profiling: {
      type: bool,
      default: true,
      usage:
        "Whether PUT /debug/flags/v changes the verbosity, and /explain/ says why an object is as it is, in a dry run too. Go's profiler has no counterpart here: /debug/pprof is not served.",
    },
    contentionProfiling: {
      type: bool,
      default: false,
      usage: "Accepted for compatibility: Go's profiler has no counterpart here.",
    },
  },
};
