/**
 * The node:test reporter of `make test`: prints failures and slow tests as they end, skips by reason and the coverage in
 * a few lines at the end, and appends one JSON line of totals and failures to the file named by OUTRIGGER_TEST_COUNTS. With TEST_TIMES=1 it lists
 * the files by how long they took.
 */
import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';
import { inspect } from 'node:util';

interface TestEnd {
  readonly name: string;
  readonly file?: string;
  readonly line?: number;
  readonly skip?: boolean | string;
  readonly details: { readonly type?: string; readonly duration_ms: number; readonly error?: Error };
}

interface FileCoverage {
  readonly path: string;
  readonly totalLineCount: number;
  readonly coveredLineCount: number;
}

interface Coverage {
  readonly summary: {
    readonly workingDirectory: string;
    readonly files: readonly FileCoverage[];
    readonly totals: { readonly totalLineCount: number; readonly coveredLinePercent: number };
  };
}

interface Summary {
  /** Undefined: of all files. */
  readonly file?: string;
  readonly counts: object;
  readonly duration_ms: number;
}

/** A test that takes longer is named, so that slowness is seen when it comes. */
const SLOW_MS = 10_000;
/** Files named below the total coverage. */
const WORST = 12;

function where(test: TestEnd): string {
  return test.file ? `${relative(process.cwd(), test.file)}:${test.line ?? 0}` : '';
}

function coverageLines({ summary }: Coverage): string {
  const missed = (file: FileCoverage): number => file.totalLineCount - file.coveredLineCount;
  const worst = [...summary.files].sort((a, b) => missed(b) - missed(a)).slice(0, WORST);
  const { coveredLinePercent, totalLineCount } = summary.totals;
  return [
    `coverage: ${coveredLinePercent.toFixed(2)} % of ${totalLineCount} lines in ${summary.files.length} files`,
    ...worst
      .filter((file) => missed(file) > 0)
      .map(
        (file) =>
          `  ${String(missed(file)).padStart(4)} lines unreached  ${relative(summary.workingDirectory, file.path)}`,
      ),
    '',
  ].join('\n');
}

function timeLines(times: readonly { readonly path: string; readonly ms: number }[]): string {
  const lines = times
    .toSorted((a, b) => b.ms - a.ms)
    .map(({ ms, path }) => `${(ms / 1000).toFixed(1).padStart(7)} s  ${path}\n`);
  return lines.join('');
}

export default async function* testReporter(
  source: AsyncIterable<{ readonly type: string; readonly data: unknown }>,
): AsyncGenerator<string, void> {
  const skipped = new Map<string, number>();
  const times: { readonly path: string; readonly ms: number }[] = [];
  const failures: string[] = [];
  for await (const { type, data } of source) {
    switch (type) {
      case 'test:fail': {
        const test = data as TestEnd;
        const error = test.details.error?.cause ?? test.details.error;
        const failure = `FAIL ${test.name}\n     ${where(test)}\n${inspect(error, { depth: 6 }).replaceAll(/^/gm, '     ')}\n`;
        failures.push(failure);
        yield failure;
        break;
      }
      case 'test:pass': {
        const test = data as TestEnd;
        if (test.skip) {
          const reason = typeof test.skip === 'string' && test.skip !== '' ? test.skip : test.name;
          skipped.set(reason, (skipped.get(reason) ?? 0) + 1);
        }
        if (test.details.type !== 'suite' && test.details.duration_ms > SLOW_MS) {
          yield `slow ${(test.details.duration_ms / 1000).toFixed(1)} s  ${test.name}  ${where(test)}\n`;
        }
        break;
      }
      case 'test:coverage':
        yield coverageLines(data as Coverage);
        break;
      case 'test:diagnostic': {
        const { message, level } = data as { readonly message: string; readonly level?: string };
        if (level === 'error') yield `${message}\n`;
        break;
      }
      case 'test:summary': {
        const { file, counts, duration_ms } = data as Summary;
        const target = process.env['OUTRIGGER_TEST_COUNTS'];
        if (file !== undefined) {
          times.push({ path: relative(process.cwd(), file), ms: duration_ms });
          break;
        }
        if (process.env['TEST_TIMES']) yield timeLines(times);
        for (const [reason, count] of skipped) yield `skipped ${count} ${count === 1 ? 'test' : 'tests'}: ${reason}\n`;
        if (target) appendFileSync(target, `${JSON.stringify({ ...counts, failures })}\n`);
        break;
      }
      default:
    }
  }
}
