/** For tests: a report with every outcome, and with text that a careless page would take for its own. */
import type { ConformanceReport } from '../conformance-report.ts';

export const SAMPLE_REPORT: ConformanceReport = {
  suite: 'provider',
  subject: { name: 'acme', version: '1.2.0' },
  started: '2026-11-22T10:00:00.250Z',
  finished: '2026-11-22T10:01:05.750Z',
  results: [
    {
      name: 'instances / a stopped machine is there',
      feature: 'instances',
      outcome: 'passed',
      source: 'docs/reference/contract.md',
      durationSeconds: 0.25,
    },
    {
      name: 'instances / a machine that is gone is proved absent',
      feature: 'instances',
      outcome: 'failed',
      reason: 'the answer was <missing> & not "absent"',
      details: 'asked: acme://1\n\u001b[31manswered\u001b[0m: </script><script>alert(1)</script>\u0000 ]]> \ud800',
      source: 'https://kubernetes.io/docs/concepts/architecture/cloud-controller/#node-controller',
      durationSeconds: 1.5,
    },
    {
      name: 'load-balancers / two families',
      feature: 'load-balancers',
      outcome: 'skipped',
      reason: 'dualStack is not declared',
      source: 'docs/reference/contract.md',
      durationSeconds: 0,
    },
    {
      name: 'load-balancers / an answer that is lost',
      feature: 'load-balancers',
      outcome: 'unverifiable',
      reason: 'the fixture has no loseAnswers',
      source: 'docs/reference/contract.md',
      durationSeconds: 0,
    },
  ],
};

/** Of a run that ended before its tests did. */
export const STOPPED_REPORT: ConformanceReport = {
  ...SAMPLE_REPORT,
  results: SAMPLE_REPORT.results.filter(({ outcome }) => outcome !== 'failed'),
  stopped: '3 of 7 tests did not come to an end',
};
