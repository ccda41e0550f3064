/** Flags of Go's profiler: there is none here. */
import { bool, type FlagGroup } from '@outrigger/controller-manager';

export interface DebuggingOptions {
  profiling: boolean;
  contentionProfiling: boolean;
}

export const debuggingFlags: FlagGroup<DebuggingOptions> = {
  title: 'Debugging',
  flags: {
    profiling: {
      type: bool,
      default: true,
      usage:
        "Whether PUT /debug/flags/v changes the verbosity. Go's profiler has no counterpart here: /debug/pprof is not served.",
    },
    contentionProfiling: {
      type: bool,
      default: false,
      usage: "Accepted for compatibility: Go's profiler has no counterpart here.",
    },
  },
};
