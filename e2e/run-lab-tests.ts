/** Runs the `*.lab.test.ts` of a folder, one file after the other: those that need more than `make test` may ask for. */
import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface LabTestsOptions {
  readonly folder: string;
  /** Only the files whose names begin with one of these. Empty: all. Throws when there is none. */
  readonly names: readonly string[];
  /** Minutes after which a file is ended. Not a bound of any test: a machine may be busy. */
  readonly fileLimitMinutes: number;
  /** A command with its arguments that runs the command that follows, elsewhere. Default: none. */
  readonly within?: readonly string[];
}

/** Throws when there is none of these names. */
export function labTests({ folder, names }: Pick<LabTestsOptions, 'folder' | 'names'>): readonly string[] {
  const files = globSync('*.lab.test.ts', { cwd: folder }).toSorted();
  const wanted = files.filter((file) => names.length === 0 || names.some((name) => file.startsWith(name)));
  if (wanted.length === 0) throw new Error(`no test is called ${names.join(' or ')}; there are ${files.join(', ')}`);
  return wanted;
}

/** What `make test` counts by. */
const COUNTING = fileURLToPath(new URL('../scripts/test-reporter.ts', import.meta.url));

/** Resolves with the exit code. A signal to this process ends the tests first, and they what they have started. */
export async function runLabTests(options: LabTestsOptions): Promise<number> {
  const timeout = options.fileLimitMinutes * 60_000;
  const reporters = [
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    ...(process.env['OUTRIGGER_TEST_COUNTS']
      ? [`--test-reporter=${COUNTING}`, '--test-reporter-destination=stderr']
      : []),
  ];
  const test = ['--test', ...reporters, `--test-timeout=${timeout}`, '--test-concurrency=1'];
  const [command = '', ...args] = [...(options.within ?? []), process.execPath, ...test, ...labTests(options)];
  const child = spawn(command, args, { cwd: options.folder, stdio: ['ignore', 'inherit', 'inherit'] });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => child.kill('SIGTERM'));
  return new Promise<number>((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => resolve(code ?? 1));
  });
}
