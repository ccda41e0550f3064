/** `outrigger conformance compare`: makes one page of several reports. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { FlagError, FlagSet, string, type FlagGroup } from '@outrigger/controller-manager';
import type { ConformanceReport } from '../conformance-report.ts';
import { renderComparison } from './comparison.ts';

interface CompareOptions {
  outputDir: string;
}

const compareFlags: FlagGroup<CompareOptions> = {
  title: 'Compare',
  flags: {
    outputDir: {
      type: string,
      default: '',
      usage: 'Directory for comparison.md and comparison.html. Without it, the Markdown goes to stdout.',
    },
  },
};

interface CompareIo {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
  /** Absolute; relative paths start from here. */
  readonly cwd: string;
}

/** `args`: paths of `report.json` files, one a subject, in the order of the columns. The exit code: 0, or 1 with one line on stderr. Never throws. */
export async function runComparison(args: readonly string[], { cwd, stderr, stdout }: CompareIo): Promise<number> {
  try {
    const parsed = new FlagSet([compareFlags], { takesWords: true }).parse(args);
    const { outputDir } = parsed.of(compareFlags);
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
    typeof report.finished !== 'string'
  )
    throw new Error(`${file} is no conformance report: name the report.json of a --report-dir`);
  return report as ConformanceReport;
}
