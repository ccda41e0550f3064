import assert from 'node:assert/strict';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { renderConsole } from './console.ts';
import { renderJUnit } from './junit.ts';
import { SAMPLE_REPORT, STOPPED_REPORT } from './sample-report.suite.ts';
import { writeReports } from './write-reports.ts';

function directory(t: TestContext): string {
  const made = mkdtempSync(path.join(tmpdir(), 'conformance-report-'));
  t.after(() => rmSync(made, { recursive: true, force: true }));
  return path.join(made, 'not', 'there', 'yet');
}

const BUILD = '1795341600250';

test('the tree is the one that testgrid reads, with the last run beside it', async (t) => {
  const target = directory(t);
  const { build, files } = await writeReports(SAMPLE_REPORT, target);
  assert.equal(build, BUILD);
  const there = globSync('**/*.*', { cwd: target }).sort();
  assert.deepEqual(there, [
    `${BUILD}/artifacts/junit_provider.xml`,
    `${BUILD}/build-log.txt`,
    `${BUILD}/finished.json`,
    `${BUILD}/started.json`,
    'junit.xml',
    'latest-build.txt',
    'report.html',
    'report.json',
  ]);
  assert.deepEqual([...files].sort(), there);
  const read = (name: string): string => readFileSync(path.join(target, name), 'utf8');
  // The fields of testgrid's metadata/job.go: whole seconds; `passed` is a boolean; values of `metadata` are text.
  assert.deepEqual(JSON.parse(read(`${BUILD}/started.json`)), { timestamp: 1_795_341_600 });
  assert.deepEqual(JSON.parse(read(`${BUILD}/finished.json`)), {
    timestamp: 1_795_341_665,
    passed: false,
    result: 'FAILURE',
    metadata: { subject: 'acme', 'job-version': '1.2.0' },
  });
  assert.equal(read(`${BUILD}/build-log.txt`), renderConsole(SAMPLE_REPORT));
  assert.equal(read(`${BUILD}/artifacts/junit_provider.xml`), renderJUnit(SAMPLE_REPORT));
  assert.equal(read('junit.xml'), renderJUnit(SAMPLE_REPORT));
  assert.deepEqual(JSON.parse(read('report.json')), SAMPLE_REPORT);
  assert.equal(read('latest-build.txt'), BUILD);
});

test("testgrid's own pattern of a JUnit file finds it", () => {
  // `re` in testgrid's util/gcs/read.go.
  const pattern = /.+\/junit((_[^_]+)?(_\d+-\d+)?(_\d+)?|.+)?\.xml$/u;
  assert.equal(pattern.exec(`logs/acme/${BUILD}/artifacts/junit_provider.xml`)?.[2], '_provider');
});

test('a run without a failure has passed, whatever it could not tell, and earlier runs stay', async (t) => {
  const target = directory(t);
  await writeReports(SAMPLE_REPORT, target);
  const results = SAMPLE_REPORT.results.filter(({ outcome }) => outcome !== 'failed');
  const later = { ...SAMPLE_REPORT, started: '2026-11-22T11:00:00Z', finished: '2026-11-22T11:00:01Z', results };
  const { build } = await writeReports(later, target);
  const finished: unknown = JSON.parse(readFileSync(path.join(target, build, 'finished.json'), 'utf8'));
  assert.deepEqual(finished, {
    timestamp: 1_795_345_201,
    passed: true,
    result: 'SUCCESS',
    metadata: { subject: 'acme', 'job-version': '1.2.0' },
  });
  assert.equal(readFileSync(path.join(target, 'latest-build.txt'), 'utf8'), build);
  assert.equal(globSync('*/started.json', { cwd: target }).length, 2);
  assert.ok(Number(build) > Number(BUILD), 'a later run has a larger number');
});

test('a run that was stopped has not passed, though nothing failed', async (t) => {
  const target = directory(t);
  const { build } = await writeReports(STOPPED_REPORT, target);
  // `result` as Prow has it: https://pkg.go.dev/sigs.k8s.io/prow/pkg/apis/prowjobs/v1#ProwJobState.
  const { passed, result } = JSON.parse(readFileSync(path.join(target, build, 'finished.json'), 'utf8')) as {
    passed: boolean;
    result: string;
  };
  assert.deepEqual([passed, result], [false, 'ABORTED']);
  const report = JSON.parse(readFileSync(path.join(target, 'report.json'), 'utf8')) as { stopped: string };
  assert.equal(report.stopped, '3 of 7 tests did not come to an end');
});
