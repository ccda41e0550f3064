/** `outrigger conformance compare`: makes one page of several reports. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { bool, FlagError, FlagSet, renderHelp, string, type FlagGroup } from '@outrigger/controller-manager';
import type { CommandIo } from '../command-io.ts';
import type { ConformanceReport, TestResult } from '../conformance-report.ts';
import { renderComparison } from './comparison.ts';
import { OUTCOMES } from './tally.ts';

interface CompareOptions {
  outputDir: string;
  help: boolean;
}

const ABOUT = 'Makes one page of several reports: outrigger conformance compare acme/report.json memory/report.json.';

const compareFlags: FlagGroup<CompareOptions> = {
  title: 'Compare',
  flags: {
    outputDir: {
      type: string,
      default: '',
      usage: 'Directory for comparison.md and comparison.html. Without it, the Markdown goes to stdout.',
    },
    help: { type: bool, default: false, usage: 'Show this text and end.', shorthand: 'h' },
  },
};

/** `args`: paths of `report.json` files, one a subject, in the order of the columns. The exit code: 0, or 1 with one line on stderr. Never throws. */
export async function runComparison(args: readonly string[], { cwd, stderr, stdout }: CommandIo): Promise<number> {
  try {
    const flags = new FlagSet([compareFlags], { takesWords: true });
    const parsed = flags.parse(args);
    const { help, outputDir } = parsed.of(compareFlags);
    if (help) {
      stdout.write(renderHelp(ABOUT, flags));
      return 0;
    }
    if (parsed.words.length === 0)
      throw new FlagError('unexpected-argument', 'name the reports to compare: acme/report.json memory/report.json');
    const reports = await Promise.all(parsed.words.map((file) => readReport(file, cwd)));
    const { html, markdown } = renderComparison(reports);
    if (outputDir === '') {
      stdout.write(markdown);
      return 0;
    }
    const directory = path.resolve(cwd, outputDir);
    await mkdir(directory, { recursive: true });
    await writeFile(path.join(directory, 'comparison.md'), markdown);
    await writeFile(path.join(directory, 'comparison.html'), html);
    stdout.write(`comparison: ${path.join(directory, 'comparison.html')}\n`);
    return 0;
  } catch (error) {
    stderr.write(`conformance compare: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
}

async function readReport(file: string, cwd: string): Promise<ConformanceReport> {
  let report: Partial<ConformanceReport>;
  try {
    report = JSON.parse(await readFile(path.resolve(cwd, file), 'utf8')) as Partial<ConformanceReport>;
  } catch (error) {
    throw new Error(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
  if (
    typeof report?.subject?.name !== 'string' ||
    !Array.isArray(report.results) ||
    !report.results.every(isResult) ||
    typeof report.finished !== 'string'
  )
    throw new Error(`${file} is no conformance report: name the report.json of a --report-dir`);
  return report as ConformanceReport;
}

function isResult(value: unknown): value is TestResult {
  const { feature, name, outcome } = (value ?? {}) as Partial<TestResult>;
  return typeof name === 'string' && typeof feature === 'string' && OUTCOMES.some((one) => one === outcome);
}
