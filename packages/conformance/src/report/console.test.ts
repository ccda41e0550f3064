import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderConsole } from './console.ts';
import { SAMPLE_REPORT, STOPPED_REPORT } from './sample-report.suite.ts';

test('a report is told by feature, with what is wrong and where the promise is written', () => {
  assert.equal(
    renderConsole(SAMPLE_REPORT),
    `provider conformance of acme 1.2.0

instances
  passed        instances / a stopped machine is there (0.3 s)
  failed        instances / a machine that is gone is proved absent (1.5 s)
                the answer was <missing> & not "absent"
                | asked: acme://1
                | answered: </script><script>alert(1)</script>\ufffd ]]> \ufffd
                promised in https://kubernetes.io/docs/concepts/architecture/cloud-controller/#node-controller

load-balancers
  skipped       load-balancers / two families (0.0 s)
                dualStack is not declared
  unverifiable  load-balancers / an answer that is lost (0.0 s)
                the fixture has no loseAnswers

1 failed, 1 unverifiable, 1 skipped, 1 passed in 65.5 s
`,
  );
});

test('a run of no tests says so', () => {
  assert.match(renderConsole({ ...SAMPLE_REPORT, results: [] }), /\nno tests in 65\.5 s\n$/u);
});

test('of a run that was stopped the last line is that', () => {
  assert.match(
    renderConsole(STOPPED_REPORT),
    /\n1 unverifiable, 1 skipped, 1 passed in 65\.5 s\nSTOPPED: 3 of 7 tests did not come to an end\n$/u,
  );
});
