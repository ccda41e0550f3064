/**
 * A report as files. The directory is what testgrid calls a job, of which each run is a numbered folder: it can be copied into a bucket
 * as it is. Fields: https://github.com/GoogleCloudPlatform/testgrid/blob/main/metadata/job.go. Layout:
 * https://github.com/kubernetes/test-infra/tree/master/gubernator#gcs-layout. Beside it the last run, for people and other tools.
 *
 *     report.html  report.json  junit.xml          the last run
 *     latest-build.txt                             its number
 *     1796000000000/started.json  finished.json  build-log.txt  artifacts/junit_cluster.xml
 */
import { mkdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { ConformanceReport } from '../conformance-report.ts';
import { renderConsole } from './console.ts';
import { renderHtml } from './html-report.ts';
import { renderJUnit } from './junit.ts';
import { tallyOf } from './tally.ts';

export interface WrittenReports {
  /** Number of the run: milliseconds since 1970 when it began, so that later ones are larger, which testgrid wants. */
  readonly build: string;
  /** Paths, below the directory that was given. */
  readonly files: readonly string[];
}

/** Makes the directory where it is missing; runs that are in it already stay. Errors: those of the file system. */
export async function writeReports(report: ConformanceReport, directory: string): Promise<WrittenReports> {
  const build = String(Date.parse(report.started));
  const junit = renderJUnit(report);
  const files: Readonly<Record<string, string>> = {
    [`${build}/started.json`]: json({ timestamp: epochSeconds(report.started) }),
    [`${build}/build-log.txt`]: renderConsole(report),
    [`${build}/artifacts/junit_${report.suite}.xml`]: junit,
    [`${build}/finished.json`]: json(finished(report)),
    'report.html': renderHtml(report),
    'report.json': json(report),
    'junit.xml': junit,
    // The last, as it tells readers that the run's own files are there.
    'latest-build.txt': build,
  };
  for (const [name, text] of Object.entries(files)) await writeWhole(path.join(directory, name), text);
  return { build, files: Object.keys(files) };
}

function finished(report: ConformanceReport): object {
  const passed = tallyOf(report.results).failed === 0 && report.stopped === undefined;
  const { name, version } = report.subject;
  return {
    timestamp: epochSeconds(report.finished),
    passed,
    // Prow's words: https://github.com/kubernetes-sigs/prow/blob/main/pkg/sidecar/run.go.
    result: report.stopped === undefined ? (passed ? 'SUCCESS' : 'FAILURE') : 'ABORTED',
    metadata: { subject: name, ...(version !== undefined && { 'job-version': version }) },
  };
}

function epochSeconds(time: string): number {
  return Math.floor(Date.parse(time) / 1_000);
}

function json(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

/** Never half a file: a collector may read while this writes. */
async function writeWhole(file: string, text: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(`${file}.tmp`, text);
  await rename(`${file}.tmp`, file);
}
