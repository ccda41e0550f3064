/** How a run that ends before its tests do is told. Pure. */
import type { ConformanceReport, TestResult } from './conformance-report.ts';

/** Of a test that was under way, or still to come. */
export const CUT_OFF: Pick<TestResult, 'outcome' | 'reason'> = {
  outcome: 'unverifiable',
  reason: 'the run was stopped',
};

/** Of a run whose signal has aborted: nothing where all `tests` came to an end before. */
export function stoppedRun(tests: number, results: readonly TestResult[]): Pick<ConformanceReport, 'stopped'> {
  const ended = results.filter(({ reason }) => reason !== CUT_OFF.reason).length;
  return ended === tests ? {} : { stopped: `${tests - ended} of ${tests} tests did not come to an end` };
}
