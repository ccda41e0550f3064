/** The cluster suite against ours, which keeps every promise, and against managers of which each breaks one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestResult } from '@outrigger/conformance';
import { clientOf, controlPlaneOrSkip } from '@outrigger/testing';
import { BROKEN_MANAGERS, type BrokenManager } from './broken-managers.ts';
import { ConformanceJudges } from './conformance-judges.ts';

/** What a broken manager never does is waited for in vain; on a busy machine the first time is too short for what comes before. */
const BROKEN_TIMEOUTS_MS = [1_500, 12_000, 100_000];
/** Ends with the first thing that must not happen. */
const BROKEN_QUIET_MS = 100_000;

test('conformance of clusters', async (t) => {
  const controlPlane = await controlPlaneOrSkip(t, { auditLog: false });
  if (!controlPlane) return;
  const { adminToken, certificateAuthority, directory, server } = controlPlane;
  const kubeconfig = controlPlane.kubeconfig.path;
  await using client = await clientOf(kubeconfig);
  const apiServer = { server, certificateAuthority, token: adminToken };
  const judges = new ConformanceJudges({ client, kubeconfig, apiServer, directory });

  await t.test('ours keeps every promise, and nothing is left', async () => {
    const { report, left } = await judges.judge({});
    const others = report.results.filter(({ outcome }) => outcome !== 'passed');
    // The memory cloud has no load balancers without node ports, and says so.
    assert.deepEqual(
      others.map(({ name, outcome, reason }) => ({ name, outcome, reason })),
      [
        {
          name: 'services / a Service without node ports gets an address, or a warning',
          outcome: 'skipped',
          reason: 'the manager says that it cannot: Warning SyncLoadBalancerFailed',
        },
      ],
    );
    assert.deepEqual(left, []);
  });

  const caught = async (broken: BrokenManager): Promise<TestResult | undefined> => {
    let result: TestResult | undefined;
    for (const timeoutMs of BROKEN_TIMEOUTS_MS) {
      const { report } = await judges.judge({ broken, only: [broken.caughtBy], timeoutMs, quietMs: BROKEN_QUIET_MS });
      assert.equal(report.results.length, 1, 'one test is named for it');
      [result] = report.results;
      if (result?.outcome === 'failed' && broken.why.test(result.reason ?? '')) break;
    }
    return result;
  };
  for (const broken of BROKEN_MANAGERS) {
    await t.test(`a manager that ${broken.name} is caught`, async () => {
      const result = await caught(broken);
      assert.equal(result?.name, broken.caughtBy);
      assert.equal(result.outcome, 'failed', result.reason);
      assert.match(result.reason ?? '', broken.why);
    });
  }
});
