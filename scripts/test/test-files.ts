/** Stages that run test files with node:test. */
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { groupFiles, writeGroups } from './file-groups.ts';
import { counted, say, type Lane, type Stage } from './stage.ts';

/** Lines of the packages and providers that the unit, contract and integration tests must reach, in per cent. Only ever raised. */
const COVERAGE_FLOOR = 95;
/** No test may hang a stage. Not a bound of any test: a machine may be busy. */
const TEST_LIMIT_MINUTES = 10;

interface TestOptions {
  readonly pattern: string;
  readonly lane: Lane;
  readonly after?: readonly string[];
  /** Only the files that hold this text. */
  readonly holding?: string;
  /** Files that match the pattern and are left out. */
  readonly except?: readonly string[];
  readonly always?: boolean;
  readonly coverage?: boolean;
  /** Unit tests share processes, so many files in each. */
  readonly perProcess?: number;
  readonly concurrency?: number;
  readonly env?: NodeJS.ProcessEnv;
}

export function tests(name: string, options: TestOptions): Stage {
  return {
    name,
    lane: options.lane,
    always: options.always ?? true,
    after: options.after ?? [],
    run: async (output) => {
      const found = globSync(options.pattern, { exclude: (path) => path.includes('node_modules') }).sort();
      const { except = [] } = options;
      for (const path of except) {
        if (found.includes(path)) continue;
        say(
          output,
          `${name}: ${path} is to be left out, and there is no such test: correct the list in scripts/test.ts`,
        );
        return { passed: 0, failed: 1, skipped: 0 };
      }
      const files = found.filter(
        (path) => !except.includes(path) && readFileSync(path, 'utf8').includes(options.holding ?? ''),
      );
      if (files.length === 0) return { passed: 0, failed: 0, skipped: 0 };
      const { alone, groups } = options.perProcess
        ? groupFiles(files, options.perProcess)
        : { alone: files, groups: [] };
      const directory = mkdtempSync(join(tmpdir(), 'outrigger-test-'));
      try {
        const paths = [...writeGroups(groups, directory), ...alone];
        return await counted(name, output, [...runnerArguments(options), ...paths], options.env);
      } finally {
        rmSync(directory, { recursive: true, force: true });
      }
    },
  };
}

function runnerArguments({ concurrency, coverage }: TestOptions): string[] {
  return [
    '--test',
    '--import=./scripts/property-seed.ts',
    '--test-reporter=./scripts/test-reporter.ts',
    '--test-reporter-destination=stdout',
    `--test-timeout=${TEST_LIMIT_MINUTES * 60_000}`,
    ...(concurrency ? [`--test-concurrency=${concurrency}`] : []),
    ...(coverage
      ? [
          '--experimental-test-coverage',
          `--test-coverage-lines=${COVERAGE_FLOOR}`,
          '--test-coverage-include=packages/*/src/**/*.ts',
          '--test-coverage-include=providers/*/{src,fake}/**/*.ts',
          '--test-coverage-exclude=**/*.test.ts',
          '--test-coverage-exclude=**/*.suite.ts',
          '--test-coverage-exclude=**/generated/**',
        ]
      : []),
  ];
}
