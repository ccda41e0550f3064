/** Runs the `*.lab.test.ts` of a folder, one file after the other: those that need more than `make test` may ask for. */
import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';

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

/** Resolves with the exit code. A signal to this process ends the tests first, and they what they have started. */
export async function runLabTests(options: LabTestsOptions): Promise<number> {
  const timeout = options.fileLimitMinutes * 60_000;
  const test = ['--test', '--test-reporter=spec', `--test-timeout=${timeout}`, '--test-concurrency=1'];
  const [command = '', ...args] = [...(options.within ?? []), process.execPath, ...test, ...labTests(options)];
  const child = spawn(command, args, { cwd: options.folder, stdio: ['ignore', 'inherit', 'inherit'] });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => child.kill('SIGTERM'));
  return new Promise<number>((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => resolve(code ?? 1));
  });
}
