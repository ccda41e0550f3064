/** `make e2e-openstack`: brings the lab up if it is not, runs the tests against it one after the other, and ends it. */
import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { holdLab } from './lab.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));
/** No file may hang the run. Not a bound of any test: a machine may be busy. */
const FILE_LIMIT_MINUTES = 20;

/** All of them, or those whose names begin so: `make e2e-openstack TESTS=nodes`. */
function filesOf(names: readonly string[]): readonly string[] {
  const files = globSync('*.lab.test.ts', { cwd: HERE }).toSorted();
  return files.filter((file) => names.length === 0 || names.some((name) => file.startsWith(name)));
}

const files = filesOf(process.argv.slice(2));
if (files.length === 0) throw new Error(`no test is called ${process.argv.slice(2).join(' or ')}`);
await using _lab = await holdLab((line) => process.stdout.write(`${line}\n`));
const child = spawn(
  process.execPath,
  ['--test', '--test-reporter=spec', `--test-timeout=${FILE_LIMIT_MINUTES * 60_000}`, '--test-concurrency=1', ...files],
  { cwd: HERE, stdio: ['ignore', 'inherit', 'inherit'] },
);
// Its tests end what they have started; then the lab ends with this process.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => child.kill('SIGTERM'));
process.exitCode = await new Promise<number>((resolve, reject) => {
  child.on('error', reject);
  child.on('exit', (code) => resolve(code ?? 1));
});
